"""What a transcript has to be, in tests: :func:`assert_transcript`. ::

    assert_transcript(session, [
        user_said("Fix the test"),
        thought(...),
        tool_call("Edit notes.txt", kind="edit", status="completed"),
        ...,
        agent_said(re.compile("fixed")),
    ])

What is expected of a text or another member is a value, which it has to equal; a compiled pattern, which has to be
found in it; or ``...``, which stands for anything. An ``...`` in place of an entry stands for any number of entries.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import EllipsisType
from typing import TYPE_CHECKING, Any, TypeAlias

from attrs import field, frozen

from acp_host.errors import InvalidInput
from acp_host.state.entries import Entry, MessageEntry, Speaker, ToolCallEntry
from acp_host.state.json_form import to_json
from acp_host.state.snapshot import SessionSnapshot
from acp_host.testing._transcript_diff import Aligned, align, difference
from acp_host.wire.content import TextContent
from acp_host.wire.tool_calls import Content, Diff

if TYPE_CHECKING:
    from acp_host import blocking
    from acp_host.blocking import observables
    from acp_host.host.session import Session
    from acp_host.state.session_state import SessionState

__all__ = ["ExpectedEntry", "agent_said", "assert_transcript", "entry", "thought", "tool_call", "user_said"]

Text: TypeAlias = "str | re.Pattern[str] | EllipsisType"
"""What a text is expected to be."""
HasTranscript: TypeAlias = (
    "Session | blocking.Session | SessionState | observables.SessionState | SessionSnapshot | Iterable[Entry]"
)
"""What :func:`assert_transcript` looks at: a session or its state, asynchronous or blocking, or what they were."""

_TYPES = ("message", "tool_call", "compaction", "session_message", "history", "connection", "reminder", "unknown")
_PLACE = {"type", "position", "turn", "replayed"}
"""Where an entry stands, which is said otherwise."""


@frozen
class ExpectedEntry:
    """What one entry of a transcript is expected to be; made by the functions of this module.

    Attributes:
        type: the entry's ``type``.
        members: what is expected of its attributes, by name. Of a tool call, ``text`` is the text that it produced, and
            ``paths`` are the files that it names, in order.
    """

    type: str
    members: Mapping[str, Any] = field(factory=dict)

    def fits(self, actual: Entry) -> bool:
        """Tell whether an entry is as expected.

        Raises:
            InvalidInput: entries of its type have no such attribute.
        """
        return actual.type == self.type and all(
            _fits(expected, _member(actual, name)) for name, expected in self.members.items()
        )

    def is_like(self, actual: Entry) -> bool:
        """Tell whether an entry may be what was meant: it is of the same type, and the same speaker's."""
        speaker = self.members.get("speaker")
        return actual.type == self.type and speaker == getattr(actual, "speaker", None)

    def __str__(self) -> str:
        return _line(self.type, self.members)

    def shown(self, actual: Entry) -> str:
        """Return an entry as a line, with those members that something is expected of."""
        if actual.type != self.type:
            return describe(actual)
        return _line(actual.type, {name: _member(actual, name) for name in self.members})


def user_said(text: Text = ..., **members: Any) -> ExpectedEntry:
    """Expect words of the user; ``members`` as for :func:`entry`."""
    return ExpectedEntry("message", {"speaker": Speaker.USER, "text": text, **members})


def agent_said(text: Text = ..., **members: Any) -> ExpectedEntry:
    """Expect words of the agent; ``members`` as for :func:`entry`."""
    return ExpectedEntry("message", {"speaker": Speaker.ASSISTANT, "text": text, **members})


def thought(text: Text = ..., **members: Any) -> ExpectedEntry:
    """Expect a thought of the agent; ``members`` as for :func:`entry`."""
    return ExpectedEntry("message", {"speaker": Speaker.THOUGHT, "text": text, **members})


def tool_call(title: Text | None = ..., **members: Any) -> ExpectedEntry:
    """Expect a tool call; ``members`` as for :func:`entry`, e.g. ``paths=["/work/notes.txt"]``."""
    return ExpectedEntry("tool_call", {"title": title, **members})


