"""How a reminder is marked where it travels in the user's role: :class:`Marker`.

A marked text begins with a line that names the host and the reminder, and ends with another one::

    [context from Some Editor, not typed by the user · rmd-7]
    a.py changed on disk.
    [end of context rmd-7]

Lines in the body that look like either get a backslash before the bracket, so that a body cannot end its own block or
begin another one; reading takes it away again. What agents send back on a replay as the user's text is recognised by
these lines as long as they came back intact, whatever was joined to the block.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence

from attrs import frozen

from acp_host.wire.content import TextContent

__all__ = ["MARKER", "MarkedText", "Marker", "marked_block"]

_BREAKS = "\n\r\v\f\x1c-\x1e\x85\u2028\u2029"
# Whatever a reader might take for one of the lines: in any case, indented, after any kind of line break.
_LINE_START = rf"(?P<before>(?:\A|[{_BREAKS}])[^\S{_BREAKS}]*+)"
_MARKING = r"\[\s*+(?:context\s++from\b|end\s++of\s++context\b)"
_LOOKALIKE = re.compile(rf"{_LINE_START}(?P<line>\\*+{_MARKING})", re.IGNORECASE)
_ESCAPED = re.compile(rf"{_LINE_START}\\(?P<line>\\*+{_MARKING})", re.IGNORECASE)
_OPENING = re.compile(r"\[context from (?P<host>[^\n]*?), not typed by the user · (?P<id>[^\s\]]+)\][ \t]*+\r?\n")
_OPENING_LINE = re.compile(f"^{_OPENING.pattern}", re.MULTILINE)
_CLOSING = re.compile(r"^\[end of context (?P<id>[^\s\]]+)\]", re.MULTILINE)
_BEGINS = "[context from "
_UNNAMEABLE = re.compile(rf"[\[\]\x00-\x1f\x7f{_BREAKS}]+")
_LONGEST_NAME = 80


@frozen
class MarkedText:
    """A piece of a text.

    Attributes:
        text: the user's own text, or the body of a reminder.
        reminder_id: the reminder's host-local id; ``None`` for the user's own text.
        host: the host that the marker names; ``None`` likewise.
    """

    text: str
    reminder_id: str | None = None
    host: str | None = None


@frozen
class Marker:
    """Writes and reads the marker.

    Attributes:
        host: the name in the marker; ``None`` for the name that the host gave the agent.
    """

    host: str | None = None

    def wrap(self, body: str, reminder_id: str, host: str = "the host") -> str:
        """Return a marked text.

        Args:
            body: the reminder's text.
            reminder_id: its host-local id.
            host: the name to use where :attr:`host` gives none.
        """
        name = " ".join(_UNNAMEABLE.sub(" ", self.host or host).split())[:_LONGEST_NAME] or "the host"
        safe = _LOOKALIKE.sub(r"\g<before>\\\g<line>", body)
        return f"[context from {name}, not typed by the user · {reminder_id}]\n{safe}\n[end of context {reminder_id}]"

    def split(self, text: str) -> list[MarkedText]:
        """Return the pieces of a text in order: reminders, and what else there is.

        A marked piece begins at the start of a line, or right behind another one, and is closed by the line with the
        same id. Whitespace alone between two pieces is no piece.
        """
        closings: dict[str, list[int]] = {}
        for closing in _CLOSING.finditer(text):
            closings.setdefault(closing["id"], []).append(closing.start())
        pieces: list[MarkedText] = []
        position = at = 0
        while closings and (
            # Right behind another block is as good as the start of a line: that is where some agents join them.
            opening := (_OPENING.match(text, at) if at == position else None) or _OPENING_LINE.search(text, at)
        ):
            ends = closings.get(opening["id"], ())
            nearest = bisect.bisect_left(ends, opening.end())
            if nearest == len(ends):
                at = opening.end()
                continue
            _add_own(pieces, text[position : opening.start()])
            body = text[opening.end() : ends[nearest]].removesuffix("\n")
            pieces.append(MarkedText(_ESCAPED.sub(r"\g<before>\g<line>", body), opening["id"], opening["host"]))
            position = at = ends[nearest] + len(f"[end of context {opening['id']}]")
        _add_own(pieces, text[position:])
        return pieces

    def unfinished(self, text: str) -> int:
        """Return where a marked piece begins that may only be half there, or the text's length: for streamed text."""
        at = 0
        while (opening := _OPENING_LINE.search(text, at)) is not None:
            closing = text.find(f"\n[end of context {opening['id']}]", opening.end() - 1)
            if closing < 0:
                return opening.start()
            at = closing + 1
        last_line = text.rfind("\n") + 1
        begins = text[last_line : last_line + len(_BEGINS)]
        return last_line if begins and _BEGINS.startswith(begins) else len(text)

    def awaited(self, half: str) -> str:
        """Return what has to come before a piece that may only be half there can be more; empty for anything at all.

        Args:
            half: the text from where :meth:`unfinished` says that such a piece begins.
        """
        opening = _OPENING.match(half)
        if opening is not None:
            return f"\n[end of context {opening['id']}]"
        return "\n" if half.startswith(_BEGINS) else ""


MARKER = Marker()
"""The marker that is used unless a policy names another host."""


def marked_block(
    marker: Marker, body: str, reminder_id: str, *, host: str, tags: Sequence[str] = (), dedupe_key: str | None = None
) -> TextContent:
    """Return the content block of a marked reminder; its ``_meta`` says the same for programs."""
    described = {"id": reminder_id, "tags": list(tags), **({} if dedupe_key is None else {"dedupeKey": dedupe_key})}
    return TextContent(marker.wrap(body, reminder_id, host), meta={"acp_host": {"reminder": described}})


def _add_own(pieces: list[MarkedText], text: str) -> None:
    if text.strip():
        pieces.append(MarkedText(text.removeprefix("\n") if pieces else text))
