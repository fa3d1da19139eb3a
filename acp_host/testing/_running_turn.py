"""One prompt of the reference agent from its arrival to its answer: :class:`RunningTurn`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from acp_host.testing.agent_turn import AgentTurn, TurnCancelled
from acp_host.wire.prompt import StopReason

__all__ = ["RunningTurn", "TurnScript"]

TurnScript = Callable[[AgentTurn], Awaitable[str | None]]
"""What an agent does with a prompt; returns the stop reason, ``None`` for ``end_turn``."""


class RunningTurn:
    """Runs a script as a task of its own, so that it can be cancelled and its end still be told.

    Args:
        turn: the turn.
        script: what to do with it.

    Attributes:
        finished: set when the script is over.
    """

    def __init__(self, turn: AgentTurn, script: TurnScript) -> None:
        self.finished = asyncio.Event()
        self._turn = turn
        self._script = script
        self._cancelled = False
        self._task: asyncio.Task[str | None] | None = None

    def cancel(self) -> None:
        """Cancel the script, wherever it waits; also before it has begun."""
        self._cancelled = True
        if self._task is not None:
            self._task.cancel()

    async def run(self) -> str:
        """Run the script and return the stop reason; ``cancelled`` after :meth:`cancel`, whatever the script says."""
        try:
            reason = await self._run_script()
        finally:
            self.finished.set()
        return StopReason.CANCELLED if self._cancelled else reason

    async def _run_script(self) -> str:
        if self._cancelled:
            return StopReason.CANCELLED
        self._task = asyncio.create_task(self._call())
        try:
            return await self._task or StopReason.END_TURN
        except TurnCancelled:
            return StopReason.CANCELLED
        except (Exception, asyncio.CancelledError):
            if self._cancelled:
                return StopReason.CANCELLED
            raise

    async def _call(self) -> str | None:
        self._turn.ask_model()
        return await self._script(self._turn)
