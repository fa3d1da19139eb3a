"""The page about terminals: its examples work, and its tables hold."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from acp_host.services import TerminalSize, terminals
from acp_host.services.terminal_environment import PTY_VARIABLES
from acp_host.state.terminal_output import MAX_SEGMENTS
from acp_host.state.terminals import MAX_RELEASED
from acp_host.state.text import SEGMENT
from acp_host.testing import ScriptedAgent
from acp_host.wire.terminals import CreateTerminalRequest
from tests.docs.snippets import read_page, run_page

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the commands are those of a POSIX shell")


async def runs_its_prompt(agent: ScriptedAgent) -> None:
    """An agent that runs each prompt as a command."""
    await agent.handshake()
    await agent.open_session("session-1")
    prompt = await agent.expect("session/prompt")
    command = prompt["params"]["prompt"][0]["text"]
    answer = await agent.call("terminal/create", {"sessionId": "session-1", "command": command})
    terminal = {"sessionId": "session-1", **answer["result"]}
    shown = {"type": "terminal", "terminalId": terminal["terminalId"]}
    agent.update({"sessionUpdate": "tool_call", "toolCallId": "1", "title": "Count", "content": [shown]})
    for method in ("wait_for_exit", "output", "release"):
        await agent.call(f"terminal/{method}", terminal)
    agent.reply({"stopReason": "end_turn"}, to=prompt)


class Opened:
    """A tab of an editor."""

    def __init__(self, argv: tuple[str, ...], **about: Any) -> None:
        self.argv = argv
        self.about = about
        self.typed: list[bytes] = []
        self.on_output: Any = None
        self.on_exit: Any = None
        self.may_close = False

    def close_program(self) -> None:
        self.on_exit(signal="SIGHUP")

    def allow_closing(self) -> None:
        self.may_close = True

    def type(self, data: bytes) -> None:
        self.typed.append(data)


class Editor:
    """An editor with a terminal of its own."""

    def __init__(self) -> None:
        self.tabs: list[Opened] = []

    def open_tab(self, argv: tuple[str, ...], **about: Any) -> Opened:
        self.tabs.append(Opened(argv, **about))
        return self.tabs[-1]


async def test_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    editor, agent = Editor(), ScriptedAgent(runs_its_prompt)
    names = await run_page("docs/terminals.md", agent=agent.transport(), project=tmp_path, editor=editor)
    assert capsys.readouterr().out.splitlines() == [
        "Count | echo $((6 * 7)) True ('42\\n',) 0 True",
        "printf %s hello True False",
        "hello 0",
        "TerminalExitStatus(exit_code=0, signal=None, meta=UNSET) 'hello\\r\\nhello from 24 80\\r\\n'",
    ]
    service = names["service"]
    service.open_session("s", [tmp_path], tmp_path)
    await service.create(CreateTerminalRequest("s", "make", args=("all",)))
    (terminal,), (tab,) = service.terminals("s"), editor.tabs
    assert tab.argv == ("make", "all")
    assert tab.about["title"] == "make all"
    tab.on_output("built\n")
    await terminal.write(b"y")
    await service.close()
    assert (terminal.output, tab.typed, tab.may_close) == ("built\n", [b"y"], True)
    assert (await terminal.wait()).signal == "SIGHUP"


def test_the_numbers_of_the_page() -> None:
    page = read_page("docs/terminals.md")
    assert terminals.MAX_OUTPUT == 1024 * 1024
    assert "`max_output=` (1 MiB)" in page
    assert f"{terminals.MAX_TERMINALS} terminals of a session" in page
    assert f"released the newest {MAX_RELEASED}" in page
    assert f"the newest {(MAX_SEGMENTS - 1) * SEGMENT // 1024} Ki characters" in page
    assert dict(PTY_VARIABLES) == {"TERM": "xterm-256color", "PAGER": "cat", "GIT_PAGER": "cat"}
    assert TerminalSize() == TerminalSize(columns=80, rows=24)
