"""The host without ``await``, used from threads as an application does."""

from __future__ import annotations

import asyncio
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

import acp_host
from acp_host import blocking
from acp_host.blocking._thread import LoopThread
from acp_host.services.files import BufferEdit, FileChange, MemoryBuffers, NotebookBuffers, OpenDocument, WriteConflict
from acp_host.testing import ReferenceAgent
from acp_host.wire.updates import AgentMessageChunk

DEADLINE = 20


@pytest.fixture
def host() -> Iterator[blocking.HostConnection]:
    with blocking.connect(ReferenceAgent.command()) as connection:
        yield connection


class Loop:
    """A user interface's thread: runs what is dispatched to it, one after the other."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self.dispatch = self._waiting.put
        self.thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        while (work := self._waiting.get()) is not None:
            work()

    def __enter__(self) -> Loop:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._waiting.put(None)
        self.thread.join(DEADLINE)


class TestTurnsAwaitedElsewhere:
    """In a notebook, a loop runs already, and it is not the connection's."""

    async def test_a_turn_is_awaited_while_that_loop_goes_on(self, host: blocking.HostConnection) -> None:
        session = host.new_session()
        first, second = await asyncio.gather(session.prompt("/say one"), session.prompt("/say two"))
        assert (first.text, second.text) == ("one", "two")

    async def test_it_raises_what_the_turn_raises(self, host: blocking.HostConnection) -> None:
        with pytest.raises(acp_host.RequestFailed, match="broken"):
            await host.new_session().prompt("/error -32000 broken")

    async def test_a_task_that_is_cancelled_cancels_the_turn(self, host: blocking.HostConnection) -> None:
        turn = host.new_session().prompt("/wait")
        task = asyncio.ensure_future(turn)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert turn.wait().stop_reason == "cancelled"

    async def test_the_end_of_the_connection_ends_it(self, host: blocking.HostConnection) -> None:
        task = asyncio.ensure_future(host.new_session().prompt("/wait"))
        await asyncio.sleep(0)
        await asyncio.to_thread(host.close)
        with pytest.raises(acp_host.AcpError):
            await task


class TestTurns:
    def test_a_prompt_is_waited_for(self, host: blocking.HostConnection) -> None:
        session = host.new_session()
        result = session.prompt("/say Hello").wait()
        assert (result.text, result.stop_reason) == ("Hello", "end_turn")

    def test_updates_come_in_order_and_then_the_result_is_there(self, host: blocking.HostConnection) -> None:
        turn = host.new_session().prompt("/flood 2000")
        texts = [update.content.text for update in turn if isinstance(update, AgentMessageChunk)]
        assert len(texts) == 2000
        assert "".join(texts) == turn.text == turn.wait().text
        assert turn.done
        assert turn.result is turn.wait()

    def test_leaving_the_loop_early_cancels_nothing(self, host: blocking.HostConnection) -> None:
        turn = host.new_session().prompt("/flood 50")
        for _update in turn:
            break
        assert turn.wait().outcome.kind == "completed"

    def test_a_turn_fails_with_the_error_of_the_agent(self, host: blocking.HostConnection) -> None:
        turn = host.new_session().prompt("/error -32050 no way")
        with pytest.raises(acp_host.RequestFailed, match="no way"):
            list(turn)
        with pytest.raises(acp_host.RequestFailed, match="no way"):
            turn.wait()
        assert turn.outcome is not None
        assert turn.outcome.kind == "failed"

    def test_a_turn_is_cancelled_from_another_thread(self, host: blocking.HostConnection) -> None:
        session = host.new_session()
        turn, after = session.prompt("/wait"), session.prompt("/say later")
        assert session.current_turn == turn
        assert session.queued_turns == (after,)
        threading.Thread(target=turn.cancel).start()
        assert turn.wait().outcome.kind == "cancelled"
        assert after.wait().text == "later"

    def test_many_threads_at_once(self, host: blocking.HostConnection) -> None:
        sessions = [host.new_session() for _ in range(8)]
        texts: dict[str, str] = {}

        def work(session: blocking.Session) -> None:
            texts[session.id] = "".join(session.prompt(f"/say {session.id}, {n}").wait().text for n in range(5))

        threads = [threading.Thread(target=work, args=(session,)) for session in sessions]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(DEADLINE)
        assert texts == {s.id: "".join(f"{s.id}, {n}" for n in range(5)) for s in sessions}
        assert {session.id for session in host.sessions} == set(texts)


