"""Makes the attempts on the workers of a Dask cluster: :class:`DaskEngine`. It needs the extra ``dask``.

A worker asks before it does anything that could not be undone, and goes on when it is answered; so what the journal
does not know to be sent was not. :mod:`acp_host.fleet.dask_worker` has the other half.

=============================  =======================================================================================
what happens                   what follows
=============================  =======================================================================================
a worker is lost               Dask says so; the attempt raises :class:`~acp_host.fleet.engine.AttemptLost`
Dask runs the task once more   the second one asks for the same attempt, is told no, and does nothing
the fleet is stopped           the worker cancels the turn, and answers with what was done until then
the caller is gone             the workers hear nothing from it for a while, cancel their turns and end their agents
the scheduler is gone          :class:`~acp_host.fleet.engine.EngineLost`; the workers see to themselves as above
=============================  =======================================================================================
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, TypeVar

from acp_host.automation.result import RunOutcome
from acp_host.automation.stop import Stop
from acp_host.errors import InvalidInput, InvalidState, NotSupported
from acp_host.fleet import dask_worker
from acp_host.fleet.assignment import Assignment
from acp_host.fleet.attempt import Caller
from acp_host.fleet.engine import AttemptLost, EngineLost
from acp_host.fleet.outcomes import JobOutcomeKind
from acp_host.fleet.places import Place
from acp_host.fleet.result import JobResult
from acp_host.fleet.spending import Spent

__all__ = ["DaskEngine"]

_T = TypeVar("_T")

TO_ANSWER = 20.0
"""Seconds within which a worker takes an answer, and at the end of which one that was told to end is given up."""


class DaskEngine:
    """Makes the attempts on a Dask cluster, one in each thread of a worker.

    Args:
        cluster: the address of the scheduler, such as ``tcp://host:8786``; or a ``distributed.Client``, or a cluster
            such as ``LocalCluster``, of which nothing but the address and the security settings is used.
        limit: how many attempts are given to it at the same time; ``None`` for all, which wait in its queue.
        timeout: seconds within which the scheduler has to be reached.

    Raises:
        InvalidInput: it is none of these.
        NotSupported: Dask distributed is not installed.
    """

    def __init__(self, cluster: Any, *, limit: int | None = None, timeout: float = 30.0) -> None:
        try:
            import distributed
        except ModuleNotFoundError:
            raise NotSupported(
                "Dask distributed is not installed: pip install 'acp-host[dask]'", capability="dask"
            ) from None
        self._distributed: Any = distributed
        self._address, self._security = _way_to(cluster)
        self._timeout = timeout
        self._limit = limit
        self._client: Any = None
        self._topic = f"acp-host-{secrets.token_hex(8)}"
        self._orders: dict[str, _Order] = {}
        self._background: set[asyncio.Task[Any]] = set()
        self._lease: asyncio.Task[None] | None = None

    @property
    def limit(self) -> int | None:
        """How many attempts it is given at the same time; ``None`` for all."""
        return self._limit

    @property
    def is_here(self) -> bool:
        """Its workers may be anywhere."""
        return False

    async def __aenter__(self) -> DaskEngine:
        if self._client is not None:
            raise InvalidState("the engine is used by another fleet; make one for each")
        try:
            self._client = await self._distributed.Client(
                self._address,
                security=self._security,
                timeout=self._timeout,
                asynchronous=True,
                set_as_default=False,
                name="acp-host-fleet",
            )
        except OSError as error:
            raise EngineLost(f"the scheduler {self._address} cannot be reached: {error}") from error
        self._client.subscribe_topic(self._topic, self._hear)
        self._client.subscribe_topic("all", self._notice)
        self._lease = asyncio.create_task(self._renew(), name="acp_host fleet lease")
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        tasks = [*self._background, *([self._lease] if self._lease is not None else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        client, self._client = self._client, None
        with contextlib.suppress(Exception):  # the scheduler may be gone
            async with asyncio.timeout(TO_ANSWER):
                for topic in (self._topic, "all"):
                    client.unsubscribe_topic(topic)
                await client.close()

    async def attempt(self, assignment: Assignment, caller: Caller, stop: Stop) -> JobResult:
        """Make an attempt; see :class:`~acp_host.fleet.engine.Engine`."""
        key = f"acp-host-{assignment.job.id}-{assignment.number}-{secrets.token_hex(4)}"
        order = self._orders[key] = _Order(caller, stop, self._call)
        future = self._client.submit(dask_worker.work, assignment, self._topic, key, key=key, pure=False, retries=0)
        result = self._in_background(_result_of(future), "acp_host result of a worker")
        listening = asyncio.ensure_future(order.listen())
        try:
            with stop.acts_by(lambda: order.stop(stop.detail)):
                await self._until_over(result, order)
            return self._outcome(result, order, assignment, stop)
        except asyncio.CancelledError:
            await self._end(result, order)
            raise
        finally:
            del self._orders[key]
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
            future.release()  # it ends the result, too; to cancel that would cancel those of others, read with it

    async def _until_over(self, result: asyncio.Future[Any], order: _Order) -> None:
        waiting = {result, asyncio.ensure_future(order.over.wait())}
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waiting - {result}:
                each.cancel()

    def _outcome(self, result: asyncio.Future[Any], order: _Order, assignment: Assignment, stop: Stop) -> JobResult:
        if order.failure is not None:
            raise order.failure
        if order.over.is_set() and order.lost is None:  # stopped before a worker had it
            outcome = RunOutcome(kind=JobOutcomeKind.NOT_RUN, detail=stop.detail)
            return JobResult(job=assignment.job, outcome=outcome, attempt=assignment.number)
        if not result.done():
            raise AttemptLost(order.lost or "its worker is gone")
        error = None if result.cancelled() else result.exception()
        if error is None and not result.cancelled() and result.result() is not None:
            made: JobResult = result.result()
            return made
        if self._client.status != "running":
            raise EngineLost("the scheduler of the Dask cluster is gone") from error
        if error is None or isinstance(error, self._distributed.scheduler.KilledWorker | AttemptLost):
            raise AttemptLost("the Dask cluster has given up on the task") from error
        raise error

    async def _end(self, result: asyncio.Future[Any], order: _Order) -> None:
        """End an attempt that nobody waits for any more; not for ever."""
        order.stop("the caller wants no more of it")
        if order.worker is not None and not result.done():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(TO_ANSWER):
                    await asyncio.wait([result])

    # --- what workers say -------------------------------------------------------------------------------------------

    async def _hear(self, event: tuple[float, dict[str, Any]]) -> None:
        said = event[1]
        order = self._orders.get(said["key"])
        if order is not None:
            order.messages.put_nowait(said)
        else:  # one that Dask has begun anew, and that nobody waits for
            self._call(said["worker"], dask_worker.answer, said["token"], False)

    async def _notice(self, event: tuple[float, Any]) -> None:
        """Take what the scheduler says of the cluster."""
        said = event[1]
        if isinstance(said, dict) and said.get("action") == "remove-worker":
            for order in tuple(self._orders.values()):
                if order.worker is not None and order.worker[0] == said.get("worker"):
                    order.lose(f"its worker {order.worker[0]} is gone")

    def _call(self, worker: str, function: Callable[..., Any], *arguments: Any) -> asyncio.Task[Any]:
        """Call a function on a worker; what becomes of it shows elsewhere."""
        return self._in_background(self._called(worker, function, arguments), "acp_host call to a worker")

    def _in_background(self, doing: Coroutine[Any, Any, _T], name: str) -> asyncio.Task[_T]:
        task = asyncio.create_task(doing, name=name)
        self._background.add(task)
        task.add_done_callback(self._over)
        return task

    def _over(self, task: asyncio.Task[Any]) -> None:
        self._background.discard(task)
        if not task.cancelled():
            task.exception()  # nobody may ask for it, as for that of an attempt that was lost

    async def _called(self, worker: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        with contextlib.suppress(Exception):  # the worker is gone, or will be: then its order is lost
            async with asyncio.timeout(TO_ANSWER):
                return await self._client.run(function, *arguments, workers=[worker], on_error="return")

    async def _renew(self) -> None:
        """Tell the workers now and then that somebody still wants what they do."""
        while True:
            await asyncio.sleep(dask_worker.LEASE / 4)
            tokens: dict[str, list[str]] = {}
            for order in self._orders.values():
                if order.worker is not None:
                    tokens.setdefault(order.worker[0], []).append(order.worker[1])
                    order.stop_again()
            for worker, of_worker in tokens.items():
                self._call(worker, dask_worker.renew, of_worker)


class _Order:
    """One attempt that a worker makes, or will make.

    Attributes:
        worker: its address, and what it calls the attempt; ``None`` as long as none has asked for it.
        messages: what workers have said and was not looked at.
        over: there is nothing to wait for any more.
        lost: why the worker will say nothing more.
        failure: what went wrong on this side.
    """

    def __init__(self, caller: Caller, stop: Stop, call: Callable[..., asyncio.Task[Any]]) -> None:
        self.worker: tuple[str, str] | None = None
        self.messages: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.over = asyncio.Event()
        self.lost: str | None = None
        self.failure: BaseException | None = None
        self._caller = caller
        self._stop = stop
        self._call = call

    async def listen(self) -> None:
        """Answer what workers say, one thing after the other."""
        try:
            while True:
                await self._take(await self.messages.get())
        except Exception as error:  # e.g. the journal cannot be written
            self.failure = error
            self.over.set()
            self.stop(str(error))

    async def _take(self, said: dict[str, Any]) -> None:
        worker = (said["worker"], said["token"])
        what: Callable[[dict[str, Any]], Coroutine[Any, Any, bool]] | None = {
            "placed": self._placed,
            "may_send": self._may_send,
        }.get(said["what"])
        if self.worker is not None and worker != self.worker:
            if what is not None:
                self._call(worker[0], dask_worker.answer, worker[1], False)
            self.lose("Dask has begun with it anew, so the worker that had it is gone")
        elif what is not None:
            self._call(worker[0], dask_worker.answer, worker[1], await what(said))
        else:
            self._caller.spent(Spent.from_json(said["spent"]))

    async def _placed(self, said: dict[str, Any]) -> bool:
        if self._stop.requested:
            return False
        self.worker = (said["worker"], said["token"])
        await self._caller.placed(Place.from_json(said["place"]))
        return True

    async def _may_send(self, said: dict[str, Any]) -> bool:
        return self.lost is None and await self._caller.may_send()

    def lose(self, why: str) -> None:
        self.lost = self.lost or why
        self.over.set()

    def stop_again(self) -> None:
        """Tell the worker to stop once more, if it was told: the first time may not have got there."""
        if self._stop.requested:
            self.stop(self._stop.detail)

    def stop(self, reason: str) -> None:
        if self.worker is None:
            self.over.set()
        else:
            self._call(self.worker[0], dask_worker.stop, self.worker[1], reason)


async def _result_of(future: Any) -> Any:
    return await future


def _way_to(cluster: Any) -> tuple[str, Any]:
    if isinstance(cluster, str) and cluster:
        return cluster, None
    scheduler = getattr(cluster, "scheduler", None)
    address = getattr(cluster, "scheduler_address", None) or getattr(scheduler, "address", None)
    if not isinstance(address, str):
        raise InvalidInput(f"a DaskEngine takes the address of a scheduler, a Client or a cluster, not {cluster!r}")
    return address, getattr(cluster, "security", None)
