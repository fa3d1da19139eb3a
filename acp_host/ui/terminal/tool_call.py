"""A tool call as a widget, with its status, changes of files and live terminals: :class:`ToolCallView`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from textual.content import Content

from acp_host.state.entries import ShownContent, ToolCallEntry
from acp_host.state.snapshot import SessionSnapshot, TerminalView
from acp_host.ui.changed_lines import ChangedLine, LineKind, changed_lines, patched_lines
from acp_host.ui.content_text import content_text
from acp_host.ui.terminal.folding import FoldingView
from acp_host.ui.terminal.text import as_json, lines_of, one_line, plain, terminal_output
from acp_host.wire.tool_calls import Content as ShownBlock
from acp_host.wire.tool_calls import Diff, Terminal, ToolCallLocation
from acp_host.wire.v2.diffs import Diff as PatchedFiles

__all__ = ["ToolCallView", "changed_content", "places", "produced", "terminal_lines"]

_SIGNS: Mapping[str, tuple[str, str]] = {
    "pending": ("○", "dim"),
    "in_progress": ("◐", "$text-primary"),
    "completed": ("✓", "$text-success"),
    "failed": ("✗", "$text-error"),
    "cancelled": ("⊘", "$text-warning"),
}
_STYLES = {
    LineKind.HEADING: "bold",
    LineKind.ADDED: "$text-success",
    LineKind.REMOVED: "$text-error",
    LineKind.PLACE: "$text-primary",
}
_MOST_ITEMS = 20
_MOST_LINES = 100
_BRIEF_LINES = 8
_MOST_PLACES = 20


class ToolCallView(FoldingView):
    """A tool call: its title and status, and in brief what it has produced."""

    @property
    def terminals(self) -> frozenset[str]:
        """The terminals whose output is a part of it."""
        entry = self._shown[0] if self._shown else None
        content = () if entry is None else entry.content
        return frozenset(item.terminal_id for item in content if isinstance(item, Terminal))

    def drawn(self, entry: ToolCallEntry, snapshot: SessionSnapshot) -> list[Content]:
        """Return the lines to show."""
        lines = [self._head(entry)]
        shown = places(entry.locations, entry.content)[: _MOST_PLACES if self.unfolded else 1]
        lines += [one_line(place, 200, "dim") for place in shown]
        most = _MOST_LINES if self.unfolded else _BRIEF_LINES
        found = produced(entry.content, snapshot.terminals, most)
        lines += found if self.unfolded else found[:_BRIEF_LINES]
        if len(found) > _BRIEF_LINES and not self.unfolded:
            lines.append(plain("…", "dim"))
        if self.unfolded:
            for label, value in (("given", entry.raw_input), ("returned", entry.raw_output)):
                if value is not None:
                    lines += [plain(f"{label}:", "dim bold"), *lines_of(as_json(value), _MOST_LINES, "dim")]
        return lines

    def _head(self, entry: ToolCallEntry) -> Content:
        status = entry.status or "not said"
        sign, style = _SIGNS.get(status, ("·", "dim"))
        if entry.unfinished and not entry.finished:
            status = f"{status}; its turn is over, and the agent never said that it ended"
        kind = f"{entry.kind}: " if entry.kind else ""
        title = entry.title or entry.name or entry.tool_call_id
        parts = [plain(f"{self.sign}{sign} ", style), one_line(f"{kind}{title}", 200, "bold")]
        return Content.assemble(*parts, "  ", one_line(status, 100, style))


def places(locations: Iterable[ToolCallLocation], content: Iterable[ShownContent]) -> list[str]:
    """Return the files that a call works on, without those whose changes are shown."""
    changed = {item.path for item in content if isinstance(item, Diff)}
    return [
        f"{place.path}:{place.line}" if place.line else place.path for place in locations if place.path not in changed
    ]


def produced(items: Iterable[ShownContent], terminals: Mapping[str, TerminalView], most: int) -> list[Content]:
    """Return what a tool call has produced, as lines; at most so many of each item."""
    lines: list[Content] = []
    items = tuple(items)
    for item in items[:_MOST_ITEMS]:
        match item:
            case Diff() | PatchedFiles():
                lines += changed_content(item)[: most + 1]
            case ShownBlock(content=content):
                lines += lines_of(content_text(content), most, "dim")
            case Terminal(terminal_id=terminal_id):
                terminal = terminals.get(terminal_id)
                if terminal is not None:
                    lines += terminal_lines(terminal, min(most, 20))
            case _:
                lines.append(one_line(f"[{item.tag}]", style="dim"))
    if len(items) > _MOST_ITEMS:
        lines.append(plain(f"({len(items) - _MOST_ITEMS} more)", "dim"))
    return lines


def changed_content(diff: Diff | PatchedFiles) -> list[Content]:
    """Return a diff as lines."""
    lines: list[ChangedLine] = changed_lines(diff) if isinstance(diff, Diff) else patched_lines(diff)
    return [plain(line.text, _STYLES.get(line.kind, "dim")) for line in lines]


def terminal_lines(terminal: TerminalView, most: int) -> list[Content]:
    """Return a command, the end of its output, and how it ended."""
    lines = [one_line(f"$ {terminal.command or terminal.terminal_id}", 200, "bold")]
    lines += terminal_output(terminal.output, most)
    if terminal.ended:
        how = f"ended by {terminal.signal}" if terminal.signal else f"exit code {terminal.exit_code}"
        lines.append(one_line("ended" if not terminal.signal and terminal.exit_code is None else how, style="dim"))
    return lines
