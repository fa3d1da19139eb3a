"""What the page on recordings shows works."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_host.recording import MetaEvent, read_recording
from acp_host.testing import ReferenceAgent
from tests.docs.snippets import read_page, run_page


async def test_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    talk, talks, project = tmp_path / "talk.jsonl", tmp_path / "talks", tmp_path / "project"
    talks.mkdir()
    project.mkdir()
    await run_page("docs/recording.md", agent=ReferenceAgent.command(), talk=talk, talks=talks, project=project)
    assert capsys.readouterr().out.splitlines() == [
        "It is sk-abcdef0123456789.",
        "out /say It is [redacted].",
        "Reference Agent",
        "/xxx Xx xx [xxxxxxxx].",
    ]
    [made] = talks.iterdir()
    assert [line.event for line in read_recording(made) if line.event] == ["start", "connection", "end"]


def test_every_event_is_explained() -> None:
    page = read_page("docs/recording.md")
    in_files = set(MetaEvent) - {MetaEvent.PARTS_MISSING}
    assert [event for event in in_files if f"| `{event}` |" not in page] == []
