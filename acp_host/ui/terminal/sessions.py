"""The sessions, to go to another one: :class:`SessionsScreen`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from attrs import frozen
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from acp_host.ui.terminal.text import one_line, plain

__all__ = ["Choosable", "Chosen", "SessionsScreen"]


@frozen(kw_only=True)
class Choosable:
    """A session that one can go to.

    Attributes:
        id: its id.
        title: its title, or another word for it.
        state: what is to be said of it, such as ``at work``.
        is_open: it is open here; else it has to be opened.
    """

    id: str
    title: str
    state: str
    is_open: bool


@frozen
class Chosen:
    """What the user wants: to go to a session, to delete it for good, or (without an id) another one."""

    id: str | None
    delete: bool = False


class SessionsScreen(ModalScreen[Chosen | None]):
    """Asks for a session; answers ``None`` where the user stays.

    Args:
        sessions: those that there are.
        can_delete: the agent deletes sessions.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape,ctrl+o", "dismiss(None)", "Back"),
        ("n", "another", "New"),
        ("delete", "delete", "Delete"),
    ]

    def __init__(self, sessions: Sequence[Choosable], *, can_delete: bool) -> None:
        super().__init__()
        self._sessions = sessions
        self._can_delete = can_delete
        self._armed: str | None = None

    def compose(self) -> ComposeResult:
        """Make the parts."""
        deletes = "; Delete, twice, removes one for good" if self._can_delete else ""
        with Vertical(classes="dialog -wide"):
            yield Static(plain("Sessions", "bold"))
            yield OptionList(*(Option(_line(session)) for session in self._sessions), markup=False)
            yield Static(plain(f"Enter goes there; n begins another one{deletes}", "dim"), id="hint", markup=False)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Go there."""
        self.dismiss(Chosen(self._sessions[event.option_index].id))

    def action_another(self) -> None:
        """Begin another one."""
        self.dismiss(Chosen(None))

    def action_delete(self) -> None:
        """Delete the highlighted one, the second time."""
        place = self.query_one(OptionList).highlighted
        if place is None or not self._can_delete:
            return
        session = self._sessions[place]
        if self._armed == session.id:
            self.dismiss(Chosen(session.id, delete=True))
            return
        self._armed = session.id
        question = Content.assemble("Delete once more removes for good: ", one_line(session.title, 60, "bold"))
        self.query_one("#hint", Static).update(question)


def _line(session: Choosable) -> Content:
    mark = "● " if session.is_open else "○ "
    return Content.assemble(mark, one_line(session.title, 80, "bold"), "  ", one_line(session.state, 80, "dim"))
