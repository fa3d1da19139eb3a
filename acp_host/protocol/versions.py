"""Which version of the protocol is spoken: :class:`VersionChoice`, the host's part of agreeing on it.

A host that speaks several versions asks in a form that each side can read. An agent of version 1, and a router before
agents of both versions, reads only one of the two forms, and a router that chooses version 1 passes on no more than the
form of version 2 has: no files, no terminals, no notices. So after the answer 1 the host asks again in the form of
version 1 alone; only that answer counts.

===============  =================  =============  =============  =============================
the host speaks  it asks for        the answer: 1  the answer: 2  error -32022 names one of ours
===============  =================  =============  =============  =============================
``(1,)``         1                  agreed         not spoken     not spoken
``(2,)``         2                  not spoken     agreed         not spoken
``(2, 1)``       2, in both forms   asks for 1     agreed         asks for it
``(1, 2)``       1                  agreed         asks for 2     asks for it
===============  =================  =============  =============  =============================

An agent that calls the request in both forms invalid (-32600, -32602) is asked for version 1. No version is asked for
twice in the same form, so it ends.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from typing import Any

from acp_host.errors import (
    AcpError,
    InvalidInput,
    InvalidParams,
    InvalidRequest,
    ProtocolVersionRefused,
    RequestFailed,
    UnsupportedVersion,
)
from acp_host.wire._model import UNSET
from acp_host.wire.capabilities import ClientCapabilities
from acp_host.wire.converters import check, unstructure
from acp_host.wire.initialize import Implementation, InitializeRequest

__all__ = ["INITIALIZE", "KNOWN_VERSIONS", "Form", "VersionChoice", "checked_versions"]

INITIALIZE = "initialize"

KNOWN_VERSIONS = (1, 2)
"""The versions that this library speaks."""


class Form(enum.Enum):
    """How ``initialize`` is written."""

    FIRST = "as version 1 has it"
    SECOND = "as version 2 has it"
    BOTH = "for version 2, readable for agents of version 1"


_MOST_NAMED = 10
"""How many of the versions that an agent names an error repeats."""

_PURE = {1: Form.FIRST, 2: Form.SECOND}


def checked_versions(versions: object) -> tuple[int, ...]:
    """Return the versions that a host speaks, the preferred one first.

    Raises:
        InvalidInput: they are none, one is not known, or is named twice.
    """
    listed = tuple(versions) if isinstance(versions, Sequence) and not isinstance(versions, str) else ()
    known = [version for version in listed if type(version) is int and version in KNOWN_VERSIONS]
    if not listed or len(known) != len(listed) or len(set(known)) != len(known):
        raise InvalidInput(
            f"protocol_versions is a tuple of {' and '.join(map(str, KNOWN_VERSIONS))}, each at most once, the "
            f"preferred one first; not {versions!r}"
        )
    return tuple(known)


class VersionChoice:
    """What was asked, and what to ask next; one for each connection.

    Args:
        versions: as :func:`checked_versions` returns them.

    Attributes:
        due: the form in which ``initialize`` is to be sent now; ``None``: it is answered, or waits to be.
        asked: the forms in which it was sent, in order.
    """

    def __init__(self, versions: tuple[int, ...]) -> None:
        self._versions = versions
        self._refused = False
        both = len(versions) > 1 and versions[0] == max(versions)
        self.due: Form | None = Form.BOTH if both else _PURE[versions[0]]
        self.asked: list[Form] = []

    def request(self, offer: ClientCapabilities, info: Implementation | None) -> dict[str, Any]:
        """Return the parameters of the request that is due, as wire JSON.

        Raises:
            InvalidInput: they do not fit the schema.
        """
        assert self.due is not None
        form, self.due = self.due, None
        params: dict[str, Any] = {}
        if form is not Form.SECOND:
            params |= unstructure(InitializeRequest(1, offer, info or UNSET))
            check(params, InitializeRequest, INITIALIZE)
        if form is not Form.FIRST:
            from acp_host.protocol.v2_handshake import request_of  # loaded for hosts of version 2 only

            params |= request_of(offer, info)
        self.asked.append(form)
        return params

    def accepts(self, version: int, who: str) -> bool:
        """Take the version that the agent has chosen; tell whether that is agreed, else ask again.

        Raises:
            UnsupportedVersion: this host does not speak it.
        """
        if version not in self._versions:
            spoken = " or ".join(map(str, sorted(self._versions)))
            raise UnsupportedVersion(
                f"{who} speaks ACP version {version}, this host version {spoken}; {self._advice((version,))}"
            )
        form = self.asked[-1]
        if form is _PURE[version] or (version == 2 and form is Form.BOTH):
            return True
        if not self._ask(version):
            raise UnsupportedVersion(f"{who} answers with another ACP version than the one that it was asked for")
        return False

    def refused(self, error: RequestFailed) -> AcpError:
        """Take an error in place of an answer, and ask again where that may help; return what it means if not."""
        if isinstance(error, ProtocolVersionRefused):
            common = [version for version in self._versions if version in error.supported]
            asks = bool(common) and not self._refused and self._ask(common[0])
            self._refused = True
            if not asks:
                theirs = " and ".join(map(str, error.supported[:_MOST_NAMED])) or "none that it names"
                ours = " and ".join(map(str, sorted(self._versions)))
                return UnsupportedVersion(
                    f"the agent speaks ACP version {theirs}, this host version {ours}; "
                    f"{self._advice(error.supported)} ({error})"
                )
        elif isinstance(error, InvalidParams | InvalidRequest) and self.asked[-1] is Form.BOTH:
            self._ask(1)
        return error

    def _advice(self, theirs: Iterable[int]) -> str:
        if 2 in theirs and 2 not in self._versions:
            return "ask for version 2, too: connect(protocol_versions=(2, 1)), or --protocol-version 2"
        return "update whichever is older"

    def _ask(self, version: int) -> bool:
        """Have a version asked for, unless it was; tell whether that is so."""
        form = _PURE[version]
        self.due = None if form in self.asked else form
        return self.due is not None
