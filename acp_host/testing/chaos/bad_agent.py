"""An agent of the catalogue: :class:`BadAgent`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import StrEnum
from typing import Any

from attrs import field, frozen

from acp_host.errors import InvalidState
from acp_host.testing.chaos.encounter import Encounter, Play, Step, first_turn
from acp_host.testing.chaos.journal import Journal
from acp_host.transports import Transport

__all__ = ["BadAgent", "Chapter", "Ends"]


class Ends(StrEnum):
    """How a turn with a bad agent ends for a good host."""

    COMPLETED = "completed"
    """The agent answers the prompt as it should, so the turn is completed whatever else it did."""
    FAILED = "failed"
    """There is no turn, or it has no answer that could be used."""
    EITHER = "either"
    """That is for the host to say."""


@frozen
class BadAgent:
    """An agent that gets something wrong, or does what few hosts think of.

    Attributes:
        number: it never changes, and is never given to another.
        name: likewise.
        chapter: what it is about.
        does: what the agent does.
        rule: what a good host does about it.
        row: the row of ``docs/reliability.md`` that says what this library does about it.
        step: what it does in the middle of its first turn; ``None`` where it is bad otherwise.
        whole: all that it does; ``None`` where it has a ``step``, or is bad as a process.
        ends: how the turn ends, for a good host.
        cancels: nothing happens unless the host cancels the turn.
        loads: nothing happens unless the host loads a session.
        process: what it does as a process, see ``bad_process.py``; empty for all others, which run anywhere.
        tries_patience: it never answers, so a host needs a deadline, and a test of it that long.
    """

    number: int
    name: str
    chapter: str
    does: str
    rule: str
    row: str
    step: Step | None = field(default=None, repr=False)
    whole: Play | None = field(default=None, repr=False)
    ends: Ends = Ends.COMPLETED
    cancels: bool = False
    loads: bool = False
    process: tuple[str, ...] = ()
    tries_patience: bool = False

    @property
    def code(self) -> str:
        """The number as it is written: ``C014``."""
        return f"C{self.number:03d}"

    def __str__(self) -> str:
        return f"{self.code} {self.name}"

    def meet(self, journal: Journal | None = None) -> Encounter:
        """Return the agent for one connection; it tells afterwards what it has found out about the host.

        Raises:
            InvalidState: it is bad as a process.
        """
        if self.process:
            raise InvalidState(f"{self.name} is bad as a process: use its command()")
        if self.whole is not None:
            return Encounter(self.whole, journal)
        assert self.step is not None
        return Encounter(first_turn(self.step), journal)

    def transport(self) -> Transport:
        """Return what to pass to :func:`acp_host.connect`; the agent runs in this process."""
        return self.meet().transport()

    async def serve(self, host: Transport) -> int:
        """Meet one host over any transport, e.g. for :func:`~acp_host.testing.serve_websocket`."""
        return await self.meet().serve(host)

    def command(self) -> list[str]:
        """Return the command that runs the agent as a process, with a host at stdin and stdout."""
        return [sys.executable, "-m", "acp_host.testing.chaos", self.name]


class Chapter:
    """Collects the agents that are about one thing.

    Args:
        title: what they are about.

    Attributes:
        agents: those so far.
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self.agents: list[BadAgent] = []

    def add(self, number: int, name: str, *, does: str, rule: str, row: str, **members: Any) -> None:
        """Add an agent; ``members`` as of :class:`BadAgent`."""
        self.agents.append(BadAgent(number, name, self.title, does=does, rule=rule, row=row, **members))

    def step(self, number: int, name: str, *, does: str, rule: str, row: str, **members: Any) -> Callable[[Step], Step]:
        """Add the agent whose step in the first turn is the decorated function."""

        def decorate(step: Step) -> Step:
            self.add(number, name, does=does, rule=rule, row=row, step=step, **members)
            return step

        return decorate

    def whole(
        self, number: int, name: str, *, does: str, rule: str, row: str, **members: Any
    ) -> Callable[[Play], Play]:
        """Add the agent whose whole part is the decorated function."""

        def decorate(play: Play) -> Play:
            self.add(number, name, does=does, rule=rule, row=row, whole=play, **members)
            return play

        return decorate
