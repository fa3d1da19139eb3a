"""What waits for the user, above the prompt: :class:`QuestionsPanel`.

It never takes the keyboard by itself: what somebody types while a question appears answers nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from acp_host.host.login_queue import PendingLogin
from acp_host.services.elicitation_queue import FormQuestion
from acp_host.services.permission_queue import PendingPermission
from acp_host.services.question_queue import PendingQuestion
from acp_host.ui.terminal.elicitation_form import ElicitationForm, PageConsent
from acp_host.ui.terminal.human_request import HumanRequestForm, PersonWanted
from acp_host.ui.terminal.login_form import LoginForm
from acp_host.ui.terminal.permission_form import PermissionForm
from acp_host.ui.terminal.text import plain

__all__ = ["MOST", "QuestionsPanel", "Waiting"]

Waiting = PendingQuestion[Any, Any] | PersonWanted
"""What can wait for a person."""
MOST = 5
"""Questions that are drawn at once; the others wait their turn."""


class QuestionsPanel(VerticalScroll, can_focus=False):
    """The questions that wait, oldest first; each stays as it is while others come and go.

    Args:
        agent_name: what to call the agent.
    """

    class Answered(Message):
        """A question has gone that had the keyboard. What is typed now is for no other."""

    def __init__(self, agent_name: str, **options: Any) -> None:
        super().__init__(**options)
        self._agent_name = agent_name
        self._forms: dict[Waiting, Widget] = {}
        self._more = Static(markup=False)

    def compose(self) -> ComposeResult:
        """Make the parts."""
        yield self._more

    async def draw(self, waiting: Sequence[Waiting]) -> None:
        """Show what waits."""
        shown = waiting[:MOST]
        gone = [self._forms.pop(question) for question in tuple(self._forms) if question not in shown]
        if any(form.has_focus_within for form in gone):
            self.post_message(self.Answered())
        if gone:
            await self.remove_children(gone)
        fresh = {question: _form(question, self._agent_name) for question in shown if question not in self._forms}
        if fresh:
            self._forms |= fresh
            await self.mount_all(fresh.values(), before=self._more)
            self.app.bell()
        rest = len(waiting) - len(shown)
        self._more.update(plain(f"{rest} more wait" if rest else "", "dim"))
        self.display = bool(waiting)

    def answer_first(self) -> None:
        """Take the keyboard to the oldest question."""
        for form in self._forms.values():
            control = next((each for each in form.query("*") if each.focusable), None)
            if control is not None:
                control.focus()
                return


def _form(question: Waiting, agent_name: str) -> Widget:
    if isinstance(question, PendingPermission):
        return PermissionForm(question, agent_name)
    if isinstance(question, PersonWanted):
        return HumanRequestForm(question, agent_name)
    if isinstance(question, PendingLogin):
        return LoginForm(question, agent_name)
    if isinstance(question, FormQuestion):
        return ElicitationForm(question, agent_name)
    return PageConsent(question, agent_name)  # type: ignore[arg-type]  # there is no other kind
