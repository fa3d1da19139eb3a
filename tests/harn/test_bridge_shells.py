"""The shells of the machine as operations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from acp_host.errors import InvalidInput
from acp_host.harn import HarnBridge
from acp_host.harn.bridge import (
    Shell,
    Shells,
)
from acp_host.testing import ScriptedAgent
from tests.harn.bridge_calls import call, error, served
from tests.services.test_shells import SHELL_SCHEMA


def shell(name: str, tmp_path: Path, **more: Any) -> Shell:
    path = tmp_path / name
    path.write_text("")
    path.chmod(0o755)
    return Shell(id=name, path=str(path), **more)


class TestShells:
    @pytest.fixture
    def bridge(self, tmp_path: Path) -> HarnBridge:
        return HarnBridge(shells=Shells([shell("zsh", tmp_path), shell("fish", tmp_path)], find=lambda: ()))

    async def test_those_of_this_machine_are_listed(self):
        listed = (await call(HarnBridge(), "process.list_shells"))["result"]
        for found in listed["shells"]:
            Draft202012Validator(SHELL_SCHEMA).validate(found)
        assert listed["default_shell_id"] == listed["shells"][0]["id"]
        assert (await call(HarnBridge(), "process.get_default_shell"))["result"] == listed["shells"][0]

    async def test_a_session_chooses_its_default(self, bridge: HarnBridge):
        async def script(agent: ScriptedAgent) -> None:
            async def call(session_id: str, name: str, **args: Any) -> Any:
                params = {"sessionId": session_id, "name": f"process.{name}", "args": args}
                return (await agent.call("host/call", params)).get("result")

            assert (await call("s-1", "set_default_shell", shell_id="fish"))["id"] == "fish"
            assert await call("s-1", "set_default_shell", shell_id="bash") is None
            assert (await call("s-1", "get_default_shell"))["id"] == "fish"
            assert (await call("s-1", "list_shells"))["default_shell_id"] == "fish"
            assert (await call("s-2", "get_default_shell"))["id"] == "zsh"
            assert (await call("s-1", "shell_invocation", command="x"))["shell"]["id"] == "fish"

        async with served(bridge, script):
            pass

    @pytest.mark.parametrize(
        "named",
        [{"shell_id": "fish"}, {"shell": {"id": "fish"}}, {"shell_id": "fish", "shell": {"id": "zsh"}}],
    )
    async def test_a_line_becomes_arguments(self, bridge: HarnBridge, tmp_path: Path, named: dict[str, Any]):
        args = {**named, "command": "printf ok", "login": True}
        assert (await call(bridge, "process.shell_invocation", args))["result"] == {
            "program": str(tmp_path / "fish"),
            "args": ["-l", "-c", "printf ok"],
            "command_arg_index": 2,
            "shell": shell("fish", tmp_path).to_json(),
        }

    async def test_an_unknown_id_gives_way_to_a_known_shell(self, bridge: HarnBridge):
        args = {"shell_id": "other", "shell": {"id": "zsh"}, "command": "x"}
        assert (await call(bridge, "process.shell_invocation", args))["result"]["shell"]["id"] == "zsh"

    @pytest.mark.parametrize(
        "args",
        [
            {},
            {"command": 3},
            {"command": "x", "shell_id": "evil"},
            {"command": "x", "shell": 3},
            {"command": "x", "login": 1},
        ],
    )
    async def test_what_cannot_be_is_refused(self, bridge: HarnBridge, args: dict[str, Any]):
        assert (await call(bridge, "process.shell_invocation", args))["error"]["code"] == -32602

    async def test_there_may_be_none(self):
        bridge = HarnBridge(shells=Shells(find=lambda: ()))
        assert (await call(bridge, "process.list_shells"))["result"] == {"shells": [], "default_shell_id": None}
        error(-32000, "no shell", await call(bridge, "process.get_default_shell"))

    async def test_choices_of_sessions_are_bounded(self, bridge: HarnBridge, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr("acp_host.harn.bridge.shell_operations._MAX_SESSIONS", 1)

        async def script(agent: ScriptedAgent) -> None:
            for session_id in ("s-1", "s-2"):
                name, args = "process.set_default_shell", {"shell_id": "fish"}
                await agent.call("host/call", {"sessionId": session_id, "name": name, "args": args})
            params = {"sessionId": "s-1", "name": "process.get_default_shell", "args": {}}
            assert (await agent.call("host/call", params))["result"]["id"] == "zsh"

        async with served(bridge, script):
            pass

    def test_nothing_else_are_shells(self):
        with pytest.raises(InvalidInput):
            HarnBridge(shells=3)
