"""How the blocking objects are made of the asynchronous ones: :class:`Facade` and what its attributes are made with.

Each attribute is declared in one line and has the signature, the types and the docstring of what it stands for::

    close_session = waits(AsyncHostConnection.close_session)
"""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from acp_host.blocking._thread import LoopThread

__all__ = ["Facade", "asks", "iterates", "reads", "waits"]

A = TypeVar("A")
P = ParamSpec("P")
R = TypeVar("R")


class Facade(Generic[A]):
    """Stands for an object that lives on a loop in another thread. Safe to use from any thread but that one.

    Attributes:
        asynchronous: the object itself; for coroutines given to ``run()``.
    """

    def __init__(self, asynchronous: A, thread: LoopThread) -> None:
        self.asynchronous = asynchronous
        self._thread = thread

    def __repr__(self) -> str:
        return f"<blocking {self.asynchronous!r}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Facade) and self.asynchronous is other.asynchronous

    def __hash__(self) -> int:
        return hash(id(self.asynchronous))


def waits(method: Callable[Concatenate[A, P], Awaitable[R]]) -> Callable[Concatenate[Any, P], R]:
    """Make a method that waits for what a coroutine method returns."""

    def forward(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        result: R = self._thread.run(lambda: method(self.asynchronous, *args, **kwargs))
        return result

    functools.update_wrapper(forward, method)
    return forward


def asks(method: Callable[Concatenate[A, P], R]) -> Callable[Concatenate[Any, P], R]:
    """Make a method that calls a plain method on the thread that owns the object."""

    def forward(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        result: R = self._thread.ask(lambda: method(self.asynchronous, *args, **kwargs))
        return result

    functools.update_wrapper(forward, method)
    return forward


def iterates(method: Callable[Concatenate[A, P], AsyncIterator[R]]) -> Callable[Concatenate[Any, P], Iterator[R]]:
    """Make a generator of an asynchronous one; leaving it ends that, too."""

    def forward(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[R]:
        iterator: Any = method(self.asynchronous, *args, **kwargs)
        end = object()
        try:
            while (item := self._thread.run(lambda: anext(iterator, end))) is not end:
                yield item
        finally:
            self._thread.run(iterator.aclose)

    functools.update_wrapper(forward, method)
    return forward


class reads(Generic[A, R]):
    """An attribute that is read on the thread that owns the object."""

    def __init__(self, get: Callable[[A], R]) -> None:
        self._get = get

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self.__doc__ = f"As of the asynchronous object: ``{name}``."

    @overload
    def __get__(self, facade: None, owner: type[Any]) -> reads[A, R]: ...
    @overload
    def __get__(self, facade: Facade[Any], owner: type[Any]) -> R: ...
    def __get__(self, facade: Facade[Any] | None, owner: type[Any]) -> R | reads[A, R]:
        if facade is None:
            return self
        return facade._thread.ask(lambda: self._get(facade.asynchronous))
