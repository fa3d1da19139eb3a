"""The events of a run as JSON Lines: :class:`EventLines`.

Each line is an object with ``type`` and ``t``, the seconds since the run began; the schema is
:mod:`acp_host.automation.schema`'s. Everything that is not ASCII is escaped, so that no line can steer a terminal; the
secrets that the connection was given are replaced, wherever they turn up.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, get_args

from acp_host._version import __version__
from acp_host.automation import events
from acp_host.automation.hiding import hiding, plain_without_secrets, secrets_given
from acp_host.automation.making_results import agent_of, tool_call_of
from acp_host.automation.schema import SCHEMA_VERSION
from acp_host.automation.text import MessageText
from acp_host.automation.updates_in_v1 import UpdatesInV1
from acp_host.host.connection import HostConnection
from acp_host.host.update_buffer import UpdatesSkipped
from acp_host.printable import printable_json
from acp_host.state.entries import ToolCallEntry
from acp_host.state.json_form import to_json
from acp_host.state.snapshot import TerminalView
from acp_host.wire._model import Model, Unknown
from acp_host.wire.content import TextContent
from acp_host.wire.converters import unstructure
from acp_host.wire.harn.content import shown_text
from acp_host.wire.notices import Notice
from acp_host.wire.plans import Plan, PlanUpdate
from acp_host.wire.tool_calls import ToolCall, ToolCallUpdate
from acp_host.wire.updates import AgentMessageChunk, AgentThoughtChunk, SessionUpdate, UserMessageChunk
from acp_host.wire.usage import UsageUpdate
from acp_host.wire.v2.updates import SessionUpdate as NamedUpdate

__all__ = ["EventLines"]

_Line = dict[str, Any]

_IN_V1 = frozenset(get_args(SessionUpdate))
"""The updates of version 1; the union of the others, of version 2, knows what those are called."""


class EventLines:
    """Makes the lines of one run, in order.

    Args:
        clock: returns seconds that only ever grow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self._host: HostConnection | None = None
        self._hidden: Sequence[str] = ()
        self._hide = hiding(secrets_given(None))
        self._message = MessageText()
        self._as_first = UpdatesInV1()
        self._calls: dict[str, ToolCallEntry] = {}
        self._makers: Mapping[type, Callable[[Any], Iterable[_Line]]] = {
            events.RunStarted: self._started,
            events.AgentReady: self._agent,
            events.SessionOpened: lambda event: [{"sessionId": event.session.id, "how": event.how}],
            events.ReminderSettled: lambda event: [{"reminder": to_json(event.reminder)}],
            events.PromptSent: lambda event: [{"turn": event.turn}],
            events.Updated: self._updated,
            events.RequestDecided: self._decided,
            events.SomethingNoticed: self._noticed,
            events.StderrLine: lambda event: [{"line": event.line}],
            events.LimitReached: lambda event: [{"reason": str(event.reason), "detail": event.detail}],
            events.AttemptFailed: lambda event: [
                {"number": event.number, "error": event.error, "delay": event.delay},
            ],
            events.EventsSkipped: lambda event: [{"count": event.count}],
            events.RunFinished: self._finished,
        }

    def __call__(self, event: events.RunEvent) -> Iterator[str]:
        """Yield the lines for an event, each with its line end; none for what adds nothing to what was told."""
        at = round(self._clock() - self._began, 6)
        for line in self._makers[type(event)](event):
            yield self._encoded({"type": event.type, "t": at, **line})

    def _started(self, event: events.RunStarted) -> Iterator[_Line]:
        yield {
            "version": SCHEMA_VERSION,
            "host": {"name": "acp_host", "version": __version__},
            "agent": event.agent,
            "cwd": event.cwd,
            "key": event.key,
        }

    def _agent(self, event: events.AgentReady) -> Iterator[_Line]:
        self._host = event.host
        yield {"agent": to_json(agent_of(event.host.agreement))}

    def _decided(self, event: events.RequestDecided) -> Iterator[_Line]:
        record = event.record
        yield {
            "action": record.action,
            "subject": record.subject,
            "decision": str(record.decision),
            "decidedBy": str(record.decided_by),
            "rule": record.rule,
            "detail": record.detail,
        }

    def _noticed(self, event: events.SomethingNoticed) -> Iterator[_Line]:
        noticed = event.diagnostic
        yield {"kind": str(noticed.kind), "message": noticed.message, "method": noticed.method, "path": noticed.path}

    def _finished(self, event: events.RunFinished) -> Iterator[_Line]:
        rest = self._message.feed(event)
        if rest:
            yield {"type": "text", "text": rest, "aside": False}
        yield {"result": event.result.to_json()}

    # --- updates ----------------------------------------------------------------------------------------------------

    def _updated(self, event: events.Updated) -> Iterator[_Line]:
        piece = self._message.feed(event)
        if piece:
            yield {"type": "text", "text": piece, "aside": False}
        for update in self._as_first(event.update):
            yield from self._update(update, event)

    def _update(self, update: Any, event: events.Updated) -> Iterator[_Line]:
        match update:
            case AgentMessageChunk(content=TextContent() as content):
                if event.aside:
                    yield {"type": "text", "text": shown_text(content), "aside": True}
            case AgentThoughtChunk(content=TextContent(text=text)):
                yield {"type": "thought", "text": text, "aside": event.aside}
            case ToolCall() | ToolCallUpdate():
                yield from self._call(update.tool_call_id, event)
            case Plan() | PlanUpdate():
                yield {"type": "plan", "plans": to_json(event.session.state.snapshot().plans)}
            case UsageUpdate():
                cost = to_json(update.cost) if update.cost else None
                yield {"type": "usage", "used": update.used, "size": update.size, "cost": cost}
            case Notice():
                yield {
                    "type": "notice",
                    "severity": str(update.severity),
                    "title": update.title,
                    "description": update.description or None,
                }
            case TerminalView():
                yield {"type": "terminal", "terminal": to_json(update)}
            case UpdatesSkipped(count=count):
                yield {"type": "skipped", "count": count}
            case UserMessageChunk():
                pass  # the prompt once more
            case Model() | Unknown():
                union = SessionUpdate if type(update) in _IN_V1 else NamedUpdate
                yield {"type": "update", "update": unstructure(update, union), "aside": event.aside}

    def _encoded(self, line: _Line) -> str:
        if self._host is not None and self._host.diagnostics.redactor.known is not self._hidden:  # it has learnt more
            self._hidden = self._host.diagnostics.redactor.known
            self._hide = hiding(secrets_given(self._host))
        return printable_json(plain_without_secrets(line, self._hide)) + "\n"

    def _call(self, tool_call_id: str, event: events.Updated) -> Iterator[_Line]:
        """Yield a tool call as it is now; what is large in it only where it has changed."""
        entry = event.session.state.tool_call(tool_call_id)
        if entry is None:
            return
        before = self._calls.get(entry.key)
        self._calls[entry.key] = entry
        line: _Line = {"type": "tool_call", **to_json(tool_call_of(entry)), "aside": event.aside}
        for name, told in (("raw_input", "input"), ("raw_output", "output"), ("content", "content")):
            value = getattr(entry, name)
            if value and (before is None or value != getattr(before, name)):
                line[told] = to_json(value) if name == "content" else value
        if before is None or before != entry:
            yield line
