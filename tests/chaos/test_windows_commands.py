"""Commands as they are launched on Windows, from what an application says to what the system is given.

The readers of such a command line are not run here, only its writers; what each character means to ``cmd.exe`` is
tested with the transports.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest

from acp_host import StartFailed
from acp_host.testing import ScriptedAgent
from acp_host.transports._launch import Launch
from tests.chaos.bad_agents import open_session

NPM = r"C:\Users\A B\AppData\Roaming\npm"
FILES = {
    rf"{NPM}\{name}" for name in ("npx", "npx.CMD", "npx.ps1", "npm", "npm.CMD", "gemini", "gemini.CMD", "gemini.ps1")
} | {r"C:\bin\uvx.EXE", r"C:\bin\node.EXE"}
ENV = {"Path": rf'C:\bin;"{NPM}"', "PATHEXT": ".COM;.EXE;.BAT;.CMD"}
CMD = r"C:\Windows\System32\cmd.exe"


@pytest.fixture(autouse=True)
def windows_files(monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.path.isfile
    monkeypatch.setattr(os.path, "isfile", lambda path: path in FILES or real(path))
    monkeypatch.delenv("COMSPEC", raising=False)
    monkeypatch.delenv("SYSTEMROOT", raising=False)


def command(*argv: str) -> tuple[str, ...]:
    return Launch.of(argv, None, None, inherit_env=True).windows_command(ENV)


@pytest.mark.parametrize("name", ["npx", "npm", "gemini", "npx.CMD"])
def test_r95_a_shim_is_run_by_its_interpreter(name: str) -> None:
    shim = rf"{NPM}\{name.partition('.')[0]}.CMD"
    assert command(name, "--acp") == (CMD, f'/d /e:ON /v:OFF /s /c ""{shim}" --acp"')


@pytest.mark.parametrize("name", ["uvx", "node", "uvx.EXE"])
def test_r95_a_program_is_run_as_it_is(name: str) -> None:
    assert command(name, "a b", "%PATH%") == (rf"C:\bin\{name.partition('.')[0]}.EXE", "a b", "%PATH%")


@pytest.mark.parametrize(
    "argument, written",
    [
        ("C:\\my files\\x.json", '"C:\\my files\\x.json"'),
        ("a&calc", '"a&calc"'),
        ("50%", '"50%%cd:~,%"'),
        ("%USERNAME%", '"%%cd:~,%USERNAME%%cd:~,%"'),
        ('{"a": "b"}', '"{""a"": ""b""}"'),
    ],
)
def test_r95_arguments_reach_a_shim_unchanged(argument: str, written: str) -> None:
    assert command("npx", argument)[1].endswith(f' {written}"')


def test_r95_what_no_shim_can_be_given_is_refused() -> None:
    with pytest.raises(StartFailed, match="line break"):
        command("npx", "two\nlines")
    with pytest.raises(StartFailed, match="PATHEXT"):
        command("no-such-agent")


@pytest.mark.skipif(sys.platform == "win32", reason="the commands are those of a POSIX shell")
@pytest.mark.parametrize(
    "params, output",
    [
        ({"command": "echo", "args": ["a  b", "$HOME", "&&"]}, "a  b $HOME &&\n"),
        ({"command": "echo one && echo two"}, "one\ntwo\n"),
        ({"command": "/bin/sh", "args": ["-c", "echo $0"]}, "/bin/sh\n"),
    ],
)
async def test_r96_commands_of_agents_in_either_form(params: dict[str, Any], output: str) -> None:
    async def script(agent: ScriptedAgent) -> None:
        created = await agent.call("terminal/create", {"sessionId": "session-1", **params})
        terminal = {"sessionId": "session-1", **created["result"]}
        assert (await agent.call("terminal/wait_for_exit", terminal))["result"]["exitCode"] == 0
        assert (await agent.call("terminal/output", terminal))["result"]["output"] == output

    async with open_session(script, terminals=True):
        pass


async def test_r96_a_command_that_cannot_be_started_is_refused() -> None:
    async def script(agent: ScriptedAgent) -> None:
        response = await agent.call("terminal/create", {"sessionId": "session-1", "command": "no-such-command"})
        assert response["error"]["code"] == -32602
        assert "is not on the PATH" in response["error"]["message"]

    async with open_session(script, terminals=True):
        pass


async def test_r96_commands_of_agents_are_found_as_agents_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """The terminal service asks the same code what to launch, so a shim works as an agent's command too."""
    asked: list[tuple[str, ...]] = []

    def remember(self: Launch, env: Any) -> tuple[str, ...]:
        asked.append(self.windows_command(ENV))
        raise StartFailed("far enough")

    monkeypatch.setattr(Launch, "command", remember)

    async def script(agent: ScriptedAgent) -> None:
        params = {"sessionId": "session-1", "command": "npm", "args": ["run", "build all"]}
        assert "far enough" in (await agent.call("terminal/create", params))["error"]["message"]

    async with open_session(script, terminals=True):
        pass
    assert asked == [(CMD, rf'/d /e:ON /v:OFF /s /c ""{NPM}\npm.CMD" run "build all""')]
