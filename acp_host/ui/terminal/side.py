"""What stands beside the transcript: plan, usage, options, commands that run, and what a Harn agent tells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.markdown import Markdown
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from acp_host.amounts import amount_text
from acp_host.state.option_entries import OptionsSnapshot, SessionOption
from acp_host.state.snapshot import ContextUsage, Plan, TerminalView
from acp_host.ui.harn_words import HARN_LISTS, HARN_TOPICS
from acp_host.ui.terminal.markdown import PAGE, safe_markdown
from acp_host.ui.terminal.text import one_line, plain, stacked
from acp_host.ui.terminal.tool_call import terminal_lines
from acp_host.wire.plans import PlanEntry, PlanEntryStatus, PlanFile, PlanItems, PlanMarkdown

__all__ = ["CommandsPane", "HarnPane", "OptionsPane", "PlanPane", "UsageLine", "usage_text"]

_MOST = 200
_MOST_PLANS = 10
_MOST_COMMANDS = 20
_MOST_OF_A_TOPIC = 5
_CHECKS: Mapping[str, tuple[str, str]] = {
    PlanEntryStatus.COMPLETED: ("✓ ", "$text-success"),
    PlanEntryStatus.IN_PROGRESS: ("◐ ", "$text-primary"),
}


class PlanPane(VerticalScroll):
    """The agent's plans."""

    async def draw(self, plans: Sequence[Plan]) -> None:
        """Show the plans."""
        await self.remove_children()
        shown = [Static(_plan(plan)) for plan in plans[:_MOST_PLANS]]
        await self.mount_all(shown or [Static(plain("The agent has told no plan.", "dim"))])


class UsageLine(Static):
    """How full the context is, and what was spent."""

    def draw(self, usage: ContextUsage) -> None:
        """Show the usage."""
        last = "" if usage.last_turn is None else f"last turn {usage.last_turn.total_tokens:,} tokens"
        self.update(one_line("; ".join(filter(None, (usage_text(usage), last))), 200, "dim"))


class OptionsPane(OptionList):
    """What the user can set; Enter changes the highlighted option."""

    class Chosen(Message):
        """The user wants to change an option."""

        def __init__(self, option: SessionOption) -> None:
            super().__init__()
            self.option = option

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, **options)
        self._entries: tuple[SessionOption, ...] = ()

    def draw(self, options: OptionsSnapshot) -> None:
        """Show the options."""
        highlighted = self.highlighted
        self._entries = options.entries[:_MOST]
        self.clear_options()
        self.add_options([Option(_option_line(option)) for option in self._entries])
        if not self._entries:
            self.add_option(Option(plain("The agent has no options.", "dim"), disabled=True))
        elif highlighted is not None:
            self.highlighted = min(highlighted, len(self._entries) - 1)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Tell which option was chosen."""
        event.stop()
        if event.option_index < len(self._entries):
            self.post_message(self.Chosen(self._entries[event.option_index]))


class CommandsPane(VerticalScroll):
    """The commands that run for the agent, or have, with the end of their output."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._text = Static(markup=False)

    def compose(self) -> Iterable[Static]:
        """Make the parts."""
        yield self._text

    def draw(self, terminals: Mapping[str, TerminalView]) -> None:
        """Show the newest commands, the newest first."""
        lines: list[Content] = []
        for terminal in tuple(terminals.values())[: -_MOST_COMMANDS - 1 : -1]:
            lines += [*terminal_lines(terminal, 5 if terminal.ended else 12), Content("")]
        self._text.update(stacked(lines or [plain("No command was run.", "dim")]))


class HarnPane(VerticalScroll):
    """What a Harn agent tells beside the conversation."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._text = Static(markup=False)

    def compose(self) -> Iterable[Static]:
        """Make the parts."""
        yield self._text

    def draw(self, harn: Any) -> None:
        """Show the newest of each topic; ``None``: nothing was told."""
        lines: list[Content] = []
        for topic, (label, words) in {**HARN_TOPICS, **HARN_LISTS}.items():
            told = None if harn is None else getattr(harn, topic)
            if told is None:
                continue
            entries = tuple(told.values()) if isinstance(told, Mapping) else (told,)
            if topic in HARN_LISTS:
                entries = tuple(told)
            for entry in entries[-_MOST_OF_A_TOPIC:]:
                lines.append(Content.assemble((f"{label}  ", "bold"), one_line(words(entry), 200)))
        self._text.update(stacked(lines or [plain("Nothing beside the conversation.", "dim")]))


def usage_text(usage: ContextUsage) -> str:
    """Return the usage in words; empty if the agent has told none."""
    parts = []
    if usage.used is not None:
        size = f" of {usage.size:,}" if usage.size else ""
        parts.append(f"{usage.used:,}{size} tokens in the context")
    if usage.cost is not None:
        parts.append(f"{amount_text(usage.cost.amount)} {usage.cost.currency}")
    return "; ".join(parts)


def _plan(plan: Plan) -> Content | Markdown:
    content = plan.content
    match content:
        case PlanItems(entries=entries):
            lines = [_step(entry) for entry in entries[:_MOST]]
            if len(entries) > _MOST:
                lines.append(plain(f"({len(entries) - _MOST} more)", "dim"))
            return stacked(lines or [plain("(empty)", "dim")])
        case PlanMarkdown(content=text):
            return safe_markdown(text[:PAGE])
        case PlanFile(uri=uri):
            return one_line(f"The plan is in {uri}", 500)
        case _:
            return one_line(f"A plan of the kind {content.tag}, which this version does not know", 200, "dim")


def _step(entry: PlanEntry) -> Content:
    sign, style = _CHECKS.get(entry.status, ("○ ", ""))
    return Content.assemble((sign, style), one_line(entry.content, 300, "dim" if entry.status == "completed" else ""))


def _option_line(option: SessionOption) -> Content:
    value = option.value
    if isinstance(value, bool):
        value = "on" if value else "off"
    named = next((choice.name for choice in option.choices if choice.value == value), value)
    parts = [one_line(f"{option.name}:", 80), plain(" "), one_line(str(named), 80, "bold")]
    if option.pending is not None:
        parts.append(plain("  (being set)", "dim"))
    if option.error is not None:
        parts += [plain("  "), one_line(option.error, 200, "$text-error")]
    return Content.assemble(*parts)
