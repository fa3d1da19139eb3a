"""The audit trail: bounded here, whole in its file, and never in anybody's way."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from acp_host.services.audit import AuditDecision, AuditRecord, AuditTrail, DecidedBy


def record(number: int = 1, **fields: str) -> AuditRecord:
    return AuditRecord(
        time=float(number),
        session_id="s",
        agent="a",
        action="fs/write_text_file",
        subject=fields.pop("subject", "/x"),
        decision=AuditDecision.REJECTED,
        decided_by=DecidedBy.CONFINEMENT,
        **fields,
    )


def test_the_newest_records_are_kept() -> None:
    trail = AuditTrail(capacity=3)
    for number in range(5):
        trail.add(record(number))
    assert [item.time for item in trail.records] == [2, 3, 4]


def test_long_words_of_an_agent_are_cut() -> None:
    assert len(record(subject="x" * 10_000, detail="y" * 10_000).subject) == 2_048


def test_an_observer_hears_of_each_and_one_that_fails_disturbs_nobody(caplog: pytest.LogCaptureFixture) -> None:
    trail, seen = AuditTrail(), []

    def fails(_: AuditRecord) -> None:
        raise ValueError("no")

    trail.on_record(fails)
    end = trail.on_record(seen.append)
    with caplog.at_level(logging.CRITICAL, "acp_host.audit"):
        trail.add(record(1))
        end()
        end()
        trail.add(record(2))
    assert seen == [record(1)]
    assert len(trail.records) == 2


def test_the_file_has_a_line_for_each_and_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    trail = AuditTrail(capacity=1, file=path)
    trail.add(record(1, subject="a\nb\x1b[0m\u202e"))
    trail.close()
    trail.add(record(2))
    trail.close()
    lines = path.read_text("ascii").splitlines()
    assert [json.loads(line)["time"] for line in lines] == [1, 2]
    assert json.loads(lines[0])["subject"] == "a\nb\x1b[0m\u202e"
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_that_cannot_be_written_loses_no_record_here(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    trail = AuditTrail(file=tmp_path / "missing" / "audit.jsonl")
    trail.add(record())
    trail.close()
    assert "could not be written" in caplog.text
    assert trail.records == (record(),)
