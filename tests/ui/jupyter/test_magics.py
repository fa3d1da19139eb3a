"""The magics, in a shell of IPython's."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import acp_host
from acp_host import blocking
from acp_host.automation.known_agents.locations import Locations
from acp_host.automation.known_agents.own_entries import OwnEntry, add_own
from acp_host.testing import ReferenceAgent
from acp_host.ui.jupyter import AgentWidget, UsageHistory
from acp_host.ui.jupyter.magic_lines import COMMANDS, HELP, read_line
from acp_host.ui.jupyter.magics import AcpMagics
from tests.ui.jupyter.widgets import Told

AGENT = " ".join(ReferenceAgent.command())


class Shell:
    """A shell, and what it shows."""

    def __init__(self, shell: InteractiveShell, read: Callable[[], str]) -> None:
        self.shell = shell
        self.read = read

    def run(self, cell: str) -> str:
        """Run a cell; return what it prints, with what it displays and raises."""
        self.shell.run_cell(cell)
        return self.read()

    def value(self, line: str) -> Any:
        return self.shell.run_line_magic("acp", line)

    @property
    def magics(self) -> AcpMagics:
        magics = self.shell.magics_manager.registry["AcpMagics"]
        assert isinstance(magics, AcpMagics)
        return magics

    def completions(self, text: str) -> list[str]:
        word = text.rsplit(" ", 1)[-1]
        event = SimpleNamespace(text_until_cursor=text, symbol=word, line=text, command="%acp")
        found = self.magics.complete(self.shell, event)
        return [each for each in found if each.startswith(word)]


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Shell]:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.chdir(tmp_path)
    hook = sys.displayhook
    InteractiveShell.clear_instance()
    made = InteractiveShell.instance(colors="nocolor", config=Config(HistoryManager={"enabled": False}))
    made.run_cell("%load_ext acp_host.ui.jupyter")

    def read() -> str:
        told = capsys.readouterr()
        return told.out + told.err

    yield Shell(made, read)
    made.run_line_magic("acp", "close")
    InteractiveShell.clear_instance()
    sys.displayhook = hook


@pytest.fixture
def talking(shell: Shell, tmp_path: Path) -> Shell:
    """A shell that uses a widget."""
    shell.shell.user_ns["agent"] = Told(ReferenceAgent().transport(), cwd=tmp_path, files=True)
    assert shell.run("%acp use agent") == ""
    return shell


def test_a_conversation_begins_and_ends(shell: Shell) -> None:
    assert "AgentWidget" in shell.run(f"%acp connect --files --permissions allow_once {AGENT}")
    assert shell.value("prompt /write a.txt\na note").outcome.kind == "completed"
    assert Path("a.txt").read_text() == "a note"
    assert "AgentWidget" in shell.run("%acp show")
    assert shell.run("%acp close") == ""
    assert "there is no conversation" in shell.run("%acp prompt Hello")


def test_connecting_again_ends_the_one_before(shell: Shell) -> None:
    shell.run(f"%acp connect {AGENT}")
    [magics] = ({type(each).__name__: each for each in shell.shell.magics_manager.registry.values()}.get("AcpMagics"),)
    before = magics.widget
    assert before.session
    shell.run(f"%acp connect {AGENT}")
    with pytest.raises(acp_host.ConnectionClosed):
        before.prompt("Hello")
    assert magics.widget is not before


def test_a_known_agent_is_named(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    add_own(Locations.for_user().own, "mine", OwnEntry(command=tuple(ReferenceAgent.command())))
    assert shell.completions("%acp connect mi") == ["mine"]
    shell.run("%acp connect mine")
    assert shell.value("prompt /say Hello").text == "Hello"
    assert "no agent is known by the name 'theirs'" in shell.run("%acp connect agent:theirs")


def test_a_line_and_a_cell_prompt_and_wait(talking: Shell) -> None:
    assert talking.value('prompt /say It is "quoted" -b').text == 'It is "quoted" -b'
    assert talking.shell.run_cell_magic("acp", "", "/say one\n/say two").text == "onetwo"
    assert "[completed, 5 tokens]\nHello" in talking.run("%acp prompt /say Hello")


def test_variables_are_left_alone_unless_they_are_asked_for(talking: Shell) -> None:
    talking.shell.user_ns["name"] = "Ada"
    assert talking.value("prompt /say {name} $name").text == "{name} $name"
    assert talking.value("prompt -i /say {name}").text == "Ada"
    assert talking.run("%%acp\n/say {name}").endswith("{name}\n")
    assert talking.run("%%acp --interpolate\n/say {name}").endswith("Ada\n")


def test_in_the_background_there_is_a_turn(talking: Shell) -> None:
    turn = talking.value("prompt --background /wait")
    assert isinstance(turn, blocking.Turn)
    assert not turn.done
    assert "turn:       running" in talking.run("%acp status")
    talking.run("%acp cancel")
    assert turn.wait().stop_reason == "cancelled"


def test_status_reminders_options_usage(talking: Shell) -> None:
    assert "Reference Agent" in talking.run("%acp status")
    assert ", inject_reminder\n" in talking.run("%acp remind --ttl=2 --tag=tests 2 tests failed")
    assert talking.run("%acp mode") == "mode = ask (ask, auto)\n"
    assert talking.run("%acp mode auto") == ""
    assert talking.run("%acp option mode") == "mode = auto (ask, auto)\n"
    assert "plans = True" in talking.run("%acp option")
    talking.run("%acp option plans off")
    assert "plans = False" in talking.run("%acp option plans")
    talking.value("prompt /usage")
    history = talking.value("usage")
    assert isinstance(history, UsageHistory)
    assert history is talking.value("usage")


def test_who_cannot_be_answered_while_the_cell_waits_is_told_so(
    talking: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, told, asked = talking.shell.user_ns["agent"], list[str](), threading.Event()
    prompt = agent.prompt

    def write(text: str) -> None:
        told.append(text)
        agent.cancel()
        asked.set()

    def prompt_and_be_asked(text: str) -> blocking.Turn:
        turn: blocking.Turn = prompt(text)
        assert asked.wait(30)
        return turn

    monkeypatch.setattr(sys, "stderr", SimpleNamespace(write=write, flush=lambda: None))
    monkeypatch.setattr(agent, "prompt", prompt_and_be_asked)
    assert talking.value("prompt /edit a.txt").outcome.kind == "cancelled"
    assert "takes answers in the widget only while no cell runs" in told[0]


def test_whom_nobody_has_to_answer_waits_without_a_word(shell: Shell) -> None:
    shell.run(f"%acp connect --files --permissions allow_once {AGENT}")
    told = shell.run("%acp prompt /edit a.txt")
    assert "completed" in told
    assert "waits for an answer" not in told


def test_what_goes_wrong_is_one_line(talking: Shell) -> None:
    assert talking.run("%acp prompt /error -32603 It is broken").count("\n") == 1
    assert talking.run("%acp nothing").startswith("%acp: %acp has no command 'nothing'")
    assert "InvalidInput" not in talking.run("%acp connect --what")
    assert "takes the name of an AgentWidget" in talking.run("%acp use name_of_nothing")
    assert "no text" in talking.run("%acp prompt")
    assert "takes the text below it" in talking.run("%%acp Hello\nthere")
    assert "--ttl" in talking.run("%acp remind --ttl=soon Hello")
    assert "cannot be read" in talking.run("%acp connect 'agent")
    assert "name the agent" in talking.run("%acp connect")


def test_a_connection_can_be_used(shell: Shell, tmp_path: Path) -> None:
    with blocking.connect(ReferenceAgent().transport()) as host:
        host.new_session(tmp_path)
        shell.shell.user_ns["host"] = host
        assert shell.run("%acp use host") == ""
        assert shell.value("prompt /say Hello").text == "Hello"
        shell.run("%acp close")
        assert not host.closed


def test_what_can_be_written_next(talking: Shell) -> None:
    assert talking.completions("%acp ") == list(COMMANDS)
    assert talking.completions("%acp pr") == ["prompt"]
    assert talking.completions("%acp mode ") == ["ask", "auto"]
    assert talking.completions("%acp option pl") == ["plans"]
    assert talking.completions("%acp option mode a") == ["ask", "auto"]
    assert talking.completions("%acp use ") == ["agent"]
    assert talking.completions("%acp connect --p") == ["--permissions"]
    assert talking.completions("%acp status ") == []
    with provisionalcompleter():
        assert "prompt" in [each.text for each in talking.shell.Completer.completions("%acp pr", 7)]


def test_every_command_is_in_the_help(talking: Shell) -> None:
    assert talking.run("%acp help") == talking.run("%acp") == HELP + "\n"
    for command in COMMANDS:
        assert read_line(command).command == command
        assert command in HELP
    assert AgentWidget.__doc__
