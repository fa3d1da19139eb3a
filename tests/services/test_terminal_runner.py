"""Commands that run in a terminal which is not this program's: an editor's, well behaved and otherwise."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from acp_host.errors import InvalidInput, InvalidParams, InvalidState, StartFailed
from acp_host.services import _terminal_process
from acp_host.services.terminal_runner import (
    RunningCommand,
    TerminalCommand,
    TerminalEvents,
    TerminalRunner,
    TerminalSize,
)
from acp_host.services.terminals import TerminalProcess, TerminalService
from acp_host.wire.terminals import (
    CreateTerminalRequest,
    EnvVariable,
    KillTerminalRequest,
    ReleaseTerminalRequest,
    TerminalExitStatus,
    TerminalOutputRequest,
    WaitForTerminalExitRequest,
)

SESSION = "session"
UNKNOWN = TerminalExitStatus(exit_code=None, signal=None)


class Tab(RunningCommand):
    """A command in the editor's terminal."""

    def __init__(self, command: TerminalCommand, events: TerminalEvents) -> None:
        self.command = command
        self.events = events
        self.typed = b""
        self.size = command.size
        self.asked: list[str] = []

    async def end(self) -> None:
        self.asked.append("end")
        self.events.ended(signal="SIGHUP")

    async def release(self) -> None:
        self.asked.append("release")


class Typing(Tab):
    """One that takes input."""

    async def write(self, data: bytes) -> None:
        self.typed += data

    def resize(self, size: TerminalSize) -> None:
        self.size = size


class Editor:
    """The runner: opens a tab for each command."""

    def __init__(self, tab: Callable[[TerminalCommand, TerminalEvents], Any] = Tab) -> None:
        self.tab = tab
        self.tabs: list[Any] = []

    async def start(self, command: TerminalCommand, events: TerminalEvents) -> RunningCommand:
        tab = self.tab(command, events)
        self.tabs.append(tab)
        return tab


