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

import hmac
import ipaddress
import secrets
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from attrs import field, frozen

from acp_host.errors import InvalidInput

__all__ = ["Access", "Refusal", "check_bind"]

_SHORTEST = 16
"""Characters that a token has at least; shorter ones can be guessed."""


@frozen
class Refusal:
    """Why a request is not let in.

    Attributes:
        status: what to answer.
        text: the body, one line for a person.
        headers: further headers of the answer.
    """

    status: HTTPStatus
    text: str
    headers: tuple[tuple[str, str], ...] = ()


def _token(instance: object, attribute: Any, value: Any) -> None:
    if not isinstance(value, str) or len(value) < _SHORTEST or not value.isascii() or not value.isprintable():
        raise InvalidInput(f"Access(token=…) takes a text of {_SHORTEST} printable ASCII characters or more")


def _lowered(values: Sequence[str]) -> frozenset[str]:
    if isinstance(values, str):
        raise InvalidInput("Access(origins=…) and Access(hosts=…) take lists, not one text")
    return frozenset(value.lower().rstrip("/") for value in values)


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
    origins: frozenset[str] = field(default=(), converter=_lowered)
    hosts: frozenset[str] = field(default=(), converter=_lowered)

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
        if len(host) != 1 or not self._is_known(host[0]):
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

    def _is_known(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        return name == "localhost" or name in self.hosts or _is_address(name)

    def _knows_token(self, authorization: Sequence[str], target: str) -> bool:
        given = [value.partition(" ")[2].strip() for value in authorization if value[:7].lower() == "bearer "]
        if not given:
            given = parse_qs(urlsplit(target).query).get("token", [])
        wanted = self.token.encode()
        return len(given) == 1 and hmac.compare_digest(given[0].encode("utf-8", "surrogateescape"), wanted)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def check_bind(host: str, *, allow_other_machines: bool) -> None:
    """Refuse to listen where other machines can connect, unless that was said in so many words.

    Args:
        host: the name or address to listen at.
        allow_other_machines: it was.

    Raises:
        InvalidInput: it was not, and they can.
    """
    loopback = host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)
    if not loopback and not allow_other_machines:
        raise InvalidInput(
            f"{host or 'every address'} can be reached from other machines, and whoever knows the token has the agent "
            "at their service, unencrypted; if that is what you want, allow other machines explicitly"
        )
