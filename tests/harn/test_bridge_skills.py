"""Skills that the host has for an agent, and their ranking."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from acp_host.errors import InvalidInput
from acp_host.harn import HarnBridge
from acp_host.harn.bridge import (
    Skill,
    SkillEntry,
    SkillMatch,
    SkillMatchRequest,
)
from acp_host.harn.bridge import bridge as module
from acp_host.testing import ScriptedAgent
from tests.harn.bridge_calls import Shelf, ask, error
from tests.host.scripts import connected, until


class TestSkills:
    async def test_they_are_listed(self):
        assert (await ask(HarnBridge(skills=Shelf()), "skills/list"))["result"] == [
            {"id": "deploy", "name": "deploy", "description": "Ship it", "source": "host"},
            {"id": "acme/ops/review", "name": "review", "description": "Code review", "source": "acme"},
        ]
        assert (await ask(HarnBridge(), "skills/list"))["result"] == []

    async def test_one_is_fetched(self):
        assert (await ask(HarnBridge(skills=Shelf()), "skills/fetch", {"id": "deploy"}))["result"] == {
            "name": "deploy",
            "description": "Ship it",
            "body": "# Runbook",
            "manifest": {"paths": ["infra/**"]},
        }

    @pytest.mark.parametrize("params", [{"id": "other"}, {}, {"id": 3}, []])
    async def test_one_that_is_not_there_is_refused(self, params: Any):
        error(-32602, "no such skill", await ask(HarnBridge(skills=Shelf()), "skills/fetch", params))
        error(-32602, "no such skill", await ask(HarnBridge(), "skills/fetch", params))

    async def test_what_is_no_skill_spoils_nothing(self):
        class Broken(Shelf):
            async def list(self) -> Any:
                return [{"id": "x"}]

            async def fetch(self, skill_id: str) -> Any:
                return Skill(name="x", manifest={"x": object()})

        error(-32000, "TypeError", await ask(HarnBridge(skills=Broken()), "skills/list"))
        error(-32000, "TypeError", await ask(HarnBridge(skills=Broken()), "skills/fetch", {"id": "x"}))
        with pytest.raises(InvalidInput, match="list"):
            HarnBridge(skills=object())
        with pytest.raises(TypeError):
            SkillEntry(id=3, name="x")

    async def test_changes_are_told_once(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(module, "_DEBOUNCE", 0.0)
        bridge = HarnBridge(skills=Shelf())

        async def script(agent: ScriptedAgent) -> None:
            for _ in range(2):
                assert "params" not in await agent.expect("skills/update")
                agent.notify("_test/next", {})

        async with connected(script, handlers=bridge.handlers()) as host:
            told = asyncio.Semaphore(0)
            host.on_notification("_test/next", lambda _: told.release())
            bridge.attach(host)
            bridge.attach(host)
            for _ in range(2):
                bridge.skills_changed()
                bridge.skills_changed()
                await told.acquire()
        bridge.skills_changed()  # there is nobody left to tell
        await until(lambda: bridge._pending is None)
        assert bridge._hosts == []


CANDIDATES = [
    {"name": "ship", "description": "Ship", "when_to_use": "ship", "paths": ["infra/**", 3]},
    {"name": "review"},
    {"description": "nameless"},
    "nothing",
]


class TestMatching:
    async def test_the_best_comes_first_and_what_was_no_candidate_not_at_all(self):
        seen: list[SkillMatchRequest] = []

        def match(request: SkillMatchRequest) -> list[SkillMatch]:
            seen.append(request)
            return [
                SkillMatch("review", 0.2),
                SkillMatch("ship", 0.5),
                SkillMatch("ship", 0.92, "embedding"),
                SkillMatch("evil", 9),
            ]

        params = {
            "strategy": "embedding",
            "prompt": "Ship it",
            "task": "t",
            "working_files": ["a"],
            "candidates": CANDIDATES,
        }
        answer = await ask(HarnBridge(matcher=match), "skill/match", params)
        assert answer["result"] == {
            "matches": [{"name": "ship", "score": 0.92, "reason": "embedding"}, {"name": "review", "score": 0.2}]
        }
        [request] = seen
        assert (request.strategy, request.prompt, request.task, request.working_files) == (
            "embedding",
            "Ship it",
            "t",
            ("a",),
        )
        assert [(item.name, item.paths) for item in request.candidates] == [("ship", ("infra/**",)), ("review", ())]

    async def test_without_a_ranker_harn_ranks_itself(self):
        error(-32601, "does not rank", await ask(HarnBridge(), "skill/match", {"candidates": []}))

    async def test_what_is_no_match_is_an_error(self):
        error(-32000, "TypeError", await ask(HarnBridge(matcher=lambda r: ["ship"]), "skill/match", {"candidates": []}))
        error(-32602, "candidates", await ask(HarnBridge(matcher=lambda r: []), "skill/match", {}))
        with pytest.raises(InvalidInput):
            HarnBridge(matcher=3)
        for score in (-1, float("nan"), float("inf"), "1", True):
            with pytest.raises(InvalidInput):
                SkillMatch("x", score)