class TestHandlers:
    def test_a_handler_may_block_and_make_blocking_calls(self, tmp_path: Path) -> None:
        seen: list[Any] = []

        def decide(request: Any) -> str:
            seen.append((threading.current_thread(), host.agreement.agent_name, len(host.sessions)))
            return str(request.options[0].option_id)

        with blocking.connect(ReferenceAgent.command(), permissions=decide, files=True) as host:
            result = host.new_session(tmp_path).prompt("/write notes.txt\na note").wait()
        assert (tmp_path / "notes.txt").read_text().strip() == "a note"
        assert result.outcome.kind == "completed"
        assert seen
        assert all(about == (about[0], "Reference Agent", 1) for about in seen)
        assert threading.main_thread() not in {thread for thread, *_ in seen}

    def test_two_questions_are_shown_at_a_time(self) -> None:
        both = threading.Barrier(2, timeout=DEADLINE)

        def answer(params: Any) -> Any:
            both.wait()
            return {"answer": params["n"]}

        script = """
            await agent.handshake()
            await agent.expect("_begin")
            for n in range(2):
                agent.send({"jsonrpc": "2.0", "id": n, "method": "_ask", "params": {"n": n}})
            answers = [await agent.receive() for _ in range(2)]
            agent.send({"jsonrpc": "2.0", "method": "_told", "params": [a["result"]["answer"] for a in answers]})
            await agent.expect("_end")
        """
        told: queue.Queue[Any] = queue.Queue()
        command = acp_host_script(script)
        with blocking.connect(command, handlers={"_ask": answer}) as host:
            host.on_notification("_told", told.put)
            host.notify("_begin", force=True)
            assert sorted(told.get(timeout=DEADLINE)) == [0, 1]
            host.notify("_end", force=True)

    def test_coroutine_functions_run_on_the_loop_of_the_connection(self) -> None:
        async def decide(request: Any) -> Any:
            assert asyncio.get_running_loop()
            return request.options[0].option_id

        with blocking.connect(ReferenceAgent.command(), permissions=decide, terminals=True) as host:
            assert "Status 0" in host.new_session().prompt("/run true").wait().text

    def test_everything_is_called_where_dispatch_says(self, tmp_path: Path) -> None:
        threads: set[threading.Thread] = set()
        observed = threading.Event()

        def note(value: Any) -> Any:
            threads.add(threading.current_thread())
            observed.set()
            return value.options[0].option_id if hasattr(value, "options") else None

        with Loop() as loop:
            command = ReferenceAgent.command()
            with blocking.connect(command, permissions=note, files=True, dispatch=loop.dispatch) as host:
                host.on_sessions_changed(lambda opened: note(opened.id))
                session = host.new_session(tmp_path)
                session.state.changed.connect(note)
                session.on_update(note)
                session.on_file_written(note)
                session.state.select(lambda snapshot: len(snapshot.transcript), note)
                session.notices.changed.connect(note)
                session.prompt("/write notes.txt\na note\n/notice info Hi").wait()
                assert observed.wait(DEADLINE)
        assert threads == {loop.thread}

    @pytest.mark.parametrize("kind", ["plain", "coroutines"])
    def test_open_documents_and_conflicts_are_the_dispatched_threads_too(self, tmp_path: Path, kind: str) -> None:
        """Where documents of a user interface may be touched; coroutine functions run on the connection's loop."""
        documents = MemoryBuffers()
        threads: dict[str, threading.Thread] = {}

        class Editor:
            def find_document(self, path: str) -> OpenDocument | None:
                threads["find"] = threading.current_thread()
                return documents.find_document(path)

            def apply_edit(self, edit: BufferEdit) -> bool:
                threads["apply"] = threading.current_thread()
                return documents.apply_edit(edit)

        class AsyncEditor(Editor):
            async def find_document(self, path: str) -> OpenDocument | None:  # type: ignore[override]
                return super().find_document(path)

            async def apply_edit(self, edit: BufferEdit) -> bool:  # type: ignore[override]
                return super().apply_edit(edit)

        def decide(conflict: WriteConflict) -> str:
            threads["conflict"] = threading.current_thread()
            return conflict.proposed

        path = tmp_path / "notes.txt"
        path.write_text("disk")
        documents.open(path, "disk")
        documents.change(path, "unsaved")
        files = acp_host.FileService(buffers=Editor() if kind == "plain" else AsyncEditor(), conflict=decide)
        changed = threading.Event()

        def note(change: FileChange) -> None:
            threads["change"] = threading.current_thread()
            changed.set()

        files.on_change(note)
        allow = acp_host.PermissionPolicy.allow_once()
        command = ReferenceAgent.command()
        with Loop() as loop, blocking.connect(command, files=files, permissions=allow, dispatch=loop.dispatch) as host:
            host.new_session(tmp_path).prompt(f"/write {path}\nagent").wait()
            assert changed.wait(DEADLINE)
        assert documents.text(path).strip() == "agent"
        assert set(threads) == {"find", "apply", "conflict", "change"}
        elsewhere = {what for what, thread in threads.items() if thread is loop.thread}
        assert elsewhere == ({"find", "apply"} if kind == "plain" else set()) | {"conflict", "change"}

    def test_open_notebooks_are_the_dispatched_threads_too(self, tmp_path: Path) -> None:
        threads = []

        class Notebooks:
            def find_notebook(self, path: str) -> None:
                threads.append(threading.current_thread())

            def apply_change(self, change: Any) -> bool:
                raise AssertionError("none is open")

        (tmp_path / "notes.txt").write_text("a note")
        files = acp_host.FileService(buffers=NotebookBuffers(Notebooks()))
        with Loop() as loop, blocking.connect(ReferenceAgent.command(), files=files, dispatch=loop.dispatch) as host:
            host.new_session(tmp_path).prompt("/read notes.txt").wait()
        assert set(threads) == {loop.thread}

    def test_mcp_servers_that_are_functions_may_block_too(self, tmp_path: Path) -> None:
        threads = []

        def clock(method: str, params: Any) -> Any:
            threads.append((threading.current_thread(), len(host.sessions)))
            return {"content": [{"type": "text", "text": "noon"}]}

        servers = [acp_host.HostMcpServer(clock, name="clock")]
        with Loop() as loop, blocking.connect(ReferenceAgent.command(), dispatch=loop.dispatch) as host:
            session = host.new_session(tmp_path, mcp_servers=servers)
            assert "noon" in session.prompt('/mcp tools/call {"name": "now"}').wait().text
        assert {thread for thread, _ in threads} == {loop.thread}

    def test_a_handler_that_raises_is_reported_and_ends_nothing(self) -> None:
        def decide(request: Any) -> Any:
            raise RuntimeError("out of order")

        with blocking.connect(ReferenceAgent.command(), permissions=decide, terminals=True) as host:
            session = host.new_session()
            session.prompt("/run true").wait()
            assert session.prompt("/say on").wait().text == "on"
            assert any("out of order" in str(diagnostic) for diagnostic in host.diagnostics)

    def test_questions_can_be_answered_from_a_queue(self) -> None:
        waiting = acp_host.PermissionQueue()
        answered: list[int] = []

        def answer(changes: Any) -> None:
            for question in changes.snapshot:
                if question.number not in answered:  # an observer may hear of it once more
                    answered.append(question.number)
                    question.answer(question.options[0].option_id)

        with blocking.connect(ReferenceAgent.command(), permissions=waiting, terminals=True) as host:
            host.observe(waiting).changed.connect(answer)
            assert "Status 0" in host.new_session().prompt("/run true").wait().text
            assert answered
            assert host.observe(waiting).snapshot() == ()


