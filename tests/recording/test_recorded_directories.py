"""Directories of a recording and those of now."""

from __future__ import annotations

from typing import Any

from acp_host.recording.recorded_directories import RecordedDirectories


def opened(cwd: str) -> dict[str, Any]:
    return {"method": "session/new", "params": {"cwd": cwd, "mcpServers": []}}


def learned() -> RecordedDirectories:
    directories = RecordedDirectories()
    directories.learn(opened("/then"), opened("/now/here"))
    return directories


def test_a_file_of_the_one_is_that_file_of_the_other_both_ways() -> None:
    said = {"path": "/then/a.py", "uri": "file:///then/b", "texts": ["/then", "/thence", "see /then/a.py"]}

    moved = learned().as_now(said)

    assert moved == {
        "path": "/now/here/a.py",
        "uri": "file:///now/here/b",
        "texts": ["/now/here", "/thence", "see /then/a.py"],
    }
    assert learned().as_recorded(moved) == said


def test_what_is_nested_too_deeply_to_be_looked_through_stays_as_it_is() -> None:
    nested: Any = "/then/a.py"
    for _ in range(1_000):
        nested = {"a": nested}

    assert learned().as_now(nested) is nested
