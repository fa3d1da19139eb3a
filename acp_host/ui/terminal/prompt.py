"""Where the user types: :class:`PromptInput`, with what was said before, and the agent's slash commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, TextArea
from textual.widgets.option_list import Option

from acp_host.state.snapshot import QueuedTurn
from acp_host.ui.content_text import content_text
from acp_host.ui.terminal.text import one_line
from acp_host.wire.commands import AvailableCommand

__all__ = ["PromptBox", "PromptHistory", "PromptInput", "WaitingPrompts"]

_MOST_KEPT = 500
_MOST_SHOWN = 50


class PromptHistory:
    """What was said before, the newest last; going back keeps what was being typed."""

    def __init__(self) -> None:
        self._said: list[str] = []
        self._place = 0
        self._draft = ""

    def add(self, text: str) -> None:
        """Keep a prompt; the next step back leads to it."""
        if not self._said or self._said[-1] != text:
            self._said = [*self._said[1 - _MOST_KEPT :], text]
        self._place = len(self._said)

    def back(self, typed: str) -> str | None:
        """Return what was said before, or ``None`` at the oldest."""
        if self._place == len(self._said):
            self._draft = typed
        if self._place == 0:
            return None
        self._place -= 1
        return self._said[self._place]

    def forward(self) -> str | None:
        """Return what was said after, at last what was being typed; ``None`` where that is shown."""
        if self._place == len(self._said):
            return None
        self._place += 1
        return self._draft if self._place == len(self._said) else self._said[self._place]


class PromptInput(TextArea):
    """Several lines of text: Enter sends, Ctrl+J begins a new line, Up and Down go through what was said before."""

    class Sent(Message):
        """The user wants this to be sent."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Steered(Message):
        """A key is for what stands beside the text: ``up``, ``down``, ``complete``, ``pageup`` or ``pagedown``."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    BINDINGS: ClassVar[list[BindingType]] = [("enter", "send", "Send"), ("ctrl+j", "new_line", "New line")]

    def __init__(self, **options: Any) -> None:
        super().__init__(soft_wrap=True, tab_behavior="focus", highlight_cursor_line=False, **options)
        self.completing = False
        self.said_before = PromptHistory()

    def on_key(self, event: events.Key) -> None:
        """Take the keys that mean something else here than in other texts."""
        if event.key in ("shift+enter", "alt+enter"):
            self.action_new_line()
        elif event.key == "enter":
            self.action_send()
        elif self.completing and event.key in ("up", "down", "tab"):
            self.post_message(self.Steered("complete" if event.key == "tab" else event.key))
        elif event.key in ("pageup", "pagedown"):
            self.post_message(self.Steered(event.key))
        elif event.key == "up" and self.cursor_at_first_line:
            self._recall(self.said_before.back(self.text))
        elif event.key == "down" and self.cursor_at_last_line:
            self._recall(self.said_before.forward())
        else:
            return
        event.stop()
        event.prevent_default()

    def action_send(self) -> None:
        """Send what was typed."""
        text = self.text
        if text.strip():
            self.said_before.add(text)
            self.post_message(self.Sent(text))
            self.put("")

    def action_new_line(self) -> None:
        """Begin a new line."""
        self.insert("\n")

    def put(self, text: str) -> None:
        """Take another text in place of what was typed, with the cursor at its end."""
        self.load_text(text)
        self.move_cursor(self.document.end)

    def _recall(self, text: str | None) -> None:
        if text is not None:
            self.put(text)


class CommandList(OptionList, can_focus=False):
    """The agent's slash commands that fit what was typed so far."""

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, **options)
        self._commands: tuple[AvailableCommand, ...] = ()
        self._fitting: list[AvailableCommand] = []

    def offer(self, commands: Sequence[AvailableCommand]) -> None:
        """Take the commands that there are."""
        self._commands = tuple(commands)

    def fit(self, typed: str) -> bool:
        """Show what fits; return whether anything does."""
        begins = typed.startswith("/") and not any(map(str.isspace, typed))
        word = typed[1:].lower()
        fitting = [each for each in self._commands if begins and each.name.lower().startswith(word)]
        self._fitting = fitting[:_MOST_SHOWN]
        self.clear_options()
        self.add_options([Option(_command_line(command)) for command in self._fitting])
        self.highlighted = 0 if self._fitting else None
        return bool(self._fitting)

    @property
    def chosen(self) -> str | None:
        """The text of the highlighted command, with what follows it still to be typed."""
        if self.highlighted is None or self.highlighted >= len(self._fitting):
            return None
        command = self._fitting[self.highlighted]
        return f"/{command.name} " if command.input else f"/{command.name}"


class PromptBox(Vertical):
    """The input and the commands above it."""

    def compose(self) -> ComposeResult:
        """Make the parts."""
        yield CommandList(id="commands")
        yield PromptInput(id="prompt")

    def offer(self, commands: Sequence[AvailableCommand]) -> None:
        """Take the agent's slash commands."""
        self.query_one(CommandList).offer(commands)
        self._complete()

    def on_text_area_changed(self) -> None:
        """Show the commands that fit."""
        self._complete()

    def on_prompt_input_steered(self, message: PromptInput.Steered) -> None:
        """Move through the commands, or take the highlighted one."""
        commands, prompt = self.query_one(CommandList), self.query_one(PromptInput)
        if message.key == "up":
            commands.action_cursor_up()
        elif message.key == "down":
            commands.action_cursor_down()
        elif message.key == "complete" and commands.chosen is not None:
            prompt.put(commands.chosen)
        else:
            return
        message.stop()

    def _complete(self) -> None:
        commands, prompt = self.query_one(CommandList), self.query_one(PromptInput)
        typed = prompt.text
        fits = commands.fit(typed) and commands.chosen != typed
        commands.display = prompt.completing = fits


class WaitingPrompts(OptionList):
    """The prompts that wait for the turns before them; Delete takes the highlighted one back."""

    class Withdrawn(Message):
        """The user takes the prompt of this turn back."""

        def __init__(self, turn: int) -> None:
            super().__init__()
            self.turn = turn

    BINDINGS: ClassVar[list[BindingType]] = [("delete,backspace", "withdraw", "Take back")]

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, **options)
        self._turns: list[int] = []

    def show(self, queued: Sequence[QueuedTurn]) -> None:
        """Show what waits; nothing where nothing does."""
        self.display = bool(queued)
        self._turns = [turn.turn for turn in queued]
        self.clear_options()
        self.add_options([Option(_waiting(turn)) for turn in queued])

    def action_withdraw(self) -> None:
        """Take the highlighted prompt back."""
        if self.highlighted is not None and self.highlighted < len(self._turns):
            self.post_message(self.Withdrawn(self._turns[self.highlighted]))


def _command_line(command: AvailableCommand) -> Content:
    hint = f" {command.input.hint}" if command.input else ""
    name = one_line(f"/{command.name}{hint}", 60, "bold")
    return Content.assemble(name, "  ", one_line(command.description, 100, "dim"))


def _waiting(turn: QueuedTurn) -> Content:
    text = " ".join(content_text(block) for block in turn.prompt)
    return Content.assemble(("waits  ", "dim"), one_line(text, 200))
