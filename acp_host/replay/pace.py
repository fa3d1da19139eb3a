"""When the lines of a recording happen, and how fast that is played: :class:`LineTimes`, :class:`RecordedClock`,
:class:`Pace`.
"""

from __future__ import annotations

import asyncio
import math
from datetime import datetime

from acp_host.errors import InvalidInput
from acp_host.recording.format import MetaEvent, RecordedLine

__all__ = ["LineTimes", "Pace", "RecordedClock"]

LONGEST_PAUSE = 120.0
"""Seconds of a pause that are played; nothing in a host waits longer than this by itself."""
_A_MOMENT = 1e-6
"""Seconds that pass after each line; on a virtual loop, all that is ready runs within them."""
_TURNS = 20
"""Turns of a real loop in which a host is done with a line."""


class LineTimes:
    """Puts the times of lines in one order, whatever a file says.

    A run of the host begins at 0 anew, a clock may have been set back, and a hostile file may say anything.

    Attributes:
        end: when the last line happens, in seconds since the first one.
        left_out: seconds of longer pauses that are not played.
    """

    def __init__(self) -> None:
        self.end = 0.0
        self.left_out = 0.0
        self._recorded = 0.0

    def of(self, line: RecordedLine) -> float:
        """Return when the next line happens, in seconds since the first one."""
        recorded = line.time if math.isfinite(line.time) else self._recorded
        if line.event == MetaEvent.START:
            self._recorded = recorded
        pause = max(0.0, recorded - self._recorded)
        self.end += min(pause, LONGEST_PAUSE)
        self.left_out += max(0.0, pause - LONGEST_PAUSE)
        self._recorded = recorded
        return self.end


class RecordedClock:
    """The time of day in a recording, as far as it says.

    Args:
        loop: says how much time has passed.
        times: says what of it was not played.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, times: LineTimes) -> None:
        self._loop = loop
        self._times = times
        self._begun = -loop.time()

    def now(self) -> float:
        """Return seconds since the epoch; since the first line, where the recording does not say when it was made."""
        return self._begun + self._passed()

    def set_by(self, line: RecordedLine) -> None:
        """Take the time of day from a line, if it says one."""
        at = line.details.get("at")
        if line.event == MetaEvent.START and isinstance(at, str):
            try:
                self._begun = datetime.fromisoformat(at).timestamp() - self._passed()
            except (ValueError, OverflowError, OSError):
                return

    def _passed(self) -> float:
        return self._loop.time() + self._times.left_out


class Pace:
    """Waits between the lines.

    Args:
        speed: how many times faster than it was; ``None``: on a loop with virtual time, where waiting takes none.

    Raises:
        InvalidInput: the speed is no positive number.
    """

    def __init__(self, speed: float | None = None) -> None:
        if speed is not None and not (isinstance(speed, int | float) and 0 < speed < math.inf):
            raise InvalidInput(f"a speed is a number above 0, not {speed!r}")
        self._speed = speed
        self._begun: float | None = None

    async def reach(self, seconds: float) -> None:
        """Wait until so many seconds of the recording have passed."""
        loop = asyncio.get_running_loop()
        if self._begun is None:
            self._begun = loop.time()
        due = self._begun + seconds / (self._speed or 1.0)
        if due > loop.time():
            await asyncio.sleep(due - loop.time())

    async def settle(self) -> None:
        """Let the host do what a line makes it do."""
        if self._speed is None:
            await asyncio.sleep(_A_MOMENT)
            return
        for _ in range(_TURNS):
            await asyncio.sleep(0)
