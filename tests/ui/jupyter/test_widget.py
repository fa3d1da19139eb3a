"""The widget as Python has it: what it connects, shows, and gives to await or to wait for."""

from __future__ import annotations

import gc
import shlex
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

import acp_host
from acp_host import PermissionPolicy, PermissionQueue, Permissions, blocking
from acp_host.testing import ReferenceAgent
from acp_host.ui.jupyter import AgentWidget, ServerAgentWidget
from acp_host.ui.jupyter.asking import asking
from acp_host.ui.page_files import STATIC
from tests.ui.jupyter.widgets import DEADLINE, Told, shown


def agents() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


class TestTurns:
    def test_a_prompt_is_waited_for(self, tmp_path: Path) -> None:
        with shown(tmp_path) as widget:
            assert widget.prompt("/say Hello").wait().text == "Hello"

    async def test_or_awaited_as_at_the_top_of_a_cell(self, tmp_path: Path) -> None:
        with shown(tmp_path) as widget:
            assert (await widget.prompt("/say Hello")).text == "Hello"

    async def test_a_cell_that_blocks_its_loop_stalls_neither_agent_nor_views(self, tmp_path: Path) -> None:
        with shown(tmp_path) as widget:
            session = widget.session.id
            widget.command(id=1, command="resume", session=session)
            turn = widget.prompt("/slow 5")
            widget.until(lambda: any("chunk 5" in str(each) or turn.done for each in widget.told))  # blocks this loop
            assert turn.wait().outcome.kind == "completed"

    def test_reminders_and_cancelling(self, tmp_path: Path) -> None:
        with shown(tmp_path) as widget:
            turn = widget.prompt("/wait")
            assert widget.remind("2 tests failed", ttl_turns=2).rung == "inject_reminder"
            widget.cancel()
            assert turn.wait().stop_reason == "cancelled"


class TestPermissions:
    def answer(self, widget: Told) -> str:
        turn = widget.prompt("/edit notes.txt")
        items = widget.until(lambda: any(each["items"] for each in widget.messages("questions")) or turn.done)
        if turn.done:
            return str(turn.wait().text)
        [question] = widget.messages("questions")[-1]["items"]
        assert items
        option = next(each["id"] for each in question["options"] if each["kind"] == "allow_once")
        widget.command(id=9, command="answer", question=question["number"], option=option)
        return str(turn.wait().text)

    @pytest.mark.parametrize("given", [None, "ask", PermissionPolicy.ask(), Permissions(), PermissionQueue()])
    async def test_whoever_looks_is_asked(self, given: Any, tmp_path: Path) -> None:
        """Also where a loop runs already that is not the connection's, as in a notebook."""
        with shown(tmp_path, permissions=given, files=True) as widget:
            self.answer(widget)
            assert (tmp_path / "notes.txt").exists()

    @pytest.mark.parametrize(
        "given, written",
        [("reject", False), ("read-only", False), ("allow_once", True), (lambda request: "allow", True)],
    )
    def test_nobody_is_asked_what_is_decided(self, given: Any, written: bool, tmp_path: Path) -> None:
        with shown(tmp_path, permissions=given, files=True) as widget:
            widget.prompt("/edit notes.txt").wait()
            assert not any(each["items"] for each in widget.messages("questions"))
            assert (tmp_path / "notes.txt").exists() is written

    def test_a_word_that_is_none(self) -> None:
        with pytest.raises(acp_host.InvalidInput, match="ask, deny, allow-once, read-only"):
            asking("sometimes")


