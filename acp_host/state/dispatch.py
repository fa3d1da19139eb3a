"""How functions get to another thread or loop: :data:`Dispatch`, and what happens where that is gone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from attrs import frozen

from acp_host.errors import InvalidState

__all__ = ["Dispatch", "DispatchEnded", "Errand"]

Dispatch: TypeAlias = Callable[[Callable[[], None]], Any]
"""Runs functions without arguments on another thread or loop, one at a time, e.g. ``loop.call_soon_threadsafe``.

Where it can end while what it is given for goes on, it raises :class:`DispatchEnded` from then on, and tells every
:class:`Errand` that waits that it was dropped.
"""


class DispatchEnded(InvalidState):
    """Raised by a ``dispatch`` whose thread, loop or window is gone: subscriptions that are delivered there end."""


@frozen
class Errand:
    """A function for a ``dispatch``.

    Attributes:
        run: the function.
        dropped: called in its place, on any thread, where it will never be run.
    """

    run: Callable[[], None]
    dropped: Callable[[], None]

    def __call__(self) -> None:
        self.run()
