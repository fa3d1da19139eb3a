"""What the questions that are answered by buttons have in common: :class:`Answerable`."""

from __future__ import annotations

from typing import Any

from textual.containers import Vertical
from textual.widgets import Button, Static

from acp_host.errors import AcpError
from acp_host.ui.terminal.text import plain

__all__ = ["Answerable"]


class Answerable(Vertical):
    """A question with the agent's name in its frame, and buttons.

    Args:
        question: what waits.
        title: host-drawn, with the agent's name.
    """

    def __init__(self, question: Any, title: str) -> None:
        super().__init__()
        self.question = question
        self.border_title = plain(title)
        self.remark = Static(markup=False)
        """Where it is said what an answer would be, or why it did not work."""

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Do what the button says."""
        event.stop()
        self.run_worker(self._press(event.button.name or ""), exclusive=True)

    async def _press(self, deed: str) -> None:
        try:
            if deed == "decline":
                self.question.decline()
            elif deed == "cancel":
                self.question.cancel()
            else:
                await self.press(deed)
        except AcpError as error:
            self.remark.update(plain(str(error), "$text-error"))

    async def press(self, deed: str) -> None:
        """Do what a button of its own says; may raise an ``AcpError``, which is shown."""
        raise NotImplementedError