class TestState:
    def test_what_it_is_can_be_read_at_a_prompt(self, host: blocking.HostConnection) -> None:
        assert repr(host.health) == "<blocking <ConnectionHealth connected>>"

    def test_snapshots_and_changes(self, host: blocking.HostConnection) -> None:
        session = host.new_session()
        versions: queue.Queue[int] = queue.Queue()
        with session.state.changed.connect(lambda changes: versions.put(changes.version)):
            session.prompt("/say Hello").wait()
            assert versions.get(timeout=DEADLINE) > 0
        assert session.state.snapshot().transcript[-1].text == "Hello"

    def test_a_slow_observer_gets_merged_changes_and_holds_up_nobody(self, host: blocking.HostConnection) -> None:
        session = host.new_session()
        go_on, seen = threading.Event(), queue.Queue[int]()

        def observe(changes: Any) -> None:
            seen.put(changes.version)
            go_on.wait(DEADLINE)

        session.state.changed.connect(observe)
        session.prompt("/say Hello").wait()
        first = seen.get(timeout=DEADLINE)  # from here on, it takes its time
        assert session.prompt("/flood 500").wait().outcome.kind == "completed"
        told = session.state.version
        go_on.set()
        second = seen.get(timeout=DEADLINE)
        assert first + 1 < second
        assert second >= told - 1  # all that had been delivered by then came in one

    def test_watching_ends_when_it_is_left(self, host: blocking.HostConnection) -> None:
        session = host.new_session()
        for _snapshot in session.state.watch():
            break
        assert not session.state.asynchronous.is_observed

    def test_reminders_and_notices(self, host: blocking.HostConnection) -> None:
        session = host.new_session()
        receipt = session.remind("2 tests failed", tags=["tests"])
        assert receipt.rung == "inject_reminder"
        assert [entry.body for entry in session.reminders.find(tag="tests")] == ["2 tests failed"]
        assert session.plan_reminder("x")[0].available
        assert session.reminders.revoke(session.reminders.entries[0].id) == "revoked"
        session.prompt("/notice warning Careful").wait()
        (toast,) = session.notices.snapshot().toasts
        assert session.notices.dismiss(toast.id)
        assert not session.notices.snapshot().toasts

    def test_anything_else_is_run_on_the_loop(self, host: blocking.HostConnection) -> None:
        session = host.new_session()

        async def work(factor: int) -> int:
            await asyncio.sleep(0)
            return factor * len(session.asynchronous.id)

        assert host.run(work, 2) == 2 * len(session.id)

    def test_lists_are_iterated_over(self, host: blocking.HostConnection) -> None:
        opened = {host.new_session().id for _ in range(3)}
        assert {info.session_id for info in host.iter_sessions()} == opened
        for _info in host.iter_sessions():
            break

    def test_a_session_of_earlier_is_opened(self, host: blocking.HostConnection) -> None:
        session = host.new_session()
        session.prompt("/say Hello").wait()
        session.close()
        opened = host.open_session(session.id)
        assert (opened.session.id, opened.step, opened.lost) == (session.id, "resume", "history")
        assert opened.session.prompt("/say again").wait().text == "again"


