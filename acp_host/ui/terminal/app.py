"""The terminal view as an app: :class:`ChatApp`.

It shows one session and hands on what the user does. It owns neither the connection nor the session.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar

from rich.theme import Theme
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.widgets import Footer

from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.errors import AcpError
from acp_host.host.connection import HostConnection
from acp_host.host.login_queue import LoginQueue
from acp_host.host.session import Session
from acp_host.reminders import Reminder, ReminderPolicy
from acp_host.services.elicitation_queue import ElicitationQueue
from acp_host.services.permission_queue import PermissionQueue
from acp_host.state.changes import ChangeSet
from acp_host.state.observable import Observable
from acp_host.ui.terminal.attachments import Attachment, AttachScreen
from acp_host.ui.terminal.choices import ChoiceScreen
from acp_host.ui.terminal.compose_reminder import ComposeReminder
from acp_host.ui.terminal.human_request import persons_wanted
from acp_host.ui.terminal.lists import NoticeHistory, ProblemsScreen
from acp_host.ui.terminal.prompt import PromptInput, WaitingPrompts
from acp_host.ui.terminal.questions import Waiting
from acp_host.ui.terminal.redraw import Redraw
from acp_host.ui.terminal.reminders import ReminderList
from acp_host.ui.terminal.session_choice import choosable_sessions, opened_session
from acp_host.ui.terminal.sessions import Chosen, SessionsScreen
from acp_host.ui.terminal.side import OptionsPane
from acp_host.ui.terminal.subagents import SubagentScreen, SubagentsPane
from acp_host.ui.terminal.text import one_line, plain
from acp_host.ui.terminal.toasts import NoticeRack, NoticeToast
from acp_host.ui.terminal.view import SessionView

__all__ = ["ChatApp"]

_TWICE_WITHIN = 5.0
_MOST_UNSERVED = 3
_LOOK_FOR_TERMINAL = 1.0
"""Seconds."""
_BEHIND_DIALOGS = frozenset(
    {
        *("answer", "toggle_side", "notices", "reconnect", "next_pane", "problems"),
        *("cancel_turn", "compose_reminder", "dismiss_toast", "unfold"),
        *("new_session", "sessions", "attach", "detach"),
    }
)
"""Actions on what is behind a dialog, which wait while one is open."""
_LIGHT, _DARK = "textual-light", "textual-dark"
_MARKDOWN = Theme({"markdown.code": "bold cyan", "markdown.link": "underline", "markdown.link_url": "dim"})


class ChatApp(App[None]):
    """A conversation with an agent. ::

        async with acp_host.connect(agent, permissions=queue, elicitation=forms, sidebar=True) as host:
            session = await host.new_session()
            await ChatApp(host, session, permissions=queue, forms=forms).run_async()

    Args:
        host: the connection; it stays open when the app ends.
        session: what to show.
        permissions: the queue that the connection asks; ``None``: nobody is asked here.
        forms: likewise for forms and web pages.
        logins: likewise for logins.
        light: begin with dark letters on a light ground, or the other way round; ``None``: as ``TEXTUAL_THEME`` or the
            terminal's ``COLORFGBG`` says.

    Attributes:
        terminal_lost: it has ended since its terminal is gone.
    """

    CSS_PATH = "chat.tcss"
    TITLE = "acp-host chat"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012 - as Textual declares it
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "interrupt", "Cancel, leave", priority=True),
        Binding("escape", "cancel_turn", "Cancel", show=False),
        Binding("f2", "answer", "Answer", priority=True),
        Binding("f3", "toggle_side", "Side", priority=True),
        Binding("f4", "notices", "Notices", priority=True),
        Binding("f5", "reconnect", "Reconnect", show=False, priority=True),
        Binding("f6", "next_pane", "Pane", priority=True),
        Binding("f7", "compose_reminder", "Remind", priority=True),
        Binding("f8", "problems", "Problems", priority=True),
        Binding("f9", "dismiss_toast", "Close toast", show=False, priority=True),
        Binding("ctrl+t", "unfold", "Unfold", priority=True),
        Binding("ctrl+n", "new_session", "New session", show=False, priority=True),
        Binding("ctrl+o", "sessions", "Sessions", priority=True),
        Binding("ctrl+f", "attach", "Attach", priority=True),
        Binding("ctrl+g", "detach", "Attach nothing", show=False, priority=True),
        Binding("ctrl+l", "light_or_dark", "Light or dark", show=False, priority=True),
    ]

    def __init__(
        self,
        host: HostConnection,
        session: Session,
        *,
        permissions: PermissionQueue | None = None,
        forms: ElicitationQueue | None = None,
        logins: LoginQueue | None = None,
        light: bool | None = None,
    ) -> None:
        super().__init__()
        self.terminal_lost = False
        if light is None:
            light = "TEXTUAL_THEME" not in os.environ and _has_light_ground(os.environ.get("COLORFGBG", ""))
            self.theme = _LIGHT if light else self.theme
        else:
            self.theme = _LIGHT if light else _DARK
        self.console.push_theme(_MARKDOWN)
        self._host = host
        self._session = session
        self._queues = tuple(queue for queue in (permissions, forms, logins) if queue is not None)
        self._armed_until = 0.0
        self._unserved = 0
        self._ends: list[Callable[[], None]] = []
        self._following: list[Callable[[], None]] = []
        self._drafts: dict[str, tuple[str, list[Attachment]]] = {}
        self._attached: list[Attachment] = []
        self._view = self._make_view()

    def _make_view(self) -> SessionView:
        agreement = self._host.agreement
        return SessionView(str(one_line(agreement.agent_name, 40)), harn=agreement.harn is not None)

    def compose(self) -> ComposeResult:
        """Make the parts."""
        yield self._view
        yield Footer()

    def get_driver_class(self) -> type[Driver]:
        """Return what reaches the terminal; see :mod:`acp_host.ui.terminal.losable_driver`."""
        chosen = super().get_driver_class()
        if sys.platform == "win32" or chosen.__name__ != "LinuxDriver":
            return chosen
        from acp_host.ui.terminal.losable_driver import LosableDriver  # it loads what Windows does not have

        return LosableDriver

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Tell whether a key works now."""
        return action not in _BEHIND_DIALOGS or len(self.screen_stack) == 1

    # --- drawing ----------------------------------------------------------------------------------------------------

    def on_load(self) -> None:
        """Leave the event loop, which the connection lives on too, as it was: Textual has made its tasks eager."""
        asyncio.get_running_loop().set_task_factory(None)

    async def on_mount(self) -> None:
        """Draw what there is, and what changes from now on."""
        redraws = [self._redraw(self._host.health, self._draw_health, self._ends)]
        redraws += [self._redraw(queue, self._draw_questions, self._ends) for queue in self._queues]
        self._ends.append(self._host.diagnostics.connect(self._take_diagnostic))
        for diagnostic in self._host.diagnostics:
            self._take_diagnostic(diagnostic)
        for redraw in redraws:
            self.run_worker(redraw.run(), name="redraw")
        self.set_interval(_LOOK_FOR_TERMINAL, self._leave_if_lost)
        await self._follow()

    def _leave_if_lost(self) -> None:
        """Leave when the terminal is gone: nobody will ever press a key."""
        if getattr(self._driver, "is_lost", False):
            self.terminal_lost = True
            self.exit()

    async def _follow(self) -> None:
        """Draw the session, and what changes in it from now on."""
        redraw = self._redraw(self._session.state, self._draw, self._following)
        await self._view.draw_all(self._session.state.snapshot())
        await self._draw_questions()
        await self._draw_health()
        self._view.draw_attached(self._attached)
        drawing = self.run_worker(redraw.run(), name="redraw of the session")
        self._following.append(drawing.cancel)
        self._view.prompt.focus()

    async def show(self, session: Session) -> None:
        """Show another session; what was typed for this one is there when it is shown again."""
        if session is self._session:
            return
        for end in self._following:
            end()
        self._following.clear()
        self._drafts[self._session.id] = (self._view.prompt.text, self._attached)
        self._session = session
        before, self._view = self._view, self._make_view()
        text, self._attached = self._drafts.pop(session.id, ("", []))
        await before.remove()
        await self.mount(self._view, before=0)
        await self._follow()
        self._view.prompt.put(text)

    def on_unmount(self) -> None:
        """Watch no longer."""
        for end in (*self._ends, *self._following):
            end()

    def _redraw(
        self, observable: Observable[Any], draw: Callable[[ChangeSet], Awaitable[None]], ends: list[Callable[[], None]]
    ) -> Redraw:
        """Return what draws the changes from now on, once it runs; what ends that is added to ``ends``."""
        redraw = Redraw(draw)
        ends.append(observable.changed.connect(redraw.take).end)
        return redraw

    async def _draw(self, changes: ChangeSet) -> None:
        await self._view.draw(changes)
        if changes.touches("health"):
            await self._draw_health()
        if changes.touches("harn"):
            await self._draw_questions()

    async def _draw_questions(self, _: ChangeSet | None = None) -> None:
        waiting: list[Waiting] = [question for queue in self._queues for question in queue.pending]
        waiting += persons_wanted(self._session, self._session.state.snapshot())
        await self._view.draw_questions(waiting)

    async def _draw_health(self, _: ChangeSet | None = None) -> None:
        self._view.draw_health(self._host.health.snapshot(), self._session.state.snapshot())

    def _take_diagnostic(self, diagnostic: Diagnostic) -> None:
        """Tell of what the agent wants and nobody here serves; of the rest, the screen of problems has a list."""
        if diagnostic.kind is DiagnosticKind.UNKNOWN_METHOD and self._unserved < _MOST_UNSERVED:
            self._unserved += 1
            self._tell(f"The agent asks for {diagnostic.method}, which this host does not serve. F8 shows it.")

    # --- what the user says -----------------------------------------------------------------------------------------

    def on_prompt_input_sent(self, message: PromptInput.Sent) -> None:
        """Send a prompt, or let it wait for its turn."""
        self.run_worker(self._say(message.text))

    async def _say(self, text: str) -> None:
        attached, self._attached = self._attached, []
        try:
            turn = self._session.prompt([text, *attached])
        except AcpError as error:
            self._complain(error)
            self._attached = [*attached, *self._attached]
            if not self._view.prompt.text:
                self._view.prompt.put(text)
            return
        finally:
            self._view.draw_attached(self._attached)
        await self._do(turn.wait())

    def on_waiting_prompts_withdrawn(self, message: WaitingPrompts.Withdrawn) -> None:
        """Take a waiting prompt back."""
        for turn in self._session.queued_turns:
            if turn.number == message.turn:
                turn.cancel("the user took it back")

    def action_cancel_turn(self) -> None:
        """Cancel the turn, and go back to the prompt."""
        if self._session.current_turn is not None or self._session.queued_turns:
            self._session.cancel()
        self._view.prompt.focus()

    def action_interrupt(self) -> None:
        """Cancel the turn; the second time, leave."""
        if time.monotonic() < self._armed_until:
            self.exit()
            return
        self._armed_until = time.monotonic() + _TWICE_WITHIN
        works = self._session.current_turn is not None or bool(self._session.queued_turns)
        self._session.cancel()
        self._tell(f"{'The turn is being cancelled. ' if works else ''}Ctrl-C once more leaves.")

    def action_attach(self) -> None:
        """Ask for something that goes along with the next prompt."""
        self.push_screen(AttachScreen(), self._take_along)

    def _take_along(self, attachment: Attachment | None) -> None:
        if attachment is not None:
            self._attached = [*self._attached, attachment]
            self._view.draw_attached(self._attached)

    def action_detach(self) -> None:
        """Let nothing go along."""
        self._attached = []
        self._view.draw_attached(self._attached)

    # --- sessions ---------------------------------------------------------------------------------------------------

    def action_new_session(self) -> None:
        """Begin another session, in the same directory."""
        self.run_worker(self._go_to(None))

    def action_sessions(self) -> None:
        """Show the sessions, those that are open and those that the agent keeps."""
        self.run_worker(self._choose_session())

    async def _choose_session(self) -> None:
        listed = await self._do(choosable_sessions(self._host, self._session))
        if listed is not None:
            can_delete = self._host.agreement.supports("session/delete")
            self.push_screen(SessionsScreen(listed, can_delete=can_delete), self._session_chosen)

    def _session_chosen(self, chosen: Chosen | None) -> None:
        if chosen is None:
            return
        if chosen.delete and chosen.id == self._session.id:
            self._tell("The session that is shown cannot be deleted; go to another one first.")
        elif chosen.delete and chosen.id is not None:
            self.run_worker(self._do(self._host.delete_session(chosen.id)))
        else:
            self.run_worker(self._go_to(chosen.id))

    async def _go_to(self, session_id: str | None) -> None:
        session = await self._do(opened_session(self._host, session_id, self._session.cwd))
        if session is not None:
            await self.show(session)

    # --- panels -----------------------------------------------------------------------------------------------------

    def action_answer(self) -> None:
        """Take the keyboard to the oldest question."""
        self._view.questions.answer_first()

    def action_toggle_side(self) -> None:
        """Show or hide what stands beside the transcript."""
        self._view.toggle_side()

    def action_next_pane(self) -> None:
        """Take the keyboard to the next pane."""
        self._view.focus_next_pane()

    def action_unfold(self) -> None:
        """Show all of every entry, or the brief forms."""
        self._view.transcript.unfold_all()

    def action_notices(self) -> None:
        """Show every notice that is kept."""
        notices = self._session.notices.snapshot()
        self.push_screen(NoticeHistory(notices.history, notices.total))

    def action_problems(self) -> None:
        """Show what was dropped, repaired or unexpected."""
        self.push_screen(ProblemsScreen(tuple(self._host.diagnostics)))

    def action_reconnect(self) -> None:
        """Try at once to reach the agent again."""
        try:
            self._host.reconnect_now()
        except AcpError as error:
            self._complain(error)

    def on_notice_toast_dismissed(self, message: NoticeToast.Dismissed) -> None:
        """Close a toast."""
        self._session.notices.dismiss(message.notice_id)

    def on_notice_rack_rested(self, message: NoticeRack.Rested) -> None:
        """Let toasts stay while the mouse rests on them."""
        notices = self._session.notices
        (notices.pause_timeouts if message.rests else notices.resume_timeouts)()

    def action_dismiss_toast(self) -> None:
        """Close the oldest toast."""
        for notice in self._session.notices.snapshot().toasts[:1]:
            self._session.notices.dismiss(notice.id)

    def on_options_pane_chosen(self, message: OptionsPane.Chosen) -> None:
        """Change an option."""
        option = message.option
        if option.kind == "boolean":
            self.run_worker(self._do(self._session.set_option(option.id, option.value is not True)))
        elif option.choices:
            self.push_screen(ChoiceScreen(option), lambda value: self._set_option(option.id, value))

    def _set_option(self, option_id: str, value: str | None) -> None:
        if value is not None:
            self.run_worker(self._do(self._session.set_option(option_id, value)))

    def on_subagents_pane_wanted(self, message: SubagentsPane.Wanted) -> None:
        """Look into a subagent."""
        state = self._session.subagent_state(message.session_id)
        if state is None:
            self._tell("This subagent has said nothing yet.")
        else:
            self.push_screen(SubagentScreen(message.title, state))

    def on_reminder_list_wanted(self, message: ReminderList.Wanted) -> None:
        """Take a reminder back, or put it away."""
        if message.deed == "revoke":
            self.run_worker(self._revoke(message.entry.id))
        elif not self._session.reminders.dismiss(message.entry.id):
            self._tell("Only what stands in the sidebar can be put away.")

    async def _revoke(self, reminder_id: str) -> None:
        result = await self._do(self._session.reminders.revoke(reminder_id))
        if result is not None and result != "revoked":
            self._tell(f"The reminder was not revoked: {str(result).replace('_', ' ')}.")

    def action_compose_reminder(self) -> None:
        """Ask for a reminder, and send it."""
        self.push_screen(
            ComposeReminder(lambda reminder, policy: self._session.plan_reminder(reminder, policy=policy)), self._remind
        )

    def _remind(self, composed: tuple[Reminder, ReminderPolicy] | None) -> None:
        if composed is None:
            return
        reminder, policy = composed
        try:
            self._session.remind_soon(reminder, policy=policy)
        except AcpError as error:
            self._complain(error)

    def action_light_or_dark(self) -> None:
        """Change between dark letters on a light ground and the other way round."""
        self.theme = _DARK if self.current_theme.dark is False else _LIGHT

    # --- what went wrong --------------------------------------------------------------------------------------------

    async def _do(self, deed: Awaitable[Any]) -> Any:
        """Wait for something, and tell the user where it fails."""
        try:
            return await deed
        except AcpError as error:
            self._complain(error)
            return None

    def _complain(self, error: AcpError) -> None:
        self.notify(str(one_line(str(error), 500)), title="acp-host", severity="error", markup=False)

    def _tell(self, text: str) -> None:
        self.notify(str(plain(text)), title="acp-host", markup=False)


def _has_light_ground(colours: str) -> bool:
    """Tell whether a terminal has a light ground, by its ``COLORFGBG``: two numbers of colours, the ground's last."""
    return colours.rpartition(";")[2] in ("7", "15")
