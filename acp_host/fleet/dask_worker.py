"""What a fleet does on the workers of a Dask cluster: :func:`work`, a task, and what the caller calls meanwhile.

A worker tells the caller by events of Dask, and is answered by a call of :func:`answer`. As long as it is not answered
it does not go on; a caller that is not heard of for :data:`LEASE` seconds is gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from acp_host.automation.stop import Stop
from acp_host.fleet.assignment import Assignment
from acp_host.fleet.attempt import make_attempt
from acp_host.fleet.places import Place
from acp_host.fleet.result import JobResult
from acp_host.fleet.spending import Spent

__all__ = ["answer", "renew", "stop", "work"]

LEASE = 60.0
"""Seconds without a word of the caller after which it is taken for gone."""
TO_BEGIN = 15.0
"""Seconds that a caller may take to want an attempt made: one that Dask has begun anew, nobody may wait for."""
_orders: dict[str, _Order] = {}
"""The attempts that this process makes."""


def work(assignment: Assignment, topic: str, key: str) -> JobResult | None:
    """Make an attempt and return what came of it; ``None``: the caller does not want it, or is gone.

    Args:
        assignment: what to do.
        topic: of the events by which the caller is told.
        key: what the caller calls it.
    """
    from distributed import get_worker

    worker = get_worker()

    def tell(**said: Any) -> None:
        worker.log_event(topic, {"key": key, "worker": worker.address, **said})

    return asyncio.run(_work(assignment, tell))


async def _work(assignment: Assignment, tell: Callable[..., None]) -> JobResult | None:
    order = _Order(tell)
    _orders[order.token] = order
    try:
        async with order.leased():
            return await make_attempt(assignment, order, order.stop)
    except _Unwanted:
        return None
    finally:
        del _orders[order.token]


def answer(token: str, yes: bool) -> None:
    """Answer the question that an attempt has asked."""
    _tell(token, lambda order: order.take_answer(yes))


def stop(token: str, reason: str) -> None:
    """End an attempt early."""
    _tell(token, lambda order: order.stop.request(None, reason))


def renew(tokens: Sequence[str]) -> None:
    """Learn that the caller still wants some attempts."""
    for token in tokens:
        _tell(token, lambda order: order.take_word())


def _tell(token: str, act: Callable[[_Order], Any]) -> None:
    order = _orders.get(token)
    if order is not None:
        with contextlib.suppress(RuntimeError):  # its loop has ended in this moment
            order.loop.call_soon_threadsafe(act, order)


class _Unwanted(Exception):
    """The caller does not want the attempt made."""


class _Order:
    """The caller of one attempt, from here.

    Attributes:
        token: what the attempt is called here.
        loop: where it is made.
        stop: ends it early.
    """

    def __init__(self, tell: Callable[..., None]) -> None:
        self.token = secrets.token_hex(8)
        self.loop = asyncio.get_running_loop()
        self.stop = Stop()
        self._tell = tell
        self._answer: asyncio.Future[bool] | None = None
        self._heard = self.loop.time()
        self._spent = Spent()

    async def placed(self, place: Place) -> None:
        if not await self._ask(TO_BEGIN, what="placed", place=place.to_json()):
            raise _Unwanted

    async def may_send(self) -> bool:
        return await self._ask(LEASE, what="may_send")

    def spent(self, spent: Spent) -> None:
        if spent != self._spent:
            self._spent = spent
            self._tell(token=self.token, what="spent", spent=spent.to_json())

    def take_answer(self, yes: bool) -> None:
        """Take the caller's answer."""
        self.take_word()
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(yes)

    def take_word(self) -> None:
        """Learn that the caller is there."""
        self._heard = self.loop.time()

    @asynccontextmanager
    async def leased(self) -> AsyncIterator[None]:
        """End the attempt when the caller is gone, while the block runs."""
        watch = asyncio.create_task(self._watch(), name="acp_host fleet lease")
        try:
            yield
        finally:
            watch.cancel()
            await asyncio.wait([watch])

    async def _ask(self, seconds: float, **question: Any) -> bool:
        self._answer = self.loop.create_future()
        self._tell(token=self.token, **question)
        try:
            async with asyncio.timeout(seconds):
                return await self._answer
        except TimeoutError:
            return False

    async def _watch(self) -> None:
        while True:
            left = self._heard + LEASE - self.loop.time()
            if left <= 0:
                self.stop.request(None, "the caller is gone")
                return
            await asyncio.sleep(left)
