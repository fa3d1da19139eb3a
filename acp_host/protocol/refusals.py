"""What an agent's error means: :func:`refusal`.

Owns only what the code of an error does not say: that nobody is logged in, where an agent says it by another code, and
the ways to log in, which go with the error to whoever gets it.
"""

from __future__ import annotations

import re
from typing import Any

from acp_host.errors import AuthRequired, DecodeError, InternalError, RequestFailed
from acp_host.protocol.harn_errors import harn_error
from acp_host.protocol.negotiation import Agreement
from acp_host.quirks import QuirkKind
from acp_host.wire.auth import AuthMethod
from acp_host.wire.converters import structure_tolerant

__all__ = ["refusal"]

_LOGIN_WANTED = re.compile(
    r"\b(?:un)?auth(?:enticat|oriz|_?required)\w*|\b(?:log(?:ged)?|sign(?:ed)?)[ -]?in\b|\bcredentials?\b",
    re.IGNORECASE,
)


def refusal(error: RequestFailed, agreement: Agreement) -> RequestFailed:
    """Return the error to raise for an agent's error, with the ways to log in where one is wanted."""
    error = harn_error(error, is_harn=agreement.harn is not None)
    if isinstance(error, InternalError) and _means_login(error, agreement):
        error = AuthRequired(error.message, code=error.code, data=error.data, method=error.method)
    if isinstance(error, AuthRequired):
        error.methods = _listed(error.data, agreement.protocol_version) or agreement.auth_methods
    return error


def _means_login(error: InternalError, agreement: Agreement) -> bool:
    if not agreement.auth_methods or agreement.quirk(QuirkKind.LOGIN_WANTED_IN_TEXT) is None:
        return False
    return _LOGIN_WANTED.search(error.words) is not None


def _listed(data: Any, version: int) -> tuple[AuthMethod, ...]:
    """Return the ways to log in that some agents put into the error itself; none where they cannot be read."""
    methods = data.get("authMethods") if isinstance(data, dict) else None
    if not isinstance(methods, list):
        return ()
    try:
        if version == 2:
            from acp_host.protocol.v2_handshake import auth_methods_in_v1  # loaded for agents of version 2 only

            return auth_methods_in_v1(methods)
        read: tuple[AuthMethod, ...] = structure_tolerant(methods, tuple[AuthMethod, ...], "$")[0]
    except DecodeError:
        return ()
    return read
