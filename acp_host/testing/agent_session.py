"""A session as the reference agent keeps it: :class:`AgentSession`, with its settings and its history."""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING, Any

from attrs import define, field

from acp_host.errors import InvalidParams
from acp_host.testing._reminder_shelf import ReminderShelf
from acp_host.wire._model import UNSET, evolve
from acp_host.wire.config_options import (
    ConfigOptionUpdate,
    CurrentModeUpdate,
    SessionConfigBoolean,
    SessionConfigOption,
    SessionConfigOptionCategory,
    SessionConfigSelect,
    SessionConfigSelectOption,
    SessionMode,
    SessionModeState,
)
from acp_host.wire.content import TextContent
from acp_host.wire.ids import SessionId
from acp_host.wire.mcp import McpServer
from acp_host.wire.session import SessionInfo
from acp_host.wire.text import join_text
from acp_host.wire.updates import ContentChunk, SessionUpdate, UnknownSessionUpdate

if TYPE_CHECKING:
    from acp_host.testing._running_turn import RunningTurn, TurnScript

__all__ = ["ASK", "AUTO", "SWITCHES", "AgentSession", "Settings"]

ASK, AUTO = "ask", "auto"
"""The modes: ask before every change, or change files without asking."""
SWITCHES = "clientCapabilities.session.configOptions.boolean"
"""What a host has to offer to be told of options that are on or off."""

_MODES = (
    SessionMode(ASK, "Ask", description="Asks before it changes a file or runs a command."),
    SessionMode(AUTO, "Accept edits", description="Changes files without asking; still asks before it runs a command."),
)
_SELECTS = {
    "mode": ("Mode", SessionConfigOptionCategory.MODE, {mode.id: mode.name for mode in _MODES}),
    "model": ("Model", SessionConfigOptionCategory.MODEL, {"small": "Reference Small", "large": "Reference Large"}),
    "thoughts": ("Thinking", SessionConfigOptionCategory.THOUGHT_LEVEL, {"shown": "Shown", "off": "Off"}),
}


@define
class Settings:
    """What the user can set about a session. ``mode`` is a mode and an option: a host may know only one of the two.

    Attributes:
        mode: :data:`ASK` or :data:`AUTO`.
        model: has no effect; there is no model.
        thoughts: ``"shown"``, or ``"off"`` for no thoughts.
        plans: whether plans are told.
    """

    mode: str = ASK
    model: str = "small"
    thoughts: str = "shown"
    plans: bool = True

    def modes(self) -> SessionModeState:
        """Return the modes and the current one."""
        return SessionModeState(self.mode, _MODES)

    def models(self) -> dict[str, Any]:
        """Return the models as an older draft has them, plain JSON."""
        models = [{"modelId": value, "name": name} for value, name in _SELECTS["model"][2].items()]
        return {"currentModelId": self.model, "availableModels": models}

    def options(self, *, switches: bool) -> tuple[SessionConfigOption, ...]:
        """Return all options; ``switches`` tells whether the host takes those that are on or off."""
        options: list[SessionConfigOption] = [
            SessionConfigSelect(
                id=id,
                name=name,
                current_value=getattr(self, id),
                options=tuple(SessionConfigSelectOption(value, label) for value, label in values.items()),
                category=category,
            )
            for id, (name, category, values) in _SELECTS.items()
        ]
        if switches:
            options.append(
                SessionConfigBoolean("plans", "Plans", self.plans, description="Tell the plan of each turn.")
            )
        return tuple(options)

    def set(self, option: str, value: str | bool) -> None:
        """Set an option.

        Raises:
            InvalidParams: there is no such option, or it cannot have this value.
        """
        if option == "plans" and isinstance(value, bool):
            self.plans = value
        elif option in _SELECTS and value in _SELECTS[option][2]:
            setattr(self, option, value)
        else:
            raise InvalidParams(f"{option} cannot be set to {value!r}", data={"configId": option})


