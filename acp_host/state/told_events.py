"""What an agent tells of a session, as events: its conversation, its options, what it is doing.

:mod:`acp_host.state.events` has them all, and says how to read them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from acp_host.state.entries import ShownContent, Speaker
from acp_host.wire._model import NO_EXTRA, UNSET, Unset, model
from acp_host.wire.commands import AvailableCommand
from acp_host.wire.config_options import SessionConfigOption, SessionModeState
from acp_host.wire.content import ContentBlock
from acp_host.wire.plans import PlanUpdateContent
from acp_host.wire.session_models import SessionModelState
from acp_host.wire.subagents import SubagentUpdate
from acp_host.wire.tool_calls import ToolCall, ToolCallUpdate
from acp_host.wire.usage import Cost

if TYPE_CHECKING:
    from acp_host.state.harn.tool_facts import ToolFacts
    from acp_host.wire.v2.state_update import BackgroundWork

__all__ = [
    "AgentTerminalPrinted",
    "AgentTerminalReported",
    "CommandsReplaced",
    "CompactionReported",
    "CompactionSummaryAdded",
    "ConfigOptionsReplaced",
    "HistoryChanged",
    "MessageChunk",
    "MessageReplaced",
    "ModeChanged",
    "PlanRemoved",
    "PlanReplaced",
    "PromptInserted",
    "SessionInfoChanged",
    "SessionMessageReported",
    "SessionOpened",
    "StateReported",
    "SubagentReported",
    "TextStreamed",
    "ToolCallContentAdded",
    "ToolCallPatched",
    "ToolCallReported",
    "UnknownReported",
    "UsageReported",
]


@model
class MessageChunk:
    """The next piece of a message or a thought.

    Attributes:
        message_id: the message's; ``None`` where the agent does not name messages.
        of_session: no other message of the session has this id; else, none of the same turn.
    """

    speaker: Speaker
    content: ContentBlock
    message_id: str | None = None
    of_session: bool = False


@model
class TextStreamed:
    """Several pieces of a message or a thought that are text and nothing else: as many :class:`MessageChunk` events."""

    speaker: Speaker
    texts: Sequence[str]
    message_id: str | None = None
    of_session: bool = False


@model
class MessageReplaced:
    """A message or a thought is now this, whatever was told of it before; later chunks add to it.

    Attributes:
        message_id: no other message of the session has it.
        content: all of it; ``None`` clears it, and with ``UNSET`` nothing is said about it.
    """

    speaker: Speaker
    message_id: str
    content: tuple[ContentBlock, ...] | None | Unset = UNSET


@model
class PromptInserted:
    """The agent has taken the prompt of a turn into the conversation, under this id."""

    turn: int
    message_id: str


@model
class ToolCallReported:
    """A tool call was announced (``announced``) or something was said about one; lists are whole.

    ``None`` in ``report`` means that nothing was said; ``harn`` is what a Harn agent says of it besides.
    """

    report: ToolCall | ToolCallUpdate
    announced: bool
    harn: ToolFacts | None = None


@model
class ToolCallPatched:
    """A tool call is new or has changed.

    Attributes:
        tool_call_id: no other call of the session has it.
        said: the attributes of a :class:`~acp_host.state.entries.ToolCallEntry` that were told, with what they are now.
        meta: the members of ``_meta`` to change, those to remove being ``None``; ``None`` clears all.
        extra: properties that this version does not know.
    """

    tool_call_id: str
    said: Mapping[str, Any]
    meta: Mapping[str, Any] | None | Unset = UNSET
    extra: Mapping[str, Any] = NO_EXTRA


@model
class ToolCallContentAdded:
    """A tool call has produced one more thing."""

    tool_call_id: str
    content: ShownContent


@model
class PlanReplaced:
    """A plan is now this; ``plan_id`` is ``None`` for the one plan of agents that have only one."""

    plan_id: str | None
    content: PlanUpdateContent


@model
class PlanRemoved:
    """A plan is gone."""

    plan_id: str


@model
class CommandsReplaced:
    """The slash commands are now these."""

    commands: tuple[AvailableCommand, ...]


@model
class SessionOpened:
    """The session was opened; ``None`` where the agent has no modes, options or models."""

    modes: SessionModeState | None = None
    config_options: tuple[SessionConfigOption, ...] | None = None
    models: SessionModelState | None = None


@model
class ModeChanged:
    """Another mode is on."""

    mode_id: str


@model
class ConfigOptionsReplaced:
    """The configuration options are now these."""

    options: tuple[SessionConfigOption, ...]


@model
class SessionInfoChanged:
    """Something about the session itself changed.

    Attributes:
        at_work: whether the agent is at work, turn or not.
        patches_meta: ``meta`` has the members to change, those to remove being ``None``; else it is all there is.
    """

    title: str | None | Unset = UNSET
    updated_at: str | None | Unset = UNSET
    meta: Mapping[str, Any] | None | Unset = UNSET
    at_work: bool | Unset = UNSET
    patches_meta: bool = False


@model
class UsageReported:
    """How full the context is, in tokens, and what was spent so far, if said."""

    used: int
    size: int
    cost: Cost | None | Unset = UNSET


@model
class CompactionReported:
    """A compaction began, went on or ended; a given ``summary`` replaces what was there.

    An empty ``compaction_id`` is that of no other compaction.
    """

    compaction_id: str
    status: str
    summary: tuple[ContentBlock, ...] | None | Unset = UNSET
    error: str | None | Unset = UNSET


@model
class CompactionSummaryAdded:
    """The next piece of a compaction's summary."""

    compaction_id: str
    content: ContentBlock


