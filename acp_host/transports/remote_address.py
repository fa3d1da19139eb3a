"""Where an agent elsewhere is found: :class:`RemoteAddress`, a checked URL and the form of it that people may see."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

from attrs import field, frozen

from acp_host.errors import InvalidInput

__all__ = ["RemoteAddress", "has_scheme"]

_SCHEME = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.-]*://")
_PORTS = {"ws": 80, "http": 80, "wss": 443, "https": 443}
_UNPRINTABLE = re.compile(r"[\x00-\x20\x7f-\x9f\s]")
_NOT_IN_HOSTS = re.compile(r"""["<>\[\\\]^`{|}]""")
"""What no name of a host can have in it (RFC 3986 §3.2.2)."""
_SAFE = "%/:=&?~#+!$,;'@()*[]"
"""What is not escaped once more in a path or a query."""


def has_scheme(text: str) -> bool:
    """Tell whether a text is a URL, rather than a command."""
    return bool(_SCHEME.match(text))


@frozen
class RemoteAddress:
    """The URL of an agent.

    Attributes:
        url: the URL as it is used; its host is ASCII.
        scheme: ``ws``, ``wss``, ``http`` or ``https``.
        host: name or address of the host; a name in its ASCII form (IDNA), so that no two names look alike.
        port: the port.
        shown: the URL for people, logs and the audit trail: without user, password and query, where secrets may be.
        secrets: what of the URL must not be shown.
    """

    url: str = field(repr=False)
    scheme: str
    host: str
    port: int
    shown: str
    secrets: tuple[str, ...] = field(repr=False)

    @staticmethod
    def of(url: str) -> RemoteAddress:
        """Check a URL.

        Raises:
            InvalidInput: it is none that an agent can be reached at.
        """
        if _UNPRINTABLE.search(url):
            raise InvalidInput("the agent's URL has spaces or control characters in it; write them as %20 and so on")
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as error:
            raise InvalidInput(f"the agent's URL cannot be read: {error}") from None
        scheme = parts.scheme.lower()
        if scheme not in _PORTS:
            raise InvalidInput(f"an agent's URL begins with ws://, wss://, http:// or https://, not {scheme}://")
        if not parts.hostname:
            raise InvalidInput(f"the agent's URL names no host: {scheme}://…")
        if parts.fragment:
            raise InvalidInput("the agent's URL has a #fragment, which no server ever sees; take it away")
        if parts.username is not None and not parts.password:
            raise InvalidInput("the agent's URL names a user without a password; give both, or use RemoteOptions")
        return _made(parts, scheme, _ascii(parts.hostname), port)

    @property
    def secure(self) -> bool:
        """Whether the way there is encrypted."""
        return self.scheme in ("wss", "https")

    @property
    def has_user(self) -> bool:
        """Whether the URL itself names a user and a password."""
        return "@" in urlsplit(self.url).netloc

    @property
    def is_loopback(self) -> bool:
        """Whether it is on this machine."""
        if self.host == "localhost" or self.host.endswith(".localhost"):
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def _made(parts: SplitResult, scheme: str, host: str, port: int | None) -> RemoteAddress:
    place = f"[{host}]" if ":" in host else host
    if port is not None:
        place += f":{port}"
    user = parts.netloc.rpartition("@")[0]
    path, query = quote(parts.path, safe=_SAFE), quote(parts.query, safe=_SAFE)
    whole = SplitResult(scheme, f"{user}@{place}" if user else place, path, query, "")
    secrets = [value for _, value in parse_qsl(parts.query, keep_blank_values=True)]
    if parts.password:
        secrets += [parts.password, unquote(parts.password)]
    return RemoteAddress(
        url=whole.geturl(),
        scheme=scheme,
        host=host,
        port=port or _PORTS[scheme],
        shown=SplitResult(scheme, place, path, "", "").geturl(),
        secrets=tuple(secrets),
    )


def _ascii(host: str) -> str:
    if _NOT_IN_HOSTS.search(host):
        raise InvalidInput(f"the agent's URL has a host name that cannot be: {host!r}")
    try:
        if not host.isascii():
            import idna  # its tables are large, and few hosts need them; its errors are UnicodeErrors

            return idna.encode(host, uts46=True).decode("ascii")
        host.encode("idna")  # as sockets do it: raises for labels that are empty or too long
        return host.lower()
    except UnicodeError as error:
        raise InvalidInput(f"the agent's URL has a host name that cannot be: {error}") from None
