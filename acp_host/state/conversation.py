"""The reducer of the transcript: :class:`Conversation`.

It decides what becomes a message of its own and what continues one: chunks of one message, the echo of the user's own
prompt. Tool calls are :class:`~acp_host.state.call_entries.CallEntries`' to fold, all else
:class:`~acp_host.state.other_entries.OtherEntries`'. Turns and replays begin and end here. Readers get a
:class:`~acp_host.state.transcript.Transcript`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from acp_host.state import events
from acp_host.state.builders import MessageBuilder, parts_of
from acp_host.state.call_entries import CallEntries, CallPlaces
from acp_host.state.changes import Note
from acp_host.state.echo import Echo
from acp_host.state.entries import Entry, MessageEntry, MessagePart, ReminderNote, Speaker
from acp_host.state.message_places import MessagePlaces
from acp_host.state.other_entries import OtherEntries, Positions
from acp_host.state.transcript import Transcript
from acp_host.state.transcript_writer import TranscriptWriter
from acp_host.wire._model import UNSET, evolve
from acp_host.wire.content import ContentBlock, TextContent

__all__ = ["Conversation"]


class Conversation:
    """Folds what is said in a session into a transcript.

    Attributes:
        writer: writes it; knows the turn that is running, and whether what comes is history.
        calls: the tool calls in it.

    Args:
        note: called with the section, the position and the kind of each change.
        problem: called with what is left out because there is too much.
    """

    def __init__(self, note: Note, problem: Callable[[str], None] = lambda _: None) -> None:
        self.writer = TranscriptWriter(note, self._dropped)
        self.calls = CallEntries(self.writer, self._close_message, problem)
        self._others = OtherEntries(self.writer, self._add)
        self._message: MessageBuilder | None = None
        # What was told aside last: where it belongs, the message that more of it would continue, what ids mean there.
        self._place_aside: tuple[int | None, bool] | None = None
        self._message_aside: MessageBuilder | None = None
        self._ids_aside: dict[tuple[str, str], int] = {}
        self._messages = MessagePlaces()
        self._echo = Echo()
        self._replayed_turns = 0
        self._leading = range(0)

    def reducers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the method for each class of event that concerns the transcript."""
        return {
            **self.calls.reducers(),
            **self._others.reducers(),
            events.MessageChunk: self._message_chunk,
            events.TextStreamed: self._text_streamed,
            events.MessageReplaced: self._message_replaced,
            events.PromptInserted: self._prompt_inserted,
            events.ReminderShown: self._reminder,
        }

    def freeze(self) -> Transcript:
        """Return the transcript as it is now."""
        return self.writer.freeze()

    def delivered(self) -> None:
        """Learn that observers have been told of all changes so far."""
        self.writer.delivered()

    def _dropped(self, first: int) -> None:
        """Forget how to find the entries before a position."""
        self.calls.dropped(first)
        self._messages.dropped(first)
        self._others.dropped(first)

    def turn_of_message(self, message_id: str) -> int | None:
        """Return the turn of a message of the agent's, by an id of the session."""
        position = self._messages.find(Speaker.ASSISTANT, message_id, of_session=True)
        message = None if position is None else self.writer.store.get(position)
        return message.turn if isinstance(message, MessageEntry | MessageBuilder) else None

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
        self.writer.touch(message.position)

    def _text_streamed(self, event: events.TextStreamed) -> None:
        for number, text in enumerate(event.texts):
            message = self._continued(event)
            if message is not None:
                message.parts.extend(event.texts[number:])
                self.writer.touch(message.position)
                return
            chunk = events.MessageChunk(event.speaker, TextContent(text), event.message_id, event.of_session)
            self._message_chunk(chunk)

    def _continued(self, event: events.MessageChunk | events.TextStreamed) -> MessageBuilder | None:
        """Return the message that is being written, if this is more of it."""
        message = self._message
        if message is None or message.speaker is not event.speaker:
            return None
        return message if event.message_id is None or event.message_id == message.message_id else None

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
        if speaker is Speaker.USER and self.writer.replaying and not self.calls.is_aside:
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
        ids = self._messages.in_turn(self._ids_aside)
        self.calls.is_aside, self.writer.told_again = True, replayed
        try:
            yield
        finally:
            self._message_aside = self._message
            self._messages.in_turn(ids)
            self.writer.turn, self._message, self._echo = before
            self.calls.is_aside = self.writer.told_again = False

    def _close_aside(self) -> None:
        if self._message_aside is not None:
            self.writer.store.close(self._message_aside.position)
        self._place_aside = self._message_aside = None
        self._ids_aside = {}

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
        undo = functools.partial(self._restore, self.calls.known(), self._messages.known(), self._others.known())
        self.writer.replay_started(whole=event.whole, undo=undo)

    def replay_failed(self) -> None:
        """Forget what was told out of sight, since the session could not be opened."""
        self._end_turn()
        self.writer.replay_failed()

    def _restore(
        self,
        calls: CallPlaces,
        messages: dict[tuple[str, str], int],
        others: tuple[Positions, Positions],
    ) -> None:
        """Let ids mean again what they meant before the replay."""
        self.calls.restore(calls)
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
        self.calls.turn_ended()
        self.writer.turn = None
        self._echo = Echo()
