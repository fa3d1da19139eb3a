"""The reminders panel: :class:`RemindersPane`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from acp_host.state.reminder_entry import ReminderEntry, RemindersSnapshot, ReminderStatus
from acp_host.ui.terminal.text import one_line, plain, stacked

__all__ = ["ReminderList", "RemindersPane"]

_STYLES: Mapping[str, str] = {
    ReminderStatus.EMITTED: "$text-success",
    ReminderStatus.FAILED: "$text-error",
    ReminderStatus.SUPPRESSED: "$text-error",
    ReminderStatus.UNCERTAIN: "$text-warning",
}
_FILTER = "filter by tag or status"


class ReminderList(OptionList):
    """The reminders; keys act on the highlighted one."""

    class Wanted(Message):
        """The user wants something done with a reminder: ``revoke`` or ``dismiss``."""

        def __init__(self, deed: str, entry: ReminderEntry) -> None:
            super().__init__()
            self.deed = deed
            self.entry = entry

    BINDINGS: ClassVar[list[BindingType]] = [
        ("n", "app.compose_reminder", "New"),
        ("r", "want('revoke')", "Revoke"),
        ("d", "want('dismiss')", "Dismiss"),
    ]

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, **options)
        self._entries: tuple[ReminderEntry, ...] = ()

    def show(self, entries: Iterable[ReminderEntry]) -> None:
        """Show these entries, and keep the highlighted one highlighted."""
        highlighted = self.entry
        self._entries = tuple(entries)
        self.clear_options()
        self.add_options([Option(_line(entry)) for entry in self._entries])
        places = [place for place, entry in enumerate(self._entries) if highlighted and entry.id == highlighted.id]
        if self._entries:
            self.highlighted = places[0] if places else len(self._entries) - 1

    @property
    def entry(self) -> ReminderEntry | None:
        """The highlighted one, if there is one."""
        if self.highlighted is None or self.highlighted >= len(self._entries):
            return None
        return self._entries[self.highlighted]

    def action_want(self, deed: str) -> None:
        """Tell what the user wants done with the highlighted one."""
        if self.entry is not None:
            self.post_message(self.Wanted(deed, self.entry))


class RemindersPane(Vertical):
    """The reminders of a session, the host's and the agent's own, with a filter and the details of one."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._snapshot = RemindersSnapshot()

    def compose(self) -> ComposeResult:
        """Make the parts."""
        yield Input(placeholder=_FILTER, id="reminder-filter", compact=True)
        yield ReminderList(id="reminders")
        yield Static("n: new   r: revoke   d: dismiss", classes="hint")
        yield Static(id="reminder-details", markup=False)

    def draw(self, reminders: RemindersSnapshot) -> None:
        """Show the panel."""
        self._snapshot = reminders
        words = self.query_one(Input).value.split()
        fitting = [entry for entry in reminders.entries if all(_fits(entry, word) for word in words)]
        shown = self.query_one(ReminderList)
        shown.show(fitting)
        counts = ", ".join(f"{count} {status}" for status, count in reminders.counts.items())
        self.border_subtitle = one_line(counts, 60) if counts else None
        self._show_details(shown.entry)

    def on_input_changed(self) -> None:
        """Show what fits the filter."""
        self.draw(self._snapshot)

    def on_option_list_option_highlighted(self) -> None:
        """Show the details of the highlighted one."""
        self._show_details(self.query_one(ReminderList).entry)

    def _show_details(self, entry: ReminderEntry | None) -> None:
        details = self.query_one("#reminder-details", Static)
        details.update(plain("No reminder.", "dim") if entry is None else stacked(_details(entry)))


def _fits(entry: ReminderEntry, word: str) -> bool:
    return any(each.startswith(word) for each in (*entry.tags, entry.status))


def _line(entry: ReminderEntry) -> Content:
    style = _STYLES.get(entry.status, "") if entry.active or entry.status in _STYLES else "dim"
    body = one_line(entry.body or "(the agent tells only of its end)", 200, "" if entry.active else "dim")
    return Content.assemble(one_line(entry.status, 30, style), "  ", body)


def _details(entry: ReminderEntry) -> list[Content]:
    facts = {
        "id": entry.id if entry.reminder_id in (None, entry.id) else f"{entry.id}, the agent's {entry.reminder_id}",
        "by": entry.rung,
        "from": entry.origin,
        "tags": ", ".join(entry.tags),
        "key": entry.dedupe_key,
        "mode": entry.mode,
        "turns left": entry.ttl_left,
        "shown to the model": f"{entry.times_emitted} times" if entry.times_emitted else None,
        "replaced by": entry.replaced_by,
        "ended by": entry.expiry_phase,
        "changed for the agent": ", ".join(f"{each.field}: {each.reason}" for each in entry.adjustments),
        "went wrong": entry.error.message if entry.error else None,
        "over": "as far as this host can tell" if entry.estimated else None,
        "known from": "a replayed history" if entry.replayed else None,
    }
    lines = [plain(entry.body[:2_000])]
    return lines + [
        Content.assemble((f"{label}: ", "dim"), one_line(str(fact), 200)) for label, fact in facts.items() if fact
    ]
