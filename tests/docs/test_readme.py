"""What the README shows works."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import acp_host
from acp_host.cli.command import run_command
from acp_host.services.permissions import answer_permission
from acp_host.state.entries import MessageEntry, ToolCallEntry
from acp_host.state.reminder_entry import Rung
from acp_host.testing import ReferenceAgent
from acp_host.wire.content import TextContent
from acp_host.wire.permission import PermissionOption, RequestPermissionRequest, SelectedPermissionOutcome
from acp_host.wire.tool_calls import ToolCall, ToolCallUpdate
from acp_host.wire.updates import AgentMessageChunk
from tests.docs.snippets import ROOT, read_page, run_snippet, snippets_of

README = read_page("README.md")
EXAMPLE, *SNIPPETS = snippets_of(README)


def test_the_example_runs(tmp_path: Path) -> None:
    (tmp_path / "hello.py").write_text(EXAMPLE, encoding="utf-8")
    (tmp_path / "notes.md").write_text("# Notes\n", encoding="utf-8")
    line = [sys.executable, "hello.py", *ReferenceAgent.command()]
    ran = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=30)
    assert (ran.returncode, ran.stderr) == (0, "")
    *updates, result = ran.stdout.strip().splitlines()
    assert {"AgentMessageChunk", "AgentThoughtChunk", "Plan", "ToolCall", "ToolCallUpdate"} < set(updates)
    assert "I added the line." in result
    assert len((tmp_path / "notes.md").read_text(encoding="utf-8").splitlines()) == 2


def test_the_example_is_short() -> None:
    assert len([line for line in EXAMPLE.splitlines() if line.strip()]) <= 12


@pytest.mark.parametrize("snippet", SNIPPETS, ids=[snippet.splitlines()[0] for snippet in SNIPPETS])
async def test_every_snippet_runs(
    snippet: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.md").write_text("# Notes\n", encoding="utf-8")
    types = [AgentMessageChunk, MessageEntry, RequestPermissionRequest, TextContent]
    types += [ToolCall, ToolCallEntry, ToolCallUpdate]
    async with acp_host.connect(ReferenceAgent().transport()) as host:
        session = await host.new_session()
        names = {"host": host, "session": session, "send": json.dumps, **{type.__name__: type for type in types}}
        await run_snippet(snippet, **names)
        await asyncio.sleep(0)
        assert [fault for fault in host.diagnostics if fault.kind == acp_host.DiagnosticKind.HANDLER_FAILED] == []


@pytest.mark.parametrize("kind, chosen", [("read", "yes"), ("edit", "no"), ("execute", "no")])
async def test_the_permission_handler_does_what_it_seems_to(kind: str, chosen: str) -> None:
    (snippet,) = [snippet for snippet in SNIPPETS if "def permit" in snippet]
    permit = (await run_snippet(snippet, RequestPermissionRequest=RequestPermissionRequest))["permit"]
    options = (PermissionOption("yes", "Yes", "allow_once"), PermissionOption("no", "No", "reject_once"))
    request = RequestPermissionRequest("session-1", ToolCallUpdate("1", kind=kind), options)
    assert await answer_permission(permit, request) == SelectedPermissionOutcome(chosen)


def test_the_arguments_of_connect_are_listed_with_their_defaults() -> None:
    defaults = {name: parameter.default for name, parameter in inspect.signature(acp_host.connect).parameters.items()}
    listed = dict(re.findall(r"^\| `(\w+)=` \| (.*?) \|", README, re.MULTILINE))
    words = {None: {"nothing", "reject"}, False: {"`False`"}, True: {"`True`"}}
    assert len(listed) == 7
    for name, default in listed.items():
        assert default in words[defaults[name]], name


def test_the_commands_exist(capsys: pytest.CaptureFixture[str]) -> None:
    for name in set(re.findall(r"^acp-host (\w+)", README, re.MULTILINE)):
        with pytest.raises(SystemExit) as end:
            run_command([name, "--help"])
        assert end.value.code == 0
    assert "usage: acp-host run" in capsys.readouterr().out


def test_every_error_is_in_the_tree() -> None:
    tree = README.partition("```text\n")[2].partition("```")[0]
    for name in re.findall(r"\b[A-Z][a-z]+[A-Z]\w+", tree):
        assert issubclass(getattr(acp_host, name), acp_host.AcpError)


def test_the_rungs_are_those_of_the_default_policy() -> None:
    used = re.findall(r"^\| `(\w+)` \| .* \| (yes|no) \|$", README, re.MULTILINE)
    assert [rung for rung, _ in used] == list(Rung)
    assert tuple(rung for rung, by_default in used if by_default == "yes") == acp_host.ReminderPolicy().rungs


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"make (\w+)", README):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
