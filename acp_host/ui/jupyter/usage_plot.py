"""How the context of a session has filled up, as a picture: :class:`UsageHistory`."""

from __future__ import annotations

import time
from collections.abc import Callable
from html import escape
from typing import Any

from attrs import frozen

from acp_host import blocking
from acp_host.amounts import amount_text
from acp_host.printable import printable
from acp_host.state.snapshot import ContextUsage

__all__ = ["UsageHistory", "UsagePoint"]

_MOST_POINTS = 1_000
_WIDTH, _HEIGHT = 560, 180
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 12, 28, 24
_FAINT, _LINE = "#7a7a7a", "#3b82f6"
"""Colours that can be read on light and dark grounds."""


@frozen
class UsagePoint:
    """What was used at one moment.

    Attributes:
        at: seconds since the history began.
        used: tokens in the context.
        size: tokens that fit; 0: the agent does not know.
    """

    at: float
    used: int
    size: int


class UsageHistory:
    """Takes down how full the context of a session is, from now on; a picture of it where a notebook displays it.

    Args:
        session: the session.
        now: returns seconds that only ever grow.
    """

    def __init__(self, session: blocking.Session, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._began = now()
        self._points: list[UsagePoint] = []
        self._usage = session.state.snapshot().usage
        self._take(self._usage)
        self._subscription = session.state.select(lambda state: state.usage, self._take)

    @property
    def points(self) -> tuple[UsagePoint, ...]:
        """What was taken down, oldest first; of a long history every second one, and so on."""
        return tuple(self._points)

    def close(self) -> None:
        """Take nothing down any more."""
        self._subscription.end()

    def _take(self, usage: ContextUsage) -> None:
        self._usage = usage
        if usage.used is None or (self._points and self._points[-1].used == usage.used):
            return
        if len(self._points) >= _MOST_POINTS:
            del self._points[1::2]
        self._points.append(UsagePoint(self._now() - self._began, usage.used, usage.size or 0))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": repr(self), "image/svg+xml": self._svg()}

    def __repr__(self) -> str:
        return f"<UsageHistory: {self._words()}>"

    def _words(self) -> str:
        if not self._points:
            return "the agent has not told how full its context is"
        last = self._points[-1]
        words = f"{last.used:,} of {last.size:,} tokens" if last.size else f"{last.used:,} tokens"
        cost = self._usage.cost
        return words if cost is None else f"{words}, {amount_text(cost.amount)} {printable(cost.currency)[:20]}"

    def _svg(self) -> str:
        most = max((max(point.used, point.size) for point in self._points), default=0) or 1
        longest = self._points[-1].at if self._points else 0.0
        across, down = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
        places = [
            (_LEFT + across * (point.at / longest if longest else 1), _TOP + down * (1 - point.used / most))
            for point in self._points
        ]
        # What is used stays so until it changes.
        steps = "".join(f" H{x:.1f} V{y:.1f}" for x, y in places[1:])
        line = f"M{places[0][0]:.1f},{places[0][1]:.1f}{steps}" if places else ""
        dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{_LINE}"/>' for x, y in places)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}"'
            f' viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" font-family="sans-serif" font-size="12" fill="{_FAINT}">'
            f"<title>Usage of the context</title>"
            f'<text x="{_LEFT}" y="16">{escape(self._words())}</text>'
            f'<path d="M{_LEFT},{_TOP} V{_TOP + down} H{_LEFT + across}" fill="none" stroke="{_FAINT}"/>'
            f'<text x="{_LEFT - 6}" y="{_TOP + 8}" text-anchor="end">{most:,}</text>'
            f'<text x="{_LEFT - 6}" y="{_TOP + down}" text-anchor="end">0</text>'
            f'<text x="{_LEFT + across}" y="{_HEIGHT - 8}" text-anchor="end">{longest:.0f} s</text>'
            f'<path d="{line}" fill="none" stroke="{_LINE}" stroke-width="2"/>{dots}</svg>'
        )
