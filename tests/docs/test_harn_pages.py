"""The index of the pages on Harn, and those on agents elsewhere and on testing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host import PermissionPolicy
from acp_host.harn.external_agents import DelegationStatus
from acp_host.testing import HarnAgent, HarnTurn
from acp_host.wire.harn.external_agents import PLAN
from tests.docs.snippets import ROOT, read_page, run_page

INDEX, ELSEWHERE, TESTING = "docs/harn.md", "docs/harn/external-agents.md", "docs/harn/testing.md"
CARD = {
    "capabilities": {
        "externalAgent": {
            "schema": "harn.external_agent.v1",
            "pre_dispatch_checkpoint": True,
            "budget_cap": True,
            "idempotency": True,
            "reviewable_handoff": True,
            "dispatch": True,
        }
    }
}


class Elsewhere:
    """An agent elsewhere, without a network."""

    async def card(self) -> Any:
        return CARD

    async def call(self, method: str, params: Mapping[str, Any]) -> Any:
        if method == PLAN:
            return {"checkpoint_id": "cp-1", "plan": "Port them one by one"}
        return {"handoff": {"summary": "ported"}, "patch": "--- a\n+++ b", "budget_used": {"usd": 1.5}}


async def test_the_examples_of_the_index_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    opened = []

    def open_file(path: str) -> None:
        opened.append(path)

    permissions = PermissionPolicy.allow_once()
    agent = HarnAgent()
    await run_page(INDEX, agent=agent.transport(), open_file=open_file, project=tmp_path, permissions=permissions)
    assert opened == ["notes.md"]
    assert capsys.readouterr().out == "completed True\ntests completed\n"
    [session] = agent.sessions.values()
    assert session.questions == {}, "it was answered"


def test_the_index_names_every_page() -> None:
    linked = set(re.findall(r"\((harn/[\w-]+\.md)\)", read_page(INDEX)))
    assert linked == {f"harn/{page.name}" for page in (ROOT / "docs" / "harn").glob("*.md")}


async def test_the_examples_of_agents_elsewhere_run(capsys: pytest.CaptureFixture[str]) -> None:
    async def somebody_agrees(plan: str) -> bool:
        return "Port" in plan

    await run_page(ELSEWHERE, peer=Elsewhere(), somebody_agrees=somebody_agrees)
    printed = capsys.readouterr().out
    assert printed == "checkpoint_required Port them one by one\ncompleted 1.5\n--- a\n+++ b\n"


def test_the_tables_of_agents_elsewhere_are_whole() -> None:
    page = read_page(ELSEWHERE)
    for status in DelegationStatus:
        assert f"| `{status}` |" in page
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \|", page, re.MULTILINE)
    assert len(rows) == 7
    for kind, category in rows:
        assert acp_host.errors.ExternalAgentError("x", kind=kind).category == category


async def test_the_examples_of_testing_run(capsys: pytest.CaptureFixture[str]) -> None:
    await run_page(TESTING, permissions=PermissionPolicy.allow_once())
    assert capsys.readouterr().out == "It is on its way. incomplete policy_budget\n"


def test_what_a_script_can_do_is_there() -> None:
    page = read_page(TESTING)
    table = page[page.index("| a script can |") :]
    words = set(re.findall(r"`(\w+)", table)) - {"None", "ScriptedAgent"}
    turn = HarnTurn.__init__.__code__.co_names
    assert len(words) > 15
    for word in words:
        assert hasattr(HarnTurn, word) or word in turn, word
