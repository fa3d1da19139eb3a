"""A session on the screen: :class:`SessionView`, which draws snapshots and knows no connection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import TabbedContent, TabPane

from acp_host.host.health import HealthSnapshot
from acp_host.state.changes import Change, ChangeKind, ChangeSet
from acp_host.state.snapshot import SessionSnapshot
from acp_host.ui.terminal.attachments import AttachedLine, Attachment
from acp_host.ui.terminal.prompt import PromptBox, PromptInput, WaitingPrompts
from acp_host.ui.terminal.questions import QuestionsPanel, Waiting
from acp_host.ui.terminal.reminders import RemindersPane
from acp_host.ui.terminal.side import CommandsPane, HarnPane, OptionsPane, PlanPane, UsageLine
from acp_host.ui.terminal.status import HealthBanner, StatusLine
from acp_host.ui.terminal.subagents import SubagentsPane
from acp_host.ui.terminal.toasts import NoticeRack
from acp_host.ui.terminal.transcript import TranscriptView

__all__ = ["SessionView"]

_SECTIONS = (
    *("transcript", "terminals", "plans", "options", "commands", "usage", "turn"),
    *("reminders", "notices", "harn", "subagents"),
)
_OF_THE_STATUS = {"turn", "info", "options", "usage", "questions"}


class SessionView(Vertical):
    """The parts that show a session, and where the user acts; what they want is posted as messages.

    Args:
        agent_name: what to call the agent, safe for display and short.
        harn: whether the agent is one of Harn's.

    Attributes:
        transcript: what was said and done.
        questions: what waits for the user.
    """

    def __init__(self, agent_name: str, *, harn: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self.transcript = TranscriptView(agent_name, id="transcript")
        self.questions = QuestionsPanel(agent_name, id="questions")
        self._status = StatusLine(agent_name, id="status")
        self._banner = HealthBanner(id="health", markup=False)
        self._waiting = WaitingPrompts(id="waiting")
        self._attached = AttachedLine(id="attached", markup=False)
        self._box = PromptBox(id="box")
        self._plan = PlanPane(id="plan")
        self._usage = UsageLine(id="usage", markup=False)
        self._reminders = RemindersPane(id="reminders-pane")
        self._options = OptionsPane(id="options")
        self._commands = CommandsPane(id="terminals")
        self._harn = HarnPane(id="harn") if harn else None
        self._subagents = SubagentsPane(id="subagents")
        self._rack = NoticeRack(id="notices")

    def compose(self) -> ComposeResult:
        """Make the parts."""
        yield self._status
        yield self._banner
        with Horizontal(id="main"):
            with Vertical(id="talk"):
                yield self.transcript
                yield self.questions
                yield self._waiting
                yield self._attached
                yield self._box
            with TabbedContent(id="side"):
                with TabPane("Plan"):
                    yield self._plan
                    yield self._usage
                with TabPane("Reminders"):
                    yield self._reminders
                with TabPane("Options"):
                    yield self._options
                with TabPane("Commands"):
                    yield self._commands
                if self._harn is not None:
                    with TabPane("Harn"):
                        yield self._harn
        yield self._rack

    @property
    def prompt(self) -> PromptInput:
        """Where the user types."""
        return self._box.query_one(PromptInput)

    # --- drawing ----------------------------------------------------------------------------------------------------

    async def draw_all(self, snapshot: SessionSnapshot) -> None:
        """Show a state of which nothing is shown yet."""
        changes = tuple(Change(section, None, ChangeKind.CHANGED) for section in _SECTIONS)
        await self.draw(ChangeSet(snapshot.version, changes, snapshot))

    async def draw(self, changes: ChangeSet) -> None:
        """Show what has changed."""
        snapshot: SessionSnapshot = changes.snapshot
        touched = {change.section for change in changes.changes}
        if touched & {"transcript", "terminals"}:
            await self.transcript.draw(snapshot, changes.keys("transcript"), changes.keys("terminals"))
        if "terminals" in touched:
            self._commands.draw(snapshot.terminals)
        if "plans" in touched:
            await self._plan.draw(snapshot.plans)
        if "options" in touched:
            self._options.draw(snapshot.options)
        if "commands" in touched:
            self._box.offer(snapshot.commands)
        if "reminders" in touched:
            self._reminders.draw(snapshot.reminders)
        if "notices" in touched:
            await self._rack.draw(snapshot.notices)
        if "harn" in touched and self._harn is not None:
            self._harn.draw(snapshot.harn)
        if "subagents" in touched and snapshot.subagents:
            if not self._subagents.is_attached:
                await self.query_one("#side", TabbedContent).add_pane(TabPane("Subagents", self._subagents))
            self._subagents.draw(snapshot.subagents)
        if touched & _OF_THE_STATUS:
            self._status.draw(snapshot)
            self._usage.draw(snapshot.usage)
            self._waiting.show(snapshot.turn.queued)

    async def draw_questions(self, waiting: Sequence[Waiting]) -> None:
        """Show what waits for the user."""
        await self.questions.draw(waiting)
        self.set_class(bool(waiting), "-asked")

    def draw_health(self, health: HealthSnapshot, snapshot: SessionSnapshot) -> None:
        """Show whether the agent can be reached."""
        self._banner.draw(health, snapshot)

    def draw_attached(self, attached: list[Attachment]) -> None:
        """Show what goes along with the next prompt."""
        self._attached.draw(attached)

    # --- moving about -----------------------------------------------------------------------------------------------

    def on_questions_panel_answered(self) -> None:
        """Go back to the prompt."""
        self.prompt.focus()

    def on_prompt_input_steered(self, message: PromptInput.Steered) -> None:
        """Scroll the transcript from the prompt."""
        if message.key == "pageup":
            self.transcript.scroll_page_up()
        elif message.key == "pagedown":
            self.transcript.scroll_page_down()

    def toggle_side(self) -> None:
        """Show or hide what stands beside the transcript."""
        side = self.query_one("#side")
        side.display = not side.display
        self.set_class(not side.display, "-no-side")

    def focus_next_pane(self) -> None:
        """Take the keyboard to the next of prompt, transcript and side."""
        panes: list[Any] = [self.prompt, self.transcript]
        side = self.query_one("#side", TabbedContent)
        pane = side.active_pane
        if side.display and pane is not None:
            panes += [widget for widget in pane.query("*") if widget.focusable][:1]
        places = [place for place, widget in enumerate(panes) if widget.has_focus]
        panes[(places[0] + 1) % len(panes) if places else 0].focus()
