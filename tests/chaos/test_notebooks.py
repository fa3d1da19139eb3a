"""What agents, cells and pages can do to a widget in a notebook."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path

import psutil
import pytest
from IPython.core.interactiveshell import InteractiveShell

import acp_host
from acp_host.state.harn.artifacts import Artifact
from acp_host.testing import ReferenceAgent
from acp_host.ui.jupyter import AgentWidget
from acp_host.ui.jupyter import views as views_module
from acp_host.ui.jupyter.display import BUNDLES
from acp_host.ui.jupyter.magics import AcpMagics
from acp_host.wire.tool_calls import Diff
from tests.ui.jupyter.test_display import HOSTILE
from tests.ui.jupyter.test_display import result as turn_result
from tests.ui.jupyter.test_views import shown as viewed
from tests.ui.jupyter.widgets import Told, shown


def children() -> set[psutil.Process]:
    return set(psutil.Process().children(recursive=True))


async def test_r365_an_agent_is_served_while_a_cell_holds_up_the_loop(tmp_path: Path) -> None:
    with shown(tmp_path, files=True) as widget:  # nothing in this block lets this loop go on, as a cell would not
        turn = widget.prompt("/slow 3\n/edit notes.txt")
        question = widget.until(lambda: next((m["items"][0] for m in widget.messages("questions") if m["items"]), None))
        option = next(each["id"] for each in question["options"] if each["kind"] == "allow_once")
        widget.command(id=1, command="answer", question=question["number"], option=option)
        assert turn.wait().outcome.kind == "completed"
        assert (tmp_path / "notes.txt").exists()


async def test_r366_a_view_that_acknowledges_nothing_is_told_the_newest_now_and_then() -> None:
    async with viewed() as (notebook, session, _):
        notebook.mute = {"one"}
        page = notebook.join("one")
        await page.do("resume", session=session.id)
        before = len(page.told)
        async with asyncio.timeout(40):
            await session.prompt("/flood 20000\n/say done")
        await page.until(lambda: page.texts(session.id)[-1:] and page.texts(session.id)[-1].endswith("done"))
        assert len(page.told) - before < 20


async def test_r367_a_view_is_let_go_that_says_nothing_while_others_are_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views_module, "_LOST", 0.1)
    async with viewed() as (notebook, _, _feed):
        before = notebook.join("before")
        await before.until(lambda: before.hello)
        notebook.mute = {"before"}
        after = notebook.join("after")
        await after.until(lambda: after.latest.get("control") == {"type": "control", "controller": 2, "viewers": [2]})


async def test_r368_what_is_no_message_is_ignored_and_what_is_no_command_refused() -> None:
    async with viewed() as (notebook, _, feed):
        page = notebook.join("one")
        for content in ({}, {"view": "one"}, {"view": "one", "kind": [], "number": 1}, {"view": {}, "kind": "join"}):
            notebook.views.take(content)
        for command in (None, 7, {"id": 1}):
            notebook.say("one", "command", command=command)
        notebook.say("one", "command", command="no JSON")
        await page.until(lambda: any(not result["ok"] for result in page.results.values()))
        assert len(feed.viewers) == 1


async def test_r369_there_are_fifty_views_at_most() -> None:
    async with viewed() as (notebook, _, feed):
        for number in range(2_000):
            notebook.say(f"view {number}", "join")
        assert len(feed.viewers) == 50


@pytest.mark.parametrize("text", HOSTILE)
def test_r370_what_goes_into_a_notebook_is_words(text: str) -> None:
    artifact = Artifact(artifact_id=text, title=text, mime_type="text/html", spec=text)
    for value in (turn_result(text), Diff(path=text, new_text=text), artifact):
        bundle = BUNDLES[type(value)](value)
        assert bundle.keys() <= {"text/plain", "text/html"}
        tags = re.findall(r"<[^>]*>", bundle.get("text/html", ""))
        assert not [tag for tag in tags if re.search(r"script|img|iframe|svg|\son\w+|javascript:|data:|position", tag)]


@pytest.mark.parametrize("command", [["/no/such/agent"], [sys.executable, "-c", "raise SystemExit('no key')"]])
def test_r371_an_agent_that_does_not_start_is_told_of_and_leaves_nothing(command: list[str]) -> None:
    before = children()
    widget = Told(command)
    with pytest.raises(acp_host.AcpError):
        _ = widget.host
    widget.until(lambda: "could not be started" in widget._words)
    widget.close()
    assert children() <= before


def test_r372_nothing_in_a_text_is_evaluated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    shell = InteractiveShell()
    shell.user_ns.update(ran=[], agent=Told(ReferenceAgent().transport()))
    shell.register_magics(AcpMagics(shell))
    text = "{ran.append(1)} $ran {{ran}} !echo %who"
    shell.run_line_magic("acp", "use agent")
    assert shell.run_line_magic("acp", f"prompt /say {text}").text == text
    assert shell.run_cell_magic("acp", "", f"/say {text}").text == text
    assert shell.run_line_magic("acp", "prompt -i /echo {[1, 2]} of {agent.prompt('/say {ran.append(1)}').wait().text}")
    assert shell.user_ns["ran"] == []
    shell.run_line_magic("acp", "close")


def test_r373_closing_ends_all_of_it(tmp_path: Path) -> None:
    before = children()
    AgentWidget(ReferenceAgent.command()).close()
    widget = Told(ReferenceAgent.command(), cwd=tmp_path, files=True)
    widget.says("join")
    turn = widget.prompt("/edit notes.txt")
    widget.says("join")
    widget.until(lambda: any(each["items"] for each in widget.messages("questions")))
    widget.close()
    with pytest.raises(acp_host.AcpError):
        turn.wait()
    psutil.wait_procs(left := children() - before, timeout=20)
    assert not [process for process in left if process.is_running()]


async def test_r374_an_interrupt_cancels_the_turn_that_a_cell_awaits(tmp_path: Path) -> None:
    with shown(tmp_path) as widget:
        turn = widget.prompt("/wait")
        cell = asyncio.ensure_future(turn)  # the kernel cancels the task of a cell that is interrupted
        await asyncio.sleep(0)
        cell.cancel()
        with pytest.raises(asyncio.CancelledError):
            await cell
        assert turn.wait().outcome.kind == "cancelled"
        assert (await widget.prompt("/say Hello")).text == "Hello"
