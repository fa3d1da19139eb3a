"""Makes a lost connection again: :class:`Reconnecting`, between the state machine and what it takes on asyncio.

Owns the waits and the order of the steps; when and how often is :mod:`acp_host.host.reconnect_machine`'s. What the
steps do is the connection's: a new transport, ``initialize``, and each session by the ladder of
:mod:`acp_host.host.reopening`.
"""

from __future__ import annotations

import asyncio
import contextvars
import random
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any

from attrs import frozen

from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.errors import AcpError, ConnectionLost, OutcomeUnknown
from acp_host.host.health import ConnectionHealth, SessionReturn
from acp_host.host.reconnect_machine import ConnectionStatus, ReconnectMachine
from acp_host.host.reconnect_policy import ReconnectPolicy
from acp_host.redaction import Redactor
from acp_host.state.clock import Clock

__all__ = ["ReconnectLink", "Reconnecting"]

_PART_OF_A_TRY = frozenset({"authenticate"})
"""Methods that a session may need to be opened again, whoever calls them; they wait for no more than an agreement."""

_REOPENING: contextvars.ContextVar[object] = contextvars.ContextVar("acp_host_reopening", default=None)
"""The try whose sessions the task opens again: its own calls do not wait for its end.

What such a task has started may outlive the try, and is like any other then.
"""


@frozen(kw_only=True)
class ReconnectLink:
    """What making a connection again needs of it.

    Attributes:
        leave: ends the connection from this side, so that another can follow.
        replace: closes what is left of the earlier transport and takes its successor, with further variables for the
            environment of a process.
        shake_hands: starts that and agrees with the agent; calls back once the other end is reached.
        reopen: opens the sessions again.
        given_up: called with the reason when nothing will be tried any more.
        start: runs a coroutine as a task of the connection.
        report: takes diagnostics.
        redactor: takes secrets out of what is shown.
    """

    leave: Callable[[], Awaitable[None]]
    replace: Callable[[Mapping[str, str]], Awaitable[None]]
    shake_hands: Callable[[Callable[[], None]], Awaitable[None]]
    reopen: Callable[[], Awaitable[tuple[SessionReturn, ...]]]
    given_up: Callable[[AcpError], None]
    start: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]
    report: Callable[[Diagnostic], None]
    redactor: Redactor


