"""The page about what a host serves to Harn: its examples work, and its numbers hold."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from acp_host.harn.bridge import BridgeTimeouts
from acp_host.harn.bridge._work import MAX_THREADS
from acp_host.testing.harn import HarnAgent, HarnTurn
from tests.docs.snippets import read_page, run_snippet, snippets_of


async def _shows(turn: HarnTurn) -> None:
    place = {"line": 3}
    await turn.say(await turn.call_host_tool("open_file", path="notes.md", place=place, how="split"))


async def _lists(turn: HarnTurn) -> None:
    skills = await turn.request("skills/list", {})
    candidates = [{"name": skill["name"], "description": skill["description"]} for skill in skills]
    found = await turn.request("skill/match", {"prompt": "ship it now", "candidates": candidates})
    whole = await turn.request("skills/fetch", {"id": skills[0]["id"]})
    await turn.say(f"{found['matches'][0]['name']}: {whole['manifest']['allowed_tools']}")


@pytest.mark.skipif(sys.platform == "win32", reason="the shells are those of POSIX")
async def test_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, words in {"deploy": "ship it", "review": "look at it"}.items():
        (tmp_path / "skills" / name).mkdir(parents=True)
        text = f"---\ndescription: {words}\nallowed-tools: git\n---\n# {name}\n"
        (tmp_path / "skills" / name / "SKILL.md").write_text(text)
    scripts = iter([_shows, _lists])
    names: dict[str, Any] = {"project": tmp_path}
    for snippet in snippets_of(read_page("docs/harn/bridge.md")):
        if "acp_host.connect(" in snippet:
            names["agent"] = HarnAgent(next(scripts)).transport()
        names = await run_snippet(snippet, **names)
    shells = {"ops": ["list_shells", "get_default_shell", "set_default_shell", "shell_invocation"]}
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == [
        "notes.md is open at line 3",
        str({"process": shells, "acme": {"ops": ["open_issue"]}}),
        "deploy: ['git']",
    ]


def test_the_numbers_of_the_page() -> None:
    page = read_page("docs/harn/bridge.md")
    timeouts = BridgeTimeouts()
    assert f"{timeouts.host_call:g} s for an operation, {timeouts.others:g} s for the rest" in page
    assert f"{MAX_THREADS} of them at once" in page