class TestMisuse:
    def test_a_call_on_the_thread_of_the_connection_raises_and_does_not_hang(
        self, host: blocking.HostConnection
    ) -> None:
        async def work() -> None:
            host.new_session()

        with pytest.raises(acp_host.InvalidState, match="asynchronous"):
            host.run(work)

    def test_closing_ends_calls_under_way(self) -> None:
        host = blocking.connect(ReferenceAgent.command())
        turn = host.new_session().prompt("/wait")
        waiting: queue.Queue[Exception] = queue.Queue()

        def wait() -> None:
            try:
                turn.wait()
            except acp_host.AcpError as error:
                waiting.put(error)

        thread = threading.Thread(target=wait)
        thread.start()
        host.close()
        host.close()
        assert isinstance(waiting.get(timeout=DEADLINE), acp_host.AcpError)
        thread.join(DEADLINE)
        with pytest.raises(acp_host.ConnectionClosed):
            host.new_session()

    def test_an_agent_that_cannot_start_leaves_no_thread(self) -> None:
        with pytest.raises(acp_host.StartFailed):
            blocking.connect([sys.executable, "-c", "raise SystemExit(3)"])
        assert not [thread for thread in threading.enumerate() if thread.name.startswith("acp_host connection")]

    def test_wrong_arguments_raise_as_they_do_with_await(self) -> None:
        with pytest.raises(acp_host.InvalidInput, match="dispatch"):
            blocking.connect(ReferenceAgent.command(), dispatch=5)
        with pytest.raises(acp_host.InvalidInput, match="permissions"):
            blocking.connect(ReferenceAgent.command(), permissions=5)
        with pytest.raises(TypeError, match="premissions"):
            blocking.connect(ReferenceAgent.command(), premissions=None)


def acp_host_script(body: str) -> list[str]:
    from acp_host.testing import ScriptedAgent

    return ScriptedAgent.command(body)


