"""The reducer of tool calls: :class:`CallEntries`.

It decides which call an id of the agent means, and what it tells of a call that it already told of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from acp_host.state import events
from acp_host.state.builders import ToolCallBuilder
from acp_host.state.entries import ToolCallEntry
from acp_host.state.transcript_writer import TranscriptWriter
from acp_host.wire.tool_calls import ToolCall, ToolCallUpdate

if TYPE_CHECKING:
    from acp_host.state.harn.tool_facts import ToolFacts

__all__ = ["CallEntries", "CallPlaces"]

CallPlaces = dict[str, tuple[int, int | None, int]]
"""Position and turn of the call that an id means at present, and how often the id was used; plain tuples, which the
garbage collector need not look at."""


class CallEntries:
    """Folds what is told of tool calls.

    Attributes:
        in_background: the ids of the calls that go on when the turn that they began in is over.
        is_aside: what comes belongs to no turn that runs.

    Args:
        writer: writes the transcript.
        end_message: ends the message that is being written, before a call is.
        problem: called with what is left out because there is too much.
    """

    def __init__(
        self, writer: TranscriptWriter, end_message: Callable[[], None], problem: Callable[[str], None]
    ) -> None:
        self.in_background: frozenset[str] = frozenset()
        self.is_aside = False
        self._writer = writer
        self._end_message = end_message
        self._problem = problem
        self._places: CallPlaces = {}
        self._open: dict[int, ToolCallBuilder] = {}

    def reducers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the method for each class of event that concerns tool calls."""
        return {
            events.ToolCallReported: self._reported,
            events.ToolCallPatched: self._patched,
            events.ToolCallContentAdded: self._content_added,
        }

    def position_of(self, tool_call_id: str) -> int | None:
        """Return where the call stands that an agent's id means at present."""
        known = self._places.get(tool_call_id)
        return None if known is None else known[0]

    def dropped(self, first: int) -> None:
        """Forget how to find the calls before a position."""
        self._places = {key: known for key, known in self._places.items() if known[0] >= first}

    def known(self) -> CallPlaces:
        """Return what ids mean, for :meth:`restore`."""
        return self._places.copy()

    def restore(self, known: CallPlaces) -> None:
        """Let ids mean what they meant at an earlier moment, outside of any turn."""
        self._places = known

    def turn_ended(self) -> None:
        """Close what the turn has left open."""
        for position, builder in self._open.items():
            if builder.tool_call_id not in self.in_background and builder.mark_unfinished():
                self._writer.touch(position)
            self._writer.store.close(position)
        self._open.clear()

    def _reported(self, event: events.ToolCallReported) -> None:
        self._report(event.report, announced=event.announced, begins=event.announced, harn=event.harn)

    def asked_about(self, report: ToolCallUpdate, harn: ToolFacts | None = None) -> int:
        """Take what a permission request says about its call, and return where the call stands.

        Some agents ask before they announce the call, or instead of it. Nobody asks about a call that is over: if an
        earlier turn had one with this id, this is another.
        """
        known = self._places.get(report.tool_call_id)
        begins = known is not None and self._is_over(known[0])
        return self._report(report, announced=False, begins=begins, harn=harn)

    def _report(
        self, report: ToolCall | ToolCallUpdate, *, announced: bool, begins: bool, harn: ToolFacts | None = None
    ) -> int:
        builder = self._call(report.tool_call_id, announced=announced, begins=begins)
        builder.merge(report, self._problem, announced=announced, harn=harn)
        return self._told(builder)

    def _patched(self, event: events.ToolCallPatched) -> None:
        builder = self._call(event.tool_call_id, announced=True, begins=False)
        builder.provisional = False
        builder.patch(event.said, event.meta, event.extra, self._problem)
        self._told(builder)

    def _content_added(self, event: events.ToolCallContentAdded) -> None:
        builder = self._call(event.tool_call_id, announced=False, begins=False)
        builder.add_content(event.content)
        self._told(builder)

    def _call(self, tool_call_id: str, *, announced: bool, begins: bool) -> ToolCallBuilder:
        """Return the builder of the call that an id means, a new one where it means none yet."""
        writer, known = self._writer, self._places.get(tool_call_id)
        if known is not None and writer.is_superseded(known[0]):
            known = None
        position, turn, uses = known or (-1, None, 0)
        # Some agents count anew in every turn: an id that begins again in a later turn is another call.
        again = begins and writer.turn is not None and turn != writer.turn
        if known is None or again:
            return self._begin(tool_call_id, announced=announced, use=uses + 1)
        return self._builder(position)

    def _told(self, builder: ToolCallBuilder) -> int:
        """Note that a call has changed, and return where it stands."""
        position = builder.position
        self._writer.touch(position)
        if position not in self._open:
            self._writer.store.close(position)
        return position

    def _begin(self, tool_call_id: str, *, announced: bool, use: int) -> ToolCallBuilder:
        self._end_message()
        writer = self._writer
        position = writer.store.end
        builder = ToolCallBuilder(
            position,
            tool_call_id if use == 1 else f"{tool_call_id}#{use}",
            tool_call_id,
            provisional=not announced,
            turn=writer.turn,
            replayed=writer.is_history,
        )
        writer.append(builder)
        self._places[tool_call_id] = (position, writer.turn, use)
        self._keep_open(builder)
        return builder

    def _is_over(self, position: int) -> bool:
        call = self._writer.store.get(position)
        return isinstance(call, ToolCallBuilder | ToolCallEntry) and (call.finished or call.unfinished)

    def _builder(self, position: int) -> ToolCallBuilder:
        builder = self._open.get(position)
        if builder is None:
            entry = self._writer.store.get(position)
            assert isinstance(entry, ToolCallEntry)
            builder = ToolCallBuilder.of(entry)
            self._writer.store.put(position, builder)
            self._keep_open(builder)
        return builder

    def _keep_open(self, builder: ToolCallBuilder) -> None:
        """Let a call be told more about until the turn ends that runs, if what comes is of that turn."""
        if self._writer.turn is not None and not self.is_aside:
            self._open[builder.position] = builder
