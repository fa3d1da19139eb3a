from __future__ import annotations

import stat
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from acp_host.automation.known_agents import LastSeen, SeenAgent, last_seen
from acp_host.automation.known_agents.last_seen import seen_key
from acp_host.errors import InvalidState

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)


def agent(name: str = "acme", **more: object) -> SeenAgent:
    return SeenAgent(at=AT, protocol_version=1, name=name, **more)


def test_what_is_remembered_is_there_again(tmp_path: Path) -> None:
    file = LastSeen(tmp_path / "a" / "seen.json")
    one = agent(version="1.2", capabilities=("loadSession",), auth_methods=("key",))
    file.remember("opencode acp", one)
    file.remember("gemini --acp", agent("gemini"))
    file.remember("gemini --acp", agent("newer"))
    assert LastSeen(tmp_path / "a" / "seen.json").read() == {"opencode acp": one, "gemini --acp": agent("newer")}
    if sys.platform != "win32":
        assert stat.S_IMODE((tmp_path / "a" / "seen.json").stat().st_mode) == 0o600


def test_it_is_bounded_and_the_oldest_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert last_seen._MAX_AGENTS == 200
    monkeypatch.setattr(last_seen, "_MAX_AGENTS", 5)
    file = LastSeen(tmp_path / "seen.json")
    for number in range(8):
        file.remember(str(number), agent("x" * 10_000, capabilities=["c" * 1000] * 500, auth_methods=["a"] * 500))
    found = file.read()
    assert list(found) == [str(number) for number in range(3, 8)]
    last = found["7"]
    assert (len(last.name), len(last.capabilities), len(last.capabilities[0])) == (200, 100, 200)
    assert 40 * (tmp_path / "seen.json").stat().st_size < 8 * 2**20


def test_no_secret_and_no_escape_code_is_kept(tmp_path: Path) -> None:
    file = LastSeen(tmp_path / "seen.json")
    key = seen_key(["agent", "--api-key", "hunter22222", "--url=https://x/?k=hunter22222"], None)
    file.remember(key, agent("\x1b[31mred", version="Bearer abcdef1234567890"))
    text = (tmp_path / "seen.json").read_text()
    assert "hunter2" not in text
    assert "abcdef1234567890" not in text
    assert file.read()[key].name == "\\x1b[31mred"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"agents": 3}', '{"agents": {"a": 3}}', '{"agents": {"a": {"at": 1}}}']
)
def test_a_damaged_file_is_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "seen.json"
    path.write_text(text)
    path.chmod(0o600)
    file = LastSeen(path)
    assert file.read() == {}
    file.remember("b", agent())
    assert list(file.read()) == ["b"]


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidState, match="cannot be written"):
        LastSeen(tmp_path / "file" / "seen.json").remember("a", agent())