INTERRUPTED = """
import os, signal, sys, threading
from acp_host import blocking
from acp_host.testing import ReferenceAgent

main = threading.main_thread().ident

def interrupt_when_it_waits():
    frame = None
    while frame is None:
        frame = sys._current_frames()[main]
        while frame is not None and frame.f_code.co_qualname != "_Call.wait":
            frame = frame.f_back
    os.kill(os.getpid(), signal.SIGINT)

with blocking.connect(ReferenceAgent.command()) as host:
    session = host.new_session()
    turn = session.prompt("/wait")
    threading.Thread(target=interrupt_when_it_waits).start()
    try:
        {wait}
    except KeyboardInterrupt:
        print(turn.wait().outcome.kind, session.prompt("/say on").wait().text)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a signal cannot be sent to one process there")
@pytest.mark.parametrize("wait", ["turn.wait()", "list(turn)"])
def test_ctrl_c_cancels_the_turn_and_the_connection_goes_on(wait: str) -> None:
    program = [sys.executable, "-c", INTERRUPTED.format(wait=wait)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=DEADLINE)
    assert (done.stdout, done.returncode) == ("cancelled on\n", 0), done.stderr


def test_a_program_that_forgets_to_close_ends_and_leaves_no_agent() -> None:
    program = """
import psutil
from acp_host import blocking
from acp_host.testing import ReferenceAgent

host = blocking.connect(ReferenceAgent.command())
host.new_session().prompt("/wait")
print(*[child.pid for child in psutil.Process().children(recursive=True)])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=DEADLINE)
    assert done.returncode == 0, done.stderr
    pids = [int(pid) for pid in done.stdout.split()]
    assert pids
    assert not any(psutil.pid_exists(pid) for pid in pids)


def test_a_call_that_comes_in_the_moment_of_the_end_waits_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    thread = LoopThread("acp_host connection")
    ending, go_on, asked = threading.Event(), threading.Event(), threading.Event()

    async def holds_up_the_end() -> None:
        try:
            await asyncio.sleep(DEADLINE)
        finally:
            ending.set()
            go_on.wait(DEADLINE)

    thread.call_soon(lambda: setattr(thread, "kept", thread.loop.create_task(holds_up_the_end())))
    thread.ask(lambda: None)
    thread.loop.call_soon_threadsafe(thread.loop.stop)  # what stop() does before it is known everywhere
    assert ending.wait(DEADLINE)
    call_soon = thread.call_soon
    monkeypatch.setattr(thread, "call_soon", lambda function: call_soon(function) and (asked.set() or True))

    def let_it_end() -> None:
        asked.wait(DEADLINE)
        go_on.set()

    threading.Thread(target=let_it_end).start()
    outcome: queue.SimpleQueue[BaseException] = queue.SimpleQueue()

    def call() -> None:
        try:
            thread.run(lambda: asyncio.sleep(DEADLINE))
        except BaseException as error:
            outcome.put(error)

    threading.Thread(target=call, daemon=True).start()
    assert isinstance(outcome.get(timeout=DEADLINE / 2), acp_host.ConnectionClosed)
    monkeypatch.setattr(thread, "_stopped", True)  # the loop is stopped already
    thread.stop()


def test_an_end_that_two_threads_want_at_once_is_an_end_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    thread = LoopThread("acp_host connection")
    ending, go_on, ended = threading.Event(), asyncio.Event(), threading.Event()

    async def takes_its_time() -> None:
        try:
            await asyncio.sleep(DEADLINE)
        finally:
            ending.set()
            await go_on.wait()
            ended.set()

    thread.call_soon(lambda: setattr(thread, "kept", thread.loop.create_task(takes_its_time())))
    thread.ask(lambda: None)
    other, call_soon = threading.Thread(target=thread.stop), thread.call_soon

    def call_soon_and_let_the_other_one_in(function: Callable[[], Any]) -> bool:
        told = call_soon(function)
        if other.ident is None:
            assert ending.wait(DEADLINE)
            other.start()
            other.join(0.2)  # it waits for the end
            thread.loop.call_soon_threadsafe(go_on.set)
        return told

    monkeypatch.setattr(thread, "call_soon", call_soon_and_let_the_other_one_in)
    thread.stop()
    other.join(DEADLINE)
    assert ended.is_set()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked there")
def test_a_forked_process_is_told_that_the_connection_is_not_its_own() -> None:
    program = """
import os, signal, sys
from acp_host import ConnectionClosed, blocking
from acp_host.testing import ReferenceAgent

host = blocking.connect(ReferenceAgent.command())
session = host.new_session()
child = os.fork()
if child == 0:
    signal.alarm(10)
    try:
        session.prompt("/say no")
    except ConnectionClosed:
        sys.exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), session.prompt("/say on").wait().text)
host.close()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=3 * DEADLINE)
    assert (done.stdout, done.returncode) == ("7 on\n", 0), done.stderr
