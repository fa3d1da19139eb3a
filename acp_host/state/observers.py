"""Functions that are called with news: :class:`Observers`, and :func:`check_observer`, which says what can be one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from acp_host.errors import InvalidInput

__all__ = ["Observers", "check_observer"]

T = TypeVar("T")


class Observers(Generic[T]):
    """Who is called with each piece of news, at once; one observer that raises keeps no other from being called.

    Attributes:
        connected: the observers, in the order in which they came.

    Args:
        failed: called with an observer and what it raised.
    """

    def __init__(self, failed: Callable[[Callable[[T], Any], BaseException], None]) -> None:
        self.connected: tuple[Callable[[T], Any], ...] = ()
        self._failed = failed

    def connect(self, observer: Callable[[T], Any]) -> Callable[[], None]:
        """Call ``observer`` with what comes from now on; return a function that ends this.

        Raises:
            InvalidInput: as :func:`check_observer`.
        """
        check_observer(observer)
        self.connected = (*self.connected, observer)
        return lambda: self._disconnect(observer)

    def tell(self, news: T) -> None:
        """Call every observer."""
        for observer in self.connected:
            try:
                observer(news)
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException as error:  # asyncio.CancelledError too: result() of a cancelled future raises it
                self._failed(observer, error)

    def _disconnect(self, observer: Callable[[T], Any]) -> None:
        observers = list(self.connected)
        if observer in observers:
            observers.remove(observer)
        self.connected = tuple(observers)


def check_observer(observer: object, instead: str = "start a task in it") -> None:
    """Refuse what could not be called, or what nobody would await.

    Args:
        observer: what an application passed.
        instead: what to do for want of a coroutine function.

    Raises:
        InvalidInput: it is a coroutine function, or no function.
    """
    if inspect.iscoroutinefunction(observer):
        raise InvalidInput(f"an observer is a plain function, and a coroutine function is not awaited: {instead}")
    if not callable(observer):
        raise InvalidInput(f"an observer is a function, not {type(observer).__name__}")
