"""What may go wrong on the main thread of a user interface, and what an agent notices of it (R350-R354)."""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host import blocking
from acp_host.state.dispatch import DispatchEnded
from acp_host.testing import ReferenceAgent
from acp_host.ui.main_thread import MainThread

PATIENCE = 15.0


class Toolkit(MainThread):
    """A toolkit with nothing to draw: a thread with an event loop, and dialogs with one of their own."""

    def __init__(self) -> None:
        super().__init__()
        self._events: queue.SimpleQueue[Callable[[], bool]] = queue.SimpleQueue()
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def wake(self) -> None:
        self._events.put(self._woken)

    def released(self) -> None:
        self.close_dialog()  # it takes the main event loop's place where no dialog is open

    def open_dialog(self) -> None:
        self._run()

    def close_dialog(self) -> None:
        self._events.put(lambda: False)

    def do(self, function: Callable[[], Any]) -> Any:
        """Run a function on the main thread, and return what it returns."""
        answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self(lambda: answers.put(function()))
        return answers.get(timeout=PATIENCE)

    def _woken(self) -> bool:
        self.run_next()
        return True

    def _run(self) -> None:
        while self._events.get()():
            pass


@pytest.fixture
def toolkit() -> Iterator[Toolkit]:
    made = Toolkit()
    yield made
    made.end()
    made.thread.join(PATIENCE)
    assert not made.thread.is_alive()


def connected(toolkit: Toolkit, **options: Any) -> blocking.HostConnection:
    return blocking.connect(ReferenceAgent.command(), dispatch=toolkit, **options)


async def observers_of(session: acp_host.Session) -> int:
    return len(session.state.changed)


async def test_r350_a_modal_dialog_that_stays_open(toolkit: Toolkit) -> None:
    def play() -> None:
        opened, arrived = threading.Event(), threading.Event()

        def show() -> None:
            opened.set()
            toolkit.open_dialog()

        with connected(toolkit) as host:
            session = host.new_session()
            toolkit(show)
            assert opened.wait(PATIENCE)
            session.state.changed.connect(lambda _: arrived.set())
            assert session.prompt("/say Hello").wait().text == "Hello"
            assert arrived.wait(PATIENCE)
            toolkit.close_dialog()

    await asyncio.to_thread(play)


async def test_r351_a_window_that_is_closed_while_the_agent_works(toolkit: Toolkit, tmp_path: Path) -> None:
    asked: list[Any] = []

    def ask(request: Any) -> str:
        asked.append(request)
        return str(request.options[0].option_id)

    def play() -> None:
        with connected(toolkit, files=True, permissions=ask) as host:
            session = host.new_session(tmp_path)
            seen: list[Any] = []
            session.state.changed.connect(seen.append)
            turn = session.prompt("/slow 3\n/edit notes.txt")
            toolkit.do(toolkit.end)
            count = len(seen)
            assert turn.wait().outcome.kind == acp_host.OutcomeKind.COMPLETED
            assert (asked, len(seen)) == ([], count)
            assert not (tmp_path / "notes.txt").exists()
            assert host.run(observers_of, session.asynchronous) == 0
            assert [record.decision for record in host.audit.records if "permission" in record.action] == ["rejected"]
            assert not any("observer" in diagnostic.message for diagnostic in host.diagnostics)
        with pytest.raises(DispatchEnded):
            toolkit(lambda: None)

    await asyncio.to_thread(play)


async def test_r351_a_window_that_goes_while_things_wait_for_it(toolkit: Toolkit, tmp_path: Path) -> None:
    def play() -> None:
        busy, go_on = threading.Event(), threading.Event()

        def work() -> None:
            busy.set()
            assert go_on.wait(PATIENCE)
            toolkit.end()

        with connected(toolkit, files=True, permissions=lambda request: request.options[0].option_id) as host:
            session = host.new_session(tmp_path)
            session.state.changed.connect(lambda _: None)
            toolkit(work)
            assert busy.wait(PATIENCE)
            turn = session.prompt("/edit notes.txt")
            for snapshot in session.state.watch():
                if snapshot.turn.status == "waiting":
                    break
            go_on.set()
            assert turn.wait().outcome.kind == acp_host.OutcomeKind.COMPLETED
            assert not (tmp_path / "notes.txt").exists()
            assert host.run(observers_of, session.asynchronous) == 0

    await asyncio.to_thread(play)


async def test_r352_a_main_thread_that_stands_still(toolkit: Toolkit) -> None:
    def play() -> None:
        busy, go_on = threading.Event(), threading.Event()

        def work() -> None:
            busy.set()
            assert go_on.wait(PATIENCE)

        with connected(toolkit) as host:
            session = host.new_session()
            seen: list[Any] = []
            toolkit(work)
            assert busy.wait(PATIENCE)
            session.state.changed.connect(seen.append)
            assert len(session.prompt("/flood 2000").wait().text) >= 2000
            assert seen == []
            go_on.set()
            toolkit.do(lambda: None)
            assert len(seen) == 1
            assert len(seen[0].snapshot.transcript) == 2

    await asyncio.to_thread(play)


async def test_r353_an_observer_that_raises(toolkit: Toolkit, caplog: pytest.LogCaptureFixture) -> None:
    def fail(_: Any) -> None:
        raise ZeroDivisionError

    def play() -> None:
        with connected(toolkit) as host:
            session = host.new_session()
            seen: list[Any] = []
            session.state.changed.connect(fail)
            session.on_update(fail)
            session.state.changed.connect(seen.append)
            assert session.prompt("/say Hello").wait().text == "Hello"
            toolkit.do(lambda: None)
            assert seen
            assert any("ZeroDivisionError" in diagnostic.message for diagnostic in host.diagnostics)

    with caplog.at_level(logging.ERROR):
        await asyncio.to_thread(play)
    assert "a function that was dispatched to the main thread failed" in caplog.text


async def test_r354_a_main_thread_that_waits_for_the_agent(toolkit: Toolkit) -> None:
    def play() -> None:
        with connected(toolkit) as host:
            session = host.new_session()
            seen: list[Any] = []
            session.state.changed.connect(seen.append)
            session.on_update(seen.append)
            assert len(toolkit.do(lambda: session.prompt("/flood 300").wait().text)) >= 300
            toolkit.do(lambda: None)
            assert len(seen) > 300

    await asyncio.to_thread(play)
