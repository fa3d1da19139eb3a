"""A run under way: :class:`Run`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from types import TracebackType
from typing import Any

from acp_host.automation.event_buffer import EventBuffer
from acp_host.automation.events import RunEvent
from acp_host.automation.owned_task import OwnedTask
from acp_host.automation.result import RunResult
from acp_host.automation.stop import Stop
from acp_host.automation.text import MessageText

__all__ = ["Run"]

Work = Callable[[Callable[[RunEvent], None], Stop], Awaitable[RunResult]]
"""What a run does; it is given what takes its events, and what ends it early."""


class Run:
    """A run under way; made by :func:`~acp_host.automation.run_prompt`. It begins when it is first used.

    Await it for its :class:`~acp_host.automation.result.RunResult`; iterate for its events, or over :attr:`text` for
    the agent's message as it comes; do both, in this order::

        async with acp_host.run_prompt(["some-agent", "--acp"], "Fix the failing test") as run:
            async for piece in run.text:
                print(piece, end="")
            result = await run

    There is one iterator: several loops share the events, and one that is left early ends nothing. Leaving the ``async
    with`` block, or cancelling a task while it awaits or iterates the run, cancels the turn, ends the agent, and waits
    for that. A run that is only awaited keeps no events.
    """

    def __init__(self, work: Work) -> None:
        self._work = work
        self._stop = Stop()
        self._events: EventBuffer | None = None
        self._task = OwnedTask(self._run, "acp_host run")

    # --- its end ----------------------------------------------------------------------------------------------------

    def cancel(self, reason: str = "the application asked for it") -> None:
        """Cancel the run: its turn, or whatever it does before one. Await it for its end.

        What was already received is in the result, whose outcome is ``cancelled``, or how the agent ended meanwhile.

        Args:
            reason: for people; goes into ``outcome.detail``.
        """
        self._stop.request(None, reason)

    @property
    def result(self) -> RunResult | None:
        """The result of a finished run; ``None`` while it goes on, and of one that was given up."""
        return self._task.result

    def __await__(self) -> Generator[Any, None, RunResult]:
        return self._task.finish().__await__()

    async def __aenter__(self) -> Run:
        self._begin(EventBuffer())
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._task.give_up()

    # --- what it tells ----------------------------------------------------------------------------------------------

    def __aiter__(self) -> Run:
        return self

    async def __anext__(self) -> RunEvent:
        """Return the next event.

        Raises:
            InvalidInput: after the last event, where the arguments turn out to be wrong; as awaiting it.
        """
        events = self._events if self._task.begun else self._begin(EventBuffer())
        event = None if events is None else await self._task.or_give_up(events.next())
        if event is None:
            await self._task.finish()
            raise StopAsyncIteration
        return event

    async def next_events(self) -> list[RunEvent] | None:
        """Return all events that are there, after waiting for one; ``None`` after the last.

        As iterating does it, for readers to whom each step costs something.

        Raises:
            InvalidInput: as iterating.
        """
        try:
            events = [await anext(self)]
        except StopAsyncIteration:
            return None
        if self._events is not None:
            events += iter(self._events.take, None)
        return events

    @property
    def text(self) -> AsyncIterator[str]:
        """The agent's message text of the turn, piece by piece as it comes; without thoughts."""
        return self._pieces()

    async def _pieces(self) -> AsyncIterator[str]:
        message = MessageText()
        async for event in self:
            piece = message.feed(event)
            if piece:
                yield piece

    # --- its life ---------------------------------------------------------------------------------------------------

    def _begin(self, events: EventBuffer | None) -> EventBuffer | None:
        if not self._task.begun:
            self._events = events
            self._task.begin()
        return self._events

    async def _run(self) -> RunResult:
        try:
            return await self._work(self._emit, self._stop)
        finally:
            if self._events is not None:
                self._events.close()

    def _emit(self, event: RunEvent) -> None:
        if self._events is not None:
            self._events.put(event)
