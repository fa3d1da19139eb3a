"""What to tell the user when an agent wants a login first."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from rich.text import Text

from acp_host.cli.printer import plain
from acp_host.errors import AuthRequired
from acp_host.protocol.negotiation import Agreement
from acp_host.redaction import redact, redact_text
from acp_host.wire._model import Unknown
from acp_host.wire.auth import AuthMethod, AuthMethodTerminal
from acp_host.wire.auth_env_var import read_env_var

__all__ = ["login_text"]


def login_text(agreement: Agreement, argv: Sequence[str], error: AuthRequired) -> Text:
    """Return what the agent said, and the ways to sign in that it offers.

    Args:
        agreement: names the ways.
        argv: the agent's command, which some of them run once more; of an agent elsewhere, which offers none of
            these, its URL.
        error: the agent's answer.
    """
    lines = [plain(f"{agreement.agent_name} wants a login first: {redact_text(error.message)}", "bold yellow")]
    for method in agreement.auth_methods:
        lines += _method_lines(method, argv)
    if not agreement.auth_methods:
        lines.append(plain("It offers no way to sign in over this connection; use its own program."))
    return Text("\n").join(lines)


def _method_lines(method: AuthMethod, argv: Sequence[str]) -> list[Text]:
    if isinstance(method, Unknown):
        named = read_env_var(method)
        lines = [plain(f"- {method.data.get('name') or method.data.get('id')} ({method.tag})")]
        if named is not None:
            needed = [variable.name for variable in named.vars if variable.optional is not True]
            lines.append(plain(f"  set in the environment, and start anew: {', '.join(needed)}"))
        return lines
    lines = [plain(f"- {method.name} ({method.id})")]
    if method.description:
        lines.append(plain(f"  {method.description}", "dim"))
    if isinstance(method, AuthMethodTerminal):
        environment = [f"{name}={value}" for name, value in redact(dict(method.env or {})).items()]
        lines.append(plain(f"  run: {shlex.join([*environment, *argv, *(method.args or ())])}"))
    return lines
