"""Who may speak to an agent that is served over a network: :class:`Access`, the same for WebSocket and HTTP.

Whoever reaches a coding agent can have it do things, and on a developer's machine every web page that is open in a
browser can reach it. So three things are asked of each request before anything else is looked at:

============  =====================================================  ===============================================
header        what is let in                                          what it keeps out
============  =====================================================  ===============================================
``Host``      an address, ``localhost``, or a name that was listed    pages that rebind a name of theirs to this machine
``Origin``    none at all, or one that was listed                     pages of other sites
``token``     the token of this server, as ``Authorization: Bearer``  other users of the machine or the network
              or, where no header can be set, as ``?token=``
============  =====================================================  ===============================================
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from attrs import field, frozen

from acp_host.errors import InvalidInput
from acp_host.transports.serving_rules import Refusal, host_in, lowered, same_secret, tokens_in

__all__ = ["Access"]

_SHORTEST = 16
"""Characters that a token has at least; shorter ones can be guessed."""


def _token(instance: object, attribute: Any, value: Any) -> None:
    if not isinstance(value, str) or len(value) < _SHORTEST or not value.isascii() or not value.isprintable():
        raise InvalidInput(f"Access(token=…) takes a text of {_SHORTEST} printable ASCII characters or more")


@frozen(kw_only=True)
class Access:
    """What a request must have to be let in.

    Attributes:
        token: the secret that the client must know; by default a random one.
        origins: web pages that are let in, e.g. ``"https://editor.example"``; programs that are no browsers send none.
        hosts: names besides ``localhost`` under which this server is reached; addresses need no entry.

    Raises:
        InvalidInput: the token could be guessed, or cannot be in a header.
    """

    token: str = field(factory=lambda: secrets.token_urlsafe(32), validator=_token, repr=False)
    origins: frozenset[str] = field(default=(), converter=lowered)
    hosts: frozenset[str] = field(default=(), converter=lowered)

    def refusal(
        self, *, host: Sequence[str], origin: Sequence[str], authorization: Sequence[str], target: str
    ) -> Refusal | None:
        """Return why a request is not let in; ``None`` if it is.

        Args:
            host: the values of its ``Host`` headers (``:authority`` in HTTP/2); there must be one.
            origin: those of ``Origin``.
            authorization: those of ``Authorization``.
            target: its path with the query.
        """
        if host_in(host, self.hosts) is None:
            return Refusal(HTTPStatus.MISDIRECTED_REQUEST, "This server does not answer to that Host.")
        if any(value.lower() not in self.origins for value in origin):
            return Refusal(HTTPStatus.FORBIDDEN, "Pages of that Origin may not use this server.")
        if not self._knows_token(authorization, target):
            challenge = (("WWW-Authenticate", "Bearer"),)
            return Refusal(HTTPStatus.UNAUTHORIZED, "The token of this server is missing or wrong.", challenge)
        return None

    def with_token(self, url: str) -> str:
        """Return a URL of this server with the token in it, for clients that cannot set a header."""
        return f"{url}?{urlencode({'token': self.token})}"

    def _knows_token(self, authorization: Sequence[str], target: str) -> bool:
        given = [value.partition(" ")[2].strip() for value in authorization if value[:7].lower() == "bearer "]
        if not given:
            given = tokens_in(target)
        return len(given) == 1 and same_secret(given[0], self.token)
