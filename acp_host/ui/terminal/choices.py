"""Choosing one of several: :class:`ChoiceScreen`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from acp_host.state.option_entries import SessionOption
from acp_host.ui.terminal.text import one_line, plain

__all__ = ["ChoiceScreen"]

_MOST = 500


class ChoiceScreen(ModalScreen[str | None]):
    """Asks for a value of an option; answers ``None`` where the user goes away.

    Args:
        option: what is to be set.
    """

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "dismiss(None)", "Back")]

    def __init__(self, option: SessionOption) -> None:
        super().__init__()
        self._option = option

    def compose(self) -> ComposeResult:
        """Make the parts."""
        with Vertical(classes="dialog"):
            yield Static(one_line(self._option.name, 100, "bold"))
            yield Static(plain(self._option.description or "", "dim"))
            yield OptionList(*self._lines(), markup=False)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Answer with the choice."""
        self.dismiss(self._option.choices[event.option_index].value)

    def _lines(self) -> Sequence[Option]:
        return [
            Option(
                Content.assemble(
                    one_line(f"{choice.group}:" if choice.group else "", 60, "dim"),
                    " ",
                    one_line(choice.name, 80, "bold" if choice.value == self._option.value else ""),
                    "  ",
                    one_line(choice.description or "", 120, "dim"),
                )
            )
            for choice in self._option.choices[:_MOST]
        ]
