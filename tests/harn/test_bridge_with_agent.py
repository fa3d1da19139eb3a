"""The bridge with a Harn-like agent, and with the examples that Harn's description gives."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host.errors import InternalError, InvalidParams, MethodNotFound, RequestCancelled, RequestFailed
from acp_host.harn import HarnBridge
from acp_host.harn.bridge import (
    HostTool,
    Shell,
    Shells,
    Skill,
    SkillEntry,
    SkillMatch,
    SkillMatchRequest,
    ToolDenied,
)
from acp_host.services.permissions import PermissionPolicy
from acp_host.services.terminals import TerminalService
from acp_host.testing.harn import HarnAgent, HarnTurn
from acp_host.testing.harn.turn import HarnScript
from tests.harn.harness import example

posix = pytest.mark.skipif(os.name == "nt", reason="the commands are POSIX ones")


async def prompted(script: HarnScript, bridge: HarnBridge | None, **options: Any) -> acp_host.TurnResult:
    """Run a script as one prompt, with a bridge or without."""
    handlers = None if bridge is None else bridge.handlers()
    async with acp_host.connect(HarnAgent(script).transport(), handlers=handlers, **options) as host:
        if bridge is not None:
            bridge.attach(host)
        return await (await host.new_session()).prompt("Go")


@posix
async def test_a_script_runs_a_line_by_the_shell_that_the_host_has_chosen() -> None:
    ends: list[Any] = []

    async def script(turn: HarnTurn) -> None:
        ends.append(await turn.run_line("printf out; printf err >&2; exit 3"))

    shells = Shells([Shell(id="mine", path="/bin/sh", default_args=["-e", "-c"])])
    await prompted(script, HarnBridge(shells=shells), terminals=TerminalService(shells=shells))
    assert ends == [{"stdout": "outerr", "stderr": "", "combined": "outerr", "exitCode": 3, "signal": None}]


@posix
async def test_a_host_without_a_bridge_runs_lines_too() -> None:
    ends: list[Any] = []

    async def script(turn: HarnTurn) -> None:
        ends.append((await turn.run_line("echo $((6 * 7))"))["stdout"])

    await prompted(script, None, terminals=True)
    assert ends == ["42\n"]


@posix
async def test_a_line_that_is_not_permitted_is_not_run(tmp_path: Path) -> None:
    async def script(turn: HarnTurn) -> None:
        with pytest.raises(InvalidParams):
            await turn.run_line(f"touch {tmp_path}/made")

    await prompted(script, HarnBridge(), terminals=True, permissions=PermissionPolicy.read_only())
    assert not (tmp_path / "made").exists()


async def test_what_goes_wrong_reaches_the_script_as_what_it_is() -> None:
    def denied() -> None:
        raise ToolDenied("no")

    def broken() -> None:
        raise OSError("the-secret")

    seen: list[tuple[int, str]] = []

    async def script(turn: HarnTurn) -> None:
        for name in ("denied", "broken", "missing"):
            try:
                await turn.call_host_tool(name)
            except RequestFailed as error:
                seen.append((error.code, error.message))

    await prompted(script, HarnBridge(tools=[denied, broken]))
    assert seen == [(-32001, "no"), (-32000, "broken failed (OSError)"), (-32601, "this host has no such tool")]


async def test_without_a_bridge_a_script_finds_nothing() -> None:
    async def script(turn: HarnTurn) -> None:
        assert await turn.host_capabilities() == {}
        for ask in (turn.host_tools(), turn.host_operation("process.list_shells"), turn.call_host_tool("x")):
            with pytest.raises(MethodNotFound):
                await ask

    await prompted(script, None)


async def test_a_cancelled_prompt_ends_what_it_has_called() -> None:
    begun = asyncio.Event()
    ended: list[BaseException] = []

    async def hangs() -> None:
        begun.set()
        await asyncio.Event().wait()

    async def script(turn: HarnTurn) -> None:
        try:
            await turn.call_host_tool("hangs")
        except (RequestCancelled, asyncio.CancelledError, InternalError) as error:
            ended.append(error)
            raise

    bridge = HarnBridge(tools=[hangs])
    async with acp_host.connect(HarnAgent(script).transport(), handlers=bridge.handlers()) as host:
        turn = (await host.new_session()).prompt("Go")
        await begun.wait()
        turn.cancel()
        assert (await turn.wait()).outcome.kind == "cancelled"
    assert len(ended) == 1


class Shelf:
    def list(self) -> list[SkillEntry]:
        return [SkillEntry(**entry) for entry in example("skills_list_result")]

    def fetch(self, skill_id: str) -> Skill:
        return Skill(**example("skills_fetch_result"))


class TestExamplesOfTheDescription:
    """What the description shows as answers is what the bridge answers."""

    async def answer(self, bridge: HarnBridge, method: str, params: Any) -> Any:
        answers: list[Any] = []

        async def script(turn: HarnTurn) -> None:
            answers.append(await turn.request(method, params))

        await prompted(script, bridge)
        return answers[0]

    async def test_tools(self):
        tools = [HostTool(function=print, **told) for told in example("host_tools_list_result")["tools"]]
        assert await self.answer(HarnBridge(tools=tools), "host/tools/list", {}) == example("host_tools_list_result")

    async def test_skills(self):
        bridge = HarnBridge(skills=Shelf())
        assert await self.answer(bridge, "skills/list", {}) == example("skills_list_result")
        assert await self.answer(bridge, "skills/fetch", {"id": "deploy"}) == example("skills_fetch_result")

    async def test_matching(self):
        def rank(request: SkillMatchRequest) -> list[SkillMatch]:
            assert request.working_files == ("infra/terraform/cluster.tf",)
            return [SkillMatch(**match) for match in example("skill_match_result")["matches"]]

        answer = await self.answer(HarnBridge(matcher=rank), "skill/match", example("skill_match_params"))
        assert answer == example("skill_match_result")

    async def test_attestation(self):
        names = ("authority_kind", "event_fingerprint", "plan_fingerprint", "hypothesis_id", "operation_receipt_id")
        args = {**dict.fromkeys(names, "x"), "run_id": None}
        params = {"sessionId": "s", "name": "hypothesis.attest_event", "args": args}
        bridge = HarnBridge(attestation=lambda request: True)
        assert await self.answer(bridge, "host/call", params) == example("attestation_result")

    @posix
    async def test_shells(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr("acp_host.services.shells._can_run", lambda path: True)
        [told] = example("list_shells_result")["shells"]
        bridge = HarnBridge(shells=Shells([Shell(**told)], find=lambda: ()))
        params = {"sessionId": "s", "name": "process.list_shells", "args": {}}
        assert await self.answer(bridge, "host/call", params) == example("list_shells_result")
        params = {"sessionId": "s", "name": "process.shell_invocation", "args": example("shell_invocation_args")}
        answer = await self.answer(bridge, "host/call", params)
        assert answer == {**example("shell_invocation_result"), "shell": told}
