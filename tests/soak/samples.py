"""What the soak measures of this process, and whether it stays flat: :class:`Sample`, :func:`verdicts`."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Sequence
from statistics import median, quantiles

import psutil
from attrs import frozen


@frozen
class Sample:
    """One look at the process.

    Attributes:
        minute: minutes since the beginning.
        memory: resident memory, in MiB.
        descriptors: open files and sockets.
        tasks: of asyncio.
        objects: that the garbage collector knows.
        wait: seconds that a turn of one word took since the sample before, the median; 0 where there was none.
        slowest: the same, 99 of 100 were quicker.
        turns: that have ended so far.
    """

    minute: float
    memory: float
    descriptors: int
    tasks: int
    objects: int
    wait: float
    slowest: float
    turns: int


def sample(minute: float, waits: Sequence[float], turns: int) -> Sample:
    """Look at this process."""
    process = psutil.Process()
    return Sample(
        minute=minute,
        memory=process.memory_info().rss / 2**20,
        descriptors=process.num_fds(),
        tasks=len(asyncio.all_tasks()),
        objects=len(gc.get_objects()),
        wait=median(waits) if waits else 0.0,
        slowest=quantiles(waits, n=100)[98] if len(waits) > 1 else 0.0,
        turns=turns,
    )


@frozen
class Verdict:
    """One figure, early and late.

    Attributes:
        what: the figure.
        early: its median in the second quarter; the first one warms up.
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
    ("descriptors", lambda each: each.descriptors, 1.05),
    ("tasks", lambda each: each.tasks, 1.05),
    ("objects", lambda each: each.objects, 1.05),
    ("a short turn, median, ms", lambda each: each.wait * 1_000, 1.5),
    ("a short turn, 99 of 100, ms", lambda each: each.slowest * 1_000, 2.0),
)


def verdicts(samples: Sequence[Sample]) -> list[Verdict]:
    """Return what became of each figure; there are at least eight samples."""
    quarter = len(samples) // 4
    early, late = samples[quarter : 2 * quarter], samples[-quarter:]
    return [
        Verdict(what, median(map(figure, early)), median(map(figure, late)), limit) for what, figure, limit in _FLAT
    ]
