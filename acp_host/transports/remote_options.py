"""How an agent elsewhere is reached, whichever protocol carries the messages: :class:`RemoteOptions`."""

from __future__ import annotations

import re
import ssl
from collections.abc import Mapping
from typing import Any

from attrs import Attribute, field, frozen

from acp_host.errors import InvalidInput
from acp_host.validators import number

__all__ = ["MAX_SIZE", "RemoteOptions"]

MAX_SIZE = 64 * 2**20
"""Default for the longest message that is read, in bytes."""

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""A name of a header, a cookie or a subprotocol (RFC 9110 §5.6.2)."""
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_COOKIE_VALUE = re.compile(r"[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*")
_BEARER = re.compile(r"[\x21-\x7e]+")
_OF_THE_TRANSPORT = frozenset(
    {
        "acp-connection-id",
        "acp-session-id",
        "connection",
        "content-length",
        "content-type",
        "host",
        "te",
        "transfer-encoding",
        "upgrade",
    }
)
"""Headers that are the transport's own business."""
_BYTES = number("a number of bytes", least=1, whole=True)
_BYTES_OR_NONE = number("a number of bytes", least=1, whole=True, optional=True)
_SECONDS = number("seconds", above=0)
_SECONDS_OR_NONE = number("seconds", above=0, optional=True)


def _headers(instance: object, attribute: Attribute[Any], value: Any) -> None:
    _texts("headers", value)
    for name, text in value.items():
        if not _TOKEN.fullmatch(name):
            raise InvalidInput(f"RemoteOptions(headers=…): {name!r} cannot be the name of a header")
        lower = name.lower()
        if lower in _OF_THE_TRANSPORT or lower.startswith("sec-websocket-"):
            raise InvalidInput(f"RemoteOptions(headers=…): {name} is set by the transport itself")
        if lower == "cookie":
            raise InvalidInput("RemoteOptions(headers=…): give cookies as cookies={name: value}")
        if not _HEADER_VALUE.fullmatch(text):  # it may be a secret: not shown
            raise InvalidInput(f"RemoteOptions(headers=…): the value of {name} has a character that no header can have")


def _cookies(instance: object, attribute: Attribute[Any], value: Any) -> None:
    _texts("cookies", value)
    for name, text in value.items():
        if not _TOKEN.fullmatch(name) or not _COOKIE_VALUE.fullmatch(text):
            raise InvalidInput(f"RemoteOptions(cookies=…): {name!r} has a character that no cookie can have (RFC 6265)")


def _texts(what: str, value: Any) -> None:
    fits = isinstance(value, Mapping) and all(isinstance(part, str) for item in value.items() for part in item)
    if not fits:
        raise InvalidInput(f"RemoteOptions({what}=…) takes a mapping of names to texts")


def _bearer(instance: RemoteOptions, attribute: Attribute[Any], value: Any) -> None:
    if value is None:
        return
    if not isinstance(value, str) or not _BEARER.fullmatch(value):
        raise InvalidInput("RemoteOptions(bearer=…) takes the token alone, a text without spaces")
    if any(name.lower() == "authorization" for name in instance.headers):
        raise InvalidInput("RemoteOptions: bearer=… and a header Authorization are two answers to one question")


def _subprotocols(instance: object, attribute: Attribute[Any], value: tuple[str, ...]) -> None:
    for name in value:
        if not isinstance(name, str) or not _TOKEN.fullmatch(name):
            raise InvalidInput(f"RemoteOptions(subprotocols=…): {name!r} cannot be the name of a subprotocol")


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _proxy(instance: object, attribute: Attribute[Any], value: Any) -> None:
    if not (isinstance(value, bool) or (isinstance(value, str) and "://" in value)):
        raise InvalidInput("RemoteOptions(proxy=…) takes True (that of the system), False, or the URL of a proxy")


