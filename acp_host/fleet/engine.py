"""Where the attempts of a fleet are made: what an :class:`Engine` is, and :class:`LocalEngine`."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol

from attrs import field, frozen

from acp_host.automation.stop import Stop
from acp_host.errors import AcpError
from acp_host.fleet.assignment import Assignment
from acp_host.fleet.attempt import Caller, make_attempt
from acp_host.fleet.result import JobResult
from acp_host.validators import number

__all__ = ["AttemptLost", "Engine", "EngineLost", "LocalEngine"]


class AttemptLost(AcpError):
    """Whoever made an attempt is gone, and will not say what came of it."""


class EngineLost(AcpError):
    """The engine itself is gone, so that there is nothing to make attempts on."""


class Engine(Protocol):
    """Makes attempts; an asynchronous context manager, entered by one fleet at a time.

    Attributes:
        limit: how many attempts it is given at the same time; ``None`` for all of them: it has a queue of its own.
        is_here: whether it is on this machine: then directories that are not there are errors at once.
    """

    @property
    def limit(self) -> int | None: ...

    @property
    def is_here(self) -> bool: ...

    async def __aenter__(self) -> Engine: ...

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

    async def attempt(self, assignment: Assignment, caller: Caller, stop: Stop) -> JobResult:
        """Make an attempt, and return what came of it. Cancelled, it ends the agent before it returns.

        Args:
            assignment: what to do.
            caller: is told how far it is, and asked before the prompt is sent.
            stop: ends it early; its result says what was done until then.

        Raises:
            AttemptLost: whoever made it is gone.
            EngineLost: so is the engine.
        """
        ...


@frozen
class LocalEngine:
    """Makes the attempts in this process, some at a time.

    Attributes:
        limit: how many; an agent needs some 100 MB of memory, and a model may allow few requests at a time.
    """

    limit: int = field(default=4, validator=number("attempts", least=1, whole=True))

    @property
    def is_here(self) -> bool:
        """They are made on this machine."""
        return True

    async def __aenter__(self) -> LocalEngine:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        pass

    async def attempt(self, assignment: Assignment, caller: Caller, stop: Stop) -> JobResult:
        """Make an attempt; see :class:`Engine`."""
        return await make_attempt(assignment, caller, stop)
