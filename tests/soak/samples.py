"""What the soak measures of this process, and whether it stays flat: :class:`Sample`, :func:`verdicts`."""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import Callable, Sequence
from statistics import median, quantiles

import psutil
from attrs import frozen


@frozen
class Sample:
    """One look at the process.

    Attributes:
        minute: minutes since everything was warm.
        memory: resident memory, in MiB.
        agents: resident memory of the agents' processes together, in MiB.
        descriptors: open files and sockets.
        tasks: of asyncio.
        objects: that the garbage collector knows.
        wait: seconds that a turn of one word took since the sample before, the median; 0 where there was none.
        slowest: the same, 99 of 100 were quicker.
        load: of the machine: how many programs wanted to run in the last minute.
        turns: that have ended so far.
    """

    minute: float
    memory: float
    agents: float
    descriptors: int
    tasks: int
    objects: int
    wait: float
    slowest: float
    load: float
    turns: int


def sample(minute: float, waits: Sequence[float], turns: int) -> Sample:
    """Look at this process."""
    process = psutil.Process()
    return Sample(
        minute=minute,
        memory=process.memory_info().rss / 2**20,
        agents=sum(map(_memory_of, process.children())),
        descriptors=process.num_fds(),
        tasks=len(asyncio.all_tasks()),
        objects=len(gc.get_objects()),
        wait=median(waits) if waits else 0.0,
        slowest=quantiles(waits, n=100, method="inclusive")[98] if len(waits) > 1 else 0.0,
        load=os.getloadavg()[0],
        turns=turns,
    )


def _memory_of(process: psutil.Process) -> float:
    try:
        return process.memory_info().rss / 2**20
    except psutil.Error:  # it has just ended
        return 0.0


@frozen
class Verdict:
    """One figure, early and late.

    Attributes:
        what: the figure.
        early: its median in the first quarter.
        late: its median in the last quarter.
        limit: how many times the early figure the late one may be.
    """

    what: str
    early: float
    late: float
    limit: float

    @property
    def flat(self) -> bool:
        """Whether the figure has not grown."""
        return self.late <= self.early * self.limit


_FLAT: tuple[tuple[str, Callable[[Sample], float], float], ...] = (
    ("memory, MiB", lambda each: each.memory, 1.05),
    ("memory of the agents, MiB", lambda each: each.agents, 1.1),
    ("descriptors", lambda each: each.descriptors, 1.05),
    ("tasks", lambda each: each.tasks, 1.05),
    ("objects", lambda each: each.objects, 1.05),
    ("a short turn, median, ms", lambda each: each.wait * 1_000, 1.5),
    ("a short turn, 99 of 100, ms", lambda each: each.slowest * 1_000, 2.0),
)


def verdicts(samples: Sequence[Sample]) -> list[Verdict]:
    """Return what became of each figure; there are at least four samples."""
    quarter = len(samples) // 4
    early, late = samples[:quarter], samples[-quarter:]
    return [
        Verdict(what, median(map(figure, early)), median(map(figure, late)), limit) for what, figure, limit in _FLAT
    ]
