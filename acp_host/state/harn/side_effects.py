"""How far the effects of something reach, in Harn's words: :func:`farthest`."""

from __future__ import annotations

from typing import Final

__all__ = ["LEVELS", "farthest"]

LEVELS: Final = ("none", "read_only", "workspace_write", "process_exec", "network", "desktop_control")
"""The levels that Harn is known to use, each reaching farther than the one before."""


def farthest(*levels: str | None) -> str | None:
    """Return the level that reaches farthest; ``None`` if there is none.

    A level that is not known here reaches farther than all others: nobody can say what it permits.
    """
    return max((level for level in levels if level is not None), key=_reach, default=None)


def _reach(level: str) -> int:
    return LEVELS.index(level) if level in LEVELS else len(LEVELS)