def _tls(instance: object, attribute: Attribute[Any], value: Any) -> None:
    if not isinstance(value, ssl.SSLContext | None):
        raise InvalidInput(f"RemoteOptions(tls=…) takes an ssl.SSLContext, not {type(value).__name__}")


def _text(instance: object, attribute: Attribute[Any], value: Any) -> None:
    if value is not None and (not isinstance(value, str) or not value):
        raise InvalidInput(f"RemoteOptions({attribute.name}=…) takes a text, or None")


@frozen(kw_only=True)
class RemoteOptions:
    """How to reach an agent elsewhere. The values that may be secrets are in no repr, error, log or audit record.

    Attributes:
        headers: sent with every request of this connection, the upgrade of a WebSocket included.
        bearer: token sent as ``Authorization: Bearer …`` (RFC 6750).
        cookies: sent from the beginning; those that the server sets join them, and take the place of equal names.
        subprotocols: offered to a WebSocket server (RFC 6455 §1.9), the one preferred first; HTTP has no such thing.
        proxy: ``True``: that of the environment or the system, if any, but none to this machine itself; ``False``:
            none; or the URL of one.
        tls: the TLS settings, e.g. with the certificate of a private authority or one of this host's own; ``None``:
            the system's authorities, the name of the host checked.
        compression: offer a WebSocket server to compress messages (RFC 7692); never done within one machine.
        server_hostname: name that the server's certificate must have; ``None``: that of the URL.
        max_size: longest message that is read, in bytes, after decompression. One that is longer ends a WebSocket; over
            Streamable HTTP it is skipped.
        warn_size: a message longer than this leaves a diagnostic before it is sent, since many servers and proxies take
            no more than 1 MiB; in bytes, ``None`` for none.
        keepalive: seconds between pings of a WebSocket; ``None``: none are sent.
        keepalive_timeout: seconds without the answer to a ping after which a WebSocket counts as lost; ``None``: never.
        open_timeout: seconds for reaching the server, its answer to the upgrade included.
        close_timeout: seconds that the server may take to say goodbye.

    Raises:
        InvalidInput: a value can never be used.
    """

    headers: Mapping[str, str] = field(factory=dict, validator=_headers, repr=False)
    bearer: str | None = field(default=None, validator=_bearer, repr=False)
    cookies: Mapping[str, str] = field(factory=dict, validator=_cookies, repr=False)
    subprotocols: tuple[str, ...] = field(default=(), converter=_as_tuple, validator=_subprotocols)
    proxy: str | bool = field(default=True, validator=_proxy, repr=False)
    tls: ssl.SSLContext | None = field(default=None, validator=_tls)
    compression: bool = True
    server_hostname: str | None = field(default=None, validator=_text)
    max_size: int = field(default=MAX_SIZE, validator=_BYTES)
    warn_size: int | None = field(default=2**20, validator=_BYTES_OR_NONE)
    keepalive: float | None = field(default=20.0, validator=_SECONDS_OR_NONE)
    keepalive_timeout: float | None = field(default=20.0, validator=_SECONDS_OR_NONE)
    open_timeout: float = field(default=30.0, validator=_SECONDS)
    close_timeout: float = field(default=5.0, validator=_SECONDS)

    @property
    def secrets(self) -> tuple[str, ...]:
        """The values that must not be shown; every header counts, since a name does not tell what it is for."""
        given = [*self.headers.values(), *self.cookies.values()]
        if self.bearer is not None:
            given.append(self.bearer)
        if isinstance(self.proxy, str) and "@" in self.proxy:
            given.append(self.proxy.partition("://")[2].rpartition("@")[0])
        return tuple(given)

    @property
    def has_credentials(self) -> bool:
        """Whether anything here may say who the user is."""
        return bool(self.headers or self.cookies or self.bearer)

    def request_headers(self) -> dict[str, str]:
        """Return the headers to send, ``Authorization`` included, cookies not."""
        headers = dict(self.headers)
        if self.bearer is not None:
            headers["Authorization"] = f"Bearer {self.bearer}"
        return headers
