"""Cookies of one connection to an agent elsewhere, and of those that follow it: :class:`CookieStore`.

Servers keep a client at one of many machines by them. They go back only where RFC 6265 lets them: to the same host, the
same path, and over TLS alone where they ask for it. Nothing is written to disk.
"""

from __future__ import annotations

import email.message
import email.utils
import http.client
import http.cookiejar
import re
import urllib.request
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC
from typing import cast
from urllib.parse import urlsplit

__all__ = ["CookieStore"]

_AGE = re.compile(r"-?[0-9]{1,12}\Z")
_MOST = 50
"""Cookies that are kept; RFC 6265 §6.1 wants as many for one host."""
_LONGEST = 4096
"""Bytes of a cookie that is kept, RFC 6265 §6.1."""


class _Response:
    """What the jar reads of a response."""

    def __init__(self, set_cookie: Iterable[str]) -> None:
        self._headers = email.message.Message()
        for value in set_cookie:
            self._headers["Set-Cookie"] = value

    def info(self) -> email.message.Message:
        return self._headers


class _Jar(http.cookiejar.CookieJar):
    """A jar that ignores the attributes that RFC 6265 §5.2 ignores: those that it does not know or cannot read.

    The standard library's would stumble over some of them, warn with a traceback, and lose all cookies of the response.
    """

    def make_cookies(
        self, response: http.client.HTTPResponse, request: urllib.request.Request
    ) -> Sequence[http.cookiejar.Cookie]:
        values = [_without_odd_attributes(value) for value in response.info().get_all("Set-Cookie", [])]
        return super().make_cookies(cast(http.client.HTTPResponse, _Response(values)), request)


def _without_odd_attributes(set_cookie: str) -> str:
    pair, *attributes = set_cookie.split(";")
    return ";".join([pair, *filter(None, map(_readable, attributes))])


def _readable(attribute: str) -> str | None:
    """Return an attribute in a form that the jar can read; ``None`` if it is to be ignored."""
    name, _, value = attribute.strip().partition("=")
    name, value = name.strip().lower(), value.strip()
    if name == "expires":
        return _readable_date(value)
    is_known = name == "secure" or (name in ("path", "domain") and value) or (name == "max-age" and _AGE.match(value))
    return attribute if is_known else None


def _readable_date(text: str) -> str | None:
    try:
        date = email.utils.parsedate_to_datetime(text.strip('"'))
        # A date without a zone is in UTC, RFC 6265 §5.1.1.
        date = date.astimezone(UTC) if date.tzinfo else date.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    return f"Expires={email.utils.format_datetime(date, usegmt=True)}"


class CookieStore:
    """The cookies, in a jar of the standard library.

    Attributes:
        jar: the jar, for an HTTP library that takes one.

    Args:
        url: the agent's URL, to which ``given`` belong.
        given: cookies to begin with.
    """

    def __init__(self, url: str, given: Mapping[str, str]) -> None:
        self.jar = _Jar(http.cookiejar.DefaultCookiePolicy())
        self.take(url, [f"{name}={value}; Path=/" for name, value in given.items()])

    def take(self, url: str, set_cookie: Iterable[str]) -> None:
        """Keep the cookies of a response.

        Args:
            url: what was asked for.
            set_cookie: the values of its ``Set-Cookie`` headers.
        """
        response = cast(http.client.HTTPResponse, _Response(set_cookie))
        self.jar.extract_cookies(response, _request(url))
        kept = [cookie for cookie in self.jar if _can_be_sent(cookie)][-_MOST:]
        for cookie in list(self.jar):
            if cookie not in kept:
                self.jar.clear(cookie.domain, cookie.path, cookie.name)

    def header(self, url: str) -> str | None:
        """Return the value of ``Cookie`` for a request; ``None`` where no cookie belongs there."""
        request = _request(url)
        self.jar.add_cookie_header(request)
        return request.get_header("Cookie")

    @property
    def secrets(self) -> tuple[str, ...]:
        """The values, none of which is to be shown."""
        return tuple(cookie.value for cookie in self.jar if cookie.value)


def _can_be_sent(cookie: http.cookiejar.Cookie) -> bool:
    """Tell whether a cookie can go back: one of other characters than ASCII has none that all servers would read."""
    text = f"{cookie.name}={cookie.value or ''}"
    return text.isascii() and text.isprintable() and len(text) <= _LONGEST


def _request(url: str) -> urllib.request.Request:
    parts = urlsplit(url)
    scheme = {"ws": "http", "wss": "https"}.get(parts.scheme, parts.scheme)
    return urllib.request.Request(parts._replace(scheme=scheme, netloc=parts.netloc.rpartition("@")[2]).geturl())
