"""The entries of a transcript, as readers see them: immutable, and the same object as long as nothing changes.

Every entry has a position in the transcript, which is its id and never changes, the turn it belongs to (``None`` for
what came between turns), and whether it came from the replay of a loaded session.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from acp_host.state._value import plain_json, value
from acp_host.wire._model import NO_EXTRA
from acp_host.wire.content import ContentBlock, TextContent
from acp_host.wire.tool_calls import ToolCallContent, ToolCallLocation
from acp_host.wire.v2.diffs import Diff as PatchedFiles

if TYPE_CHECKING:
    from acp_host.state.harn.tool_facts import ToolFacts  # loaded when an agent turns out to be one of Harn's

__all__ = [
    "ENDED_CALL",
    "BlockPart",
    "CompactionEntry",
    "ConnectionEntry",
    "Entry",
    "HistoryEntry",
    "MessageEntry",
    "MessagePart",
    "ReminderNote",
    "SessionMessageEntry",
    "ShownContent",
    "Speaker",
    "TextPart",
    "ToolCallEntry",
    "UnknownEntry",
]


ENDED_CALL = ("completed", "failed", "cancelled", "restored")
"""The statuses of a call that has ended; of a restored one the changes were taken back (Harn)."""

ShownContent: TypeAlias = ToolCallContent | PatchedFiles
"""What a tool call has produced: changes of files are told with the texts before and after, or as patches."""


class Speaker(StrEnum):
    """Whose words a message holds."""

    USER = "user"
    ASSISTANT = "assistant"
    THOUGHT = "thought"


@value
class TextPart:
    """Text, in segments that never change once another follows."""

    type: ClassVar[str] = "text"

    segments: tuple[str, ...]

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(self.segments)


@value
class BlockPart:
    """Content other than plain text: an image, a link, annotated text, or of a kind that this version does not know."""

    type: ClassVar[str] = "block"

    block: ContentBlock

    @property
    def text(self) -> str:
        """The block's text; empty for what is no text."""
        return self.block.text if isinstance(self.block, TextContent) else ""


MessagePart: TypeAlias = TextPart | BlockPart
"""What a message consists of, in order."""


@value
class MessageEntry:
    """A message or a thought, whole or as far as it has come.

    Attributes:
        position: its id.
        speaker: one of :class:`Speaker`.
        parts: its content in order; neighbouring text is one part.
        message_id: the agent's id of it, where given.
        turn: number of its turn; ``None`` between turns.
        replayed: it came from a replay.
    """

    type: ClassVar[str] = "message"

    position: int
    speaker: Speaker
    parts: tuple[MessagePart, ...]
    message_id: str | None = None
    turn: int | None = None
    replayed: bool = False

    @property
    def text(self) -> str:
        """The text of all its parts."""
        return "".join(part.text for part in self.parts)


@value
class ToolCallEntry:
    """A tool call, in the place where it was first heard of.

    Attributes:
        position: its id.
        key: identifies the call among those that are kept: the agent's id, with ``#2``, ``#3``, … where an agent uses
            an id again in a later turn.
        tool_call_id: the agent's id.
        title: as sent; ``None`` if the agent has not said one.
        name: name of the tool, if said.
        kind: one of :class:`~acp_host.wire.tool_calls.ToolKind` or another word; ``None`` if not said.
        status: as last sent; ``None`` if not said.
        content: what it produced so far.
        locations: files it works on.
        raw_input: what the tool was given, as sent.
        raw_output: what it returned, as sent.
        provisional: no ``tool_call`` announced it: it is known from an update or a permission request only.
        unfinished: its turn is over and the agent never said that it ended.
        meta: each member of ``_meta`` as last sent; empty if there was none.
        extra: likewise for properties that this version does not know.
        turn: number of its turn; ``None`` between turns.
        replayed: it came from a replay.
        harn: what a Harn agent says of it besides; ``None`` for every other agent.
        cancellable: the agent can be asked to cancel this call alone.
    """

    type: ClassVar[str] = "tool_call"

    position: int
    key: str
    tool_call_id: str
    title: str | None = None
    name: str | None = None
    kind: str | None = None
    status: str | None = None
    content: tuple[ShownContent, ...] = ()
    locations: tuple[ToolCallLocation, ...] = ()
    raw_input: Any = plain_json(default=None)
    raw_output: Any = plain_json(default=None)
    provisional: bool = False
    unfinished: bool = False
    meta: Mapping[str, Any] = plain_json(default=NO_EXTRA)
    extra: Mapping[str, Any] = plain_json(default=NO_EXTRA)
    turn: int | None = None
    replayed: bool = False
    harn: ToolFacts | None = None
    cancellable: bool = False

    @property
    def finished(self) -> bool:
        """Whether the agent said that the call has ended."""
        return self.status in ENDED_CALL


