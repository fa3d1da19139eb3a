"""What the tests of this directory share: a receiver that remembers, and agents of which nothing may be left."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import sys
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from acp_host.diagnostics import Diagnostic
from acp_host.errors import TransportError
from acp_host.transports import StdioTransport, StopTimeouts

PROGRAM = Path(__file__).parent / "programs" / "misbehave.py"
TAG = "ACP_HOST_TEST_RUN"
PATIENCE = 20.0


class Recorder:
    """A receiver that keeps everything, and lets a test wait for it."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.chunks: list[bytes] = []
        self.ends: list[TransportError | None] = []
        self.on_data: Callable[[], None] = lambda: None
        self._changed = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        assert not self.ends, "data after the end"
        self.data += data
        self.chunks.append(data)
        self.on_data()
        self._changed.set()

    def connection_lost(self, error: TransportError | None) -> None:
        self.ends.append(error)
        self._changed.set()

    async def until(self, done: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not done():
                self._changed.clear()
                await self._changed.wait()

    async def says(self, text: str) -> None:
        await self.until(lambda: text.encode() in self.data)

    async def end(self) -> TransportError | None:
        await self.until(lambda: bool(self.ends))
        assert len(self.ends) == 1
        return self.ends[0]


def tagged(value: str) -> list[psutil.Process]:
    """Every living process with the tag in its environment, found in another way than the library finds it."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(TAG) == value and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


def open_files() -> list[str]:
    return os.listdir("/proc/self/fd") if sys.platform == "linux" else []


class Agents:
    """Makes transports to programs of ``programs/misbehave.py`` and checks that nothing is left of them."""

    def __init__(self) -> None:
        self.tag = uuid.uuid4().hex
        self.made: list[StdioTransport] = []
        self.notes: list[Diagnostic] = []

    def transport(self, *arguments: str, **options: Any) -> StdioTransport:
        command = [sys.executable, "-S", "-E", str(PROGRAM), *arguments]
        return self.launch(command, **options)

    def launch(self, command: Any, **options: Any) -> StdioTransport:
        options["env"] = {**options.get("env", {}), TAG: self.tag}
        options.setdefault("timeouts", StopTimeouts(exit=0.1, terminate=0.1, kill=5))
        options.setdefault("on_diagnostic", self.notes.append)
        transport = StdioTransport(command, **options)
        self.made.append(transport)
        return transport

    async def start(self, *arguments: str, **options: Any) -> tuple[StdioTransport, Recorder]:
        transport, recorder = self.transport(*arguments, **options), Recorder()
        await transport.start(recorder)
        return transport, recorder

    def recorder(self) -> Recorder:
        return Recorder()

    def living(self) -> list[psutil.Process]:
        return tagged(self.tag)

    def says(self, text: str) -> bool:
        """Tell whether a diagnostic has ``text`` in it."""
        return any(text in note.message for note in self.notes)


@pytest.fixture
async def agents() -> AsyncIterator[Agents]:
    asyncio.get_running_loop()
    before = open_files()
    made = Agents()
    tasks, processes = asyncio.all_tasks(), set(psutil.Process().children())
    yield made
    for transport in made.made:
        await transport.close()
    left = made.living()
    for process in left:
        process.kill()
    assert left == []
    assert set(psutil.Process().children()) - processes == set()  # zombies are in this list too
    assert {task for task in asyncio.all_tasks() if not task.done()} <= tasks | {asyncio.current_task()}
    if len(open_files()) != len(before):
        gc.collect()  # something else in this process may have waited for it
    assert len(open_files()) == len(before)


@pytest.fixture
def no_files() -> Callable[[], Any]:
    """A context in which this process can open no more files."""

    @contextlib.contextmanager
    def limited() -> Iterator[None]:
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        probe = os.open(os.devnull, os.O_RDONLY)
        os.close(probe)
        resource.setrlimit(resource.RLIMIT_NOFILE, (probe, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    return limited


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def tag() -> Iterator[str]:
    """A tag for processes that the test starts by itself; they are killed if the test leaves any."""
    value = uuid.uuid4().hex
    yield value
    left = tagged(value)
    for process in left:
        process.kill()
    assert left == []


@pytest.fixture
async def server() -> AsyncIterator[Any]:
    """A server of Streamable HTTP."""
    from tests.transports.http_server import serve

    async with serve() as server:
        yield server
