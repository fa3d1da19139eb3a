"""The way to the host, in Harn's forms: :class:`Host`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

from acp_host.errors import AcpError, RequestFailed
from acp_host.testing._reminder_shelf import AgentReminder
from acp_host.testing._reminder_wire import harn_form
from acp_host.testing.agent_side import AgentSide
from acp_host.testing.harn._frames import at_root, named
from acp_host.testing.harn._session import HarnSession
from acp_host.wire.terminals import CreateTerminalResponse, WaitForTerminalExitResponse

__all__ = ["Host"]

_CLEANUP = 1.0
"""Seconds that a cancelled line waits for the host to end its terminal."""


@frozen(kw_only=True)
class Host:
    """What a turn needs of the connection; whatever belongs to a prompt says so, where the prompt has an id.

    Attributes:
        side: the typed connection.
        number: makes the next id out of a word.
        delay: seconds between two words of a message.
        old_form: send the members of Harn's updates at their root.
    """

    side: AgentSide
    number: Callable[[str], str]
    delay: float = 0.0
    old_form: bool = False

    # --- to tell something ------------------------------------------------------------------------------------------

    def update(self, session: HarnSession, update: Mapping[str, Any], prompt: str | None = None) -> None:
        """Send an update, and keep it for a replay."""
        told = at_root(update) if self.old_form else dict(update)
        self.notify(session, "session/update", {"update": told}, prompt)

    def notify(self, session: HarnSession, method: str, params: Mapping[str, Any], prompt: str | None = None) -> None:
        """Send a notification of a session, and keep it for a replay."""
        session.history.append((method, dict(params)))
        self.side.notify(method, {"sessionId": session.id, **params, **_correlation(prompt)})

    def show_reminder(self, session: HarnSession, reminder: AgentReminder, prompt: str | None) -> None:
        """Tell that the model was shown a reminder."""
        self.update(session, named("reminder_emitted", reminder=harn_form(reminder)), prompt)

    async def pause(self, seconds: float | None) -> None:
        """Wait, first for the host to have read what was sent."""
        await self.side.drain()
        await asyncio.sleep(self.delay if seconds is None else seconds)

    # --- to ask for something ---------------------------------------------------------------------------------------

    async def request(self, method: str, params: Mapping[str, Any], prompt: str | None = None) -> Any:
        """Send a request to the host and return its result."""
        return await self.side.request(method, {**params, **_correlation(prompt)})

    async def capabilities(self, session: HarnSession, prompt: str | None) -> Mapping[str, Any]:
        """Return what operations the host has; an error means none."""
        try:
            told = await self.request("host/capabilities", {"sessionId": session.id}, prompt)
        except RequestFailed:
            return {}
        return told if isinstance(told, Mapping) else {}

    async def run_line(self, session: HarnSession, line: str, shell: Any, prompt: str | None) -> Mapping[str, Any]:
        """Run a line in a terminal of the host, in Harn's dialect, and return what its end told."""
        params = {"sessionId": session.id, "command": line, "shell": shell}
        created: CreateTerminalResponse = await self.request("terminal/create", params, prompt)
        terminal = {"sessionId": session.id, "terminalId": created.terminal_id}
        try:
            end: WaitForTerminalExitResponse = await self.request("terminal/wait_for_exit", terminal, prompt)
            await self.request("terminal/output", terminal, prompt)
        except asyncio.CancelledError:
            await self._quietly("terminal/kill", terminal)
            raise
        finally:
            await self._quietly("terminal/release", terminal)
        return {**end.extra, "exitCode": end.exit_code, "signal": end.signal}

    async def _quietly(self, method: str, params: Mapping[str, Any]) -> None:
        try:
            async with asyncio.timeout(_CLEANUP):
                await self.side.request(method, params)
        except (AcpError, TimeoutError):
            pass  # the host ends what it runs with the session


def _correlation(prompt: str | None) -> dict[str, Any]:
    return {} if prompt is None else {"promptCorrelation": {"messageId": prompt}}
