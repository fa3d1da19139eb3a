"""The spans of one session: its turns, and the tool calls in them: :class:`SessionWatch`.

It is told the events that the state of the session is folded from, as they happen. They are the same for every version
of the protocol and for Harn, and history that is told again is marked in them.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from attrs import define, field
from opentelemetry.context import Context, get_current
from opentelemetry.trace import Span, SpanKind, StatusCode, set_span_in_context

from acp_host.errors import OutcomeUnknown
from acp_host.host.outcome import OutcomeKind
from acp_host.host.telemetry.content import LONGEST, json_text, messages, texts_of
from acp_host.host.telemetry.instruments import known_word
from acp_host.host.turn import TurnOrigin
from acp_host.state import events, told_events
from acp_host.state.changes import ChangeSet
from acp_host.state.entries import Speaker
from acp_host.state.reminder_entry import ReminderOrigin, ReminderStatus, Rung
from acp_host.state.reminders import RemindersPanel
from acp_host.state.session_state import SessionState
from acp_host.wire.config_options import SessionConfigOptionCategory
from acp_host.wire.prompt import StopReason
from acp_host.wire.text import join_text
from acp_host.wire.tool_calls import ToolCallStatus, ToolKind
from acp_host.wire.usage import Usage

if TYPE_CHECKING:
    from acp_host.host.telemetry.connection_watch import ConnectionWatch

__all__ = ["SessionWatch"]

_MOST_CALLS = 1_000
"""Tool calls of a session that have a span at a time; an agent that begins more has them counted only."""
_ENDED = frozenset({ToolCallStatus.COMPLETED, ToolCallStatus.FAILED, "cancelled"})
_STATUSES = frozenset({*ToolCallStatus, "cancelled", "unfinished"})
_ANSWERS = (told_events.SessionOpened, told_events.PromptInserted)
_TOLD = frozenset(getattr(told_events, name) for name in told_events.__all__).difference(_ANSWERS)
"""The events that are updates of the agent."""
_USAGE = {
    "gen_ai.usage.input_tokens": "input_tokens",
    "gen_ai.usage.output_tokens": "output_tokens",
    "gen_ai.usage.cache_read.input_tokens": "cached_read_tokens",
    "gen_ai.usage.cache_creation.input_tokens": "cached_write_tokens",
    "gen_ai.usage.reasoning.output_tokens": "thought_tokens",
}
_ON_ITS_WAY = frozenset({ReminderStatus.QUEUED, ReminderStatus.SENDING})


@define(eq=False)
class _Turn:
    """A turn with an open span; ``number`` is ``None`` while its prompt is being written."""

    span: Span
    began: float
    origin: str
    number: int | None = None
    error: str | None = None
    said: list[str] = field(factory=list)
    length: int = 0


@define(eq=False)
class _Call:
    """A tool call with an open span."""

    span: Span
    kind: str = ToolKind.OTHER
    status: str = ToolCallStatus.PENDING


class SessionWatch:
    """Makes the spans of a session.

    Args:
        session_id: the agent's id of the session.
        state: its state.
        connection: the watch of its connection.
    """

    def __init__(self, session_id: str, state: SessionState, connection: ConnectionWatch) -> None:
        self._id = session_id
        self._state = state
        self._connection = connection
        self._queued: dict[int, Context] = {}
        self._turn: _Turn | None = None
        self._sending: _Turn | None = None
        self._calls: dict[str, _Call] = {}
        self._ended_calls: dict[str, None] = {}
        self._panels: set[RemindersPanel] = set()
        self._at_rest: deque[str] = deque(maxlen=_MOST_CALLS)
        takers: dict[Any, Callable[[Any], None]] = {
            events.TurnQueued: self._turn_queued,
            events.TurnDropped: self._turn_dropped,
            events.TurnStarted: self._turn_started,
            events.TurnEnded: self._turn_ended,
            events.ToolCallReported: self._call_reported,
            events.ToolCallPatched: lambda event: self._call_told(event.tool_call_id, event.said),
        }
        self._takers: Mapping[Any, Callable[[Any], None]] = takers
        if connection.settings.content:
            takers[events.TextStreamed] = lambda event: self._said(event.speaker, event.texts)
            takers[events.MessageChunk] = lambda event: self._said(event.speaker, texts_of([event.content]))
            takers[events.MessageReplaced] = lambda event: self._said(event.speaker, texts_of(event.content or ()))

    @property
    def context(self) -> Context:
        """Where something belongs that happens in the session now: to the turn, if there is one."""
        turn = self._turn or self._sending
        return Context() if turn is None else set_span_in_context(turn.span, Context())

    def context_of_call(self, tool_call_id: str | None) -> Context:
        """Return where something belongs that is about a tool call."""
        call = self._calls.get(tool_call_id or "")
        return self.context if call is None else set_span_in_context(call.span, Context())

    # --- what happens -----------------------------------------------------------------------------------------------

    def told(self, event: Any) -> None:
        """Take an event of the session, after it was folded."""
        kind = event.__class__
        if kind in _TOLD:
            self._connection.instruments.updated(len(event.texts) if kind is events.TextStreamed else 1)
        take = self._takers.get(kind)
        if take is not None:
            take(event)

    def prompt_begins(self) -> Context:
        """Learn that a prompt is about to be written; return the context that it is to carry."""
        turn = self._turn or self._sending  # it is written once more: after a login, or over another connection
        if turn is None:
            parent = next(iter(self._queued.values()), Context())
            turn = self._sending = self._begin_turn(parent, TurnOrigin.USER)
        return set_span_in_context(turn.span, get_current())

    def prompt_failed(self, error: str) -> None:
        """Learn which class of error a prompt was answered with, or kept it from being sent."""
        turn = self._turn or self._sending
        if turn is not None:
            turn.error = error

    def losing(self, error: str) -> None:
        """Learn that the transport has ended by an error of this class: so does the turn, if nothing else is said."""
        turn = self._turn or self._sending
        if turn is not None:
            turn.error = OutcomeUnknown.__name__ if turn.origin == TurnOrigin.USER else error

    def end(self, error: str) -> None:
        """Learn that nothing more will be heard of the session; what is open ends with an error of this class."""
        for turn in (self._sending, self._turn):
            if turn is not None:
                self._end_calls()
                turn.span.set_attribute("error.type", error)
                turn.span.set_status(StatusCode.ERROR)
                turn.span.end()
        self._turn = self._sending = None
        self._end_calls()
        self._queued.clear()

    # --- turns ------------------------------------------------------------------------------------------------------

    def _turn_queued(self, event: events.TurnQueued) -> None:
        self._queued[event.turn] = get_current()

    def _turn_dropped(self, event: events.TurnDropped) -> None:
        self._queued.pop(event.turn, None)

    def _begin_turn(self, parent: Context, origin: str) -> _Turn:
        attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.provider.name": "acp",
            "gen_ai.conversation.id": self._connection.shown(self._id),
            "acp.turn.origin": str(origin),
            **self._connection.agent,
        }
        model = self._model()
        if model is not None:
            attributes["gen_ai.request.model"] = self._connection.shown(model)
        name = " ".join(["invoke_agent", *self._connection.agent_names])
        span = self._connection.tracer.start_span(name, parent, SpanKind.CLIENT, attributes)
        return _Turn(span, time.monotonic(), origin)

    def _model(self) -> str | None:
        option = self._state.options.snapshot().about(SessionConfigOptionCategory.MODEL)
        return option.value if option is not None and isinstance(option.value, str) else None

    def _turn_started(self, event: events.TurnStarted) -> None:
        self._queued.pop(event.turn, None)
        self._ended_calls.clear()  # an agent may count its calls anew in each turn
        turn, self._sending = self._sending, None
        if turn is None or event.origin != TurnOrigin.USER:
            turn = self._begin_turn(Context(), event.origin)
        self._turn, turn.number = turn, event.turn
        turn.span.set_attribute("acp.turn.number", event.turn)
        if self._connection.settings.content and event.prompt:
            said = messages("user", texts_of(event.prompt), self._connection.redact)
            turn.span.set_attribute("gen_ai.input.messages", said)

    def _turn_ended(self, event: events.TurnEnded) -> None:
        turn = self._turn
        if turn is None or turn.number != event.turn:
            return
        self._turn = None
        self._end_calls()
        span, reason = turn.span, known_word(event.stop_reason, frozenset(StopReason))
        span.set_attribute("acp.turn.outcome", str(event.outcome))
        error = None
        if event.stop_reason is not None:
            span.set_attribute("gen_ai.response.finish_reasons", (reason,))
        if event.outcome in (OutcomeKind.FAILED, OutcomeKind.POLICY_VIOLATED):
            error = turn.error or str(event.outcome)
            span.set_attribute("error.type", error)
            span.set_status(StatusCode.ERROR)
        self._tell_usage(span, event.usage or None)
        if turn.said:
            said = messages("assistant", [join_text(turn.said)], self._connection.redact)
            span.set_attribute("gen_ai.output.messages", said)
        span.end()
        seconds = time.monotonic() - turn.began
        told = "none" if event.stop_reason is None else reason
        self._connection.instruments.turn_ended(str(event.outcome), told, seconds, error)
        self._connection.instruments.flush()
        self._connection.let_go(self._id)

    def _tell_usage(self, span: Span, usage: Usage | None) -> None:
        if usage is None:
            return
        for name, member in _USAGE.items():
            tokens = getattr(usage, member)
            if isinstance(tokens, int):
                span.set_attribute(name, tokens)
        self._connection.instruments.tokens_used(usage)

    def _said(self, speaker: str, texts: Any) -> None:
        turn = self._turn
        if speaker == Speaker.ASSISTANT and turn is not None and turn.length < LONGEST:
            turn.said += texts
            turn.length += sum(map(len, texts))

    # --- tool calls -------------------------------------------------------------------------------------------------

    def _call_reported(self, event: events.ToolCallReported) -> None:
        report = event.report
        said = {
            name: getattr(report, name)
            for name in ("name", "title", "kind", "status", "raw_input", "raw_output")
            if getattr(report, name, None)
        }
        self._call_told(report.tool_call_id, said)

    def _call_told(self, tool_call_id: str, said: Mapping[str, Any]) -> None:
        if self._state.is_replaying or tool_call_id in self._ended_calls:
            return
        call = self._calls.get(tool_call_id)
        if call is None:
            if len(self._calls) >= _MOST_CALLS:
                self._end_call(next(iter(self._calls)), unfinished=True)
            call = self._calls[tool_call_id] = self._begin_call(tool_call_id, said)
        call.kind = known_word(said.get("kind", call.kind), frozenset(ToolKind))
        call.status = known_word(said.get("status", call.status), _STATUSES)
        if self._connection.settings.content:
            self._tell_content(call.span, said)
        if call.status in _ENDED:
            self._end_call(tool_call_id)

    def _begin_call(self, tool_call_id: str, said: Mapping[str, Any]) -> _Call:
        shown, name = self._connection.shown, said.get("name")
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.provider.name": "acp",
            "gen_ai.conversation.id": shown(self._id),
            "gen_ai.tool.call.id": shown(tool_call_id),
        }
        kind = known_word(said.get("kind", ToolKind.OTHER), frozenset(ToolKind))
        if isinstance(name, str) and name:
            attributes["gen_ai.tool.name"] = shown(name)
        title = f"execute_tool {attributes.get('gen_ai.tool.name', kind)}"
        return _Call(self._connection.tracer.start_span(title, self.context, SpanKind.INTERNAL, attributes))

    def _tell_content(self, span: Span, said: Mapping[str, Any]) -> None:
        if isinstance(title := said.get("title"), str):
            span.set_attribute("acp.tool.title", self._connection.shown(title))
        for member, name in (("raw_input", "gen_ai.tool.call.arguments"), ("raw_output", "gen_ai.tool.call.result")):
            if said.get(member):
                span.set_attribute(name, json_text(said[member], self._connection.redact))

    def _end_call(self, tool_call_id: str, *, unfinished: bool = False) -> None:
        call = self._calls.pop(tool_call_id)
        self._ended_calls[tool_call_id] = None
        if len(self._ended_calls) > _MOST_CALLS:
            del self._ended_calls[next(iter(self._ended_calls))]
        status = "unfinished" if unfinished else call.status
        call.span.set_attribute("acp.tool.kind", call.kind)
        call.span.set_attribute("acp.tool.status", status)
        if status == ToolCallStatus.FAILED:
            call.span.set_attribute("error.type", "tool_failed")
            call.span.set_status(StatusCode.ERROR)
        call.span.end()
        self._connection.instruments.tool_call_ended(call.kind, status)

    def _end_calls(self) -> None:
        for tool_call_id in tuple(self._calls):
            self._end_call(tool_call_id, unfinished=True)

    # --- reminders --------------------------------------------------------------------------------------------------

    def watch_reminders(self, panel: RemindersPanel) -> None:
        """Tell of this host's reminders on a panel once they have come to rest."""
        if panel not in self._panels:
            self._panels.add(panel)
            panel.changed.connect(lambda changes: self._connection.guard(self._reminders_changed, panel, changes))

    def _reminders_changed(self, panel: RemindersPanel, changes: ChangeSet) -> None:
        for change in changes.changes:
            entry = panel.get(str(change.key))
            if entry is None or entry.origin != ReminderOrigin.HOST or entry.replayed:
                continue
            if entry.status in _ON_ITS_WAY or entry.id in self._at_rest:
                continue
            self._at_rest.append(entry.id)
            rung = known_word(entry.rung or Rung.SUPPRESSED, frozenset(Rung))
            attributes: dict[str, Any] = {
                "gen_ai.conversation.id": self._connection.shown(self._id),
                "acp.reminder.rung": rung,
                "acp.reminder.status": str(entry.status),
            }
            span = self._connection.tracer.start_span(
                "acp.reminder", self.context, SpanKind.INTERNAL, attributes, start_time=int(entry.created * 1e9)
            )
            if entry.status == ReminderStatus.FAILED:
                span.set_attribute("error.type", "reminder_failed")
                span.set_status(StatusCode.ERROR)
            span.end(int(entry.changed * 1e9))
            self._connection.instruments.reminded(rung, str(entry.status))
