"""The reducer of the transcript: :class:`Conversation`.

It decides what becomes an entry of its own and what continues one: chunks of one message, reports about one tool call,
the echo of the user's own prompt. Turns and replays begin and end here. Readers get a
:class:`~acp_host.state.transcript.Transcript`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from acp_host.state import events
from acp_host.state.builders import MessageBuilder, ToolCallBuilder, parts_of
from acp_host.state.changes import Note
from acp_host.state.echo import Echo
from acp_host.state.entries import Entry, MessageEntry, MessagePart, ReminderNote, Speaker, ToolCallEntry
from acp_host.state.message_places import MessagePlaces
from acp_host.state.other_entries import OtherEntries, Positions
from acp_host.state.transcript import Transcript
from acp_host.state.transcript_writer import TranscriptWriter
from acp_host.wire._model import UNSET, evolve
from acp_host.wire.content import ContentBlock, TextContent
from acp_host.wire.tool_calls import ToolCall, ToolCallUpdate

if TYPE_CHECKING:
    from acp_host.state.harn.tool_facts import ToolFacts

__all__ = ["Conversation"]


class Conversation:
    """Folds what is said in a session into a transcript.

    Attributes:
        writer: writes it; knows the turn that is running, and whether what comes is history.
        background_calls: the ids of the tool calls that go on when the turn that they began in is over.

    Args:
        note: called with the section, the position and the kind of each change.
    """

    def __init__(self, note: Note) -> None:
        self.writer = TranscriptWriter(note, self._dropped)
        self._others = OtherEntries(self.writer, self._add)
        self._message: MessageBuilder | None = None
        # What was told aside last: where it belongs, and the message that more of it would continue.
        self._place_aside: tuple[int | None, bool] | None = None
        self._message_aside: MessageBuilder | None = None
        self._is_aside = False
        # The message whose change is noted already: nothing more to do for its further chunks until someone looks.
        self._noted: MessageBuilder | None = None
        self._messages = MessagePlaces()
        self._echo = Echo()
        # Position and turn of the call that an id means at present, and how often the id was used; plain tuples, which
        # the garbage collector need not look at.
        self._calls: dict[str, tuple[int, int | None, int]] = {}
        self._open_calls: dict[int, ToolCallBuilder] = {}
        self._replayed_turns = 0
        self._leading = range(0)
        self.background_calls: frozenset[str] = frozenset()

    def reducers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the method for each class of event that concerns the transcript."""
        return {
            **self._others.reducers(),
            events.MessageChunk: self._message_chunk,
            events.TextStreamed: self._text_streamed,
            events.MessageReplaced: self._message_replaced,
            events.PromptInserted: self._prompt_inserted,
            events.ToolCallReported: self._tool_call,
            events.ToolCallPatched: self._tool_call_patched,
            events.ToolCallContentAdded: self._tool_call_content,
            events.ReminderShown: self._reminder,
        }

    def freeze(self) -> Transcript:
        """Return the transcript as it is now."""
        self._noted = None
        return self.writer.freeze()

    def delivered(self) -> None:
        """Learn that observers have been told of all changes so far."""
        self._noted = None

    def position_of_call(self, tool_call_id: str) -> int | None:
        """Return where the call stands that an agent's id means at present."""
        known = self._calls.get(tool_call_id)
        return None if known is None else known[0]

    def _dropped(self, first: int) -> None:
        """Forget how to find the entries before a position."""
        self._calls = {key: known for key, known in self._calls.items() if known[0] >= first}
        self._messages.dropped(first)
        self._others.dropped(first)

    # --- messages ---------------------------------------------------------------------------------------------------

    def _message_chunk(self, event: events.MessageChunk) -> None:
        message = self._continued(event)
        if message is None:
            if event.speaker is Speaker.USER and self._is_echo(event.content, event.message_id, event.of_session):
                return
            message = self._begin_message(event.speaker, event.content, event.message_id, event.of_session)
            if message is None:
                return
        message.parts.add(event.content)
        self._note_message(message)

    def _text_streamed(self, event: events.TextStreamed) -> None:
        for number, text in enumerate(event.texts):
            message = self._continued(event)
            if message is not None:
                message.parts.extend(event.texts[number:])
                self._note_message(message)
                return
            chunk = events.MessageChunk(event.speaker, TextContent(text), event.message_id, event.of_session)
            self._message_chunk(chunk)

    def _continued(self, event: events.MessageChunk | events.TextStreamed) -> MessageBuilder | None:
        """Return the message that is being written, if this is more of it."""
        message = self._message
        if message is None or message.speaker is not event.speaker:
            return None
        return message if event.message_id is None or event.message_id == message.message_id else None

    def _note_message(self, message: MessageBuilder) -> None:
        if message is not self._noted:
            self._noted = message
            self.writer.touch(message.position)

    def _begin_message(
        self, speaker: Speaker, content: ContentBlock, message_id: str | None, of_session: bool
    ) -> MessageBuilder | None:
        """Return the builder that a chunk belongs to: of a message known by id, or of a new one.

        A message does not begin with an empty text: agents send such for no reason. There is no builder for one.
        """
        self._close_message()
        if message_id is not None:
            position = self._messages.find(speaker, message_id, of_session=of_session)
            entry = None if position is None or self.writer.is_superseded(position) else self.writer.store.get(position)
            if position is not None and isinstance(entry, MessageEntry):
                self._message = MessageBuilder.of(entry)
                self.writer.store.put(position, self._message)
                return self._message
        if isinstance(content, TextContent) and not content.text:
            return None
        if speaker is Speaker.USER and self.writer.replaying:
            self._begin_replayed_turn()
        position = self.writer.store.end
        self._message = MessageBuilder(position, speaker, message_id, self.writer.turn, self.writer.is_history)
        self.writer.append(self._message)
        if message_id is not None:
            self._messages.note(speaker, message_id, position, of_session=of_session)
        if speaker is Speaker.USER:
            for repeated in self._echo.broken_off(position):
                self._message.parts.add(repeated)
        return self._message

    def _close_message(self) -> None:
        if self._message is not None:
            self.writer.store.close(self._message.position)
            self._message = None

    def _is_echo(self, content: ContentBlock, message_id: str | None, of_session: bool) -> bool:
        """Tell whether a user chunk repeats the prompt that is shown already; if so, note its id."""
        if not self._echo.takes(content, self.writer.store.end):
            return False
        if message_id is not None and self._echo.is_whole:
            self._name_prompt(message_id, of_session)
        return True

    def _name_prompt(self, message_id: str, of_session: bool) -> None:
        """Note what the agent calls the prompt of the turn."""
        position = self._echo.position
        entry = self.writer.store.get(position)
        if isinstance(entry, MessageEntry) and entry.message_id != message_id:
            self.writer.replace(position, evolve(entry, message_id=message_id))
        if of_session:
            self._messages.note(Speaker.USER, message_id, position, of_session=True)

    def _prompt_inserted(self, event: events.PromptInserted) -> None:
        known = self._messages.find(Speaker.USER, event.message_id, of_session=True)
        if event.turn == self.writer.turn and self._echo.position >= 0 and known is None:
            self._name_prompt(event.message_id, of_session=True)

    def _message_replaced(self, event: events.MessageReplaced) -> None:
        position = self._messages.find(event.speaker, event.message_id, of_session=True)
        if position is not None and (self.writer.is_superseded(position) or self.writer.store.get(position) is None):
            position = None
        if event.speaker is Speaker.USER and self._repeats_prompt(event, position):
            return
        if position is None:
            self._add_whole(event)
        elif event.content is not UNSET:
            self._replace_parts(position, parts_of(event.content or ()))

    def _repeats_prompt(self, event: events.MessageReplaced, position: int | None) -> bool:
        """Tell whether a whole message of the user is the prompt that is shown already; if so, note its id."""
        prompt = self.writer.store.get(self._echo.position)
        known = prompt.message_id if isinstance(prompt, MessageEntry) else None
        if position not in (None, self._echo.position) or known not in (None, event.message_id):
            return False
        if not event.content or not self._echo.is_all(event.content):
            return False
        self._name_prompt(event.message_id, of_session=True)
        return True

    def _add_whole(self, event: events.MessageReplaced) -> None:
        """Show a message that was told at once; one that is new and empty is shown when something is in it."""
        if not event.content:
            return
        self._close_message()
        if event.speaker is Speaker.USER and self.writer.replaying:
            self._begin_replayed_turn()
        parts = parts_of(event.content)
        entry = MessageEntry(speaker=event.speaker, parts=parts, message_id=event.message_id, **self.writer.place())
        self._messages.note(event.speaker, event.message_id, self._add(entry), of_session=True)

    def _replace_parts(self, position: int, parts: tuple[MessagePart, ...]) -> None:
        if self._message is not None and self._message.position == position:
            self._close_message()
        entry = self.writer.store.get(position)
        if isinstance(entry, MessageEntry):
            self.writer.replace(position, evolve(entry, parts=parts))

    def interrupt(self) -> None:
        """Learn that something else happens: if no turn runs, what the agent says next is another message."""
        if self.writer.turn is None:
            self._close_message()

    def user_message(self, message_id: str | None, content: tuple[ContentBlock, ...]) -> int:
        """Take a whole message of the user in the midst of a turn, and return where it stands.

        One that is told of again is still the same.
        """
        known = None if message_id is None else self._messages.find(Speaker.USER, message_id, of_session=False)
        if known is not None and isinstance(entry := self.writer.store.get(known), MessageEntry):
            self.writer.replace(known, evolve(entry, parts=parts_of(content)))
            return known
        if self.writer.replaying and self.writer.turn is None:
            self._begin_replayed_turn()
        entry = MessageEntry(
            speaker=Speaker.USER,
            parts=parts_of(content),
            message_id=message_id,
            **self.writer.place(),
        )
        position = self._add(entry)
        if message_id is not None:
            self._messages.note(Speaker.USER, message_id, position, of_session=False)
        return position

    # --- tool calls -------------------------------------------------------------------------------------------------

    def _tool_call(self, event: events.ToolCallReported) -> None:
        self._report_call(event.report, announced=event.announced, begins=event.announced, harn=event.harn)

    def permission_asked(self, report: ToolCallUpdate, harn: ToolFacts | None = None) -> int:
        """Take what a permission request says about its call, and return where the call stands.

        Some agents ask before they announce the call, or instead of it. Nobody asks about a call that is over: if an
        earlier turn had one with this id, this is another.
        """
        known = self._calls.get(report.tool_call_id)
        begins = known is not None and self._is_over(known[0])
        return self._report_call(report, announced=False, begins=begins, harn=harn)

    def _report_call(
        self, report: ToolCall | ToolCallUpdate, *, announced: bool, begins: bool, harn: ToolFacts | None = None
    ) -> int:
        builder = self._call(report.tool_call_id, announced=announced, begins=begins)
        builder.merge(report, announced=announced, harn=harn)
        return self._told_of_call(builder)

    def _tool_call_patched(self, event: events.ToolCallPatched) -> None:
        builder = self._call(event.tool_call_id, announced=True, begins=False)
        builder.provisional = False
        builder.patch(event.said, event.meta, event.extra)
        self._told_of_call(builder)

    def _tool_call_content(self, event: events.ToolCallContentAdded) -> None:
        builder = self._call(event.tool_call_id, announced=False, begins=False)
        builder.add_content(event.content)
        self._told_of_call(builder)

    def _call(self, tool_call_id: str, *, announced: bool, begins: bool) -> ToolCallBuilder:
        """Return the builder of the call that an id means, a new one where it means none yet."""
        writer, known = self.writer, self._calls.get(tool_call_id)
        if known is not None and writer.is_superseded(known[0]):
            known = None
        position, turn, uses = known or (-1, None, 0)
        # Some agents count anew in every turn: an id that begins again in a later turn is another call.
        again = begins and writer.turn is not None and turn != writer.turn
        if known is None or again:
            return self._begin_call(tool_call_id, announced=announced, use=uses + 1)
        return self._call_builder(position)

    def _told_of_call(self, builder: ToolCallBuilder) -> int:
        """Note that a call has changed, and return where it stands."""
        self.writer.touch(builder.position)
        if self.writer.turn is None or self._is_aside:
            self._close_call(builder)
        return builder.position

    def _begin_call(self, tool_call_id: str, *, announced: bool, use: int) -> ToolCallBuilder:
        self._close_message()
        writer = self.writer
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
        self._calls[tool_call_id] = (position, writer.turn, use)
        self._open_calls[position] = builder
        return builder

    def _is_over(self, position: int) -> bool:
        call = self._open_calls.get(position) or self.writer.store.get(position)
        return isinstance(call, ToolCallBuilder | ToolCallEntry) and (call.finished or call.unfinished)

    def _call_builder(self, position: int) -> ToolCallBuilder:
        builder = self._open_calls.get(position)
        if builder is None:
            entry = self.writer.store.get(position)
            assert isinstance(entry, ToolCallEntry)
            builder = self._open_calls[position] = ToolCallBuilder.of(entry)
            self.writer.store.put(position, builder)
        return builder

    def _close_call(self, builder: ToolCallBuilder) -> None:
        self._open_calls.pop(builder.position, None)
        self.writer.store.close(builder.position)

    # --- reminders --------------------------------------------------------------------------------------------------

    def _reminder(self, event: events.ReminderShown) -> None:
        position = self._add(ReminderNote(reminder_id=event.reminder_id, body=event.body, **self.writer.place()))
        if self.writer.replaying:
            follows = self._leading.stop == position
            self._leading = range(self._leading.start if follows else position, position + 1)

    def _add(self, entry: Entry) -> int:
        self._close_message()
        return self.writer.append(entry)

    # --- what is told aside -----------------------------------------------------------------------------------------

    @contextmanager
    def aside(self, turn: int | None, *, replayed: bool) -> Iterator[None]:
        """Fold what comes as part of a turn that is over, or as told again; what is being written stays open."""
        if self._place_aside != (turn, replayed):
            self._close_aside()
            self._place_aside = (turn, replayed)
        before = self.writer.turn, self._message, self._echo
        self.writer.turn, self._message, self._echo = turn, self._message_aside, Echo()
        self._is_aside, self.writer.told_again = True, replayed
        try:
            yield
        finally:
            self._message_aside = self._message
            self.writer.turn, self._message, self._echo = before
            self._is_aside = self.writer.told_again = False

    def _close_aside(self) -> None:
        if self._message_aside is not None:
            self.writer.store.close(self._message_aside.position)
        self._place_aside = self._message_aside = None

    # --- turns and replay -------------------------------------------------------------------------------------------

    def turn_started(self, event: events.TurnStarted) -> None:
        """Begin a turn with the user's message, and what leads it."""
        self._end_turn()
        self._messages.turn_begins()
        self.writer.turn = event.turn
        self.writer.turn_starts.append(self.writer.store.end)
        for reminder in event.leading:
            self._reminder(reminder)
        if event.origin != "user":
            return
        parts = parts_of(event.prompt)
        entry = MessageEntry(position=self.writer.store.end, speaker=Speaker.USER, parts=parts, turn=event.turn)
        self._add(entry)
        self._echo = Echo(event.sent, event.prompt, entry.position)

    def turn_ended(self, event: events.TurnEnded) -> None:
        """Close what the turn has left open."""
        if event.turn == self.writer.turn:
            self._end_turn()

    def replay_started(self, event: events.ReplayStarted) -> None:
        """Take what comes as history, until :meth:`replay_ended`."""
        self._end_turn()
        self._messages.turn_begins()
        self._leading = range(0)
        undo = functools.partial(self._restore, self._calls.copy(), self._messages.known(), self._others.known())
        self.writer.replay_started(whole=event.whole, undo=undo)

    def replay_failed(self) -> None:
        """Forget what was told out of sight, since the session could not be opened."""
        self._end_turn()
        self.writer.replay_failed()

    def _restore(
        self,
        calls: dict[str, tuple[int, int | None, int]],
        messages: dict[tuple[str, str], int],
        others: tuple[Positions, Positions],
    ) -> None:
        """Let ids mean again what they meant before the replay."""
        self._calls = calls
        self._messages.restore(messages)
        self._others.restore(others)

    def replay_ended(self) -> MessageEntry | None:
        """Go on live; return the user's first message, if it is kept."""
        self._end_turn()
        self.writer.replay_ended()
        store, turn_starts = self.writer.store, self.writer.turn_starts
        position = turn_starts[0] if turn_starts else store.end
        while isinstance(first := store.get(position), ReminderNote):
            position += 1
        return first if isinstance(first, MessageEntry) else None

    def _begin_replayed_turn(self) -> None:
        """A user message in a replay begins a turn; such turns count down from -1, so that none meets a live one.

        The reminders right before it led it.
        """
        self._end_turn()
        self._messages.turn_begins()
        self._replayed_turns += 1
        self.writer.replayed_turn_begins()
        self.writer.turn = -self._replayed_turns
        end = self.writer.store.end
        leading = self._leading if self._leading.stop == end else range(end, end)
        self.writer.turn_starts.append(leading.start)
        for position in leading:
            note = self.writer.store.get(position)
            assert isinstance(note, ReminderNote)
            self.writer.replace(position, evolve(note, turn=self.writer.turn))

    def _end_turn(self) -> None:
        self._close_message()
        self._close_aside()
        for builder in tuple(self._open_calls.values()):
            if builder.tool_call_id not in self.background_calls and builder.mark_unfinished():
                self.writer.touch(builder.position)
            self._close_call(builder)
        self.writer.turn = None
        self._echo = Echo()