class Opened:
    """A service with a runner, and one session in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.services: list[TerminalService] = []

    def __call__(self, runner: TerminalRunner, **options: Any) -> TerminalService:
        service = TerminalService(runner=runner, **options)
        service.open_session(SESSION, [self.folder], self.folder)
        self.services.append(service)
        return service


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Opened]:
    opened = Opened(tmp_path)
    yield opened
    async with asyncio.timeout(40):
        for service in opened.services:
            await service.close()
    assert len(asyncio.all_tasks()) == 1


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_terminal_process, "_PATIENCE", 0.05)
    monkeypatch.setattr(_terminal_process, "_END_LIMIT", 0.05)


def request(command: str = "make", *args: str, **more: Any) -> CreateTerminalRequest:
    return CreateTerminalRequest(session_id=SESSION, command=command, args=args, **more)


async def create(service: TerminalService, asked: CreateTerminalRequest | None = None) -> TerminalProcess:
    terminal_id = (await service.create(asked or request())).terminal_id
    return next(terminal for terminal in service.terminals(SESSION) if terminal.terminal_id == terminal_id)


async def turns_of_the_loop() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


async def release(service: TerminalService, terminal: TerminalProcess) -> None:
    await service.release(ReleaseTerminalRequest(SESSION, terminal.terminal_id))


async def test_a_command_in_the_editor(opened: Opened, tmp_path: Path) -> None:
    editor = Editor()
    service = opened(editor)
    terminal = await create(service, request("make", "all it", env=(EnvVariable(name="V", value="1"),)))
    [tab] = editor.tabs
    assert tab.command == terminal.command
    assert (tab.command.argv, tab.command.cwd, tab.command.via_shell) == (("make", "all it"), str(tmp_path), False)
    assert (tab.command.session_id, tab.command.env["V"], tab.command.size) == (SESSION, "1", None)
    tab.events.printed("caf\u00e9 ")
    tab.events.printed(b"caf\xc3")
    tab.events.printed(b"\xa9")
    answer = await service.output(TerminalOutputRequest(SESSION, terminal.terminal_id))
    assert (answer.output, bool(answer.exit_status)) == ("café café", False)
    waiting = asyncio.create_task(service.wait_for_exit(WaitForTerminalExitRequest(SESSION, terminal.terminal_id)))
    await asyncio.sleep(0)
    tab.events.ended(2)
    assert (await waiting).exit_code == 2
    await release(service, terminal)
    assert tab.asked == ["end", "release"]


async def test_kill_and_the_end_of_the_session_reach_the_runner(opened: Opened) -> None:
    editor = Editor()
    service = opened(editor)
    terminal, other = await create(service), await create(service)
    await service.kill(KillTerminalRequest(SESSION, terminal.terminal_id))
    assert (await terminal.wait()).signal == "SIGHUP"
    assert editor.tabs[0].asked == ["end"]
    await service.close_session(SESSION)
    assert (await other.wait()).signal == "SIGHUP"
    assert [tab.asked for tab in editor.tabs] == [["end", "end", "release"], ["end", "release"]]


async def test_input_and_size_reach_a_runner_that_takes_them(opened: Opened) -> None:
    editor = Editor(Typing)
    terminal = await create(opened(editor, pty=TerminalSize(100, 30)))
    assert editor.tabs[0].size == TerminalSize(columns=100, rows=30)
    await terminal.write(b"y\n")
    terminal.resize(TerminalSize(90, 20))
    assert (editor.tabs[0].typed, editor.tabs[0].size) == (b"y\n", TerminalSize(90, 20))
    with pytest.raises(InvalidInput, match="bytes"):
        await terminal.write("y\n")


async def test_one_that_takes_none_says_so(opened: Opened) -> None:
    service = opened(Editor())
    terminal = await create(service)
    with pytest.raises(InvalidState, match="pty=True"):
        await terminal.write(b"y\n")
    with pytest.raises(InvalidState, match="pty=True"):
        terminal.resize(TerminalSize())
    await release(service, terminal)
    with pytest.raises(InvalidState, match="does not run"):
        await terminal.write(b"y\n")


async def test_a_runner_may_tell_on_another_thread(opened: Opened) -> None:
    editor = Editor()
    terminal = await create(opened(editor))
    loop_thread, heard_on = threading.get_ident(), set[int]()
    terminal.listen(lambda *_: heard_on.add(threading.get_ident()))

    def run(events: TerminalEvents) -> None:
        for number in range(1000):
            events.printed(f"{number}\n")
        events.ended(0)

    await asyncio.to_thread(run, editor.tabs[0].events)
    assert (await terminal.wait()).exit_code == 0
    assert terminal.output == "".join(f"{number}\n" for number in range(1000))
    assert heard_on == {loop_thread}


async def test_it_may_tell_before_it_has_started(opened: Opened) -> None:
    def quick(command: TerminalCommand, events: TerminalEvents) -> Tab:
        events.printed("done\n")
        events.ended(0)
        return Tab(command, events)

    heard: list[str] = []
    service = opened(Editor(quick))
    service.open_session(SESSION, [opened.folder], opened.folder, lambda _, printed: heard.append(printed))
    terminal = await create(service, request(output_byte_limit=1))
    assert (terminal.exit_status, terminal.output) == (TerminalExitStatus(exit_code=0, signal=None), "\n")
    assert heard == ["done\n"]


# Runners that fail


@pytest.mark.parametrize("error", [StartFailed("the editor has no terminal"), InvalidParams("not in this folder")])
async def test_one_that_cannot_start_a_command_says_why(opened: Opened, error: Exception) -> None:
    class Refuses:
        async def start(self, command: TerminalCommand, events: TerminalEvents) -> RunningCommand:
            raise error

    service = opened(Refuses())
    with pytest.raises(InvalidParams) as refused:
        await service.create(request())
    assert str(error) in str(refused.value)
    assert service.terminals(SESSION) == ()


@pytest.mark.parametrize("returned", [None, object(), "tab"])
async def test_one_that_returns_something_else(opened: Opened, returned: Any) -> None:
    service = opened(Editor(lambda command, events: returned))
    with pytest.raises(TypeError, match="RunningCommand"):
        await service.create(request())
    assert service.terminals(SESSION) == ()


async def test_one_that_breaks(opened: Opened) -> None:
    def breaks(command: TerminalCommand, events: TerminalEvents) -> Tab:
        raise ZeroDivisionError

    service = opened(Editor(breaks))
    with pytest.raises(ZeroDivisionError):
        await service.create(request())
    assert service.terminals(SESSION) == ()


async def test_one_that_never_starts_does_not_keep_the_session(opened: Opened, impatient: None) -> None:
    starting = asyncio.Event()

    class Hangs:
        async def start(self, command: TerminalCommand, events: TerminalEvents) -> RunningCommand:
            starting.set()
            await asyncio.Event().wait()
            raise AssertionError

    service = opened(Hangs())
    creating = asyncio.create_task(service.create(request()))
    await starting.wait()
    await service.close_session(SESSION)
    with pytest.raises(InvalidParams, match="given up"):
        await creating


async def test_one_that_never_tells_the_end(opened: Opened, impatient: None) -> None:
    class Silent(Tab):
        async def end(self) -> None:
            self.asked.append("end")

    editor = Editor(Silent)
    service = opened(editor)
    terminal = await create(service)
    waiting = asyncio.create_task(terminal.wait())
    await service.kill(KillTerminalRequest(SESSION, terminal.terminal_id))
    assert await waiting == UNKNOWN
    editor.tabs[0].events.ended(0)
    assert terminal.exit_status == UNKNOWN


@pytest.mark.parametrize("what", ["end", "release"])
@pytest.mark.parametrize("hangs", [True, False])
async def test_one_that_fails_to_end_or_release(
    opened: Opened, impatient: None, what: str, hangs: bool, caplog: pytest.LogCaptureFixture
) -> None:
    class Fails(Tab):
        async def end(self) -> None:
            await self.fail("end")

        async def release(self) -> None:
            await self.fail("release")

        async def fail(self, here: str) -> None:
            self.asked.append(here)
            if here == what:
                if hangs:
                    await asyncio.Event().wait()
                raise ZeroDivisionError

    editor = Editor(Fails)
    service = opened(editor)
    terminals = [await create(service), await create(service)]
    editor.tabs[1].events.printed("kept")
    with caplog.at_level(logging.ERROR, "acp_host.services"):
        await service.kill_all(SESSION)
        await service.close_session(SESSION)
    assert [terminal.exit_status for terminal in terminals] == [UNKNOWN] * 2
    assert all(terminal.released for terminal in terminals)
    assert terminals[1].output == "kept"
    assert all("release" in tab.asked for tab in editor.tabs)
    assert "make" in caplog.text


async def test_one_that_tells_the_end_twice_and_prints_after_it(opened: Opened) -> None:
    editor = Editor()
    service = opened(editor)
    terminal = await create(service)
    heard: list[tuple[str, bool]] = []
    terminal.listen(lambda terminal, printed: heard.append((printed, terminal.released)))
    events = editor.tabs[0].events
    events.printed(b"half \xc3")
    events.ended(1)
    events.ended(0)
    events.printed("from the background")
    assert terminal.exit_status == TerminalExitStatus(exit_code=1, signal=None)
    assert terminal.output == "half \ufffdfrom the background"
    await release(service, terminal)
    events.printed("nobody hears this")
    assert heard == [
        ("", False),
        ("half ", False),
        ("\ufffd", False),
        ("from the background", False),
        ("", True),
    ]


@pytest.mark.parametrize("printed", [None, 5, ["text"]])
async def test_one_that_prints_something_else(opened: Opened, printed: Any) -> None:
    editor = Editor()
    terminal = await create(opened(editor))
    with pytest.raises(InvalidInput, match="bytes or text"):
        editor.tabs[0].events.printed(printed)
    editor.tabs[0].events.printed("\ud83d.")
    assert terminal.output == "?."


@pytest.mark.parametrize("end", [("0",), (True,), (-9,), (2**32,), (1.0,), (None, 9), (0, b"SIGTERM")])
async def test_one_that_tells_the_end_wrongly_has_ended(opened: Opened, end: Any) -> None:
    editor = Editor()
    terminal = await create(opened(editor))
    with pytest.raises(InvalidInput, match="exit code"):
        editor.tabs[0].events.ended(*end)
    assert await terminal.wait() == UNKNOWN


@pytest.mark.parametrize(
    "wrong",
    [
        {"runner": object()},
        {"runner": "editor"},
        {"pty": 80},
        {"pty": (80, 24)},
        {"environment": "inherit"},
        {"max_output": -1},
        {"max_output": "1"},
        {"max_output": True},
    ],
)
def test_wrong_arguments_are_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(wrong))):
        TerminalService(**wrong)


@pytest.mark.parametrize("size", [(0, 24), (80, 0), (80, 65_536), ("80", 24), (True, 24), (80.0, 24)])
def test_sizes_are_checked(size: Any) -> None:
    with pytest.raises(InvalidInput, match="columns and rows"):
        TerminalSize(*size)


def test_on_windows_a_pseudo_terminal_needs_a_runner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(InvalidInput, match="runner="):
        TerminalService(pty=True)
    TerminalService(pty=True, runner=Editor())


# Watching


async def test_who_watches_sees_the_latest_and_never_a_backlog(opened: Opened) -> None:
    editor = Editor()
    service = opened(editor)
    terminal = await create(service, request("make", "it\x1b[2J"))
    events, seen = editor.tabs[0].events, []

    async def watch() -> None:
        async for view in terminal.watch():
            seen.append(view)

    watching = asyncio.create_task(watch())
    await turns_of_the_loop()
    for piece in "abc":
        events.printed(piece)
    await turns_of_the_loop()
    events.ended(signal="SIGTERM")
    await turns_of_the_loop()
    await release(service, terminal)
    await watching
    assert [(view.output, view.ended, view.signal, view.released) for view in seen] == [
        ((), False, None, False),
        (("abc",), False, None, False),
        (("abc",), True, "SIGTERM", False),
        (("abc",), True, "SIGTERM", True),
    ]
    assert seen[0].command == "make 'it\\x1b[2J'"


async def test_a_listener_that_fails_harms_nobody(opened: Opened, caplog: pytest.LogCaptureFixture) -> None:
    editor = Editor()
    terminal = await create(opened(editor))
    heard: list[str] = []

    def fails(*_: Any) -> None:
        raise ZeroDivisionError

    terminal.listen(fails)
    with terminal.listen(lambda _, printed: heard.append(printed)):
        editor.tabs[0].events.printed("a")
    editor.tabs[0].events.printed("b")
    assert heard == ["", "a"]
    assert "ZeroDivisionError" in caplog.text
