"""Has a session's directories looked at before each turn and after it: :class:`TurnChecks`.

What is seen there is :mod:`acp_host.host.change_check`'s to judge. No turn is sent while they are looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from acp_host.host.turn import Turn
from acp_host.services.change_verdicts import ChangeReport

if TYPE_CHECKING:
    from acp_host.host.change_check import ChangeCheck

__all__ = ["TurnChecks"]


class TurnChecks:
    """The looks before and after the turns of a session.

    Attributes:
        judging: the turn that is over, while it is found out what it has changed; else ``None``.

    Args:
        check: looks, and judges; ``None``: nobody does, and no turn waits for it.
        is_wanted: tells whether a turn still waits for the look before it.
        go_on: called when that is done.
    """

    def __init__(self, check: ChangeCheck | None, is_wanted: Callable[[], bool], go_on: Callable[[], None]) -> None:
        self.judging: Turn | None = None
        self._check = check
        self._is_wanted = is_wanted
        self._go_on = go_on
        self._is_looking = False
        self._has_looked = False

    def is_ready(self) -> bool:
        """Tell whether the next turn may be sent, and have the directories looked at if they were not."""
        if self._check is None or self._has_looked:
            return True
        if not self._is_looking:
            self._is_looking = True
            self._check.begin(self._looked)
        return False

    def turn_begins(self) -> None:
        """Learn that a turn begins: before the next one, the directories are looked at again."""
        self._has_looked = False

    def turn_over(self, turn: Turn, settle: Callable[[], None]) -> None:
        """Call ``settle`` once it is known what has changed in a turn that is over; no other one is sent before."""
        if self._check is None:
            settle()
            return

        def judged(changes: ChangeReport) -> None:
            turn.judged(changes)
            self._is_looking, self.judging = False, None
            settle()

        self._is_looking, self.judging = True, turn
        self._check.end(judged)

    def _looked(self) -> None:
        self._is_looking, self._has_looked = False, self._is_wanted()
        self._go_on()
