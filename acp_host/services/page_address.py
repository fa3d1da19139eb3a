"""The address of a web page that an agent wants to open, taken apart for the user to judge: :func:`read_address`.

A browser must not read the address differently from how it is shown. So only plain ``http`` and ``https`` addresses are
accepted, whose parts nobody could mistake; they are shown, and opened, in their ASCII form. Nothing is looked up.

Specification: Elicitation, URL Mode.
"""

from __future__ import annotations

import ipaddress
import re
from unicodedata import category
from urllib.parse import quote

from attrs import frozen

from acp_host.errors import InvalidInput

__all__ = ["MAX_ADDRESS", "PageAddress", "read_address"]

MAX_ADDRESS = 8_192
"""Longest address, in characters."""

_ADDRESS = re.compile(r"(?P<scheme>[Hh][Tt][Tt][Pp][Ss]?)://(?P<place>[^/?#]+)(?P<rest>[/?#].*)?", re.DOTALL)
_HOST_AND_PORT = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^:\[\]%]+)(:(?P<port>\d{1,5}))?", re.ASCII)
_NUMBER = re.compile(r"\d+|0[xX][0-9A-Fa-f]*", re.ASCII)
_FORBIDDEN = re.compile(r"[\s\\]")
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp", "Zs"})
"""Unicode categories of what nobody sees: control and format characters, halves of surrogates, separators."""
_KEPT_IN_USER = "-._~:!$&'()*+,;=%"
_KEPT = f"{_KEPT_IN_USER}/?#[]@"
"""Characters of an address that stand for themselves, besides letters and digits (RFC 3986)."""


@frozen(kw_only=True)
class PageAddress:
    """The address of a web page, to be shown before the page is opened.

    Attributes:
        url: the whole address, as it is opened; ASCII only.
        host: the host in its ASCII form, with the port where it is not the usual one. Show this first.
        display_host: the host in its own script, where that differs; else equal to ``host``.
        warnings: what the user should know before opening it, a sentence each.
    """

    url: str
    host: str
    display_host: str
    warnings: tuple[str, ...] = ()


def read_address(url: str) -> PageAddress:
    """Take an address apart.

    Raises:
        InvalidInput: it is none that is safe to open; says why.

    >>> read_address("https://EXAMPLE.com:443/login").url
    'https://example.com/login'
    """
    if len(url) > MAX_ADDRESS:
        raise InvalidInput(f"the address has {len(url)} characters; at most {MAX_ADDRESS} are allowed")
    if _FORBIDDEN.search(url) or any(category(character) in _INVISIBLE for character in url):
        raise InvalidInput("the address has white space, backslashes or invisible characters in it")
    match = _ADDRESS.fullmatch(url)
    if match is None:
        raise InvalidInput("the address is not one of http:// or https:// with a host")
    user, at, place = match["place"].rpartition("@")
    inside = _HOST_AND_PORT.fullmatch(place)
    if inside is None or (inside["port"] is not None and not 0 < int(inside["port"]) < 65_536):
        raise InvalidInput("the host of the address cannot be read")
    scheme, host = match["scheme"].lower(), _ascii_host(inside["host"])
    usual = {"http": "80", "https": "443"}[scheme]
    port = "" if inside["port"] in (None, usual) else f":{int(inside['port'])}"
    opened = f"{scheme}://{quote(user, _KEPT_IN_USER)}{at}{host}{port}{quote(match['rest'] or '', _KEPT)}"
    display = _display_host(host)
    return PageAddress(
        url=opened,
        host=host + port,
        display_host=display + port,
        warnings=tuple(_warnings(scheme, at, host, display)),
    )


def _ascii_host(host: str) -> str:
    """Return a host as the browser would look it up."""
    if host.startswith("["):
        return f"[{_ip_address(host[1:-1])}]"
    import idna

    try:
        if not all(idna.uts46_remap(character, std3_rules=False) for character in host):
            raise InvalidInput("the host of the address has characters in it that a browser leaves out")
        name = idna.encode(host, uts46=True).decode("ascii") if not host.isascii() else _checked_name(host.lower())
    except (idna.IDNAError, UnicodeError) as error:
        raise InvalidInput(f"the host of the address is no name: {error}") from None
    if _NUMBER.fullmatch(name.rstrip(".").rpartition(".")[2]):
        return _ip_address(name)  # a browser takes any such name for an IPv4 address, in several notations
    return name


def _checked_name(host: str) -> str:
    """Return an ASCII host name; names in practice have underscores, which idna refuses."""
    labels = host.removesuffix(".").split(".")
    if len(host) > 253 or not all(re.fullmatch(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?", label) for label in labels):
        raise InvalidInput("the host of the address is no name")
    return host


def _ip_address(text: str) -> str:
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        raise InvalidInput("the host of the address is no IP address in the usual notation") from None


def _display_host(host: str) -> str:
    """Return a host name in its own script, as far as that can be printed."""
    import idna

    try:
        name = idna.decode(host) if "xn--" in host else host
        return name if name.isprintable() else host
    except (idna.IDNAError, UnicodeError):
        return host


def _warnings(scheme: str, at: str, host: str, display: str) -> list[str]:
    found = []
    if at:
        found.append(f"What stands before the @ is no host: the page is on {host}.")
    if "xn--" in host:
        shown = f"{display} is {host}" if display != host else f"they cannot be shown here; they are {host}"
        found.append(f"The host has letters that may look like others: {shown}.")
    local = host == "localhost" or host.endswith(".localhost")
    if host.startswith("[") or _NUMBER.fullmatch(host.rpartition(".")[2]):
        local = ipaddress.ip_address(host.strip("[]")).is_loopback
        if not local:
            found.append("The host is a number, not a name.")
    if scheme == "http" and not local:
        found.append("The connection is not encrypted: others can read and change what is sent.")
    return found
