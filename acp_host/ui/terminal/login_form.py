"""A login that the agent wants first, as a form: :class:`LoginForm`."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Button, Input, Static

from acp_host.host.login_methods import EnvVarLogin, LoginMethod, TerminalLogin
from acp_host.host.login_queue import PendingLogin
from acp_host.ui.terminal.answerable import Answerable
from acp_host.ui.terminal.text import one_line, plain, stacked

__all__ = ["LoginForm"]


class LoginForm(Answerable):
    """The ways to log in, those that cannot be taken with the reason; what is typed that is secret is not shown."""

    question: PendingLogin

    def __init__(self, question: PendingLogin, agent_name: str) -> None:
        super().__init__(question, f"{agent_name} wants you to log in first")
        self._fields: dict[str, dict[str, Input]] = {}

    def compose(self) -> ComposeResult:
        """Make the parts."""
        yield Static(plain(self.question.request.message))
        for place, method in enumerate(self.question.request.methods):
            yield Static(stacked(_lines(method)))
            if not method.available:
                continue
            if isinstance(method, EnvVarLogin):
                self._fields[method.id] = {
                    variable.name: Input(
                        password=variable.secret, placeholder=str(one_line(variable.label, 60)), compact=True
                    )
                    for variable in method.variables
                }
                yield from self._fields[method.id].values()
            with Horizontal(classes="buttons"):
                yield Button("Log in", name=f"way {place}", variant="primary", compact=True)
        yield self.remark
        with Horizontal(classes="buttons"):
            yield Button("Not now", name="refuse", compact=True)

    async def press(self, deed: str) -> None:
        """Take a way, or none."""
        if deed == "refuse":
            self.question.refuse()
            return
        method = self.question.request.methods[int(deed.removeprefix("way "))]
        values = {name: field.value for name, field in self._fields.get(method.id, {}).items()}
        self.question.choose(method.id, values or None)


def _lines(method: LoginMethod) -> list[Content]:
    lines = [one_line(method.name, 120, "bold")]
    if method.description:
        lines.append(plain(method.description, "dim"))
    if isinstance(method, TerminalLogin) and method.argv and not method.own_command:
        lines.append(one_line(f"runs {method.argv[0]}", 200, "dim"))
    if not method.available:
        lines.append(plain(f"not possible now: {method.unavailable}", "$text-warning"))
    return lines
