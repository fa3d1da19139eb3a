"""What leaves memory is kept in a file, and fetched again as it was."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import acp_host
from acp_host.recording import TranscriptArchive, read_recording
from acp_host.state.json_form import to_json
from acp_host.testing import ReferenceAgent


async def test_entries_that_left_are_fetched_as_they_were() -> None:
    with TranscriptArchive() as archive:
        await hold_against(archive)


async def hold_against(archive: TranscriptArchive) -> None:
    memory = acp_host.MemoryPolicy(keep_turns=1, archive=archive.of)
    async with acp_host.connect(ReferenceAgent().transport(), memory=memory) as host:
        sessions = [await host.new_session() for _ in range(2)]
        expected: dict[str, list[object]] = {session.id: [] for session in sessions}
        for number in range(4):
            for session in sessions:
                await session.prompt(f"/say {session.id} {number}\n/tool Look")
                told = [to_json(entry) for entry in session.state.snapshot().transcript]
                expected[session.id] += [entry for entry in told if entry["turn"] == number + 1]
        for session in sessions:
            first = session.state.snapshot().transcript.first
            assert first > 0
            assert session.state.fetch(0, 99) == expected[session.id]
            assert session.state.fetch(1, first - 1) == expected[session.id][1:first]


async def test_a_history_that_is_told_anew_leaves_a_gap_and_nothing_else() -> None:
    agent, archive = ReferenceAgent(), TranscriptArchive()
    memory = acp_host.MemoryPolicy(keep_turns=2, archive=archive.of)
    async with acp_host.connect(agent.transport(), memory=memory) as host:
        session = await host.new_session()
        for number in range(4):
            await session.prompt(f"/say {number}")
        again = await host.load_session(session.id)
        for number in range(4):
            await again.prompt(f"/say more {number}")
        fetched = again.state.fetch(0, 999)
    archive.close()
    positions = [entry["position"] for entry in fetched]
    assert positions == sorted(set(positions))
    texts = ["".join(part["segments"][0] for part in entry["parts"]) for entry in fetched]
    assert [text for text in texts if text.startswith("more")] == [f"more {number}" for number in range(4)]


def test_the_file_is_a_recording_that_only_its_owner_reads(tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    archive = TranscriptArchive(path)
    archive.of("s").append([{"position": 0, "type": "message"}])
    archive.close()
    archive.close()
    (line,) = read_recording(path)
    assert (line.direction, line.problem) == ("meta", None)
    if sys.platform != "win32":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(acp_host.InvalidInput, match=r"old\.jsonl"):
        TranscriptArchive(path)


def test_a_session_that_is_opened_again_does_not_get_what_was_before() -> None:
    with TranscriptArchive() as archive:
        archive.of("s").append([{"position": 0, "text": "before"}])
        again = archive.of("s")
        again.append([{"position": 0, "text": "after"}])
        assert again.fetch(0, 9) == [{"position": 0, "text": "after"}]


@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "b"]), st.integers(1, 3), st.integers(0, 2), st.text(max_size=5)), max_size=30
    )
)
def test_it_holds_what_a_dictionary_would(steps: list[tuple[str, int, int, str]]) -> None:
    archive, model = TranscriptArchive(), {"a": dict[int, object](), "b": dict[int, object]()}
    parts = {name: archive.of(name) for name in model}
    for session, count, gap, text in steps:
        start = max(model[session], default=-1) + 1 + gap
        entries = [{"position": start + n, "text": f"{text}{n}", "big": 2**70} for n in range(count)]
        parts[session].append(entries)
        parts[session].append(entries)  # given again
        model[session] |= {start + n: entry for n, entry in enumerate(entries)}
    for session, entries in model.items():
        for first, last in [(0, 999), (1, 3), (5, 2), (-4, 1)]:
            wanted = [entry for position, entry in entries.items() if first <= position <= last]
            assert list(parts[session].fetch(first, last)) == wanted
    archive.close()
