"""The normalised events that a session's state is folded from.

One small set for every version of the protocol: translators make them from messages, reducers know nothing else. Where
an event carries several optional attributes, ``UNSET`` means that nothing was said about it and ``None`` that it was
cleared.

The classes are in :mod:`acp_host.state.told_events` and :mod:`acp_host.state.host_events`; whoever handles events takes
them from here.
"""

from __future__ import annotations

from typing import TypeAlias

from acp_host.state.host_events import (
    ConnectionBroken,
    HealthChanged,
    OptionSetFailed,
    OptionSetSent,
    OptionSetTaken,
    QuestionAsked,
    QuestionClosed,
    ReminderShown,
    ReplayAnswered,
    ReplayEnded,
    ReplayStarted,
    SessionClosed,
    TerminalReported,
    TurnDropped,
    TurnEnded,
    TurnQueued,
    TurnStarted,
)
from acp_host.state.injections import InjectionEvent, UserMessageTold
from acp_host.state.told_events import (
    AgentTerminalPrinted,
    AgentTerminalReported,
    CommandsReplaced,
    CompactionReported,
    CompactionSummaryAdded,
    ConfigOptionsReplaced,
    HistoryChanged,
    MessageChunk,
    MessageReplaced,
    ModeChanged,
    PlanRemoved,
    PlanReplaced,
    PromptInserted,
    SessionInfoChanged,
    SessionMessageReported,
    SessionOpened,
    StateReported,
    SubagentReported,
    TextStreamed,
    ToolCallContentAdded,
    ToolCallPatched,
    ToolCallReported,
    UnknownReported,
    UsageReported,
)
from acp_host.wire._model import model

__all__ = [
    "AgentTerminalPrinted",
    "AgentTerminalReported",
    "CommandsReplaced",
    "CompactionReported",
    "CompactionSummaryAdded",
    "ConfigOptionsReplaced",
    "ConnectionBroken",
    "HarnEvent",
    "HealthChanged",
    "HistoryChanged",
    "MessageChunk",
    "MessageReplaced",
    "ModeChanged",
    "OptionSetFailed",
    "OptionSetSent",
    "OptionSetTaken",
    "PlanRemoved",
    "PlanReplaced",
    "PromptInserted",
    "QuestionAsked",
    "QuestionClosed",
    "ReminderShown",
    "ReplayAnswered",
    "ReplayEnded",
    "ReplayStarted",
    "SessionClosed",
    "SessionEvent",
    "SessionInfoChanged",
    "SessionMessageReported",
    "SessionOpened",
    "StateReported",
    "SubagentReported",
    "TerminalReported",
    "TextStreamed",
    "ToldAside",
    "ToolCallContentAdded",
    "ToolCallPatched",
    "ToolCallReported",
    "TurnDropped",
    "TurnEnded",
    "TurnQueued",
    "TurnStarted",
    "UnknownReported",
    "UsageReported",
]


@model
class ToldAside:
    """An event that is not of the moment at which it comes.

    Attributes:
        event: what happened.
        turn: the number of the turn that it belongs to, which is over; ``None`` for none.
        replayed: it is told again.
    """

    event: SessionEvent
    turn: int | None
    replayed: bool


@model
class HarnEvent:
    """What a Harn agent tells beside the conversation; its classes are in the modules of :mod:`acp_host.state.harn`."""


SessionEvent: TypeAlias = (
    MessageChunk
    | TextStreamed
    | MessageReplaced
    | PromptInserted
    | ToolCallReported
    | ToolCallPatched
    | ToolCallContentAdded
    | PlanReplaced
    | PlanRemoved
    | CommandsReplaced
    | SessionOpened
    | ModeChanged
    | ConfigOptionsReplaced
    | OptionSetSent
    | OptionSetTaken
    | OptionSetFailed
    | SessionInfoChanged
    | UsageReported
    | CompactionReported
    | CompactionSummaryAdded
    | SubagentReported
    | SessionMessageReported
    | HistoryChanged
    | UnknownReported
    | TerminalReported
    | AgentTerminalReported
    | AgentTerminalPrinted
    | StateReported
    | TurnQueued
    | TurnStarted
    | TurnEnded
    | TurnDropped
    | ReminderShown
    | QuestionAsked
    | QuestionClosed
    | ReplayStarted
    | ReplayAnswered
    | ReplayEnded
    | SessionClosed
    | HealthChanged
    | ConnectionBroken
    | InjectionEvent
    | UserMessageTold
    | ToldAside
    | HarnEvent
)
"""What a session's reducers take."""
