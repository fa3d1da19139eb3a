"""What a person is asked by the Harn-like agent, until it is settled: :class:`HumanRequest`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["HumanRequest"]


class HumanRequest:
    """A question, an approval, or an escalation. Made by :meth:`~acp_host.testing.harn.turn.HarnTurn.ask_human`.

    Args:
        id: its id.
        kind: ``question``, ``approval``, ``dual_control`` or ``escalation``.
        tell: called once with the outcome.

    Attributes:
        response: what the host answered, as sent; ``None`` until then.
        outcome: how it was settled; ``None`` until then.
    """

    def __init__(self, id: str, kind: str, tell: Callable[[HumanRequest], None]) -> None:
        self.id = id
        self.kind = kind
        self.response: Mapping[str, Any] | None = None
        self.outcome: str | None = None
        self._tell = tell
        self._settled = asyncio.Event()

    def answer(self, response: Mapping[str, Any]) -> None:
        """Take the host's answer."""
        if self.outcome is None:
            self.response = response
            self.settle("answered")

    def settle(self, outcome: str) -> None:
        """End it, the first time: ``answered``, ``timeout``, ``cancelled`` or ``error``."""
        if self.outcome is None:
            self.outcome = outcome
            self._settled.set()
            self._tell(self)

    async def wait(self, seconds: float) -> Mapping[str, Any] | None:
        """Wait for the answer and return it; ``None`` after so many seconds, which settles it as ``timeout``."""
        try:
            async with asyncio.timeout(seconds):
                await self._settled.wait()
        except TimeoutError:
            self.settle("timeout")
        except asyncio.CancelledError:
            self.settle("cancelled")
            raise
        return self.response
