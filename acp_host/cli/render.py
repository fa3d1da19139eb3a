"""Prints a turn as it happens, for people: :class:`TurnView`.

It owns how each kind of update reads. It keeps of every tool call what the last update said, because updates name only
what has changed. Cost per update: what it prints, and for a diff the comparison.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs
from rich.text import Text

from acp_host.amounts import amount_text
from acp_host.automation.result import RunResult, TokenUsage
from acp_host.automation.updates_in_v1 import UpdatesInV1
from acp_host.cli.command_output import output_text
from acp_host.cli.diffs import diff_lines, patch_lines
from acp_host.cli.printer import Printer, plain
from acp_host.host.outcome import OutcomeKind, TurnResult
from acp_host.host.update_buffer import UpdatesSkipped
from acp_host.printable import json_text
from acp_host.state.snapshot import TerminalView
from acp_host.translate.harn.permissions import permission_facts
from acp_host.ui.content_text import content_text
from acp_host.wire._model import UNSET, Unknown
from acp_host.wire.commands import AvailableCommandsUpdate
from acp_host.wire.compaction import CompactionSummaryChunk, CompactionUpdate
from acp_host.wire.config_options import ConfigOptionUpdate, CurrentModeUpdate
from acp_host.wire.content import TextContent
from acp_host.wire.harn.content import shown_text
from acp_host.wire.notices import Notice
from acp_host.wire.permission import RequestPermissionRequest
from acp_host.wire.permission_question import PermissionQuestion
from acp_host.wire.plans import Plan, PlanEntry, PlanEntryStatus, PlanItems, PlanUpdate
from acp_host.wire.text import join_text
from acp_host.wire.tool_calls import Content, Diff, Terminal, ToolCall, ToolCallContent, ToolCallUpdate
from acp_host.wire.updates import (
    AgentMessageChunk,
    AgentThoughtChunk,
    ContentChunk,
    SessionInfoUpdate,
    SessionUpdate,
    UserMessageChunk,
)
from acp_host.wire.usage import Usage, UsageUpdate
from acp_host.wire.v2.diffs import Diff as PatchedFiles
from acp_host.wire.v2.tool_calls import ToolCallStatus

__all__ = ["TurnView"]

_LONGEST_INPUT = 2_000
_MOST_LINES = 20
_CHECKS: Mapping[str, str] = {PlanEntryStatus.COMPLETED: "[x]", PlanEntryStatus.IN_PROGRESS: "[>]"}
_STATUS_STYLES: Mapping[str, str] = {
    ToolCallStatus.COMPLETED: "green",
    ToolCallStatus.FAILED: "red",
    ToolCallStatus.CANCELLED: "yellow",
}
_FINAL = frozenset(_STATUS_STYLES)
_OUTCOME_STYLES: Mapping[str, str] = {OutcomeKind.COMPLETED: "bold green", OutcomeKind.FAILED: "bold red"}


@attrs.define
class _Call:
    """What is known of a tool call, and what of it was printed."""

    title: str = ""
    kind: str = ""
    status: str = ToolCallStatus.PENDING
    raw_input: Any = UNSET
    content: tuple[ToolCallContent, ...] = ()
    printed: list[ToolCallContent] = attrs.Factory(list)

    def merge(self, update: ToolCall | ToolCallUpdate) -> bool:
        """Take what an update says; tell whether there is something new to say in one line."""
        before = (self.title, self.kind, self.status in _FINAL)
        self.title = update.title or self.title
        self.kind = update.kind or self.kind
        self.status = update.status or self.status
        self.content = self.content if update.content is None or update.content is UNSET else update.content
        if update.raw_input is not UNSET and update.raw_input is not None:
            self.raw_input = update.raw_input
        return before != (self.title, self.kind, self.status in _FINAL)

    def to_print(self) -> Iterable[ToolCallContent]:
        """Return the content that is ripe and was not printed: text only when the call has ended, since it may grow."""
        ended = self.status in _FINAL
        changed = Diff | PatchedFiles
        ripe = [item for item in self.content if (ended or isinstance(item, changed)) and item not in self.printed]
        self.printed += ripe
        return ripe


class TurnView:
    """Prints the updates of a turn, the questions in it, and its result.

    Args:
        printer: where to.
        verbose: print also what matters little while one watches: commands on offer, settings, unknown updates.
    """

    def __init__(self, printer: Printer, *, verbose: bool = False) -> None:
        self.printer = printer
        self._verbose = verbose
        self._calls: dict[str, _Call] = {}
        self._as_first = UpdatesInV1()

    def show(self, update: SessionUpdate | UpdatesSkipped) -> None:
        """Print an update, of either version of the protocol."""
        for form in self._as_first(update):
            self._show(form)

    def _show(self, update: Any) -> None:
        match update:
            case AgentMessageChunk(content=TextContent() as content):
                self.printer.answer(shown_text(content), update.message_id)
            case AgentThoughtChunk(content=TextContent(text=text)):
                self.printer.flow("thinking", text, key=update.message_id, style="dim italic", label_style="dim")
            case UserMessageChunk():
                pass  # the prompt once more
            case ContentChunk():
                self.printer.line("content", plain(content_text(update.content)))
            case ToolCall() | ToolCallUpdate():
                self._show_call(update)
            case Plan(entries=entries) | PlanUpdate(plan=PlanItems(entries=entries)):
                self.printer.line("plan", _plan(entries))
            case TerminalView(ended=False):
                self.printer.line("command", plain(f"$ {update.command}"))
            case TerminalView():
                self.printer.line("output", _output(update))
            case UsageUpdate():
                self.printer.line("usage", plain(_usage_update(update), "dim"))
            case CompactionUpdate(status=status):
                self.printer.line("compaction", plain(str(status), "dim"))
            case UpdatesSkipped(count=count):
                self.printer.line("skipped", plain(f"{count} updates: the agent was faster than this output", "yellow"))
            case Notice() | CompactionSummaryChunk():
                pass  # a notice is shown as it arrives, not in its place in the turn
            case _ if self._verbose:
                self.printer.line("update", plain(_other(update), "dim"))

    def show_aside(self, update: SessionUpdate | UpdatesSkipped) -> None:
        """Print an update that belongs to no turn: what the agent says in it is no answer to the prompt."""
        match update:
            case AgentMessageChunk(content=TextContent() as content):
                self.printer.flow("aside", shown_text(content), key=update.message_id)
            case _:
                self.show(update)

    def show_question(self, request: RequestPermissionRequest) -> None:
        """Print a permission request: what would be done, as fully as it is known, and the numbered answers."""
        call = self._calls.setdefault(request.tool_call.tool_call_id, _Call())
        lines, question = [], ""
        if isinstance(request, PermissionQuestion):  # it asks in its own words; the call itself was told before
            call, question = _Call(printed=call.printed), request.title
            lines = [plain(question, "bold"), *(plain(line) for line in request.description.splitlines())]
        call.merge(request.tool_call)
        if call.title != question or not question:
            lines.append(plain(_title(call), "" if question else "bold"))
        lines += _content_lines(call.to_print())
        if call.raw_input is not UNSET:
            lines.append(plain(_excerpt(json_text(call.raw_input)), "dim"))
        lines += _harn_lines(request)
        for number, option in enumerate(request.options, start=1):
            lines.append(plain(f"  {number}  {option.name} ({option.kind})"))
        self.printer.line("permission?", Text("\n").join(lines), style="bold yellow")

    def show_result(self, result: TurnResult | RunResult) -> None:
        """Print how a turn, or a run, ended."""
        outcome = result.outcome
        parts = [plain(outcome.kind, _OUTCOME_STYLES.get(outcome.kind, "bold yellow"))]
        if result.stop_reason is not None:
            parts.append(plain(f", stop reason {result.stop_reason}"))
        if outcome.detail and outcome.detail != result.stop_reason:
            parts.append(plain(f" ({outcome.detail})"))
        if result.usage is not None:
            parts.append(plain(f"; {_usage(result.usage)}", "dim"))
        self.printer.finish()
        self.printer.line("result", *parts)

    def _show_call(self, update: ToolCall | ToolCallUpdate) -> None:
        call = self._calls.setdefault(update.tool_call_id, _Call())
        news = call.merge(update)
        lines = _content_lines(call.to_print())
        if news or isinstance(update, ToolCall):
            lines.insert(0, plain(_title(call)))
            if call.status in _FINAL:
                lines[0].append_text(plain(f"  {call.status}", _STATUS_STYLES[call.status]))
        if lines:
            self.printer.line("tool", Text("\n").join(lines), style="bold blue")


def _harn_lines(request: RequestPermissionRequest) -> list[Text]:
    """Return what a Harn agent says of its request that the user should know before they answer."""
    facts, _ = permission_facts(request)
    if facts is None:
        return []
    lines = [
        plain(f"no preview of {each.path or 'a file'}: {each.unavailable or 'the agent does not say why'}", "yellow")
        for each in facts.not_shown
    ]
    if facts.schema_changed:
        lines.append(plain("the tool takes something else than it did before", "yellow"))
    if facts.decision is not None and facts.decision.reason:
        lines.append(plain(f"asked since: {facts.decision.reason}", "dim"))
    return lines


def _content_lines(items: Iterable[ToolCallContent | PatchedFiles]) -> list[Text]:
    lines: list[Text] = []
    for item in items:
        match item:
            case Diff():
                lines += diff_lines(item)
            case PatchedFiles():
                lines += patch_lines(item)
            case Content(content=content):
                said = content_text(content).rstrip("\n").split("\n")
                lines += [plain(line, "dim") for line in said[:_MOST_LINES]]
                if len(said) > _MOST_LINES:
                    lines.append(plain(f"({len(said) - _MOST_LINES} more lines)", "dim"))
            case Terminal():
                pass  # it is this host's own, which prints what is run and what comes of it
            case Unknown():
                lines.append(plain(f"[{item.tag}]", "dim"))
    return lines


def _output(view: TerminalView) -> Text:
    text = join_text(view.output)
    return output_text(text, truncated=view.truncated, exit_code=view.exit_code, signal=view.signal)


def _title(call: _Call) -> str:
    return f"{call.kind}: {call.title}" if call.kind else call.title or "(untitled)"


def _plan(entries: Iterable[PlanEntry]) -> Text:
    lines = []
    for entry in entries:
        style = "dim" if entry.status == PlanEntryStatus.COMPLETED else ""
        lines.append(plain(f"{_CHECKS.get(entry.status, '[ ]')} {entry.content}", style))
    return Text("\n").join(lines) if lines else plain("(empty)", "dim")


def _usage_update(update: UsageUpdate) -> str:
    size = f" of {update.size:,}" if update.size else ""
    cost = f"; cost so far {amount_text(update.cost.amount)} {update.cost.currency}" if update.cost else ""
    return f"{update.used:,}{size} tokens in the context{cost}"


def _usage(usage: Usage | TokenUsage) -> str:
    return f"{usage.total_tokens:,} tokens ({usage.input_tokens:,} in, {usage.output_tokens:,} out)"


def _other(update: Any) -> str:
    match update:
        case AvailableCommandsUpdate(available_commands=commands):
            return "commands: " + (", ".join(f"/{command.name}" for command in commands) or "none")
        case CurrentModeUpdate(current_mode_id=mode):
            return f"mode: {mode}"
        case ConfigOptionUpdate(config_options=options):
            return f"{len(options)} configuration options"
        case SessionInfoUpdate(title=str(title)):
            return f"title: {title}"
        case Unknown(tag=tag, data=data):
            return _excerpt(f"{tag}: {json_text(data)}")
        case _:
            return type(update).__name__


def _excerpt(text: str) -> str:
    return text if len(text) <= _LONGEST_INPUT else f"{text[:_LONGEST_INPUT]}... ({len(text)} characters)"
