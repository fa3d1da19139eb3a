"""What a user interface shows of a session at one moment: :class:`SessionSnapshot` and its parts, all immutable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from attrs import field

from acp_host.state._value import plain_json, value
from acp_host.state.entries import Entry, ToolCallEntry
from acp_host.state.injections import Injection
from acp_host.state.notice_entries import NoticesSnapshot
from acp_host.state.option_entries import OptionsSnapshot
from acp_host.state.reminder_entry import RemindersSnapshot
from acp_host.state.transcript import Transcript
from acp_host.wire._model import NO_EXTRA
from acp_host.wire.commands import AvailableCommand
from acp_host.wire.config_options import SessionConfigOption, SessionMode
from acp_host.wire.content import ContentBlock
from acp_host.wire.ids import RequestId
from acp_host.wire.plans import PlanUpdateContent
from acp_host.wire.subagents import SubagentUpdate
from acp_host.wire.usage import Cost, Usage

if TYPE_CHECKING:
    from acp_host.state.harn.permission_facts import PermissionFacts
    from acp_host.state.harn.snapshot import HarnSnapshot  # loaded when an agent turns out to be one of Harn's
    from acp_host.wire.v2.state_update import BackgroundWork

__all__ = [
    "ContextUsage",
    "Health",
    "Modes",
    "Plan",
    "Question",
    "QueuedTurn",
    "SessionInfo",
    "SessionSnapshot",
    "TerminalView",
    "TurnState",
]


@value
class Plan:
    """A plan of the agent.

    Attributes:
        plan_id: its id; ``None`` for the one plan of agents that have only one.
        content: its entries, its Markdown or its file.
    """

    plan_id: str | None
    content: PlanUpdateContent


@value
class Modes:
    """The modes of an agent that has modes; ``SessionSnapshot.options`` has them in one form with other options.

    Attributes:
        current: id of the mode that is on; ``None`` if it was never said.
        available: what there is to choose from.
    """

    current: str | None = None
    available: tuple[SessionMode, ...] = ()


@value
class ContextUsage:
    """How full the model's context is, in tokens, and what the session has cost.

    Attributes:
        used: tokens in the context; ``None`` if it was never said.
        size: tokens that fit.
        cost: what was spent so far, if the agent says so.
        last_turn: tokens of the last finished turn, if the agent says so.
    """

    used: int | None = None
    size: int | None = None
    cost: Cost | None = None
    last_turn: Usage | None = None


@value
class SessionInfo:
    """What the session is called.

    Attributes:
        title: the agent's title; until it gives one, the beginning of the first prompt.
        provisional: the title is that beginning.
        updated_at: when something last happened, as the agent says it.
        meta: what else the agent says about the session in ``_meta``, as last sent; empty if nothing.
    """

    title: str | None = None
    provisional: bool = False
    updated_at: str | None = None
    meta: Mapping[str, Any] = plain_json(default=NO_EXTRA)


@value
class Question:
    """Something that the agent asks the user and that has no answer yet.

    Attributes:
        request_id: the agent's id of the request.
        method: ``session/request_permission`` or ``elicitation/create``, or the method of a request that the host asks
            about by itself.
        request: what is to be answered: the parameters of the agent's question, or the host's own.
        position: where the tool call stands that it is about; ``None`` if it is about none of this session.
        harn: what a Harn agent says of its permission request besides; ``None`` for every other question.
    """

    request_id: RequestId
    method: str
    request: Any
    position: int | None = None
    harn: PermissionFacts | None = None


@value
class QueuedTurn:
    """A prompt that waits."""

    turn: int
    prompt: tuple[ContentBlock, ...]


@value
class TurnState:
    """What the session is doing.

    Attributes:
        status: ``idle``, ``running``, or ``waiting`` while the user has something to answer or to do.
        activity: the agent is at work: a turn runs, or it sends what nobody has asked for.
        turn: number of the running turn, else of the last one; ``None`` before the first.
        queued: the prompts that wait, next first.
        outcome: how the last turn ended; ``None`` while one runs and before the first.
        stop_reason: the agent's word for it.
        detail: the reason behind ``outcome``; may be empty.
        origin: of the running turn, else of the last one: ``user`` for a prompt, ``agent`` where the agent works by
            itself.
        agent_state: what the agent says that it is doing: ``running``, ``idle``, ``requires_action``, ``unknown`` or
            another word; ``None`` for an agent that does not say.
        background: what the agent says that goes on beside; ``None`` for an agent that does not say.
    """

    status: Literal["idle", "running", "waiting"] = "idle"
    activity: bool = False
    turn: int | None = None
    queued: tuple[QueuedTurn, ...] = ()
    outcome: str | None = None
    stop_reason: str | None = None
    detail: str = ""
    origin: str = "user"
    agent_state: str | None = None
    background: tuple[BackgroundWork, ...] | None = None


@value
class TerminalView:
    """A command that the host runs for the agent, or the agent by itself.

    Attributes:
        terminal_id: its id.
        command: what runs, as one line for people; empty if nobody says.
        via_shell: the platform's shell reads it, because the agent sent a whole command line.
        output: the newest output, at least 252 Ki characters of it, in segments as for text.
        truncated: older output was dropped.
        ended: it has ended.
        exit_code: how; ``None`` while it runs, if a signal ended it, or if nobody can tell.
        signal: the signal that ended it, if one did.
        released: the agent has let go of it.
        owner: ``host`` or ``agent``: who runs it.
        cwd: where an agent runs it, if it says so.
        cols: columns that the output is laid out for, if the agent says so.
        rows: likewise.
        cancellable: the agent can be asked to end it.
        meta: each member of ``_meta`` as last sent; empty if there was none.
    """

    terminal_id: str
    command: str
    via_shell: bool = False
    output: tuple[str, ...] = ()
    truncated: bool = False
    ended: bool = False
    exit_code: int | None = None
    signal: str | None = None
    released: bool = False
    owner: Literal["host", "agent"] = "host"
    cwd: str | None = None
    cols: int | None = None
    rows: int | None = None
    cancellable: bool = False
    meta: Mapping[str, Any] = plain_json(default=NO_EXTRA)


@value
class Health:
    """Whether the agent can be reached.

    Attributes:
        status: ``connected``, ``reconnecting``, ``lost`` or ``closed``.
        detail: why, for people; may be empty.
    """

    status: str = "connected"
    detail: str = ""


@value
class SessionSnapshot:
    """A session at one moment.

    Attributes:
        session_id: the agent's id.
        version: grows by one with each delivery of changes.
        transcript: what was said and done, oldest first.
        plans: the agent's plans, in the order in which they appeared.
        commands: slash commands that a prompt can begin with.
        modes: the agent's modes; empty if it has none.
        config_options: its configuration options with their values; empty if it has none.
        options: what the user can set, in one form for all agents.
        info: what the session is called.
        usage: tokens and cost.
        subagents: child sessions by id.
        questions: what waits for an answer of the user, oldest first.
        terminals: commands that the host runs for the agent, or the agent by itself, by id.
        turn: what the session is doing.
        health: whether the agent can be reached.
        reminders: the reminders panel.
        notices: toasts and their history.
        injections: what was said to the agent while it works, by host-local id; delivered ones are in the transcript.
        harn: what a Harn agent tells beside the conversation; ``None`` until it tells something.
    """

    session_id: str
    version: int
    transcript: Transcript
    plans: tuple[Plan, ...] = ()
    commands: tuple[AvailableCommand, ...] = ()
    modes: Modes = field(factory=Modes)
    config_options: tuple[SessionConfigOption, ...] = ()
    options: OptionsSnapshot = field(factory=OptionsSnapshot)
    info: SessionInfo = field(factory=SessionInfo)
    usage: ContextUsage = field(factory=ContextUsage)
    subagents: Mapping[str, SubagentUpdate] = NO_EXTRA
    questions: tuple[Question, ...] = ()
    terminals: Mapping[str, TerminalView] = NO_EXTRA
    turn: TurnState = field(factory=TurnState)
    health: Health = field(factory=Health)
    reminders: RemindersSnapshot = field(factory=RemindersSnapshot)
    notices: NoticesSnapshot = field(factory=NoticesSnapshot)
    injections: Mapping[str, Injection] = NO_EXTRA
    harn: HarnSnapshot | None = None

    @property
    def tool_calls(self) -> tuple[ToolCallEntry, ...]:
        """The tool calls of the transcript, oldest first; goes through all of it."""
        return tuple(entry for entry in self.transcript if isinstance(entry, ToolCallEntry))

    def entry(self, position: int) -> Entry | None:
        """Return the entry of the transcript with this position, or ``None`` if it is not kept."""
        return self.transcript.at(position)
