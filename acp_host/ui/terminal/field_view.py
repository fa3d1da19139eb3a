"""One field of a form: :class:`FieldView`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static, TextArea
from textual.widgets.option_list import Option

from acp_host.services.forms import Choice, FieldKind, FormField
from acp_host.ui.terminal.text import as_json, one_line, plain, stacked

__all__ = ["FieldView"]

_HINTS = {
    FieldKind.EMAIL: "an email address",
    FieldKind.URI: "an address such as https://example.org/",
    FieldKind.DATE: "a date such as 2027-01-31",
    FieldKind.DATE_TIME: "a time such as 2027-01-31T12:00:00Z",
    FieldKind.NUMBER: "a number",
    FieldKind.INTEGER: "a whole number",
}


class SeveralOf(OptionList):
    """Choices of which any number can be chosen, each with a box that can be told from an empty one without colours."""

    class Changed(Message):
        """Others are chosen now."""

        def __init__(self, chosen: Sequence[str]) -> None:
            super().__init__()
            self.chosen = chosen

    BINDINGS: ClassVar[list[BindingType]] = [("space", "select", "Choose")]

    def __init__(self, choices: Sequence[Choice], chosen: Sequence[str]) -> None:
        self._choices = choices
        self._chosen = set(chosen)
        super().__init__(*(Option(self._line(choice)) for choice in choices), markup=False)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Choose the highlighted one, or no longer."""
        event.stop()
        choice = self._choices[event.option_index]
        self._chosen ^= {choice.value}
        self.replace_option_prompt_at_index(event.option_index, self._line(choice))
        self.post_message(self.Changed([each.value for each in self._choices if each.value in self._chosen]))

    def _line(self, choice: Choice) -> Content:
        return Content.assemble("[x] " if choice.value in self._chosen else "[ ] ", _choice_line(choice))


class FieldView(Vertical):
    """A field with its label and what it takes; it begins with its default.

    Args:
        field: what to draw.
    """

    class Changed(Message):
        """The user has filled in the field, with a text or with several; ``None``: it is left out."""

        def __init__(self, field: FormField, typed: str | Sequence[str] | None) -> None:
            super().__init__()
            self.field = field
            self.typed = typed

    def __init__(self, field: FormField) -> None:
        super().__init__()
        self._field = field

    def compose(self) -> ComposeResult:
        """Make the parts."""
        label = Content.assemble(
            plain(self._field.label, "bold"), (" *", "$text-error") if self._field.required else ""
        )
        description = plain(self._field.description, "dim")
        yield Static(stacked([label, description] if len(description) else [label]))
        yield self._control()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Tell what was typed."""
        event.stop()
        self.post_message(self.Changed(self._field, event.value))

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Tell what was typed, of a text of several lines."""
        event.stop()
        self.post_message(self.Changed(self._field, event.text_area.text))

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Tell what was chosen: the highlighted one."""
        event.stop()
        if not self._field.multiple:
            self.post_message(self.Changed(self._field, self._values[event.option_index]))

    def on_several_of_changed(self, message: SeveralOf.Changed) -> None:
        """Tell what was chosen, in the agent's order."""
        message.stop()
        self.post_message(self.Changed(self._field, message.chosen or None))

    def _control(self) -> Widget:
        field = self._field
        choices = _choices(field)
        self._values: list[str | None] = [choice.value for choice in choices]
        if field.multiple:
            return SeveralOf(choices, field.default if isinstance(field.default, tuple) else ())
        if choices:
            return self._one_of(choices)
        if field.kind is FieldKind.UNKNOWN:
            return Static(plain(f"cannot be filled in here: {as_json(dict(field.raw))}", "dim"))
        value = "" if field.default is None else str(field.default)
        if "\n" in value:
            return TextArea(str(plain(value)), tab_behavior="focus", compact=True)
        return Input(str(plain(value)), placeholder=_HINTS.get(field.kind, ""), compact=True)

    def _one_of(self, choices: Sequence[Choice]) -> Widget:
        """Return a list that begins with the default, or with leaving the field out."""
        lines = [_choice_line(choice) for choice in choices]
        default = _as_typed(self._field)
        if default is None:
            self._values.insert(0, None)
            lines.insert(0, plain("(left out)", "dim"))
        options = OptionList(*(Option(line) for line in lines), markup=False)
        options.highlighted = self._values.index(default)
        return options


def _choices(field: FormField) -> Sequence[Choice]:
    if field.kind is FieldKind.BOOLEAN:
        return Choice(value="yes", label="yes"), Choice(value="no", label="no")
    return field.choices


def _as_typed(field: FormField) -> str | None:
    """Return the default as one of the choices."""
    if isinstance(field.default, bool):
        return "yes" if field.default else "no"
    return field.default if isinstance(field.default, str) else None


def _choice_line(choice: Choice) -> Content:
    parts = [one_line(choice.label, 100)]
    if choice.value not in (choice.label, "yes", "no"):
        parts.append(one_line(f"({choice.value})", 100, "dim"))
    if choice.description:
        parts.append(one_line(choice.description, 200, "dim"))
    return Content("  ").join(parts)
