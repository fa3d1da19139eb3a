"""Ends a run early: :class:`Stop`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["Stop"]


class Stop:
    """Whether a run is to end before its end, and why; the first who asks decides.

    What ending means depends on how far the run is, see :meth:`acts_by`.

    Attributes:
        requested: somebody has asked.
        reason: one of :class:`~acp_host.automation.result.RunReason`; ``None``: the caller wants no more of it.
        detail: why, for people.
    """

    def __init__(self) -> None:
        self.requested = False
        self.reason: str | None = None
        self.detail = ""
        self._act: Callable[[], None] | None = None

    def request(self, reason: str | None, detail: str) -> bool:
        """End the run; tell whether this was the first to ask."""
        if self.requested:
            return False
        self.requested, self.reason, self.detail = True, reason, detail
        if self._act is not None:
            self._act()
        return True

    @contextmanager
    def acts_by(self, act: Callable[[], None]) -> Iterator[None]:
        """Have ``act`` called at the request while the block runs; at once, if it was made before."""
        before, self._act = self._act, act
        try:
            if self.requested:
                act()
            yield
        finally:
            self._act = before
