"""What agents were last seen to support: :class:`SeenAgent`, :class:`LastSeen`.

It is a convenience for people, in a file of bounded size without secrets: what cannot be read of it is taken for not
there, and nothing that is done depends on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson
from attrs import frozen

from acp_host.errors import InvalidState
from acp_host.owned_files import read_owned, replace_owned
from acp_host.printable import one_line
from acp_host.recording.redaction import command_without_secrets
from acp_host.redaction import redact_text
from acp_host.transports.remote_address import RemoteAddress

__all__ = ["LastSeen", "SeenAgent", "seen_key"]

_MAX_AGENTS = 200
_MAX_ITEMS = 100
_LONGEST = 200
_MAX_SIZE = 8 * 2**20


@frozen(kw_only=True)
class SeenAgent:
    """What an agent said at a handshake.

    Attributes:
        at: when that was.
        protocol_version: the version that was agreed.
        name: what it calls itself; empty where it does not say.
        version: its version; empty likewise.
        capabilities: paths of what it offers, as ``acp-host inspect`` shows them.
        auth_methods: ids of the ways to log in that it offers.
    """

    at: datetime
    protocol_version: int
    name: str = ""
    version: str = ""
    capabilities: Sequence[str] = ()
    auth_methods: Sequence[str] = ()


def seen_key(command: Sequence[str], url: str | None) -> str:
    """Return what an agent is known by in the file: how it is started or reached, without secrets.

    Args:
        command: its command.
        url: the URL of an agent elsewhere, which then counts alone; else ``None``.
    """
    return " ".join(command_without_secrets(command)) if url is None else RemoteAddress.of(url).shown


class LastSeen:
    """The file that says what agents were last seen to support.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> Mapping[str, SeenAgent]:
        """Return all that is known, by :func:`seen_key`; nothing if the file is not there or damaged."""
        found = {}
        for key, members in self._entries().items():
            try:
                found[key] = _agent(members)
            except (KeyError, TypeError, ValueError, AttributeError):
                continue
        return found

    def remember(self, key: str, agent: SeenAgent) -> None:
        """Write down what an agent said, in place of what it said before; the oldest beyond 200 agents are forgotten.

        Raises:
            InvalidState: the file cannot be written.
        """
        entries = {name: members for name, members in self._entries().items() if name != key}
        kept = [*entries.items(), (key, _members(agent))][-_MAX_AGENTS:]
        try:
            replace_owned(self._path, orjson.dumps({"version": 1, "agents": dict(kept)}, option=orjson.OPT_INDENT_2))
        except OSError as error:
            raise InvalidState(f"{self._path} cannot be written: {error.strerror or error}") from None

    def _entries(self) -> Mapping[str, Any]:
        try:
            document = orjson.loads(read_owned(self._path, _MAX_SIZE))
        except (OSError, ValueError):
            return {}
        agents = document.get("agents") if isinstance(document, dict) else None
        return agents if isinstance(agents, dict) else {}


def _members(agent: SeenAgent) -> dict[str, Any]:
    return {
        "at": agent.at.isoformat(timespec="seconds"),
        "protocolVersion": agent.protocol_version,
        "name": _short(agent.name),
        "version": _short(agent.version),
        "capabilities": [_short(path) for path in agent.capabilities[:_MAX_ITEMS]],
        "authMethods": [_short(method) for method in agent.auth_methods[:_MAX_ITEMS]],
    }


def _agent(members: Any) -> SeenAgent:
    return SeenAgent(
        at=datetime.fromisoformat(members["at"]),
        protocol_version=int(members["protocolVersion"]),
        name=_short(str(members["name"])),
        version=_short(str(members["version"])),
        capabilities=tuple(_short(str(path)) for path in list(members["capabilities"])[:_MAX_ITEMS]),
        auth_methods=tuple(_short(str(method)) for method in list(members["authMethods"])[:_MAX_ITEMS]),
    )


def _short(text: str) -> str:
    return one_line(redact_text(text[: 4 * _LONGEST]), _LONGEST)
