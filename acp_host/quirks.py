"""What single agents do differently, as data: one table of :class:`Quirk` rows, and :func:`quirks_for`.

A row says for which agent (by the name it gives in ``agentInfo``) and which versions it holds, which rule of this
library it changes, and why. Nothing else in the library looks at an agent's name. An application can pass its own table
to :func:`acp_host.connect`, an empty one to switch all of them off.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum

from attrs import frozen

__all__ = ["QUIRKS", "Quirk", "QuirkKind", "quirks_for"]


class QuirkKind(StrEnum):
    """Which rule a row changes."""

    WORKS_UNADVERTISED = "works_unadvertised"
    """The method in ``subject`` works although its capability is not advertised."""
    ABSENT_THOUGH_ADVERTISED = "absent_though_advertised"
    """The method in ``subject`` is answered -32601 although its capability is advertised."""
    MISSING_FILE_READS_EMPTY = "missing_file_reads_empty"
    """``fs/read_text_file`` for a file that does not exist is answered with empty content instead of -32002."""
    LOGIN_WANTED_IN_TEXT = "login_wanted_in_text"
    """-32603 whose text says that nobody is logged in means -32000, if the agent lists ways to log in."""
    OPEN_IS_NOT_LOADED = "open_is_not_loaded"
    """A session that the agent holds open already is refused by ``session/load`` with -32602; it is open then."""
    REOPENS_WITHOUT_MCP_SERVERS = "reopens_without_mcp_servers"
    """The method in ``subject`` is refused unless ``mcpServers`` is an empty list."""
    LOCK_OUTLIVES_AGENT = "lock_outlives_agent"
    """A session may be refused as open elsewhere for a moment after the agent that had it open has ended."""
    SPEAKS_HARN = "speaks_harn"
    """It speaks Harn's extensions, also where ``agentCapabilities._meta.harn`` does not say so."""


@frozen
class Quirk:
    """One thing that one agent does differently.

    Attributes:
        agent: regular expression that must match the whole of ``agentInfo.name``.
        kind: which rule changes.
        why: what was seen, for a person.
        subject: what the kind is about, e.g. a wire method; empty where it needs none.
        versions: regular expression that must match the whole of ``agentInfo.version``.
    """

    agent: str
    kind: QuirkKind
    why: str
    subject: str = ""
    versions: str = ".*"

    def applies_to(self, name: str, version: str) -> bool:
        """Tell whether the row is for this agent."""
        return bool(re.fullmatch(self.agent, name) and re.fullmatch(self.versions, version))


QUIRKS: tuple[Quirk, ...] = (
    Quirk(
        agent="harn",
        kind=QuirkKind.WORKS_UNADVERTISED,
        subject="session/remind",
        why="older builds take reminders and do not advertise it",
    ),
    Quirk(
        agent="harn",
        kind=QuirkKind.WORKS_UNADVERTISED,
        subject="session/fork",
        why="it forks sessions and does not advertise it",
    ),
    Quirk(
        agent="harn",
        kind=QuirkKind.SPEAKS_HARN,
        why="older builds do not list their extensions",
    ),
    Quirk(
        agent="gemini-cli",
        kind=QuirkKind.MISSING_FILE_READS_EMPTY,
        why="its file tool cannot tell a missing file from a failure, so that it could never create one",
    ),
    Quirk(
        agent="qwen-code",
        versions=r"0\.15\..*",
        kind=QuirkKind.ABSENT_THOUGH_ADVERTISED,
        subject="session/resume",
        why="advertises resume and answers method not found",
    ),
    Quirk(
        agent="(?i).*copilot.*",
        versions=r"0\.0\.(?:[1-3]?\d?\d|400)(?:\D.*)?",
        kind=QuirkKind.LOGIN_WANTED_IN_TEXT,
        why="answers -32603 while nobody is logged in",
    ),
    Quirk(
        agent="(?i).*copilot.*",
        kind=QuirkKind.OPEN_IS_NOT_LOADED,
        why="refuses to load a session that it has open, as already loaded",
    ),
    *(
        Quirk(
            agent="(?i).*devin.*",
            kind=QuirkKind.REOPENS_WITHOUT_MCP_SERVERS,
            subject=method,
            why="answers invalid params where MCP servers are named for a session that is opened again",
        )
        for method in ("session/load", "session/resume")
    ),
    Quirk(
        agent="(?i).*devin.*",
        kind=QuirkKind.LOCK_OUTLIVES_AGENT,
        why="locks its sessions by files, which outlive a process that was killed",
    ),
    *(
        Quirk(
            agent="LangGraph",
            versions=r"1\.10\..*",
            kind=QuirkKind.ABSENT_THOUGH_ADVERTISED,
            subject=method,
            why="langchain-acp advertises its whole set of session methods before it implements them",
        )
        for method in ("session/resume", "session/fork", "session/close")
    ),
)
"""The rows that ship with the library."""


def quirks_for(name: str, version: str, table: Iterable[Quirk] = QUIRKS) -> tuple[Quirk, ...]:
    """Return the rows of ``table`` that are for the agent with this name and version.

    >>> [quirk.kind.value for quirk in quirks_for("gemini-cli", "0.9")]
    ['missing_file_reads_empty']
    """
    return tuple(quirk for quirk in table if quirk.applies_to(name, version))
