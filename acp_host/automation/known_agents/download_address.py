"""Addresses that something is downloaded from: :func:`download_address`."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urljoin, urlsplit

from acp_host.errors import InvalidInput

__all__ = ["download_address"]

_LONGEST = 4_096
_UNPRINTABLE = re.compile(r"[^\x21-\x7e]")


def download_address(url: str, *, base: str = "") -> str:
    """Return a URL that may be downloaded from: HTTPS, or HTTP from this machine itself, and no password in it.

    Args:
        url: the URL.
        base: another one that it is relative to.

    Raises:
        InvalidInput: it is none.
    """
    try:
        url = urljoin(base, url)
    except ValueError as error:
        raise InvalidInput(f"{url[:200]!r} is no URL: {error}") from None
    if len(url) > _LONGEST or _UNPRINTABLE.search(url):
        raise InvalidInput("an address to download from is a URL of printable ASCII characters")
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise InvalidInput(f"{url[:200]!r} is no URL: {error}") from None
    if not parts.hostname:
        raise InvalidInput(f"{url[:200]!r} is no URL")
    if parts.username is not None:
        raise InvalidInput(f"the URL at {parts.hostname} has a user or a password in it, which would be kept")
    if parts.scheme != "https" and not (parts.scheme == "http" and _is_this_machine(parts.hostname)):
        raise InvalidInput(f"{url[:200]} is not https, so anybody on the way could change what is downloaded")
    return parts.geturl()  # its scheme in small letters


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
