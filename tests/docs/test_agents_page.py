"""What the page on agents by name shows works, in an empty home."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from acp_host.automation.known_agents import Locations
from acp_host.automation.known_agents.own_entries import OwnEntry, read_own
from acp_host.cli import main
from acp_host.testing import ReferenceAgent
from tests.automation.known_agents.conftest import Files, server
from tests.automation.known_agents.manifests import by_program, registry
from tests.automation.known_agents.test_archives import FILE, make_tar
from tests.docs.snippets import read_page, run_snippet, snippets_of

__all__ = ["server"]

if sys.platform in ("win32", "darwin"):
    pytest.skip("where the user's files are cannot be set there by a variable", allow_module_level=True)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for kind in ("CONFIG", "DATA", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    monkeypatch.chdir(tmp_path)
    return tmp_path


async def test_the_examples(home: Path, server: Files) -> None:
    script = f"#!/bin/sh\nexec {' '.join(ReferenceAgent.command())}\n"
    make_tar(home / "a.tgz", ("bin/agent", FILE | 0o755, script.encode()))
    server.bodies["/a.tgz"] = (home / "a.tgz").read_bytes()
    (home / "registry.json").write_bytes(registry(by_program(archive=f"{server.url}/a.tgz"), {"id": "BAD"}))
    own = Locations.for_user().own
    own.parent.mkdir(parents=True)
    own.write_text(f"[agents.work]\ncommand = {ReferenceAgent.command()}\n")
    by_name, all_agents = snippets_of(read_page("docs/agents.md"))
    shown: list[object] = []
    await run_snippet(by_name, show=shown.append)
    assert shown == ["Hello"]
    await run_snippet(all_agents, show=lambda *values: shown.append(values[0]))
    assert "prog" in shown
    assert "BAD" in str(shown)
    assert shown[-1] == "Reference Agent"


def test_the_file_of_the_page_is_read(home: Path) -> None:
    page = read_page("docs/agents.md")
    path = home / "agents.toml"
    path.write_text(page.partition("```toml\n")[2].partition("```")[0])
    entries = read_own(path)
    assert list(entries) == ["work", "lab"]
    assert all(isinstance(entry, OwnEntry) for entry in entries.values())


def test_the_commands_of_the_page_are_there(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for line in (["agents", "--help"], ["completion", "--help"]):
        with pytest.raises(SystemExit):
            main(line)
    told = capsys.readouterr().out
    for word in ("show", "add", "remove", "refresh", "forget", "install", 'eval "$(acp-host completion bash)"'):
        assert word in told
