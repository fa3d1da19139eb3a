"""Screens that list what there was: :class:`NoticeHistory`, :class:`ProblemsScreen`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from acp_host.diagnostics import Diagnostic
from acp_host.state.notice_entries import Notice
from acp_host.ui.terminal.text import as_json, one_line, plain, stacked
from acp_host.ui.terminal.toasts import notice_lines

__all__ = ["NoticeHistory", "ProblemsScreen"]

_LOOKS = {"warning": "$text-warning", "error": "$text-error"}


class _ListScreen(ModalScreen[None]):
    """A list, the newest first, and the details of the highlighted entry.

    Args:
        heading: of the list.
        lines: one for each entry.
        details: of each entry.
    """

    BINDINGS: ClassVar[list[BindingType]] = [("escape,f4,f8", "dismiss(None)", "Back")]

    def __init__(self, heading: str, lines: Sequence[Content], details: Sequence[Content]) -> None:
        super().__init__()
        self._heading = heading
        self._lines = lines
        self._details = details

    def compose(self) -> ComposeResult:
        """Make the parts."""
        with Vertical(classes="dialog -wide"):
            yield Static(plain(self._heading, "bold"))
            yield OptionList(*(Option(line) for line in self._lines), markup=False)
            yield Static(id="details", markup=False)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show the details."""
        self.query_one("#details", Static).update(self._details[event.option_index])


class NoticeHistory(_ListScreen):
    """All notices that are kept, each for itself.

    Args:
        history: oldest first.
        total: how many came in all.
    """

    def __init__(self, history: Sequence[Notice], total: int) -> None:
        newest_first = history[::-1]
        heading = f"{total:,} notices, of which the newest {len(history):,} are kept" if total else "No notices"
        details = [stacked([*notice_lines(each), plain(_fate(each), "dim")]) for each in newest_first]
        super().__init__(heading, [_notice_line(each) for each in newest_first], details)


class ProblemsScreen(_ListScreen):
    """What was dropped, repaired or unexpected on the connection; requests that nobody here serves, too.

    Args:
        diagnostics: oldest first.
    """

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        newest_first = diagnostics[::-1]
        heading = f"{len(diagnostics):,} problems" if diagnostics else "No problems"
        lines = [one_line(f"{each.kind}  {each.method or ''}  {each.message}", 200) for each in newest_first]
        super().__init__(heading, lines, [_problem(each) for each in newest_first])


def _notice_line(notice: Notice) -> Content:
    at = time.strftime("%H:%M:%S", time.localtime(notice.received))
    severity = one_line(notice.severity, 24, _LOOKS.get(notice.presentation.look, "bold"))
    return Content("  ").join([plain(at), severity, plain(notice.display_title)])


def _fate(notice: Notice) -> str:
    if notice.suppressed_by is not None:
        return f"from {notice.agent_name}; not shown over the conversation: {notice.suppressed_by}"
    return f"from {notice.agent_name}; {notice.state or 'gone'}"


def _problem(diagnostic: Diagnostic) -> Content:
    lines = [plain(diagnostic.message)]
    facts = {"method": diagnostic.method, "at": diagnostic.path, "times": diagnostic.count}
    lines += [plain(f"{label}: {fact}", "dim") for label, fact in facts.items() if fact is not None]
    if diagnostic.data is not None:
        data = diagnostic.data if isinstance(diagnostic.data, str) else as_json(diagnostic.data)
        lines += [plain("as it came:", "dim"), plain(data)]
    return stacked(lines)
