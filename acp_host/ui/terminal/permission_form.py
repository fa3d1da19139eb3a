"""A permission request that waits, as a form: :class:`PermissionForm`."""

from __future__ import annotations

from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from acp_host.errors import AcpError
from acp_host.services.permission_memory import RememberScope
from acp_host.services.permission_queue import PendingPermission
from acp_host.translate.harn.permissions import permission_facts
from acp_host.ui.terminal.text import as_json, lines_of, one_line, plain, stacked
from acp_host.ui.terminal.tick import Tick
from acp_host.ui.terminal.tool_call import places, produced
from acp_host.wire._model import UNSET
from acp_host.wire.permission import PermissionOption, RequestPermissionRequest
from acp_host.wire.permission_question import PermissionQuestion

__all__ = ["PermissionForm"]

_MOST_LINES = 30
_KEYS = 9


class PermissionForm(Vertical):
    """What would be done, as fully as it is known, and all answers in the agent's order.

    Args:
        question: what waits.
        agent_name: what to call the agent.
    """

    BINDINGS: ClassVar[list[BindingType]] = [(str(key), f"choose({key})", "") for key in range(1, _KEYS + 1)]

    def __init__(self, question: PendingPermission, agent_name: str) -> None:
        super().__init__()
        self.question = question
        asks = "wants to do this without having asked" if question.is_hosts_own else "asks for permission"
        self.border_title = plain(f"{agent_name} {asks}")

    def compose(self) -> ComposeResult:
        """Make the parts."""
        yield Static(stacked(_about(self.question)))
        yield OptionList(*self._options(), markup=False)
        remembered = self.question.can_be_remembered
        if remembered is not None and self.question.options:
            yield Tick("and remember the answer here, for this session, for exactly this:")
            yield Static(plain(remembered, "dim"))

    def action_choose(self, number: int) -> None:
        """Give the answer with this number, from 1."""
        if number <= len(self.question.options):
            self._answer(number - 1)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Give the answer that was chosen."""
        event.stop()
        self._answer(event.option_index)

    def _answer(self, place: int) -> None:
        remember = any(box.value for box in self.query(Tick))
        try:
            if not self.question.options:
                self.question.acknowledge()
            else:
                option = self.question.options[place]
                self.question.choose(option.option_id, remember=RememberScope.SESSION if remember else None)
        except AcpError as error:  # it was withdrawn in this very moment
            self.app.notify(str(plain(str(error))), severity="warning", markup=False)

    def _options(self) -> list[Option]:
        options = [_answer_line(number, option) for number, option in enumerate(self.question.options, start=1)]
        return [Option(line) for line in options or [plain("There is nothing to choose. Take note of it.")]]


def _answer_line(number: int, option: PermissionOption) -> Content:
    key = f"{number}  " if number <= _KEYS else "   "
    return Content.assemble((key, "bold"), one_line(option.name, 200), "  ", one_line(f"({option.kind})", 60, "dim"))


def _about(question: PendingPermission) -> list[Content]:
    request = question.request
    call = request.tool_call
    lines = []
    if isinstance(request, PermissionQuestion):
        lines.append(one_line(request.title, 300, "bold"))
        lines += lines_of(request.description, _MOST_LINES) if request.description else []
    kind = f"{call.kind}: " if call.kind else ""
    lines.append(one_line(f"{kind}{call.title or call.tool_call_id}", 300, "bold"))
    if question.subject is not None and question.subject.command:
        lines += lines_of(f"$ {question.subject.command}", 10)
    lines += [one_line(path, 300, "dim") for path in places(call.locations or (), call.content or ())[:10]]
    lines += produced(call.content or (), {}, _MOST_LINES)
    if call.raw_input is not UNSET and call.raw_input is not None:
        lines.append(one_line(as_json(call.raw_input), 1_000, "dim"))
    lines += _harn_lines(request)
    if question.explanation is not None:
        lines.append(one_line(f"asked since {question.explanation.reason}", 300, "dim"))
    return lines


def _harn_lines(request: RequestPermissionRequest) -> list[Content]:
    """Return what a Harn agent says of its request that the user should know before they answer."""
    facts: Any = permission_facts(request)[0]
    if facts is None:
        return []
    lines = [
        one_line(f"no preview of {each.path or 'a file'}: {each.unavailable or 'no reason is given'}", 300, "$warning")
        for each in facts.not_shown
    ]
    if facts.schema_changed:
        lines.append(plain("the tool takes something else than it did before", "$warning"))
    if facts.decision is not None and facts.decision.reason:
        lines.append(one_line(f"the agent's reason: {facts.decision.reason}", 300, "dim"))
    return lines
