"""Writing a reminder, with a look at the way that it would go: :class:`ComposeReminder`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static, TextArea

from acp_host.errors import AcpError, ReminderInvalid
from acp_host.reminders import Reminder, ReminderPolicy, Step
from acp_host.state.reminder_entry import Rung
from acp_host.ui.terminal.text import one_line, plain, stacked
from acp_host.ui.terminal.tick import Tick

__all__ = ["ComposeReminder"]

_ALSO_BEFORE_A_PROMPT = ReminderPolicy(
    rungs=(Rung.INJECT_REMINDER, Rung.REMIND, Rung.PREFIXED_USER_MESSAGE, Rung.SIDEBAR)
)


class ComposeReminder(ModalScreen[tuple[Reminder, ReminderPolicy] | None]):
    """Asks for a reminder, and shows by which rung it would travel and why; answers ``None`` where it is not sent.

    Args:
        plan: returns the steps for a reminder and a policy; nothing is sent.
    """

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "dismiss(None)", "Back"), ("ctrl+s", "send", "Send")]

    def __init__(self, plan: Callable[[Reminder, ReminderPolicy], Sequence[Step]]) -> None:
        super().__init__()
        self._plan = plan

    def compose(self) -> ComposeResult:
        """Make the parts."""
        with VerticalScroll(classes="dialog"):
            yield Static("A reminder for the model", classes="heading")
            yield TextArea(id="body", tab_behavior="focus")
            yield Input(placeholder="tags, with commas between", id="tags", compact=True)
            yield Input(placeholder="key: a newer one with the same key replaces it", id="key", compact=True)
            yield Input(placeholder="for how many turns", id="turns", type="integer", compact=True)
            yield Tick("if it has to be, put it before my next prompt, marked as not mine", id="before-prompt")
            yield Static(id="way", markup=False)
            with Horizontal(classes="buttons"):
                yield Button("Send", variant="primary", id="send")
                yield Button("Back", id="back")

    def on_mount(self) -> None:
        """Begin with the text."""
        self.query_one(TextArea).focus()
        self._show_way()

    def on_text_area_changed(self) -> None:
        """Look at the way again."""
        self._show_way()

    on_input_changed = on_checkbox_changed = on_text_area_changed

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Send, or go back."""
        if event.button.id == "send":
            self.action_send()
        else:
            self.dismiss(None)

    def action_send(self) -> None:
        """Send it, if it can be sent."""
        try:
            self.dismiss((self._reminder(), self._policy()))
        except ReminderInvalid:
            self._show_way()

    def _show_way(self) -> None:
        way = self.query_one("#way", Static)
        try:
            way.update(stacked(_way(self._plan(self._reminder(), self._policy()))))
        except AcpError as error:
            way.update(plain(str(error), "$text-warning"))

    def _reminder(self) -> Reminder:
        values = {field.id: field.value.strip() for field in self.query(Input)}
        fields: dict[str, Any] = {"tags": [tag for tag in (values["tags"] or "").split(",") if tag.strip()]}
        if values["key"]:
            fields["dedupe_key"] = values["key"]
        if values["turns"]:
            fields["ttl_turns"] = int(values["turns"]) if values["turns"].lstrip("+-").isdigit() else 0
        return Reminder(self.query_one(TextArea).text, **fields)

    def _policy(self) -> ReminderPolicy:
        return _ALSO_BEFORE_A_PROMPT if self.query_one(Tick).value else ReminderPolicy()


def _way(steps: Sequence[Step]) -> list[Content]:
    """Return the rungs in the order in which they are tried, the one that would be used first marked."""
    used = next((step for step in steps if step.available), None)
    lines = []
    for step in steps:
        style = "bold $text-success" if step is used else "" if step.available else "dim"
        line = one_line(f"{step.rung}: {step.reason}", 200, style)
        lines.append(Content.assemble("➜ " if step is used else "  ", line))
        for each in step.adjustments:
            lines.append(Content.assemble("    ", one_line(f"{each.field} {each.asked}: {each.reason}", 200, "dim")))
    return lines
