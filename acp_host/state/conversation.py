"""The reducer of the transcript: :class:`Conversation`.

It decides what becomes an entry of its own and what continues one: chunks of one message, reports about one tool call,
the echo of the user's own prompt. It owns the store of entries; readers get a
:class:`~acp_host.state.transcript.Transcript`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from attrs import frozen

from acp_host.state import events
from acp_host.state.builders import MessageBuilder, PartsBuilder, ToolCallBuilder
from acp_host.state.changes import ChangeKind, Note
from acp_host.state.echo import Echo
from acp_host.state.entries import (
    CompactionEntry,
    Entry,
    HistoryEntry,
    MessageEntry,
    MessagePart,
    ReminderNote,
    SessionMessageEntry,
    Speaker,
    ToolCallEntry,
    UnknownEntry,
)
from acp_host.state.transcript import Builder, Transcript, TranscriptStore
from acp_host.wire._model import UNSET, evolve
from acp_host.wire.content import ContentBlock, TextContent
from acp_host.wire.tool_calls import ToolCall, ToolCallUpdate

if TYPE_CHECKING:
    from acp_host.state.harn.tool_facts import ToolFacts

__all__ = ["SECTION", "Conversation"]

SECTION = "transcript"

_SAID_OF_MESSAGE = ("sender_session_id", "recipient_session_id", "sender_message_id", "recipient_message_id")
_SAID_OF_HISTORY = ("action", "kept_turns", "removed_turns", "checkpoint_id", "status", "reason")

# Reading a member off its enumeration costs as much as making a small object.
_ADDED, _CHANGED = ChangeKind.ADDED, ChangeKind.CHANGED


@frozen
class _Before:
    """What was known before a replay, to be known again if the session cannot be opened.

    Attributes:
        end: position that the next entry would have got.
        turn_starts: as in :class:`Conversation`.
        calls: likewise; and so on.
    """

    end: int
    turn_starts: deque[int]
    calls: dict[str, tuple[int, int | None, int]]
    compactions: dict[str, int]
    session_messages: dict[str, int]


class Conversation:
    """Folds what is said in a session into a transcript.

    A history that takes the place of what is shown is kept out of sight until the agent has opened the session; if it
    does not, nothing has happened.

    Attributes:
        store: the entries.
        turn: number of the turn that is running; ``None`` between turns.
        turn_starts: positions of the entries that the turns begin with, oldest first.
        replaying: what comes is history.

    Args:
        note: called with the section, the position and the kind of each change.
    """

    def __init__(self, note: Note) -> None:
        self.store = TranscriptStore()
        self.turn_starts: deque[int] = deque()
        self.turn: int | None = None
        self.replaying = False
        self._note = note
        self._message: MessageBuilder | None = None
        # What was told aside last: where it belongs, and the message that more of it would continue.
        self._place_aside: tuple[int | None, bool] | None = None
        self._message_aside: MessageBuilder | None = None
        self._is_aside = False
        self._is_told_again = False
        # The message whose change is noted already: nothing more to do for its further chunks until someone looks.
        self._noted: MessageBuilder | None = None
        self._messages: dict[tuple[str, str], int] = {}
        self._echo = Echo()
        # Position and turn of the call that an id means at present, and how often the id was used; plain tuples, which
        # the garbage collector need not look at.
        self._calls: dict[str, tuple[int, int | None, int]] = {}
        self._open_calls: dict[int, ToolCallBuilder] = {}
        self._compactions: dict[str, int] = {}
        self._session_messages: dict[str, int] = {}
        self._replayed_turns = 0
        self._superseded = 0
        self._may_be_superseded = 0
        self._leading = range(0)
        self._before: _Before | None = None
        self._shown_meanwhile: Transcript | None = None

    def reducers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the method for each class of event that concerns the transcript."""
        return {
            events.MessageChunk: self._message_chunk,
            events.TextStreamed: self._text_streamed,
            events.ToolCallReported: self._tool_call,
            events.CompactionReported: self._compaction,
            events.CompactionSummaryAdded: self._compaction_summary,
            events.SessionMessageReported: self._session_message,
            events.HistoryChanged: self._history_changed,
            events.UnknownReported: self._unknown,
            events.ReminderShown: self._reminder,
        }

    def freeze(self) -> Transcript:
        """Return the transcript as it is now."""
        self._noted = None
        return self.store.freeze() if self._shown_meanwhile is None else self._shown_meanwhile

    def delivered(self) -> None:
        """Learn that observers have been told of all changes so far."""
        self._noted = None

    def position_of_call(self, tool_call_id: str) -> int | None:
        """Return where the call stands that an agent's id means at present."""
        known = self._calls.get(tool_call_id)
        return None if known is None else known[0]

    def drop_before(self, position: int) -> None:
        """Forget the entries before a position, and what was kept to find them again."""
        self.store.drop_before(position)
        self._note(SECTION, None, _CHANGED)
        first = self.store.first
        while self.turn_starts and self.turn_starts[0] < first:
            self.turn_starts.popleft()
        self._calls = {key: known for key, known in self._calls.items() if known[0] >= first}
        self._compactions = {key: at for key, at in self._compactions.items() if at >= first}
        self._session_messages = {key: at for key, at in self._session_messages.items() if at >= first}

    def pack_one(self) -> bool:
        """Pack a page of turns that are over, if there is one; tell whether there was."""
        return self.store.pack_one(self.store.end if self.turn is None else self.turn_starts[-1])

    # --- messages ---------------------------------------------------------------------------------------------------

    def _message_chunk(self, event: events.MessageChunk) -> None:
        message = self._continued(event)
        if message is None:
            if event.speaker is Speaker.USER and self._is_echo(event.content, event.message_id):
                return
            message = self._begin_message(event.speaker, event.content, event.message_id)
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
            self._message_chunk(events.MessageChunk(event.speaker, TextContent(text), event.message_id))

    def _continued(self, event: events.MessageChunk | events.TextStreamed) -> MessageBuilder | None:
        """Return the message that is being written, if this is more of it."""
        message = self._message
        if message is None or message.speaker is not event.speaker:
            return None
        return message if event.message_id is None or event.message_id == message.message_id else None

    def _note_message(self, message: MessageBuilder) -> None:
        if message is not self._noted:
            self._noted = message
            self.store.touch(message.position)
            self._tell(message.position, _CHANGED)

    def _begin_message(self, speaker: Speaker, content: ContentBlock, message_id: str | None) -> MessageBuilder | None:
        """Return the builder that a chunk belongs to: of a message known by id, or of a new one.

        A message does not begin with an empty text: agents send such for no reason. There is no builder for one.
        """
        self._close_message()
        if message_id is not None:
            position = self._messages.get((speaker, message_id))
            entry = None if position is None else self.store.get(position)
            if position is not None and isinstance(entry, MessageEntry):
                self._message = MessageBuilder.of(entry)
                self.store.put(position, self._message)
                return self._message
        if isinstance(content, TextContent) and not content.text:
            return None
        if speaker is Speaker.USER and self.replaying:
            self._begin_replayed_turn()
        position = self.store.end
        self._message = MessageBuilder(position, speaker, message_id, self.turn, self._is_history)
        self._append(self._message)
        if message_id is not None:
            self._messages[speaker, message_id] = position
        if speaker is Speaker.USER:
            for repeated in self._echo.broken_off(position):
                self._message.parts.add(repeated)
        return self._message

    def _close_message(self) -> None:
        if self._message is not None:
            self.store.close(self._message.position)
            self._message = None

    def _is_echo(self, content: ContentBlock, message_id: str | None) -> bool:
        """Tell whether a user chunk repeats the prompt that is shown already; if so, note its id."""
        if not self._echo.takes(content, self.store.end):
            return False
        position = self._echo.position
        entry = self.store.get(position)
        if message_id is not None and isinstance(entry, MessageEntry) and self._echo.is_whole:
            self._replace(position, evolve(entry, message_id=message_id))
        return True

    def interrupt(self) -> None:
        """Learn that something else happens: if no turn runs, what the agent says next is another message."""
        if self.turn is None:
            self._close_message()

    def user_message(self, message_id: str | None, content: tuple[ContentBlock, ...]) -> int:
        """Take a whole message of the user in the midst of a turn, and return where it stands.

        One that is told of again is still the same.
        """
        known = None if message_id is None else self._messages.get((Speaker.USER, message_id))
        if known is not None and isinstance(entry := self.store.get(known), MessageEntry):
            self._replace(known, evolve(entry, parts=_parts(content)))
            return known
        if self.replaying and self.turn is None:
            self._begin_replayed_turn()
        entry = MessageEntry(
            position=self.store.end, speaker=Speaker.USER, parts=_parts(content), message_id=message_id, **self._place()
        )
        position = self._add(entry)
        if message_id is not None:
            self._messages[Speaker.USER, message_id] = position
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
        known = self._calls.get(report.tool_call_id)
        if known is not None and known[0] < self._superseded:
            known = None
        position, turn, uses = known or (-1, None, 0)
        # Some agents count anew in every turn: an id that begins again in a later turn is another call.
        again = begins and self.turn is not None and turn != self.turn
        if known is None or again:
            builder = self._begin_call(report.tool_call_id, announced=announced, use=uses + 1)
        else:
            builder = self._call_builder(position)
        builder.merge(report, announced=announced, harn=harn)
        self.store.touch(builder.position)
        self._tell(builder.position, _CHANGED)
        if self.turn is None or self._is_aside:
            self._close_call(builder)
        return builder.position

    def _begin_call(self, tool_call_id: str, *, announced: bool, use: int) -> ToolCallBuilder:
        self._close_message()
        position = self.store.end
        builder = ToolCallBuilder(
            position,
            tool_call_id if use == 1 else f"{tool_call_id}#{use}",
            tool_call_id,
            provisional=not announced,
            turn=self.turn,
            replayed=self._is_history,
        )
        self._append(builder)
        self._calls[tool_call_id] = (position, self.turn, use)
        self._open_calls[position] = builder
        return builder

    def _is_over(self, position: int) -> bool:
        call = self._open_calls.get(position) or self.store.get(position)
        return isinstance(call, ToolCallBuilder | ToolCallEntry) and (call.finished or call.unfinished)

    def _call_builder(self, position: int) -> ToolCallBuilder:
        builder = self._open_calls.get(position)
        if builder is None:
            entry = self.store.get(position)
            assert isinstance(entry, ToolCallEntry)
            builder = self._open_calls[position] = ToolCallBuilder.of(entry)
            self.store.put(position, builder)
        return builder

    def _close_call(self, builder: ToolCallBuilder) -> None:
        self._open_calls.pop(builder.position, None)
        self.store.close(builder.position)

    # --- other entries ----------------------------------------------------------------------------------------------

    def _compaction(self, event: events.CompactionReported) -> None:
        entry = self._known(self._compactions, event.compaction_id) if event.compaction_id else None
        if not isinstance(entry, CompactionEntry):
            entry = CompactionEntry(
                position=self.store.end, compaction_id=event.compaction_id, status=event.status, **self._place()
            )
            self._compactions[event.compaction_id] = self._add(entry)
        changes: dict[str, Any] = {"status": event.status}
        if event.summary is not UNSET:
            changes["summary"] = _parts(event.summary or ())
        if event.error is not UNSET:
            changes["error"] = event.error
        self._replace(entry.position, evolve(entry, **changes))

    def _compaction_summary(self, event: events.CompactionSummaryAdded) -> None:
        entry = self._known(self._compactions, event.compaction_id)
        if isinstance(entry, CompactionEntry):
            self._replace(entry.position, evolve(entry, summary=_parts([event.content], entry.summary)))
        else:
            self._compaction(events.CompactionReported(event.compaction_id, "in_progress", summary=(event.content,)))

    def _session_message(self, event: events.SessionMessageReported) -> None:
        entry = self._known(self._session_messages, event.message_id)
        if not isinstance(entry, SessionMessageEntry):
            entry = SessionMessageEntry(position=self.store.end, message_id=event.message_id, **self._place())
            self._session_messages[event.message_id] = self._add(entry)
        changes = {name: getattr(event, name) for name in _SAID_OF_MESSAGE if getattr(event, name) is not UNSET}
        if event.content is not UNSET:
            changes["parts"] = _parts(event.content or ())
        if event.appended is not None:
            changes["parts"] = _parts([event.appended], entry.parts)
        self._replace(entry.position, evolve(entry, **changes))

    def _history_changed(self, event: events.HistoryChanged) -> None:
        said = {name: getattr(event, name) for name in _SAID_OF_HISTORY}
        self._add(HistoryEntry(position=self.store.end, **said, **self._place()))

    def _unknown(self, event: events.UnknownReported) -> None:
        position = self.store.end
        entry = UnknownEntry(position=position, tag=event.tag, data=event.data, problem=event.problem, **self._place())
        # It ends no message that is being written: what is not known changes nothing that is.
        self._supersede()
        self.store.add(entry)
        self._tell(position, _ADDED)

    def _reminder(self, event: events.ReminderShown) -> None:
        position = self.store.end
        self._add(ReminderNote(position=position, reminder_id=event.reminder_id, body=event.body, **self._place()))
        if self.replaying:
            follows = self._leading.stop == position
            self._leading = range(self._leading.start if follows else position, position + 1)

    def _known(self, positions: Mapping[str, int], key: str) -> Entry | Builder | None:
        position = positions.get(key)
        return None if position is None or position < self._superseded else self.store.get(position)

    def _place(self) -> dict[str, Any]:
        return {"turn": self.turn, "replayed": self._is_history}

    def _add(self, entry: Entry) -> int:
        self._close_message()
        return self._append(entry)

    def _append(self, slot: Entry | Builder) -> int:
        self._supersede()
        position = self.store.add(slot)
        self._tell(position, _ADDED)
        return position

    def _supersede(self) -> None:
        """Let what a replay tells take the place of what is there, or begin to do so out of sight."""
        if self._superseded and self._before is None:
            self.drop_before(self._superseded)
            self._superseded = 0
        elif self._superseded and self._shown_meanwhile is None:
            self._shown_meanwhile = self.store.freeze()

    def _tell(self, position: int, kind: ChangeKind) -> None:
        """Note a change of an entry, unless it is out of sight."""
        if self._shown_meanwhile is None:
            self._note(SECTION, position, kind)

    def _replace(self, position: int, entry: Entry) -> None:
        self.store.put(position, entry)
        self._tell(position, _CHANGED)

    # --- what is told aside -----------------------------------------------------------------------------------------

    @contextmanager
    def aside(self, turn: int | None, *, replayed: bool) -> Iterator[None]:
        """Fold what comes as part of a turn that is over, or as told again; what is being written stays open."""
        if self._place_aside != (turn, replayed):
            self._close_aside()
            self._place_aside = (turn, replayed)
        before = self.turn, self._message, self._echo
        self.turn, self._message, self._echo = turn, self._message_aside, Echo()
        self._is_aside, self._is_told_again = True, replayed
        try:
            yield
        finally:
            self._message_aside = self._message
            self.turn, self._message, self._echo = before
            self._is_aside = self._is_told_again = False

    def _close_aside(self) -> None:
        if self._message_aside is not None:
            self.store.close(self._message_aside.position)
        self._place_aside = self._message_aside = None

    @property
    def _is_history(self) -> bool:
        return self.replaying or self._is_told_again

    # --- turns and replay -------------------------------------------------------------------------------------------

    def turn_started(self, event: events.TurnStarted) -> None:
        """Begin a turn with the user's message, and what leads it."""
        self._end_turn()
        self._messages.clear()
        self.turn = event.turn
        self.turn_starts.append(self.store.end)
        for reminder in event.leading:
            self._reminder(reminder)
        parts = _parts(event.prompt)
        entry = MessageEntry(position=self.store.end, speaker=Speaker.USER, parts=parts, turn=event.turn)
        self._add(entry)
        self._echo = Echo(event.sent, event.prompt, entry.position)

    def turn_ended(self, event: events.TurnEnded) -> None:
        """Close what the turn has left open."""
        if event.turn == self.turn:
            self._end_turn()

    def replay_started(self, event: events.ReplayStarted) -> None:
        """Take what comes as history, until :meth:`replay_ended`."""
        self._end_turn()
        self._messages.clear()
        self.replaying = True
        # The agent tells all of the session again: with the first that comes, what is here is shown twice.
        self._superseded, self._may_be_superseded = (self.store.end, 0) if event.whole else (0, self.store.end)
        self._leading = range(0)
        self._before = _Before(
            self.store.end,
            self.turn_starts.copy(),
            self._calls.copy(),
            self._compactions.copy(),
            self._session_messages.copy(),
        )

    def replay_answered(self) -> None:
        """Show what was told so far in the place of what was there; the rest follows in sight."""
        self._before = None
        if self._shown_meanwhile is None:
            return
        self._shown_meanwhile = None
        first, self._superseded = self._superseded, 0
        self.drop_before(first)
        for position in range(first, self.store.end):
            self._note(SECTION, position, _ADDED)

    def replay_failed(self) -> None:
        """Forget what was told out of sight; what was there before is so again."""
        self._end_turn()
        before, self._before = self._before, None
        if before is not None and self._shown_meanwhile is not None:
            self.store.truncate(before.end)
            self.turn_starts, self._calls = before.turn_starts, before.calls
            self._compactions, self._session_messages = before.compactions, before.session_messages
            self._shown_meanwhile = None
            self._messages.clear()
        self._superseded = 0

    def replay_ended(self) -> MessageEntry | None:
        """Go on live; return the user's first message, if it is kept."""
        self._end_turn()
        self.replay_answered()
        self.replaying = False
        self._superseded = self._may_be_superseded = 0
        position = self.turn_starts[0] if self.turn_starts else self.store.end
        while isinstance(first := self.store.get(position), ReminderNote):
            position += 1
        return first if isinstance(first, MessageEntry) else None

    def _begin_replayed_turn(self) -> None:
        """A user message in a replay begins a turn; such turns count down from -1, so that none meets a live one.

        The reminders right before it led it.
        """
        self._end_turn()
        self._messages.clear()
        if self._may_be_superseded:
            self._superseded, self._may_be_superseded = self._may_be_superseded, 0
        self._replayed_turns += 1
        self.turn = -self._replayed_turns
        end = self.store.end
        leading = self._leading if self._leading.stop == end else range(end, end)
        self.turn_starts.append(leading.start)
        for position in leading:
            note = self.store.get(position)
            assert isinstance(note, ReminderNote)
            self._replace(position, evolve(note, turn=self.turn))

    def _end_turn(self) -> None:
        self._close_message()
        self._close_aside()
        for builder in tuple(self._open_calls.values()):
            if builder.mark_unfinished():
                self.store.touch(builder.position)
                self._tell(builder.position, _CHANGED)
            self._close_call(builder)
        self.turn = None
        self._echo = Echo()


def _parts(blocks: Iterable[ContentBlock], before: tuple[MessagePart, ...] = ()) -> tuple[MessagePart, ...]:
    builder = PartsBuilder(before)
    for block in blocks:
        builder.add(block)
    return builder.freeze()
