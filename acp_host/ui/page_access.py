"""Who may see a page that shows a conversation, and who may act in it: :class:`PageAccess`.

The URL that is printed has a token. At the first load a browser exchanges it for a cookie, and goes on to an address
without it; so the token is in no history, and in no ``Referer``. The cookie is another secret, which no script can read
and which the browser sends from this page only.

==========  ============================================================================================================
asked for   what it keeps out
==========  ============================================================================================================
``Host``    pages that rebind a name of theirs to this machine
``Origin``  pages of other sites, and of other servers on this machine, that open a WebSocket here
cookie      other users of the machine or the network; a program may send the token as ``Authorization: Bearer``
==========  ============================================================================================================
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from enum import Enum
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from attrs import field, frozen
from websockets.datastructures import Headers

from acp_host.errors import InvalidInput
from acp_host.transports.serving_rules import Refusal, host_in, lowered, same_secret, tokens_in

__all__ = ["PageAccess", "Role"]

_SHORTEST = 16
"""Characters that a token has at least; shorter ones can be guessed."""


class Role(Enum):
    """What somebody who was let in may do."""

    CONTROL = "control"
    WATCH = "watch"


def _secret() -> str:
    return secrets.token_urlsafe(32)


def _token(instance: object, attribute: Any, value: Any) -> None:
    if not isinstance(value, str) or len(value) < _SHORTEST or not value.isascii() or not value.isprintable():
        raise InvalidInput(f"PageAccess(token=…) takes a text of {_SHORTEST} printable ASCII characters or more")


@frozen(kw_only=True)
class PageAccess:
    """What a request must have to be let in.

    Attributes:
        token: lets a browser in that may act; by default a random one.
        watch_token: likewise for one that may look only.
        origins: pages besides the server's own that may open the feed, e.g. ``"https://notebooks.example"``.
        hosts: names besides ``localhost`` under which the server is reached; addresses need no entry.

    Raises:
        InvalidInput: a token could be guessed.
    """

    token: str = field(factory=_secret, validator=_token, repr=False)
    watch_token: str = field(factory=_secret, validator=_token, repr=False)
    origins: frozenset[str] = field(default=(), converter=lowered)
    hosts: frozenset[str] = field(default=(), converter=lowered)
    _cookies: dict[Role, str] = field(init=False, factory=lambda: {role: _secret() for role in Role}, repr=False)

    def refusal(self, headers: Headers) -> Refusal | None:
        """Return why a request is not even looked at: its names are not this server's; ``None`` if they are."""
        host = host_in(headers.get_all("Host"), self.hosts)
        if host is None:
            return Refusal(HTTPStatus.MISDIRECTED_REQUEST, "This server does not answer to that Host.")
        own = (f"http://{host}", f"https://{host}")
        if any(value.lower() not in (*own, *self.origins) for value in headers.get_all("Origin")):
            return Refusal(HTTPStatus.FORBIDDEN, "Pages of that Origin may not use this server.")
        return None

    def role(self, headers: Headers, port: int) -> Role | None:
        """Return what somebody may do by their cookie or header; ``None``: nothing.

        Args:
            headers: of the request.
            port: of the server, which is in the name of its cookie: browsers send cookies to all ports of a host.
        """
        given = [value.partition(" ")[2].strip() for value in headers.get_all("Authorization") if _is_bearer(value)]
        if given:
            return self._role_of(given, {Role.CONTROL: self.token, Role.WATCH: self.watch_token})
        return self._role_of(_cookies(headers.get_all("Cookie"), _cookie_name(port)), self._cookies)

    def exchanged(self, target: str, port: int) -> str | None:
        """Return the cookie for the token in a request's target, as ``Set-Cookie`` has it; ``None``: it has none."""
        given = tokens_in(target)
        role = self._role_of(given, {Role.CONTROL: self.token, Role.WATCH: self.watch_token})
        if role is None:
            return None
        return f"{_cookie_name(port)}={self._cookies[role]}; HttpOnly; SameSite=Strict; Path=/"

    def url(self, address: str, role: Role) -> str:
        """Return the URL that lets a browser in."""
        token = self.token if role is Role.CONTROL else self.watch_token
        return f"{address}?{urlencode({'token': token})}"

    @staticmethod
    def _role_of(given: list[str], secrets_of: dict[Role, str]) -> Role | None:
        if len(given) != 1:
            return None
        return next((role for role, secret in secrets_of.items() if same_secret(given[0], secret)), None)


def _is_bearer(value: str) -> bool:
    return value[:7].lower() == "bearer "


def _cookie_name(port: int) -> str:
    return f"acp_host_{port}"


def _cookies(headers: Iterable[str], name: str) -> list[str]:
    """Return the values of a cookie; those of other servers on this machine may be malformed."""
    pairs = [pair.partition("=") for header in headers for pair in header.split(";")]
    return [value.strip() for key, _, value in pairs if key.strip() == name]
