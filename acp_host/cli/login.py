"""What to tell the user when an agent wants a login first."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from rich.text import Text

from acp_host.cli.printer import plain
from acp_host.errors import AuthRequired
from acp_host.protocol.negotiation import Agreement
from acp_host.wire._model import Unknown
from acp_host.wire.auth import AuthMethod, AuthMethodTerminal

__all__ = ["login_text"]


def login_text(agreement: Agreement, argv: Sequence[str], error: AuthRequired) -> Text:
    """Return what the agent said, and the ways to sign in that it offers.

    Args:
        agreement: names the ways.
        argv: the agent's command, which some of them run once more.
        error: the agent's answer.
    """
    lines = [plain(f"{agreement.agent_name} wants a login first: {error.message}", "bold yellow")]
    for method in agreement.auth_methods:
        lines += _method_lines(method, argv)
    if not agreement.auth_methods:
        lines.append(plain("It offers no way to sign in over this connection; use its own program."))
    return Text("\n").join(lines)


def _method_lines(method: AuthMethod, argv: Sequence[str]) -> list[Text]:
    if isinstance(method, Unknown):
        return [plain(f"- {method.data.get('name') or method.data.get('id')} ({method.tag})")]
    lines = [plain(f"- {method.name} ({method.id})")]
    if method.description:
        lines.append(plain(f"  {method.description}", "dim"))
    if isinstance(method, AuthMethodTerminal):
        environment = [f"{name}={value}" for name, value in (method.env or {}).items()]
        lines.append(plain(f"  run: {shlex.join([*environment, *argv, *(method.args or ())])}"))
    return lines