@define(eq=False)
class AgentSession:
    """One conversation, from ``session/new`` until it is deleted, whichever connections it is open on.

    Attributes:
        id: its id.
        cwd: its working directory.
        additional_directories: further roots.
        mcp_servers: the MCP servers that the host named.
        updated_at: when something last happened, in ISO 8601.
        title: what it is called; ``None`` until the first prompt.
        archived: whether it was put away.
        settings: what the user can set.
        history: what ``session/load`` replays.
        always: tool kinds that the user has allowed, or rejected (``False``), for good.
        tokens: how much of the context is used.
        turns: how many turns have begun.
        shelf: the reminders for its model.
        turn: the turn that runs; ``None`` between turns.
        cancellations: how many times the host has cancelled the work in it.
        later: what the agent does by itself when the turn is over.
        files: the files that an agent of ACP v2 makes up, by path.
        state: the last ``state_update`` of ACP v2, without what belongs to the moment when it was sent.
        background: what works when the session is idle, by its id.
        works: tasks that can be cancelled one by one, by kind (``tool_call`` or ``terminal``) and id.
        reader: the connection it is open on, as an opaque object; ``None`` if it is open on none.
    """

    id: SessionId
    cwd: str
    additional_directories: tuple[str, ...] = ()
    mcp_servers: tuple[McpServer, ...] = ()
    updated_at: str = ""
    title: str | None = None
    archived: bool = False
    settings: Settings = field(factory=Settings)
    history: list[SessionUpdate] = field(factory=list)
    always: dict[str, bool] = field(factory=dict)
    tokens: int = 0
    turns: int = 0
    shelf: ReminderShelf = field(factory=ReminderShelf)
    turn: RunningTurn | None = None
    cancellations: int = 0
    later: list[TurnScript] = field(factory=list)
    files: dict[str, str] = field(factory=dict)
    state: dict[str, Any] = field(factory=lambda: {"state": "idle"})
    background: dict[str, dict[str, str]] = field(factory=dict)
    works: dict[tuple[str, str], asyncio.Task[None]] = field(factory=dict)
    reader: object | None = None

    def info(self, *, archives: bool) -> SessionInfo:
        """Return the session's entry of ``session/list``; ``archives`` tells whether the agent has an archive."""
        return SessionInfo(
            session_id=self.id,
            cwd=self.cwd,
            additional_directories=self.additional_directories or UNSET,
            title=self.title or UNSET,
            updated_at=self.updated_at,
            archived=self.archived if archives else UNSET,
        )

    def change(self, option: str, value: str | bool, *, switches: bool) -> list[SessionUpdate]:
        """Set an option and return the updates that tell of it; see :meth:`Settings.set`.

        Raises:
            InvalidParams: there is no such option, or it cannot have this value.
        """
        self.settings.set(option, value)
        updates: list[SessionUpdate] = [ConfigOptionUpdate(self.settings.options(switches=switches))]
        return [CurrentModeUpdate(self.settings.mode), *updates] if option == "mode" else updates

    def replay(self, *, marked: bool = False) -> list[SessionUpdate]:
        """Return the history, the chunks of each message joined; ``marked``: each update says that it is replayed."""
        updates = [
            _joined([update for _, update in group]) for _, group in itertools.groupby(enumerate(self.history), _key)
        ]
        return [_marked(update) for update in updates] if marked else updates


def _key(place: tuple[int, SessionUpdate]) -> tuple[Any, ...]:
    """Return what the chunks of one message have in common, and nothing else has."""
    index, update = place
    if isinstance(update, ContentChunk) and isinstance(update.content, TextContent) and update.message_id:
        return type(update), update.message_id
    return (index,)


def _joined(chunks: list[Any]) -> SessionUpdate:
    first: SessionUpdate = chunks[0]
    return (
        evolve(first, content=TextContent(join_text(chunk.content.text for chunk in chunks))) if chunks[1:] else first
    )


def _marked(update: SessionUpdate) -> SessionUpdate:
    """Return an update with Harn's mark for what is replayed."""
    if isinstance(update, UnknownSessionUpdate):
        return evolve(update, data={**update.data, "_meta": _with_mark(update.data.get("_meta"))})
    return evolve(update, meta=_with_mark(update.meta))


def _with_mark(meta: Any) -> dict[str, Any]:
    members = dict(meta or {})
    return {**members, "harn": {**members.get("harn", {}), "replayed": True}}
