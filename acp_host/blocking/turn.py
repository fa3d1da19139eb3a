"""One prompt and what comes of it, without ``await``: :class:`Turn`."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Generator, Iterator
from typing import Any

from acp_host.blocking._forward import Facade, asks, reads
from acp_host.host import turn as async_turn
from acp_host.host.outcome import Outcome, TurnResult
from acp_host.host.turn import PromptToSend, TurnOrigin
from acp_host.host.update_buffer import UpdatesSkipped
from acp_host.wire.updates import SessionUpdate

__all__ = ["Turn"]


_Async = async_turn.Turn


class Turn(Facade[_Async]):
    """As :class:`acp_host.Turn`: iterate over it for its updates, or :meth:`wait` for its result. ::

        for update in (turn := session.prompt("Fix the failing test")):
            ...
        result = turn.wait()

    Ctrl-C while it is waited for or iterated over cancels the turn. Where a loop runs, it can be awaited as well.
    """

    number = reads[_Async, int](lambda turn: turn.number)
    prompt = reads[_Async, PromptToSend](lambda turn: turn.prompt)
    origin = reads[_Async, TurnOrigin](lambda turn: turn.origin)
    sent_at = reads[_Async, float | None](lambda turn: turn.sent_at)
    cancel_requested = reads[_Async, bool](lambda turn: turn.cancel_requested)
    done = reads[_Async, bool](lambda turn: turn.done)
    stop_reason = reads[_Async, str | None](lambda turn: turn.stop_reason)
    result = reads[_Async, TurnResult | None](lambda turn: turn.result)
    outcome = reads[_Async, Outcome | None](lambda turn: turn.outcome)
    text = reads[_Async, str](lambda turn: turn.text)
    choices = reads[_Async, tuple[str, ...]](lambda turn: tuple(turn.choices))
    cancel = asks(_Async.cancel)

    def wait(self) -> TurnResult:
        """Wait for the result, as awaiting the turn does.

        Raises:
            RequestFailed: the agent answered the prompt with an error.
            OutcomeUnknown: the connection ended while the turn ran.
        """
        with self._cancelled_by_interrupt():
            return self._thread.run(lambda: self.asynchronous)

    def __await__(self) -> Generator[Any, None, TurnResult]:
        """Await the result on another event loop, such as that of a notebook's cells; else as :meth:`wait`.

        A task that is cancelled meanwhile cancels the turn.
        """
        return self._awaited().__await__()

    def __iter__(self) -> Iterator[SessionUpdate | UpdatesSkipped]:
        """Yield the updates of the turn in order.

        Raises:
            AcpError: after the last update, if the turn failed; the same error as waiting for it.
        """
        with self._cancelled_by_interrupt():
            self._thread.ask(self.asynchronous.__aiter__)
        while (updates := self._next_updates()) is not None:
            yield from updates

    def _next_updates(self) -> list[SessionUpdate | UpdatesSkipped] | None:
        with self._cancelled_by_interrupt():
            return self._thread.run(self.asynchronous.next_updates)

    async def _awaited(self) -> TurnResult:
        try:
            return await self._thread.awaited(lambda: self.asynchronous)
        except asyncio.CancelledError:
            self._thread.call_soon(lambda: self.asynchronous.cancel("the task that awaited it was cancelled"))
            raise

    @contextlib.contextmanager
    def _cancelled_by_interrupt(self) -> Iterator[None]:
        # The call that is interrupted cancels the turn if it awaits it by then; it may not have come so far.
        try:
            yield
        except KeyboardInterrupt:
            self._thread.call_soon(lambda: self.asynchronous.cancel("interrupted from the keyboard"))
            raise
