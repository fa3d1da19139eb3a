"""What the hosts of the soak do all the time: :class:`Load`."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import acp_host
from acp_host import AuditTrail, HostConnection, PermissionPolicy, ReconnectPolicy, RemoteOptions, Session
from acp_host.errors import AcpError
from acp_host.state.changes import ChangeSet
from acp_host.state.memory import MemoryPolicy
from acp_host.testing import ReferenceAgent
from acp_host.transports.stdio import StdioTransport
from tests.faults.proxy import proxy_to

PROMPTS = (
    "/say Hello",
    "/think Well\n/say Done",
    "/flood 200",
    "/plan one; two; three",
    "/tool Look",
    "/edit {file}",
    "/write {file}\na line",
    "/run echo done",
    "/notices",
    "/notice-burst 20",
    "/reminders",
    "/model",
    "/content",
    "/compact",
    "/usage",
    "/error -32603 As asked",
    "Show me what you can do",
)
"""What is asked, in the words of the reference agent."""
SHORT = PROMPTS[0]
"""What is asked to see how long a turn takes, in one turn of five."""
LONGEST = 8
"""Turns of the longest conversation."""
HUNG = 60
"""Seconds after which a turn counts as hung."""


class Load:
    """Hosts and their sessions, busy until :meth:`stop`.

    Args:
        sessions: of each host.
        rest: seconds that a session rests between two turns, on average.
        seed: of what is asked and when.

    Attributes:
        counts: what has happened so far.
        waits: seconds that the latest short turns took where nobody kills or cuts; for whoever samples them to take.
        surprises: what must not happen, and did.
    """

    def __init__(self, sessions: int, rest: float, seed: int) -> None:
        self.counts: Counter[str] = Counter()
        self.waits: list[float] = []
        self.surprises: Counter[str] = Counter()
        self._sessions = sessions
        self._longest_rest = 2 * rest
        self._chance = random.Random(seed)
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """Let every session end its turn and close."""
        self._stopping.set()

    async def steady(self) -> None:
        """One agent in a process of its own, from the beginning to the end."""
        async with self._connected(ReferenceAgent.command()) as host:
            await self._work(host, is_timed=True)

    async def killed(self) -> None:
        """An agent whose process is killed now and then, and started anew."""
        while not self._stopping.is_set():
            transport = StdioTransport(ReferenceAgent.command())
            async with self._connected(transport) as host, asyncio.TaskGroup() as tasks:
                tasks.create_task(self._work(host))
                if not await self._rest(self._chance.uniform(15, 45)):
                    assert transport.pid is not None
                    os.kill(transport.pid, signal.SIGKILL)
                    self.counts["kills"] += 1

    async def cut(self, url: str, token: str) -> None:
        """An agent behind a WebSocket that is cut now and then, and connected to again."""
        policy = ReconnectPolicy(first_delay=0.05, longest_delay=1.0)
        remote = RemoteOptions(bearer=token)
        async with (
            proxy_to(url) as proxy,
            self._connected(proxy.url, remote=remote, reconnect=policy) as host,
            asyncio.TaskGroup() as tasks,
        ):
            tasks.create_task(self._work(host))
            while not await self._rest(self._chance.uniform(5, 20)):
                proxy.cut()
                self.counts["cuts"] += 1

    @asynccontextmanager
    async def _connected(self, target: object, **options: object) -> AsyncIterator[HostConnection]:
        audit = AuditTrail(capacity=25)  # it is full when all is warm, and then as large as it gets
        audit.on_record(lambda record: self.counts.update([f"decided: {record.action}"]))
        async with acp_host.connect(
            target,
            files=True,
            terminals=True,
            permissions=PermissionPolicy.allow_once(),
            memory=MemoryPolicy(keep_turns=3),
            audit=audit,
            unstable=True,
            allow_remote_services=True,
            **options,
        ) as host:
            self.counts["connections"] += 1
            yield host

    async def _work(self, host: HostConnection, *, is_timed: bool = False) -> None:
        async with asyncio.TaskGroup() as tasks:
            for _ in range(self._sessions):
                tasks.create_task(self._sessions_in_turn(host, is_timed))

    async def _sessions_in_turn(self, host: HostConnection, is_timed: bool) -> None:
        """Keep one session open at a time; a conversation ends after some turns, as people's do."""
        try:
            while not self._stopping.is_set() and not host.closed:
                with tempfile.TemporaryDirectory() as folder:
                    session = await host.new_session(folder)
                    session.state.changed.connect(self._seen)
                    await self._conversation(host, session, Path(folder), is_timed)
                    self.counts["notices"] += session.notices.snapshot().total
                    await host.close_session(session.id)
                self.counts["sessions"] += 1
        except AcpError as error:
            self.counts[f"sessions that ended as {type(error).__name__}"] += 1

    def _seen(self, _: ChangeSet) -> None:
        self.counts["deliveries to observers"] += 1

    async def _conversation(self, host: HostConnection, session: Session, folder: Path, is_timed: bool) -> None:
        for _ in range(self._chance.randint(1, LONGEST)):
            if self._stopping.is_set() or host.closed:
                return
            await self._rest(self._chance.uniform(0, self._longest_rest))
            await self._turn(session, folder, is_timed)

    async def _turn(self, session: Session, folder: Path, is_timed: bool) -> None:
        if self._chance.random() < 0.2:
            await session.remind("Tests failed", dedupe_key=self._chance.choice("abc"), ttl_turns=2)
            self.counts["reminders"] += 1
        words = SHORT if self._chance.random() < 0.2 else self._chance.choice(PROMPTS)
        started = time.monotonic()
        try:
            async with asyncio.timeout(HUNG):
                await self._prompt(session, words.format(file=folder / "f"))
        except TimeoutError:
            self.surprises[f"a turn has hung: {words.splitlines()[0]}"] += 1
        except AcpError as error:
            self.counts[f"turns that ended as {type(error).__name__}"] += 1
        self.counts["turns"] += 1
        if words == SHORT and is_timed:
            self.waits.append(time.monotonic() - started)

    async def _prompt(self, session: Session, words: str) -> None:
        turn = session.prompt(words)
        if self._chance.random() < 0.05:
            turn.cancel()
        if self._chance.random() < 0.3:
            async for _ in turn:
                self.counts["updates read"] += 1
        await turn.wait()

    async def _rest(self, seconds: float) -> bool:
        """Wait, and tell whether it is time to stop."""
        try:
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        except TimeoutError:
            return False
        return True