def entry(type: str, **members: Any) -> ExpectedEntry:
    """Expect an entry of any type.

    Args:
        type: as in :mod:`acp_host.state.entries`: ``message``, ``tool_call``, ``compaction``, ``session_message``,
            ``history``, ``connection``, ``reminder`` or ``unknown``.
        members: what is expected of its attributes; those that are not named do not count.

    Raises:
        InvalidInput: there is no such type.
    """
    if type not in _TYPES:
        raise InvalidInput(f"there are no entries of the type {type!r}; there are {', '.join(_TYPES)}")
    return ExpectedEntry(type, members)


def assert_transcript(
    actual: HasTranscript, expected: Sequence[ExpectedEntry | EllipsisType], *, turn: int | None = None
) -> None:
    """Fail unless a transcript is what was expected: these entries, in this order, and no others.

    Args:
        actual: a session, its state, a snapshot of it, or entries.
        expected: what each entry has to be; ``...`` for any number of entries, none included.
        turn: look at the entries of this turn alone, by its number: 1 is the first.

    Raises:
        AssertionError: it is not; the message has both side by side.
        InvalidInput: something that is expected can never be: a member has no such name.
    """
    __tracebackhide__ = True
    entries = [one for one in _entries(actual) if turn is None or one.turn == turn]
    pairs = align(expected, entries, ExpectedEntry.fits, ExpectedEntry.is_like)
    if all(pair.fits for pair in pairs):
        return
    lines = difference([_shown(pair) for pair in pairs])
    raise AssertionError(f"the transcript is not as expected (- expected, + actual):\n\n{lines}")


def describe(actual: Entry) -> str:
    """Return an entry as a line."""
    match actual:
        case MessageEntry():
            return _line(actual.type, {"speaker": actual.speaker, "text": actual.text})
        case ToolCallEntry():
            return _line(actual.type, {"title": actual.title, "kind": actual.kind, "status": actual.status})
        case _:
            told = to_json(actual)
            return _line(actual.type, {name: value for name, value in told.items() if name not in _PLACE})


def _entries(actual: Any) -> Iterable[Entry]:
    state = getattr(actual, "state", actual)
    snapshot = state.snapshot() if hasattr(state, "snapshot") else state
    entries: Iterable[Entry] = snapshot.transcript if isinstance(snapshot, SessionSnapshot) else snapshot
    return entries


def _shown(pair: Aligned[ExpectedEntry, Entry]) -> tuple[bool, str | None, str | None]:
    """Return whether a pair fits, and both sides as lines."""
    wish, one = pair.expected, pair.actual
    if wish is None or isinstance(wish, EllipsisType):
        return pair.fits, None, describe(one) if one is not None else None
    return pair.fits, str(wish), wish.shown(one) if one is not None else None


def _member(actual: Entry, name: str) -> Any:
    if isinstance(actual, ToolCallEntry) and name == "text":
        blocks = [part.content for part in actual.content if isinstance(part, Content)]
        return "".join(block.text for block in blocks if isinstance(block, TextContent))
    if isinstance(actual, ToolCallEntry) and name == "paths":
        named = [place.path for place in actual.locations]
        return list(dict.fromkeys(named + [part.path for part in actual.content if isinstance(part, Diff)]))
    if not hasattr(actual, name):
        raise InvalidInput(f"an entry of the type {actual.type!r} has no member {name!r} that could be expected")
    return getattr(actual, name)


def _fits(expected: Any, actual: Any) -> bool:
    if isinstance(expected, EllipsisType):
        return True
    if isinstance(expected, re.Pattern):
        return isinstance(actual, str) and expected.search(actual) is not None
    return bool(expected == actual)


def _line(type: str, members: Mapping[str, Any]) -> str:
    shown = dict(members)
    words = [str(shown.pop("speaker", type))]
    for name in ("text", "title") if type in ("message", "tool_call") else ():
        if name in shown and (type, name) != ("tool_call", "text"):
            words.append(_value(shown.pop(name)))
    return " ".join([f"{words[0]:<10}", *words[1:], *(f"{name}={_value(value)}" for name, value in shown.items())])


def _value(value: Any) -> str:
    if isinstance(value, EllipsisType):
        return "…"
    if isinstance(value, re.Pattern):
        return f"/{value.pattern}/"
    return repr(str(value)) if isinstance(value, str) else repr(value)
