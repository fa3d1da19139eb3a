"""Fleets without ``await``: the same names, on a loop in a thread of its own."""

from __future__ import annotations

import atexit
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any

from acp_host.blocking._forward import Facade
from acp_host.blocking._thread import LoopThread
from acp_host.fleet import fleet as async_fleet
from acp_host.fleet.job import Job
from acp_host.fleet.result import FleetReport, FleetSummary, JobResult
from acp_host.fleet.running import run as async_run
from acp_host.host.agent_target import AgentTarget

__all__ = ["Fleet", "run"]

_Async = async_fleet.Fleet


class Fleet(Facade[_Async]):
    """As :class:`acp_host.fleet.Fleet`: iterate over it for the result of each job, or :meth:`wait` for all. ::

        with acp_host.fleet.blocking.run(jobs, agent=["some-agent", "--acp"]) as fleet:
            for result in fleet:
                print(result.job.id, result.outcome.kind)

    Ctrl-C while it is waited for or iterated over cancels it: the turns that run are cancelled, the agents ended, and
    the journal has what came of them. A second one does not wait for that. It begins when it is first used.
    """

    def __init__(self, asynchronous: _Async, thread: LoopThread) -> None:
        super().__init__(asynchronous, thread)
        self._closed = False
        atexit.register(self.close)

    @property
    def results(self) -> tuple[JobResult, ...]:
        """The results that are there, in the order in which they came."""
        return self.asynchronous.results

    @property
    def summary(self) -> FleetSummary:
        """What came of the jobs so far; at the end, of all."""
        return self.asynchronous.summary

    @property
    def report(self) -> FleetReport:
        """All results, in the order of the jobs; raises ``InvalidState`` if the fleet is not over."""
        return self.asynchronous.report

    def wait(self) -> FleetReport:
        """Wait for the end, as awaiting the fleet does.

        Raises:
            JournalFailed: the journal cannot be written any more, so that the fleet was stopped.
            ConnectionClosed: it was closed before its end.
        """
        if not self._closed:
            try:
                self._thread.run(lambda: self.asynchronous)
            finally:
                self.close()
        return self.report

    def cancel(self, reason: str = "the application asked for it") -> None:
        """Start no more jobs and cancel the turns that run; wait for the end. Safe to call from any thread."""
        self._thread.call_soon(lambda: self.asynchronous.cancel(reason))

    def __iter__(self) -> Iterator[JobResult]:
        """Yield the results as they come."""
        if not self._closed:
            self._thread.run(self.asynchronous.__aenter__)
        while not self._closed and (result := self._thread.run(lambda: anext(self.asynchronous, None))) is not None:
            yield result

    def close(self) -> None:
        """End it, whatever it does, and wait for that. May be called repeatedly."""
        if not self._closed:
            self._closed = True
            atexit.unregister(self.close)
            try:
                self._thread.run(lambda: self.asynchronous.__aexit__(None, None, None))
            finally:
                self._thread.stop()

    def __enter__(self) -> Fleet:
        self._thread.run(self.asynchronous.__aenter__)
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def run(jobs: Iterable[Job], *, agent: Sequence[str] | str | AgentTarget, **options: Any) -> Fleet:
    """Run many jobs, as :func:`acp_host.fleet.run`. ::

        report = acp_host.fleet.blocking.run(jobs, agent=["some-agent", "--acp"]).wait()

    Args:
        jobs: as for ``acp_host.fleet.run``.
        agent: likewise.
        **options: likewise.

    Raises:
        InvalidInput: an argument is wrong.
        NotSupported: Dask is needed and not installed.
    """
    return Fleet(async_run(jobs, agent=agent, **options), LoopThread("acp_host fleet"))
