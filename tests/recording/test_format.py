"""The lines of recordings, and files of them in any state."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_host.recording import MetaEvent, RecordedLine, encode_line, parse_line, read_recording
from acp_host.recording.format import part_path

SHARED = sorted((Path(__file__).parents[2] / "fixtures" / "recordings").glob("*.jsonl"))

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
messages = st.dictionaries(st.text(), json_values, max_size=4)
times = st.floats(0, 1e6).map(lambda time: round(time, 6))
recorded_lines = st.one_of(
    st.builds(RecordedLine, direction=st.sampled_from(["in", "out"]), time=times, message=messages),
    st.builds(RecordedLine, direction=st.sampled_from(["in", "out"]), time=times, raw=st.text()),
    st.builds(RecordedLine, direction=st.just("meta"), time=times, note=st.text(), event=st.sampled_from(MetaEvent)),
)


def read(data: bytes, **options: Any) -> list[RecordedLine]:
    return list(read_recording(io.BytesIO(data), **options))


def note(text: str, **details: Any) -> bytes:
    event = details.pop("event", None)
    return encode_line(RecordedLine(direction="meta", note=text, event=event, details=details))


@given(recorded_lines)
def test_a_line_is_read_as_it_was_written(line):
    assert parse_line(encode_line(line)) == line


@given(st.binary())
def test_nothing_breaks_the_reader(data):
    for line in read(data):
        assert line.problem is not None or line.direction in ("in", "out", "meta")


def test_the_form_is_the_published_one():
    line = RecordedLine(direction="in", time=1.25, message={"jsonrpc": "2.0"})
    assert encode_line(line) == b'{"dir":"in","t":1.25,"msg":{"jsonrpc":"2.0"}}\n'
    assert encode_line(RecordedLine(direction="out", raw="x")) == b'{"dir":"out","t":0.0,"raw":"x"}\n'
    assert (
        note("again", event="end", reason="r") == b'{"dir":"meta","t":0.0,"note":"again","event":"end","reason":"r"}\n'
    )


@pytest.mark.parametrize("path", SHARED, ids=lambda path: path.stem)
def test_recordings_of_another_recorder_are_read(path):
    lines = list(read_recording(path))
    assert len(lines) > 40
    assert [line for line in lines if line.problem is not None] == []
    assert all(line.begins_connection for line in lines if line.direction == "meta")


def test_only_a_new_connection_is_one():
    begins = {event: parse_line(note("", event=event)).begins_connection for event in MetaEvent}
    assert {event for event, value in begins.items() if value} == {MetaEvent.CONNECTION}
    assert parse_line(note("the agent was started anew")).begins_connection
    assert not parse_line(b"rubbish").begins_connection


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"rubbish", "not JSON"),
        (b"[]", "not a JSON object"),
        (b'{"dir":"up","t":0,"msg":{}}', '"dir"'),
        (b'{"dir":"in","t":"0","msg":{}}', '"t"'),
        (b'{"dir":"in","t":NaN,"msg":{}}', '"t"'),
        (b'{"dir":"in","t":' + b"9" * 400 + b',"msg":{}}', '"t"'),
        (b'{"dir":"in","t":0,"raw":1}', '"raw"'),
        (b'{"dir":"in","t":0}', 'neither "msg" nor "raw"'),
        (b"[" * 100_000, "not JSON"),
    ],
)
def test_a_bad_line_says_what_is_wrong_and_loses_no_other(line, problem):
    first, bad, last = read(note("a") + line + b"\n" + note("b"))
    assert (first.note, last.note, last.number) == ("a", "b", 3)
    assert problem in bad.problem
    assert bad.raw == line[:2047].decode() + ("…" if len(line) > 2048 else "")


def test_a_bad_line_that_is_written_again_is_a_bad_one_and_no_other():
    lines = read(b'rub\tbish\n{"dir":\n\x1f\x8b\n{"dir":"in","t":0,"note":"n","msg":{"id":1}}\n')
    again = read(b"".join(map(encode_line, lines)))
    assert [line.problem is None for line in again] == [False, False, False, True]
    assert not any(line.begins_connection for line in again)
    assert again[-1].message == {"id": 1}


def test_a_line_that_the_end_of_the_file_cut_off_is_told():
    [bad] = read(b'{"dir":"in","t":0,"msg":{"jso')
    assert bad.problem is not None
    assert "the file ends in the middle" in bad.problem
    assert [line.note for line in read(note("whole").rstrip(b"\n"))] == ["whole"]


def test_a_line_that_is_too_long_is_bounded():
    bad, good = read(b"x" * 200_000 + b"\n" + note("good"), max_line=100)
    assert bad.problem == "it has 200000 bytes; at most 100 are read"
    assert bad.raw is not None
    assert len(bad.raw) < 110
    assert good.note == "good"


def test_large_ids_and_half_characters_are_exact():
    line = parse_line(b'{"dir":"in","t":0,"msg":{"id":123456789012345678901234567890,"text":"\\ud83d"}}')
    assert line.message == {"id": 123456789012345678901234567890, "text": "\ud83d"}
    assert parse_line(encode_line(line)) == line


@pytest.mark.parametrize("cut", [0, 5])
def test_a_compressed_recording_is_read(tmp_path, cut):
    data = gzip.compress(note("a") + note("b"))
    path = tmp_path / "talk.jsonl.gz"
    path.write_bytes(data[: len(data) - cut])
    lines = list(read_recording(path))
    assert [line.note for line in lines if line.problem is None] == ["a", "b"]
    assert len(lines) == (3 if cut else 2)


def continues(part: int, first: int = 1) -> bytes:
    return note(f"goes on as {part}", event=MetaEvent.CONTINUES, part=part, first=first)


def told(path: Path) -> list[Any]:
    return [
        line.details["count"] if line.event == MetaEvent.PARTS_MISSING else line.note for line in read_recording(path)
    ]


def test_parts_are_read_in_order_and_missing_ones_told(tmp_path):
    path = tmp_path / "talk.jsonl"
    part_path(path, 1).write_bytes(note("1"))
    for part in (2, 10):
        part_path(path, part).write_bytes(continues(part))
    (tmp_path / "talk.x.jsonl").write_bytes(note("another"))
    path.write_bytes(continues(13) + note("newest"))
    assert told(path) == ["1", "goes on as 2", 7, "goes on as 10", 2, "goes on as 13", "newest"]


@pytest.mark.parametrize("newest", [b"", b'{"dir":"meta","t":0.1,"no'])
def test_parts_belong_together_though_the_newest_says_nothing_yet(tmp_path, newest):
    path = tmp_path / "talk.jsonl"
    part_path(path, 3).write_bytes(note("first"))
    path.write_bytes(newest)
    assert told(path)[0] == "first"
    part_path(path, 4).write_bytes(continues(4, first=3))
    assert told(path)[:2] == ["first", "goes on as 4"]


def test_files_that_only_have_such_names_are_no_parts(tmp_path):
    path = tmp_path / "talk.jsonl"
    for part in range(1, 6):
        part_path(path, part).write_bytes(note("another"))
    path.write_bytes(note("the only one"))
    assert told(path) == ["the only one"]
    path.write_bytes(b'{"dir":"in","t":0,"raw":"%b"}\n' % (b"x" * 100_000))
    assert told(path) == [None]
    part_path(path, 7).write_bytes(note("the first"))
    part_path(path, 8).write_bytes(note("another"))
    path.write_bytes(continues(9, first=7))
    assert told(path) == ["the first", 1, "goes on as 9"]
