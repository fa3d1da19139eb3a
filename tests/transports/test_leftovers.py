"""Records of running agents. What becomes of the processes is tested whole, with hosts that are killed."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import psutil
import pytest

from acp_host.transports.leftovers import end_leftovers, record
from acp_host.transports.process_tree import MARK, ProcessTree


def test_what_is_written_down(tmp_path: Path) -> None:
    tree = ProcessTree()
    path = record(tmp_path / "new" / "records", tree, os.getppid())
    entry = json.loads(path.read_text())
    assert entry == {
        "token": tree.token,
        "agent": {"pid": os.getppid(), "created": psutil.Process(os.getppid()).create_time()},
        "host": {"pid": os.getpid(), "created": psutil.Process().create_time()},
    }
    assert list(path.parent.iterdir()) == [path]
    if sys.platform != "win32":
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert end_leftovers(path.parent) == frozenset(), "its host is this process"
    assert path.exists()


def test_an_agent_that_has_ended_already_can_be_written_down(tmp_path: Path) -> None:
    entry = json.loads(record(tmp_path, ProcessTree(), 2**22 + 1).read_text())
    assert entry["agent"] == {"pid": 2**22 + 1, "created": 0.0}


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "{}", '{"token": 5}', '{"agent": {"pid": "x", "created": 0}}', "null"]
)
def test_a_damaged_record_is_removed(tmp_path: Path, content: str) -> None:
    (tmp_path / "x.agent.json").write_text(content)
    assert end_leftovers(tmp_path) == frozenset()
    assert list(tmp_path.iterdir()) == []


def test_a_host_inside_of_the_agent_lets_it_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    token = "0123456789abcdef"
    monkeypatch.setenv(MARK, f"{token}:fedcba9876543210")
    gone = {"pid": 2**22 + 1, "created": 1.0}
    path = tmp_path / "x.agent.json"
    path.write_text(json.dumps({"token": token, "agent": gone, "host": gone}))
    assert end_leftovers(tmp_path) == frozenset()
    assert path.exists()


def test_a_directory_that_is_not_there_yet(tmp_path: Path) -> None:
    assert end_leftovers(tmp_path / "nowhere") == frozenset()