class Reconnecting:
    """Makes one connection again and again.

    Args:
        link: the connection.
        policy: how; ``None``: only where :meth:`restart` is called, and then once.
        health: is told of every step.
        clock: says when something happened, to people.
    """

    def __init__(
        self, link: ReconnectLink, policy: ReconnectPolicy | None, health: ConnectionHealth, clock: Clock
    ) -> None:
        self.policy = policy
        self._link = link
        self._health = health
        self._clock = clock
        self._machine = ReconnectMachine(policy or ReconnectPolicy(tries=1), random.random)
        self._env: dict[str, str] = {}
        self._task: asyncio.Task[None] | None = None
        self._lost_again: AcpError | None = None
        self._reopening: object = None
        self._hurry = asyncio.Event()
        self._ready = asyncio.Event()
        self._ready.set()
        self._agreed = asyncio.Event()
        self._agreed.set()
        # How long calls wait; without an end where this side has left the connection, since that is no fault.
        self._waits: float | None = None

    @property
    def is_active(self) -> bool:
        """Whether the connection is being made again."""
        return self._machine.status is not ConnectionStatus.CONNECTED and not self._machine.is_over

    async def ready(self, method: str) -> None:
        """Wait while the connection is being made again.

        Args:
            method: wire method of the call that is to be made.

        Raises:
            ConnectionLost: it took longer than the policy lets calls wait.
        """
        is_part = self._reopening is not None and _REOPENING.get() is self._reopening
        ready = self._agreed if method in _PART_OF_A_TRY else self._ready
        if ready.is_set() or is_part:
            return
        try:
            async with asyncio.timeout(self._waits):
                while not ready.is_set():  # it may be lost again before this task goes on
                    await ready.wait()
        except TimeoutError:
            text = f"{method} was not sent: the connection is lost, and not back after {self._waits:g} s"
            raise ConnectionLost(text) from self._machine.error

    def lost(self, error: AcpError) -> None:
        """Take the end of the transport: the first try is put in its place, or it is given up."""
        if self.is_active:
            self._agreed.clear()
            self._lost_again = error  # whoever makes it again is told by this
            return
        assert self.policy is not None
        self._waits = self.policy.calls_wait
        self._begin_to_wait()
        self._report(f"the connection was lost: {error}")
        self._machine.lost(error, self._now())
        self._begin()

    async def restart(self, env: Mapping[str, str]) -> None:
        """Make another connection now, and wait for it; it goes on where the caller is cancelled.

        Raises:
            AcpError: it was given up.
        """
        self._waits = None
        self._env.update(env)
        self._begin_to_wait()
        self._machine.lost(ConnectionLost("this host makes another one"), self._now(), at_once=True)
        self._publish()
        self._task = self._link.start(self._leave_and_run())
        await asyncio.wait([self._task])
        if self._machine.is_over and isinstance(self._machine.error, AcpError):
            raise self._machine.error

    def hurry(self) -> None:
        """Do not wait any longer for the next try."""
        self._machine.hurry(self._now())
        self._hurry.set()

    def close(self) -> None:
        """Take it that this host closes the connection; the task is its owner's to cancel."""
        self._machine.close(self._now())
        self._publish()

    def ended(self, error: AcpError | None) -> None:
        """Take it that the connection is over; ``None``: closed as it should be."""
        if error is None:
            self._machine.close(self._now())
        else:
            self._machine.give_up(error, self._now())
        self._let_go_on()
        self._publish()

    # --- the tries --------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        self._publish()
        if self._machine.is_over:
            self._give_up()
        else:
            self._task = self._link.start(self._run())

    async def _leave_and_run(self) -> None:
        await self._link.leave()
        await self._run()

    async def _run(self) -> None:
        while self.is_active:
            await self._until_due()
            if self._machine.status is ConnectionStatus.WAITING:
                await self._try()
        if self._machine.status is ConnectionStatus.LOST:
            self._give_up()

    async def _until_due(self) -> None:
        while (due := self._machine.next_try) is not None and due > self._now():
            self._hurry.clear()
            try:
                async with asyncio.timeout(due - self._now()):
                    await self._hurry.wait()
            except TimeoutError:
                return

    async def _try(self) -> None:
        machine = self._machine
        machine.begins(self._now())
        self._publish()
        try:
            await self._link.replace(self._env)
            self._lost_again = None
            await self._link.shake_hands(self._reached)
            machine.agreed(self._now())
            self._agreed.set()
            self._publish()
            returned = await self._reopen()
        except Exception as error:
            self._failed(error)
        else:
            attempts = machine.attempt
            machine.restored(self._now())
            self._health.learn(returned=returned)
            self._publish()
            if self._waits is not None:
                self._report(f"the connection was made again, at try {attempts}")
            self._let_go_on()

    async def _reopen(self) -> tuple[SessionReturn, ...]:
        self._reopening = object()
        token = _REOPENING.set(self._reopening)
        failure: AcpError | None = None
        returned: tuple[SessionReturn, ...] = ()
        try:
            returned = await self._link.reopen()
        except AcpError as error:
            failure = error
        finally:
            _REOPENING.reset(token)
            self._reopening = None
        # What a call ends with that was not sent any more does not say why.
        failure = self._lost_again or failure
        if failure is not None:
            raise failure
        return returned

    def _reached(self) -> None:
        self._machine.started(self._now())
        self._publish()

    def _failed(self, error: Exception) -> None:
        self._agreed.clear()
        self._machine.failed(error, self._now())
        self._publish()
        self._report(f"the connection could not be made again: {error}")

    def _give_up(self) -> None:
        error = self._machine.error
        self._let_go_on()
        self._link.given_up(error if isinstance(error, AcpError) else ConnectionLost(f"it was given up: {error}"))

    def _begin_to_wait(self) -> None:
        self._ready.clear()
        self._agreed.clear()

    def _let_go_on(self) -> None:
        self._agreed.set()
        self._ready.set()

    def _publish(self) -> None:
        machine, ahead = self._machine, self._clock.now() - self._now()
        error = machine.error.cause if isinstance(machine.error, OutcomeUnknown) else machine.error
        known = self._health.snapshot()
        self._health.learn(
            status=machine.status,
            since=known.since if known.status == machine.status else self._clock.now(),
            attempt=machine.attempt,
            next_try=None if machine.next_try is None else machine.next_try + ahead,
            error="" if error is None else self._link.redactor.text(str(error)),
        )

    def _report(self, text: str) -> None:
        self._link.report(Diagnostic(DiagnosticKind.TRANSPORT, self._link.redactor.text(text)))

    def _now(self) -> float:
        return asyncio.get_running_loop().time()