@model
class SubagentReported:
    """Something was said about a child session; ``patches_meta`` as for :class:`SessionInfoChanged`."""

    update: SubagentUpdate
    patches_meta: bool = False


@model
class SessionMessageReported:
    """A message between sessions: whole (``content``) or its next piece (``appended``)."""

    message_id: str
    content: tuple[ContentBlock, ...] | None | Unset = UNSET
    appended: ContentBlock | None = None
    sender_session_id: str | None | Unset = UNSET
    recipient_session_id: str | None | Unset = UNSET
    sender_message_id: str | None | Unset = UNSET
    recipient_message_id: str | None | Unset = UNSET


@model
class HistoryChanged:
    """The agent has gone back in the conversation, or forward again; ``None``: it does not say.

    Attributes:
        action: ``truncated``, ``rolled_back``, ``redone`` or another word.
        kept_turns: how many turns it still knows.
        removed_turns: how many it does not know any more.
        checkpoint_id: its id of the point, or of the turn, that it went to.
        status: how that went, in its own word.
        reason: why, in its own words.
    """

    action: str
    kept_turns: int | None = None
    removed_turns: int | None = None
    checkpoint_id: str | None = None
    status: str | None = None
    reason: str | None = None


@model
class UnknownReported:
    """An update that this version does not know, or that could not be read."""

    tag: str
    data: Mapping[str, Any]
    problem: str | None = None


@model
class AgentTerminalReported:
    """A command that the agent runs by itself is new or has changed.

    Attributes:
        terminal_id: its id.
        command: what runs.
        cwd: where.
        output: the bytes that take the place of all that was printed.
        exited: it has ended, or has not; ``exit_code`` and ``signal`` say how, if the agent tells.
        size: columns and rows that the output is laid out for.
        cancellable: the agent can be asked to end it.
        meta: the members of ``_meta`` to change, those to remove being ``None``; ``None`` clears all.
        problem: what could not be read of the report; empty if all could.
    """

    terminal_id: str
    command: str | None | Unset = UNSET
    cwd: str | None | Unset = UNSET
    output: bytes | None | Unset = UNSET
    exited: bool | Unset = UNSET
    exit_code: int | None = None
    signal: str | None = None
    size: tuple[int, int] | None | Unset = UNSET
    cancellable: bool | Unset = UNSET
    meta: Mapping[str, Any] | None | Unset = UNSET
    problem: str = ""


@model
class AgentTerminalPrinted:
    """A command that the agent runs by itself has printed this next; a character may go on in the next piece.

    Attributes:
        problem: what could not be read of it; empty if all could.
    """

    terminal_id: str
    data: bytes
    problem: str = ""


@model
class StateReported:
    """The agent says what it is doing.

    Attributes:
        state: ``running``, ``idle``, ``requires_action``, ``unknown`` or another word.
        background: what goes on beside, as the agent tells it; ``None`` where it does not tell.
        tool_calls: the ids of the tool calls among that.
    """

    state: str
    background: tuple[BackgroundWork, ...] | None = None
    tool_calls: frozenset[str] = frozenset()
