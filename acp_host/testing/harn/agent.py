"""A Harn-like agent without a model: :class:`HarnAgent`."""

from __future__ import annotations

import itertools
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from acp_host.errors import InvalidInput
from acp_host.testing._in_process import InProcessTransport
from acp_host.testing.harn._capabilities import INJECT_MODES
from acp_host.testing.harn._connection import Connection
from acp_host.testing.harn.conversation import conversation
from acp_host.testing.harn.turn import HarnScript
from acp_host.transports import Transport

if TYPE_CHECKING:
    from acp_host.testing.harn._session import HarnSession

__all__ = ["HarnAgent"]


class HarnAgent:
    """An agent with Harn's ways, which does what its script says. ::

        async def script(turn: HarnTurn) -> None:
            worker = turn.worker("review", "Review the change")
            await turn.say("It is on its way.")
            worker.tell("WorkerCompleted")

        async with acp_host.connect(HarnAgent(script).transport()) as host:
            session = await host.new_session()
            result = await session.prompt("Go")
            assert result.outcome.verified

    One prompt at a time runs on a connection. While it does, injects, cancellations and live clients are acted on at
    once; everything else that the host sends is answered behind it, in order. It is deterministic: ids are numbered
    and its clock passes a second each time that somebody looks.

    Args:
        script: what to do with a prompt; ``None`` for :func:`~acp_host.testing.harn.conversation.conversation`. When
            the prompt is cancelled it is cancelled where it waits.
        inject_modes: what ``session/inject`` takes; empty: the agent has no such method.
        requires_environment: refuse ``session/new`` without ``environmentPolicy``, as the newest builds do.
        bridge: take reminders while a prompt runs, as the bridge does, and do not say so.
        old_form: tell everything in the form of before April 2026.
        delay: seconds between two words of a message, for people to watch.

    Attributes:
        sessions: every session by id.
        connections: those that are open.
        overlapping: how many prompts came while one ran in their session.
        notifications: the names of the notifications that mean nothing to it but were there.
        plan_revisions: the present revision of each plan document that was changed.

    Raises:
        InvalidInput: ``inject_modes`` names something that is none.
    """

    def __init__(
        self,
        script: HarnScript | None = None,
        *,
        inject_modes: Sequence[str] = INJECT_MODES,
        requires_environment: bool = False,
        bridge: bool = False,
        old_form: bool = False,
        delay: float = 0.0,
    ) -> None:
        if unknown := set(inject_modes) - set(INJECT_MODES):
            raise InvalidInput(f"{', '.join(sorted(unknown))}: no mode of an inject; it has {', '.join(INJECT_MODES)}")
        self.script = script or conversation
        self.inject_modes = tuple(inject_modes)
        self.requires_environment = requires_environment
        self.bridge = bridge
        self.old_form = old_form
        self.delay = delay
        self.sessions: dict[str, HarnSession] = {}
        self.connections: list[Connection] = []
        self.overlapping = 0
        self.notifications: list[str] = []
        self.plan_revisions: dict[str, str] = {}
        self._numbers: defaultdict[str, Iterator[int]] = defaultdict(lambda: itertools.count(1))
        self._seconds = itertools.count(1780000000)

    def transport(self) -> Transport:
        """Return what to pass to :func:`acp_host.connect`; the agent runs in this process, as a task."""
        return InProcessTransport(self.serve, "the Harn-like agent")

    @staticmethod
    def command(*flags: str) -> list[str]:
        """Return the command that runs such an agent as a process of its own.

        Args:
            flags: ``--delay SECONDS``, ``--script FILE[:FUNCTION]``.
        """
        return [sys.executable, "-m", "acp_host.testing.agent", "--harn", *flags]

    async def serve(self, host: Transport) -> int:
        """Serve one host over any transport until the connection ends; return the exit status for a process."""
        return await Connection(self).serve(host)

    def number(self, word: str) -> str:
        """Return a new id, e.g. ``session-1``."""
        return f"{word}-{next(self._numbers[word])}"

    def now(self) -> str:
        """Return the time in seconds, as a text."""
        return str(next(self._seconds))

    def notified(self, method: str) -> None:
        """Note that a notification came."""
        self.notifications.append(method)
