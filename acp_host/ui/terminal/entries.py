"""The entries of a transcript as widgets: :func:`view_of`; tool calls have a module of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from acp_host.state.entries import (
    BlockPart,
    CompactionEntry,
    ConnectionEntry,
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
from acp_host.state.snapshot import SessionSnapshot
from acp_host.ui.content_text import content_text
from acp_host.ui.terminal.folding import FoldingView
from acp_host.ui.terminal.markdown import PAGE, cut_page, safe_markdown
from acp_host.ui.terminal.text import as_json, lines_of, one_line, plain, stacked
from acp_host.ui.terminal.tool_call import ToolCallView

__all__ = ["EntryView", "parts_text", "view_of"]

_MOST_PAGES = 8
_MOST_LINES = 200
_LEFT_OUT = "  (the beginning of this message is left out here)"


class EntryView(Protocol):
    """A widget that shows one entry."""

    async def show(self, entry: Any, snapshot: SessionSnapshot) -> None:
        """Show the entry as it is now."""


def parts_text(parts: Sequence[MessagePart]) -> str:
    """Return the parts of a message as one text; what is no text is named, on a line of its own."""
    return "".join(f"\n{content_text(part.block)}\n" if isinstance(part, BlockPart) else part.text for part in parts)


class UserMessage(Static):
    """What the user has said, literally."""

    async def show(self, entry: MessageEntry, snapshot: SessionSnapshot) -> None:
        """Show the entry as it is now."""
        self.update(stacked([plain("you", "bold $text-accent"), *lines_of(parts_text(entry.parts), _MOST_LINES)]))


class AgentMessage(Vertical):
    """What the agent says, as Markdown, in pages of which only the last is rendered again when more comes.

    Args:
        agent_name: what to call the agent.
    """

    def __init__(self, agent_name: str) -> None:
        super().__init__()
        self._speaker = plain(agent_name, "bold $text-success")
        self._head = Static(self._speaker)
        self._text = ""
        self._settled = 0
        self._opening = ""
        self._pages = [Static(markup=False)]

    def compose(self) -> ComposeResult:
        """Make the parts."""
        yield self._head
        yield from self._pages

    async def show(self, entry: MessageEntry, snapshot: SessionSnapshot) -> None:
        """Show the entry as it is now."""
        text = parts_text(entry.parts)
        if not text.startswith(self._text):
            await self._begin_at(0)
        self._text = text
        earliest = len(text) - _MOST_PAGES * PAGE
        if self._settled < earliest:
            await self._begin_at(text.find("\n", earliest) + 1 or earliest)
        end, opening = cut_page(text[self._settled :])
        while self._settled + end < len(text):
            self._draw_last(text[self._settled : self._settled + end])
            self._settled, self._opening = self._settled + end, opening
            await self._add_page()
            end, opening = cut_page(text[self._settled :])
        self._draw_last(text[self._settled :])

    async def _begin_at(self, place: int) -> None:
        """Begin anew; what stands before ``place`` is left out."""
        gone, self._pages = self._pages, []
        self._settled, self._opening = place, ""
        self._head.update(self._speaker if place == 0 else self._speaker + plain(_LEFT_OUT, "dim"))
        if self.is_attached:
            await self.remove_children(gone)
        await self._add_page()

    async def _add_page(self) -> None:
        page = Static(markup=False)
        self._pages.append(page)
        if self.is_attached:
            await self.mount(page)
        if len(self._pages) > _MOST_PAGES:
            gone = self._pages.pop(0)
            self._head.update(self._speaker + plain(_LEFT_OUT, "dim"))
            if self.is_attached:
                await gone.remove()

    def _draw_last(self, text: str) -> None:
        self._pages[-1].update(safe_markdown(self._opening + text))


class Thought(FoldingView):
    """What the agent thinks."""

    def drawn(self, entry: MessageEntry, snapshot: SessionSnapshot) -> list[Content]:
        text = parts_text(entry.parts)
        if not self.unfolded:
            return [Content.assemble((f"{self.sign}thinking  ", "dim"), one_line(text.lstrip(), 100, "dim italic"))]
        return [plain(f"{self.sign}thinking", "dim"), *lines_of(text, _MOST_LINES, "dim italic")]


class Compaction(FoldingView):
    """The place where the agent has put the conversation into fewer words."""

    def drawn(self, entry: CompactionEntry, snapshot: SessionSnapshot) -> list[Content]:
        error = f": {entry.error}" if entry.error else ""
        lines = [one_line(f"{self.sign}──── context compacted ({entry.status}){error} ────", 200, "$text-warning")]
        return lines + lines_of(parts_text(entry.summary), _MOST_LINES, "dim") if self.unfolded else lines


class MarkedReminder(FoldingView):
    """Context that this host has put before a prompt; never to be taken for the user's words."""

    def drawn(self, entry: ReminderNote, snapshot: SessionSnapshot) -> list[Content]:
        head = f"{self.sign}context from this host, not typed by you · {entry.reminder_id}"
        lines = [one_line(head, 100, "$text-secondary")]
        return [*lines, *lines_of(entry.body, _MOST_LINES if self.unfolded else 2, "dim")]


class Remark(FoldingView):
    """Everything that has no form of its own: what happened, in words."""

    def drawn(self, entry: Entry, snapshot: SessionSnapshot) -> list[Content]:
        head, details = _words(entry)
        lines = [one_line(f"{self.sign if details else ''}{head}", 200, "$text-warning")]
        return lines + lines_of(details, _MOST_LINES, "dim") if self.unfolded and details else lines


def _words(entry: Entry) -> tuple[str, str]:
    """Return a line for an entry, and what more there is to see."""
    match entry:
        case ConnectionEntry():
            cut = "; the turn was cut off, and its end is not known" if entry.interrupted else ""
            return f"──── the connection was lost{cut} ────", entry.summary
        case HistoryEntry():
            kept = "" if entry.kept_turns is None else f", {entry.kept_turns} turns are kept"
            return f"──── the conversation was {entry.action}{kept} ────", entry.reason or ""
        case SessionMessageEntry():
            return f"message from session {entry.sender_session_id or '(not said)'}", parts_text(entry.parts)
        case UnknownEntry():
            problem = f": {entry.problem}" if entry.problem else ", which this version does not know"
            return f"update {entry.tag}{problem}", as_json(dict(entry.data))
        case _:
            return str(entry.type), ""


def view_of(entry: Entry, agent_name: str) -> Widget:
    """Return a new widget for an entry, an :class:`EntryView` that shows nothing yet."""
    match entry:
        case MessageEntry(speaker=Speaker.USER):
            return UserMessage(markup=False)
        case MessageEntry(speaker=Speaker.THOUGHT):
            return Thought()
        case MessageEntry():
            return AgentMessage(agent_name)
        case ToolCallEntry():
            return ToolCallView()
        case CompactionEntry():
            return Compaction()
        case ReminderNote():
            return MarkedReminder()
        case _:
            return Remark()
