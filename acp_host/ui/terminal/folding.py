"""An entry that is shown in brief until somebody wants to see all of it: :class:`FoldingView`."""

from __future__ import annotations

from typing import Any, ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Static

from acp_host.state.snapshot import SessionSnapshot
from acp_host.ui.terminal.text import stacked

__all__ = ["FoldingView"]


class FoldingView(Static, can_focus=True):
    """An entry that is shown in brief until somebody wants to see all of it."""

    BINDINGS: ClassVar[list[BindingType]] = [("enter,space", "fold", "Fold or unfold")]

    def __init__(self) -> None:
        super().__init__(markup=False)
        self.unfolded = False
        self._shown: tuple[Any, SessionSnapshot] | None = None

    async def show(self, entry: Any, snapshot: SessionSnapshot) -> None:
        """Show the entry as it is now."""
        self._shown = entry, snapshot
        self._draw()

    def unfold(self, unfolded: bool) -> None:
        """Show all of it, or the brief form."""
        if self.unfolded != unfolded:
            self.unfolded = unfolded
            self._draw()

    def action_fold(self) -> None:
        """Change between the brief form and all of it."""
        self.unfold(not self.unfolded)

    def on_click(self) -> None:
        """Do the same for a click."""
        self.action_fold()

    def _draw(self) -> None:
        if self._shown is not None:
            self.update(stacked(self.drawn(*self._shown)))

    @property
    def sign(self) -> str:
        """The sign before the first line, that tells whether there is more."""
        return "▾ " if self.unfolded else "▸ "

    def drawn(self, entry: Any, snapshot: SessionSnapshot) -> list[Content]:
        """Return the lines to show."""
        raise NotImplementedError
