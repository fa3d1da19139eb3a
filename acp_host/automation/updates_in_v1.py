"""Updates of version 2 as those of version 1 that print the same: :class:`UpdatesInV1`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from acp_host.state import events
from acp_host.state.agent_terminals import AgentTerminal
from acp_host.state.snapshot import TerminalView
from acp_host.translate.v2.updates import translate
from acp_host.translate.v2.values import location_to_v1, produced_to_v1
from acp_host.wire import compaction as v1_compaction
from acp_host.wire import plans as v1_plans
from acp_host.wire import tool_calls as v1_calls
from acp_host.wire import updates as v1_updates
from acp_host.wire.v2 import compaction, plans, state_update, terminals, tool_calls, updates

__all__ = ["UpdatesInV1"]


class UpdatesInV1:
    """Remembers what messages and calls have been told, since version 2 tells parts of them, or tells them again."""

    def __init__(self) -> None:
        self._messages: set[str] = set()
        self._produced: dict[str, tuple[Any, ...]] = {}
        self._running: dict[str, AgentTerminal] = {}
        self._commands: set[str] = set()
        self._ended: set[str] = set()
        self._forms: dict[type, Callable[[Any], Iterable[Any]]] = {
            updates.AgentMessageChunk: self._chunk,
            updates.AgentThoughtChunk: self._chunk,
            updates.AgentMessage: lambda told: self._message(told, v1_updates.AgentMessageChunk),
            updates.AgentThought: lambda told: self._message(told, v1_updates.AgentThoughtChunk),
            updates.UserMessage: lambda told: (),  # the prompt once more
            state_update.SessionStateUpdate: lambda told: (),  # what it means is printed
            tool_calls.ToolCallUpdate: self._call,
            tool_calls.ToolCallContentChunk: self._more_of_call,
            terminals.TerminalUpdate: self._terminal,
            terminals.TerminalOutputChunk: self._terminal,
            plans.PlanUpdate: self._plan,
            compaction.CompactionUpdate: lambda told: [v1_compaction.CompactionUpdate(told.compaction_id, told.status)],
        }

    def __call__(self, update: Any) -> Iterable[Any]:
        """Return what to print for an update; one of version 1 is itself."""
        form = self._forms.get(type(update))
        return (update,) if form is None else form(update)

    def _chunk(self, told: Any) -> Iterable[Any]:
        self._messages.add(told.message_id)
        return (told,)

    def _message(self, told: updates.MessageUpsert, kind: Any) -> Iterable[Any]:
        """Print a whole message, unless some of it was printed: what it says at the end is in the result."""
        if told.message_id in self._messages or not told.content:
            return ()
        self._messages.add(told.message_id)
        return [kind(block, told.message_id) for block in told.content]

    def _call(self, told: tool_calls.ToolCallUpdate) -> Iterable[Any]:
        if isinstance(told.content, tuple):
            self._produced[told.tool_call_id] = tuple([produced_to_v1(item) for item in told.content])
        elif told.content is None:
            self._produced.pop(told.tool_call_id, None)
        locations: Any = told.locations
        return [
            v1_calls.ToolCallUpdate(
                told.tool_call_id,
                kind=told.kind,
                status=told.status,
                title=told.title,
                name=told.name,
                content=self._produced.get(told.tool_call_id, ()),
                locations=tuple([location_to_v1(place) for place in locations]) if locations else locations,
                raw_input=told.raw_input,
                raw_output=told.raw_output,
            )
        ]

    def _more_of_call(self, told: tool_calls.ToolCallContentChunk) -> Iterable[Any]:
        content: Any = (*self._produced.get(told.tool_call_id, ()), produced_to_v1(told.content))
        self._produced[told.tool_call_id] = content
        return [v1_calls.ToolCallUpdate(told.tool_call_id, content=content)]

    def _terminal(self, told: terminals.TerminalUpdate | terminals.TerminalOutputChunk) -> Iterable[TerminalView]:
        """Print which command runs, once, and what it has printed when it has ended."""
        if told.terminal_id in self._ended:
            return
        terminal = self._running.setdefault(told.terminal_id, AgentTerminal(told.terminal_id))
        match translate(told):
            case events.AgentTerminalPrinted(data=data):
                terminal.print(data)
                return
            case events.AgentTerminalReported() as event:
                terminal.report(event)
        view = terminal.view()
        if view.command and told.terminal_id not in self._commands:
            self._commands.add(told.terminal_id)
            yield TerminalView(terminal_id=view.terminal_id, command=view.command)
        if view.ended:
            del self._running[told.terminal_id]
            self._ended.add(told.terminal_id)
            yield view

    def _plan(self, told: plans.PlanUpdate) -> Iterable[Any]:
        plan: Any = told.plan  # the other kinds of plan are the same in both versions, or unknown
        if isinstance(plan, plans.PlanItems):
            plan = v1_plans.PlanItems(plan.plan_id, plan.entries)
        return [v1_plans.PlanUpdate(plan)]
