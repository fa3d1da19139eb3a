"""The lines that the host draws around a conversation: :class:`StatusLine`, :class:`HealthBanner`."""

from __future__ import annotations

import time
from typing import Any

from textual.content import Content
from textual.widgets import Static

from acp_host.host.health import HealthSnapshot
from acp_host.host.reconnect_machine import ConnectionStatus
from acp_host.state.snapshot import SessionSnapshot
from acp_host.ui.terminal.side import usage_text
from acp_host.ui.terminal.text import one_line, plain

__all__ = ["HealthBanner", "StatusLine"]

_OUTCOMES = {"completed": "$text-success", "failed": "$text-error", "policy_violated": "$text-error"}
_TRYING = {
    ConnectionStatus.CONNECTING: "trying",
    ConnectionStatus.HANDSHAKING: "the agent is there; agreeing on what it offers",
    ConnectionStatus.REOPENING: "opening the sessions again",
}


class StatusLine(Static):
    """Who is spoken to, and what goes on.

    Args:
        agent_name: what to call the agent.
    """

    def __init__(self, agent_name: str, **options: Any) -> None:
        super().__init__(markup=False, **options)
        self._agent_name = agent_name

    def draw(self, snapshot: SessionSnapshot) -> None:
        """Show a state."""
        parts = [plain(f" {self._agent_name} ", "bold reverse")]
        if snapshot.info.title:
            parts.append(one_line(snapshot.info.title, 40))
        for category in ("mode", "model"):
            option = snapshot.options.about(category)
            if option is not None and option.value is not None:
                named = next((each.name for each in option.choices if each.value == option.value), str(option.value))
                parts.append(one_line(named, 24, "dim"))
        parts.append(_doing(snapshot))
        usage = usage_text(snapshot.usage)
        if usage:
            parts.append(one_line(usage, 60, "dim"))
        self.update(Content("  ").join(parts))


class HealthBanner(Static):
    """Says that the agent cannot be reached, and what is done about it; not there otherwise."""

    def draw(self, health: HealthSnapshot, snapshot: SessionSnapshot) -> None:
        """Show how it stands."""
        text = _trouble(health, snapshot)
        self.display = bool(text)
        self.update(one_line(text, 500))


def _doing(snapshot: SessionSnapshot) -> Content:
    turn = snapshot.turn
    if turn.status == "waiting":
        return plain("waits for you: F2 answers", "bold $text-warning")
    if turn.status == "running" or turn.activity:
        return plain("works; Esc cancels" if turn.origin == "user" else "works by itself", "$text-primary")
    if turn.outcome is None:
        return plain("ready", "dim")
    detail = f" ({turn.detail})" if turn.detail and turn.outcome != "completed" else ""
    return one_line(f"{turn.outcome}{detail}", 100, _OUTCOMES.get(turn.outcome, "$text-warning"))


def _trouble(health: HealthSnapshot, snapshot: SessionSnapshot) -> str:
    why = f": {health.error}" if health.error else ""
    match health.status:
        case ConnectionStatus.WAITING:
            due = "" if health.next_try is None else time.strftime("%H:%M:%S", time.localtime(health.next_try))
            return f"The connection is lost{why}. Try {health.attempt} is at {due}; F5 tries now."
        case ConnectionStatus.LOST | ConnectionStatus.CLOSED:
            return f"The connection is over{why}. Ctrl-C leaves."
        case status if status in _TRYING:
            return f"The connection is lost{why}. Try {health.attempt}: {_TRYING[status]}."
    if snapshot.health.status == "lost":
        return f"The agent does not know this session any more: {snapshot.health.detail}"
    return ""