@value
class CompactionEntry:
    """The place where the agent put the conversation so far into fewer words.

    Attributes:
        position: its id.
        compaction_id: the agent's id.
        status: one of :class:`~acp_host.wire.compaction.CompactionStatus` or another word.
        summary: the fewer words, if the agent shows them.
        error: what went wrong, if it did.
        turn: number of its turn; ``None`` between turns.
        replayed: it came from a replay.
    """

    type: ClassVar[str] = "compaction"

    position: int
    compaction_id: str
    status: str
    summary: tuple[MessagePart, ...] = ()
    error: str | None = None
    turn: int | None = None
    replayed: bool = False


@value
class SessionMessageEntry:
    """A message between sessions, e.g. from a subagent.

    Attributes:
        position: its id.
        message_id: the agent's id.
        sender_session_id: who sent it, if said.
        recipient_session_id: to whom, if said.
        sender_message_id: the sender's own id of it, if said.
        recipient_message_id: the recipient's own id of it, if said.
        parts: its content.
        turn: number of its turn; ``None`` between turns.
        replayed: it came from a replay.
    """

    type: ClassVar[str] = "session_message"

    position: int
    message_id: str
    sender_session_id: str | None = None
    recipient_session_id: str | None = None
    sender_message_id: str | None = None
    recipient_message_id: str | None = None
    parts: tuple[MessagePart, ...] = ()
    turn: int | None = None
    replayed: bool = False


@value
class ReminderNote:
    """Context that this host put before a prompt; never the user's words.

    Attributes:
        position: its id.
        reminder_id: the host-local id of the reminder.
        body: what was said.
        turn: number of its turn; ``None`` between turns.
        replayed: it came from a replay.
    """

    type: ClassVar[str] = "reminder"

    position: int
    reminder_id: str
    body: str
    turn: int | None = None
    replayed: bool = False


@value
class HistoryEntry:
    """The place where the agent went back in the conversation, or forward again.

    What stands before it stays as it was; the agent may not know all of it any more.

    Attributes:
        position: its id.
        action: ``truncated``, ``rolled_back``, ``redone`` or another word.
        kept_turns: how many turns the agent still knows, if it says so.
        removed_turns: how many it does not know any more, if it says so.
        checkpoint_id: the agent's id of the point, or of the turn, that it went to, if it says so.
        status: how that went, in the agent's word; ``None`` if it does not say.
        reason: why, in the agent's words.
        turn: number of its turn; ``None`` between turns.
        replayed: it came from a replay.
    """

    type: ClassVar[str] = "history"

    position: int
    action: str
    kept_turns: int | None = None
    removed_turns: int | None = None
    checkpoint_id: str | None = None
    status: str | None = None
    reason: str | None = None
    turn: int | None = None
    replayed: bool = False


@value
class ConnectionEntry:
    """The place where the connection to the agent was lost.

    Attributes:
        position: its id.
        lost: what is missing since: ``nothing``, or ``context`` where nobody could open the session again.
        interrupted: a turn was cut off; its end is not known.
        summary: for the user, what is missing; may be empty.
        turn: number of its turn; ``None`` between turns.
        replayed: it came from a replay.
    """

    type: ClassVar[str] = "connection"

    position: int
    lost: str
    interrupted: bool = False
    summary: str = ""
    turn: int | None = None
    replayed: bool = False


@value
class UnknownEntry:
    """An update of a kind that this version does not know, or that could not be read.

    Attributes:
        position: its id.
        tag: the update's kind.
        data: the update as sent.
        problem: why it could not be read; ``None`` for an unknown kind.
        turn: number of its turn; ``None`` between turns.
        replayed: it came from a replay.
    """

    type: ClassVar[str] = "unknown"

    position: int
    tag: str
    data: Mapping[str, Any] = plain_json()
    problem: str | None = None
    turn: int | None = None
    replayed: bool = False


Entry: TypeAlias = (
    MessageEntry
    | ToolCallEntry
    | CompactionEntry
    | SessionMessageEntry
    | HistoryEntry
    | ConnectionEntry
    | ReminderNote
    | UnknownEntry
)
"""One entry of a transcript."""
