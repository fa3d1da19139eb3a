"""An agent beside a window: ``python -m tests.ui.toolkits.scenario TOOLKIT FOLDER`` ends with 0 if all goes well.

The toolkit has the main thread, as it wants to. What is done and checked is done on a second thread.
"""

from __future__ import annotations

import concurrent.futures
import logging
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any, TypeVar

import acp_host
from acp_host import blocking
from acp_host.state.dispatch import DispatchEnded
from acp_host.testing import ReferenceAgent
from tests.ui.toolkits.windows import WINDOWS, Window

R = TypeVar("R")

PATIENCE = 20.0
MAIN = threading.get_ident()


class Scenario:
    """The second thread.

    Args:
        window: the window.
        folder: where the agent works.
    """

    def __init__(self, window: Window, folder: str) -> None:
        self.window = window
        self.folder = folder
        self.asked = threading.Event()
        self.seen: list[tuple[int, Any]] = []

    def on_main(self, function: Callable[[], R]) -> R:
        return self.soon(function).result(PATIENCE)

    def soon(self, function: Callable[[], R]) -> concurrent.futures.Future[R]:
        outcome: concurrent.futures.Future[R] = concurrent.futures.Future()

        def work() -> None:
            try:
                outcome.set_result(function())
            except BaseException as error:
                outcome.set_exception(error)

        self.window.dispatch(work)
        return outcome

    def ask(self, request: Any) -> str:
        """Ask for permission in a modal dialog."""
        assert threading.get_ident() == MAIN
        self.asked.set()
        self.window.open_dialog()
        [option] = [option for option in request.options if option.kind == "allow_once"]
        return str(option.option_id)

    def play(self) -> None:
        self.functions_run_in_order()
        self.one_that_raises_holds_up_no_other()
        options: dict[str, Any] = {"files": True, "permissions": self.ask, "dispatch": self.window.dispatch}
        with blocking.connect(ReferenceAgent.command(), **options) as host:
            session = host.new_session(self.folder)
            session.state.changed.connect(self.observe)
            self.changes_arrive_on_the_main_thread(session)
            self.a_modal_dialog_stalls_nothing(session)
            self.a_modal_dialog_answers(host, session)
            self.a_busy_main_thread_stalls_no_agent(session)
            self.the_main_thread_may_wait_for_the_agent(session)
            self.idle_means_idle()
            self.all_ends_with_the_window(host, session)
        self.window.quit()

    def observe(self, changes: Any) -> None:
        self.seen.append((threading.get_ident(), changes))

    def functions_run_in_order(self) -> None:
        ran: list[tuple[int, int, int]] = []

        def post(number: int) -> None:
            for count in range(300):
                self.window.dispatch(lambda count=count: ran.append((number, count, threading.get_ident())))

        threads = [threading.Thread(target=post, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        self.on_main(lambda: None)
        assert {where for _, _, where in ran} == {MAIN}
        for number in range(4):
            assert [count for whose, count, _ in ran if whose == number] == list(range(300))

    def one_that_raises_holds_up_no_other(self) -> None:
        logged: list[str] = []
        handler = logging.Handler()
        handler.emit = lambda record: logged.append(record.getMessage())
        logging.getLogger("acp_host.ui").addHandler(handler)

        def fail() -> None:
            raise ZeroDivisionError

        self.window.dispatch(fail)
        self.on_main(lambda: None)
        logging.getLogger("acp_host.ui").removeHandler(handler)
        assert len(logged) == 1
        assert "fail" in logged[0]

    def changes_arrive_on_the_main_thread(self, session: Any) -> None:
        result = session.prompt("/say Hello\n/notice warning The disk is almost full").wait()
        assert result.text == "Hello"
        self.on_main(lambda: None)
        assert {where for where, _ in self.seen} == {MAIN}
        last = self.seen[-1][1].snapshot
        assert [toast.title for toast in last.notices.toasts] == ["The disk is almost full"]

    def a_modal_dialog_stalls_nothing(self, session: Any) -> None:
        opened = threading.Event()

        def show() -> None:
            opened.set()
            self.window.open_dialog()

        dialog = self.soon(show)
        behind = self.soon(threading.get_ident)
        assert opened.wait(PATIENCE)
        before = len(self.seen)
        assert session.prompt("/say While it is open").wait().text == "While it is open"
        assert behind.result(PATIENCE) == MAIN
        self.on_main(lambda: None)
        assert len(self.seen) > before  # though the dialog is open
        assert not dialog.done()
        self.on_main(self.window.close_dialog)
        dialog.result(PATIENCE)

    def a_modal_dialog_answers(self, host: Any, session: Any) -> None:
        turn = session.prompt("/edit notes.txt")
        assert self.asked.wait(PATIENCE)
        other = host.new_session(self.folder)
        assert other.prompt("/say Meanwhile").wait().text == "Meanwhile"
        self.on_main(self.window.close_dialog)
        turn.wait()
        with open(os.path.join(self.folder, "notes.txt"), encoding="utf-8") as notes:
            assert notes.read()

    def a_busy_main_thread_stalls_no_agent(self, session: Any) -> None:
        started, free = threading.Event(), threading.Event()

        def work() -> bool:
            started.set()
            return free.wait(PATIENCE)

        busy = self.soon(work)
        assert started.wait(PATIENCE)
        before = len(self.seen)
        assert len(session.prompt("/flood 500").wait().text) > 500
        assert len(self.seen) == before
        free.set()
        assert busy.result(PATIENCE)
        self.on_main(lambda: None)
        assert 1 <= len(self.seen) - before <= 3  # merged

    def the_main_thread_may_wait_for_the_agent(self, session: Any) -> None:
        assert self.on_main(lambda: session.prompt("/say Waited for").wait().text) == "Waited for"

    def idle_means_idle(self) -> None:
        used: list[float] = []
        while not used or used[-1] >= 0.1:
            assert len(used) < 10, f"{used} s of processor time in half a second each in which nothing happens"
            began = time.process_time()
            time.sleep(0.5)
            used.append(time.process_time() - began)

    def all_ends_with_the_window(self, host: Any, session: Any) -> None:
        self.on_main(self.window.destroy)
        assert self.window.dispatch.ended
        try:
            self.window.dispatch(lambda: None)
        except DispatchEnded:
            pass
        else:
            raise AssertionError("a function was taken for a window that is gone")
        seen = len(self.seen)
        refused = session.prompt("/edit refused.txt").wait()
        assert refused.outcome.kind == acp_host.OutcomeKind.COMPLETED
        assert not os.path.exists(os.path.join(self.folder, "refused.txt"))
        assert len(self.seen) == seen
        assert host.run(observers_of, session.asynchronous) == 0
        observers = [each for each in host.diagnostics if "observer" in each.message]
        assert observers == []


async def observers_of(session: acp_host.Session) -> int:
    return len(session.state.changed)


def main(toolkit: str, folder: str) -> None:
    window = WINDOWS[toolkit]()
    scenario = Scenario(window, folder)

    def play() -> None:
        try:
            scenario.play()
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)

    thread = threading.Thread(target=play)
    thread.start()
    window.run()
    thread.join(PATIENCE)
    print("all is as it should be")


if __name__ == "__main__":
    main(*sys.argv[1:])
