"""One prompt of the Harn-like agent from its arrival to its answer: :class:`RunningPrompt`."""

from __future__ import annotations

import asyncio
from typing import Any

from acp_host.errors import RequestFailed
from acp_host.testing.harn.turn import HarnScript, HarnTurn

__all__ = ["RunningPrompt"]

_CANCELLED = {"kind": "user_cancelled", "reason": "session/cancel", "owner": "user"}


class RunningPrompt:
    """Runs a script as a task of its own, so that it can be cancelled and its end still be told.

    Args:
        turn: the turn.
        script: what to do with it.
    """

    def __init__(self, turn: HarnTurn, script: HarnScript) -> None:
        self.turn = turn
        self.is_cancelled = False
        self._script = script
        self._task: asyncio.Task[Any] | None = None

    def cancel(self) -> None:
        """Cancel the script, wherever it waits; also before it has begun."""
        self.is_cancelled = True
        if self._task is not None:
            self._task.cancel()

    async def run(self) -> dict[str, Any]:
        """Run the script and return the result of the prompt.

        Raises:
            RequestFailed: the script raised it, or something else, which is told in Harn's form.
        """
        if not self.is_cancelled:
            self._task = asyncio.create_task(self._call())
            try:
                await self._task
            except asyncio.CancelledError:
                if not self.is_cancelled:
                    raise  # the connection has ended
            except Exception as error:
                if not self.is_cancelled:
                    if isinstance(error, RequestFailed) and error.method is None:
                        raise
                    raise HarnTurn.failure("generic_throw", str(error) or type(error).__name__) from error
        if self.is_cancelled:
            self.turn.end(stop_reason="cancelled", **_CANCELLED)
        return self.turn.result()

    async def _call(self) -> None:
        self.turn.ask_model()
        await self._script(self.turn)
        self.turn.leave_loop()
