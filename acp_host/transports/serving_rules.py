"""What every server of this library asks before anything else: where it may listen, and under which names it answers.

On a developer's machine every web page that is open in a browser can reach a local server; so a server answers under
its own names only, which keeps out pages that rebind a name of theirs to this machine.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Collection, Sequence
from http import HTTPStatus
from urllib.parse import parse_qs, urlsplit

from attrs import frozen

from acp_host.errors import InvalidInput

__all__ = ["Refusal", "check_bind", "host_in", "lowered", "path_in", "same_secret", "tokens_in", "url_at"]

_LARGEST_PORT = 65_535


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


def host_in(values: Sequence[str], names: Collection[str]) -> str | None:
    """Return what a request's ``Host`` says, ``name`` or ``name:port``; ``None`` if this server does not answer to it.

    Args:
        values: those of its ``Host`` headers (``:authority`` in HTTP/2); there must be one.
        names: names that are known besides ``localhost`` and addresses, in small letters.
    """
    if len(values) != 1:
        return None
    try:
        parts = urlsplit(f"//{values[0]}")
        name, port = parts.hostname or "", parts.port
    except ValueError:
        return None
    if name != "localhost" and name not in names and not _is_address(name):
        return None
    shown = f"[{name}]" if ":" in name else name
    return shown if port is None else f"{shown}:{port}"


def path_in(target: str) -> str:
    """Return the path of a request's target; empty where the target is none."""
    try:
        return urlsplit(target).path
    except ValueError:  # a path may begin like the name of a host, and such a one be of no form
        return ""


def tokens_in(target: str) -> list[str]:
    """Return what the query of a request's target says as ``token``, each time."""
    try:
        return parse_qs(urlsplit(target).query).get("token", [])
    except ValueError:
        return []


def same_secret(given: str, wanted: str) -> bool:
    """Tell whether two texts are the same, in a time that does not say where they differ."""
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), wanted.encode())


def lowered(values: Sequence[str]) -> frozenset[str]:
    """Return names or origins as they are compared.

    Raises:
        InvalidInput: it is one text.
    """
    if isinstance(values, str):
        raise InvalidInput("names and origins are given as a list, not as one text")
    return frozenset(value.lower().rstrip("/") for value in values)


def check_bind(host: str, port: int, *, allow_other_machines: bool) -> None:
    """Refuse to listen where other machines can connect, unless that was said in so many words.

    Args:
        host: the name or address to listen at.
        port: the port; 0 for a free one.
        allow_other_machines: it was.

    Raises:
        InvalidInput: it was not, and they can; or there is no such port.
    """
    if not 0 <= port <= _LARGEST_PORT:
        raise InvalidInput(f"a port is a number up to {_LARGEST_PORT}, not {port}")
    loopback = host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)
    if not loopback and not allow_other_machines:
        raise InvalidInput(
            f"{host or 'every address'} can be reached from other machines, and whoever knows the token has the agent "
            "at their service, unencrypted; if that is what you want, say so by allow_other_machines=True, on the "
            "command line --allow-other-machines"
        )


def url_at(scheme: str, host: str, port: int, path: str) -> str:
    """Return the URL of a server that listens at ``host``, which may stand for every address."""
    place = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"{scheme}://[{place}]:{port}{path}" if ":" in place else f"{scheme}://{place}:{port}{path}"


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