class TestBeginning:
    def test_it_does_not_wait_for_the_agent_and_a_view_that_came_early_is_called(self, tmp_path: Path) -> None:
        go = tmp_path / "go"
        agent = f"until [ -e '{go}' ]; do sleep 0.05; done; exec {shlex.join(ReferenceAgent.command())}"
        widget = Told(["/bin/sh", "-c", agent], cwd=tmp_path)
        go.touch()  # who waited for the agent would never come here
        widget.says("join")
        widget.until(lambda: ({"view": "*", "kind": "gone", "number": 0}, None) in widget.told)
        widget.says("join", 2)
        widget.until(lambda: widget.messages("hello"))
        assert widget._words == ""
        widget.close()

    def test_an_agent_that_cannot_be_started_is_told_and_raised(self) -> None:
        widget = Told(["/no/such/agent"])
        with pytest.raises(acp_host.AcpError, match="/no/such/agent"):
            widget.prompt("Hello")
        assert "/no/such/agent could not be started" in widget._words
        widget.says("join")  # and is answered
        assert widget.told[-1][0]["kind"] == "got"
        widget.close()

    def test_a_login_that_is_wanted_is_asked_in_the_view_and_then_the_session_opens(self, tmp_path: Path) -> None:
        widget = Told(ReferenceAgent(require_auth=True).transport(), cwd=tmp_path)
        assert not widget.host.closed
        widget.says("join")
        question = widget.until(lambda: next((m["items"][0] for m in widget.messages("questions") if m["items"]), None))
        widget.command(id=1, command="answer", question=question["number"], login=question["ways"][0]["id"])
        widget.until(lambda: widget.messages("result"))
        assert widget.messages("result")[-1]["ok"], widget.messages("result")
        assert widget.prompt("/say Hello").wait().text == "Hello"
        widget.close()

    def test_without_a_login_there_is_no_session_and_the_connection_stays(self) -> None:
        agent = ReferenceAgent(require_auth=True)
        widget = Told(agent.transport(), authenticate=lambda request: None)
        with pytest.raises(acp_host.AuthRequired):
            _ = widget.session
        widget.until(lambda: widget._words.startswith("No session was opened: "))
        assert not widget.host.closed
        widget.close()

    @pytest.mark.parametrize("arguments", [{}, {"target": ["agent"], "host": "a host"}, {"host": "h", "files": True}])
    def test_what_fits_nothing_is_refused(self, arguments: dict[str, Any]) -> None:
        with pytest.raises(acp_host.InvalidInput):
            AgentWidget(**arguments)
        gc.collect()  # what was made of it is of no consequence

    def test_a_misspelled_option_is_refused_at_once(self) -> None:
        with pytest.raises(acp_host.InvalidInput, match="takes no 'file'; is 'files' meant"):
            AgentWidget(["agent"], file=True)
        with pytest.raises(acp_host.InvalidInput, match=r"takes no 'xyz'$"):
            AgentWidget(["agent"], xyz=True)
        gc.collect()


class TestConnectionThatIsThere:
    def test_it_is_shown_with_its_session_and_stays_open(self, tmp_path: Path) -> None:
        queue = PermissionQueue()
        with blocking.connect(ReferenceAgent.command(), permissions=queue, files=True) as host:
            session = host.new_session(tmp_path)
            widget = Told(host=host, permissions=queue)
            assert widget.session == session
            widget.says("join")
            assert TestPermissions().answer(widget)
            widget.close()
            assert session.prompt("/say Hello").wait().text == "Hello"

    def test_one_that_is_closed_by_another_is_closed_here(self) -> None:
        host = blocking.connect(ReferenceAgent.command())
        widget = Told(host=host)
        assert widget.session
        host.close()
        widget.says("here")
        widget.close()
        assert widget._words == "The conversation with Reference Agent has ended."


class TestDisplay:
    def test_it_is_a_widget_and_words_where_there_are_no_widgets(self, tmp_path: Path) -> None:
        with shown(tmp_path) as widget:
            bundle, _ = widget._repr_mimebundle_()
            assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == widget.model_id
            assert "run the cell" in bundle["text/html"]

    def test_the_page_that_it_brings_is_that_of_the_web_server(self, tmp_path: Path) -> None:
        with shown(tmp_path) as widget:
            assert widget._esm == (STATIC / "view.js").read_text(encoding="utf-8")
            assert widget._css == (STATIC / "view-style.css").read_text(encoding="utf-8")


class TestEnd:
    def test_closing_ends_the_agent_and_may_be_repeated(self, tmp_path: Path) -> None:
        before = agents()
        widget = Told(ReferenceAgent.command(), cwd=tmp_path)
        assert widget.session
        [agent] = [each for each in agents() if each not in before]
        widget.close()
        assert not agent.is_running()
        with pytest.raises(acp_host.AcpError):
            widget.prompt("Hello")
        widget.says("took")
        widget.close()

    def test_closing_while_the_agent_starts(self) -> None:
        before = agents()
        widget = Told(ReferenceAgent.command())
        widget.close()
        with pytest.raises(acp_host.ConnectionClosed):
            _ = widget.session
        deadline = time.monotonic() + DEADLINE
        while [each for each in agents() if each not in before]:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_a_widget_for_an_agent_of_the_server_takes_its_name() -> None:
    assert ServerAgentWidget("one", height=300).get_state(["agent", "height"]) == {"agent": "one", "height": 300}
    for wrong in ("", 3):
        with pytest.raises(acp_host.InvalidInput, match="takes the name of an agent"):
            ServerAgentWidget(wrong)


def test_files_served_without_more_words_keep_notebooks_valid(tmp_path: Path) -> None:
    with shown(tmp_path, files=True, permissions="allow_once") as widget:
        widget.prompt("/write a.ipynb\nno notebook").wait()
        assert not (tmp_path / "a.ipynb").exists()
        widget.prompt("/write a.txt\nno notebook").wait()
        assert (tmp_path / "a.txt").exists()
