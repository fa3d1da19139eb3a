"""A box to tick that can be told from an empty one without colours: :class:`Tick`."""

from __future__ import annotations

from textual.widgets import Checkbox

__all__ = ["Tick"]


class Tick(Checkbox):
    """A checkbox whose box is empty as long as it is not ticked."""

    BUTTON_LEFT = ""
    BUTTON_INNER = "[ ]"
    BUTTON_RIGHT = ""

    def watch_value(self) -> None:
        """Draw the box."""
        self.BUTTON_INNER = "[x]" if self.value else "[ ]"
        super().watch_value()
