"""A recording as it is written: what stands in it, bounds, and what goes wrong with files."""

from __future__ import annotations

import errno
import os
import stat
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from acp_host.diagnostics import Diagnostic
from acp_host.errors import InvalidInput
from acp_host.recording import MetaEvent, RecordedLine, Recorder, Recording, Redaction, read_recording
from acp_host.recording import recorder as recorder_module
from acp_host.recording.file import RecordingFile, files_of
from acp_host.recording.format import part_path, parts_of

needs_unix = pytest.mark.skipif(sys.platform == "win32", reason="modes and special files of Unix")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "talk.jsonl"


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Holds the writer's thread back until it is set."""
    go = threading.Event()
    next_batch = recorder_module._next_batch

    def wait(waiting: Any) -> Any:
        go.wait(10)
        return next_batch(waiting)

    monkeypatch.setattr(recorder_module, "_next_batch", wait)
    yield go
    go.set()


def record(recording: Recording, *received: bytes, **options: Any) -> list[RecordedLine]:
    recorder = Recorder(recording, **options)
    connection = recorder.connection({"command": ["agent"]}, "connects to agent")
    for data in received:
        connection.received.put(data)
    connection.end("over", exit_status=0, stderr=None)
    connection.close()
    recorder.flush()
    return list(read_recording(recording.path))


def told(lines: list[RecordedLine]) -> list[Any]:
    return [line.message or line.raw for line in lines if line.direction == "in"]


def test_everything_stands_in_it(path):
    lines = record(Recording(path), b'{"a":1}\n{"b"', b": 2}\r\nnoise\n[1]\n\n", b"\xff half")
    assert [line.problem for line in lines] == [None] * len(lines)
    assert told(lines) == [{"a": 1}, {"b": 2}, "noise", "[1]", "\ufffd half"]
    events = [(line.event, line.note) for line in lines if line.direction == "meta"]
    assert [event for event, _ in events] == [MetaEvent.START, MetaEvent.CONNECTION, MetaEvent.END]
    assert lines[0].details.keys() == {"at", "acp_host", "python", "platform"}
    assert lines[1].details == {"number": 1, "agent": {"command": ["agent"]}}
    assert lines[-1].details == {"exit_status": 0}
    assert [line.time for line in lines] == sorted(line.time for line in lines)


@pytest.mark.parametrize("text", ['{"n":NaN}', '{"a":1', "{'a':1}", '{"a":"\x01"}'])
def test_what_is_no_json_is_kept_as_it_is(path, text):
    assert told(record(Recording(path), text.encode() + b"\n")) == [text]


@pytest.mark.parametrize("text", ['{"id":123456789012345678901234567890,"token":1}', '{"token":"\\ud83d"}'])
def test_what_is_unusual_json_is_exact(path, text):
    [line] = [line for line in record(Recording(path, redact=Redaction(secrets=False)), text.encode()) if line.message]
    assert line.raw is None
    assert line.message in ({"id": 123456789012345678901234567890, "token": 1}, {"token": "\ud83d"})


@needs_unix
def test_a_new_file_is_its_owners_alone(path):
    record(Recording(path))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_folder_gets_a_file_of_its_own(tmp_path):
    recorder = Recorder(Recording(tmp_path))
    for _ in range(2):  # as when the agent is started anew
        recorder.connection({}, "").close()
        recorder.flush()
    [found] = tmp_path.iterdir()
    assert found.name.startswith("acp-")
    assert [line.event for line in read_recording(found)] == ["start", "connection", "connection"]


class TestAFileThatExists:
    def test_is_continued(self, path):
        before = record(Recording(path), b'{"a":1}\n')
        after = record(Recording(path), b'{"b":2}\n')
        assert told(after) == [{"a": 1}, {"b": 2}]
        assert after[: len(before)] == before
        assert after[len(before)].event == MetaEvent.START

    def test_is_continued_behind_a_line_that_was_cut_off(self, path):
        path.write_bytes(b'{"dir":"in","t":0,"msg":{}}\n{"dir":"in","t":1,"ms')
        lines = record(Recording(path), b'{"b":2}\n')
        assert [line.number for line in lines if line.problem] == [2]
        assert told(lines)[-1] == {"b": 2}

    @pytest.mark.parametrize("content", [b"import this\n", b'{"dir":"up"}\n', b'{"dir": 1' + b" " * 100_000])
    def test_is_left_alone_if_it_is_something_else(self, path, content):
        path.write_bytes(content)
        with pytest.raises(InvalidInput, match="exists and is no recording"):
            Recorder(Recording(path)).connection({}, "")
        assert path.read_bytes() == content

    def test_is_refused_while_another_recording_writes_it(self, path):
        first = Recorder(Recording(path))
        connection = first.connection({}, "")
        with pytest.raises(InvalidInput, match="another recording writes it"):
            Recorder(Recording(path)).connection({}, "")
        connection.close()
        first.flush()
        record(Recording(path))

    @needs_unix
    def test_is_refused_if_it_is_no_file(self, path):
        os.mkfifo(path)
        with pytest.raises(InvalidInput, match="not a regular file"):
            Recorder(Recording(path)).connection({}, "")


def test_a_file_that_cannot_be_made_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="cannot be written: No such file"):
        Recorder(Recording(tmp_path / "no" / "talk.jsonl")).connection({}, "")


class TestBounds:
    def test_a_large_recording_goes_on_in_new_files_and_the_first_stays(self, path):
        messages = [b'{"n":%d,"text":"%s"}\n' % (n, b"x" * 20_000) for n in range(40)]
        recording = Recording(path, max_bytes=65_536, max_files=3)
        recorder = Recorder(recording)
        connection = recorder.connection({}, "")
        for message in messages:
            connection.received.put(message)
        connection.close()
        recorder.flush()
        assert len(parts_of(path)) == 2
        assert set(files_of(path)) == set(path.parent.iterdir())
        lines = list(read_recording(path))
        found = [line.message["n"] for line in lines if line.message]
        assert found[0] == 0
        assert found[-1] == 39
        missing = [line.details["count"] for line in lines if line.event == MetaEvent.PARTS_MISSING]
        assert sum(missing) >= 1
        assert all(file.stat().st_size < 2 * 65_536 for file in path.parent.iterdir())

    def test_a_file_that_is_no_part_is_never_taken_for_one(self, path):
        foreign = {part_path(path, number): f"notes of mine, {number}\n" for number in (1, 2, 3, 7)}
        for file, text in foreign.items():
            file.write_text(text, encoding="utf-8")
        messages = b"".join(b'{"n":%d,"text":"%s"}\n' % (n, b"x" * 20_000) for n in range(40))
        lines = record(Recording(path, max_bytes=65_536, max_files=3), messages)
        assert {file: file.read_text(encoding="utf-8") for file in foreign} == foreign
        assert [line for line in lines if line.problem] == []
        assert [line.message["n"] for line in lines if line.message][:: len(told(lines)) - 1] == [0, 39]
        assert len(list(path.parent.iterdir())) == len(foreign) + 3

    @needs_unix
    def test_a_part_that_cannot_be_begun_is_tried_again(self, path, monkeypatch):
        def full(*arguments: Any) -> Any:
            raise OSError(errno.ENOSPC, "No space left on device")

        file = RecordingFile(path, max_bytes=65_536, max_files=3)
        file.write([b"x" * 65_000 + b"\n"], 0.0)
        with monkeypatch.context() as broken:
            broken.setattr("acp_host.recording.file._open", full)
            for _ in range(2):
                with pytest.raises(OSError, match="No space"):
                    file.write([b"y" * 2_000 + b"\n"], 0.0)
        file.write([b"z" * 2_000 + b"\n"], 0.0)
        file.close()
        assert part_path(path, 1).stat().st_size == 65_001
        assert path.read_bytes().endswith(b"z\n")
        assert list(parts_of(path)) == [1]

    @pytest.mark.parametrize(("length", "kept"), [(3_000, 256), (10_000, 256), (50_000, 4_096)])
    def test_long_texts_of_a_long_message_are_cut_and_it_says_so(self, path, length, kept):
        message = b'{"text":"%s","data":"%s","id":7}\n' % (b"x" * length, b"QUJD" * length)
        [line] = [
            line for line in record(Recording(path, max_line=2_000 if kept == 256 else 20_000), message) if line.message
        ]
        assert line.message == {"text": "x" * kept, "data": ("QUJD" * length)[:kept], "id": 7}
        assert line.details == {"cut": 5 * length - 2 * kept}

    def test_a_message_that_is_long_for_other_reasons_is_an_excerpt(self, path):
        message = b"[" + b"1," * 5_000 + b"1]"
        [line] = [line for line in record(Recording(path, max_line=2_000), b'{"a":%s}\n' % message) if line.raw]
        assert line.raw is not None
        assert line.raw.startswith('{"a": [1, 1')
        assert line.details["cut"] > 10_000
        assert len(path.read_bytes()) < 5_000

    def test_what_the_writer_cannot_keep_up_with_is_left_out_and_counted(self, path, held, monkeypatch):
        monkeypatch.setattr(recorder_module, "MAX_WAITING", 100)
        recorder = Recorder(Recording(path))
        connection = recorder.connection({}, "")
        for data in (b'{"n":0}\n{"n":1', b"}\n" + b'{"n":2}\n' * 20 + b'{"n":'):  # the second is too much
            connection.received.put(data)
        connection.sent.put(b'{"n":9}\n')
        held.set()
        for _ in range(1000):
            if connection.received._taken == connection.received._put:
                break
            threading.Event().wait(0.01)
        connection.received.put(b'3}\n{"n":4}\n')
        connection.end("over")
        connection.close()
        recorder.flush()
        lines = list(read_recording(path))
        gaps = [line.details for line in lines if line.event == MetaEvent.NOT_RECORDED]
        assert gaps == [{"count": 22, "of": "in"}]
        assert told(lines) == [{"n": 0}, {"n": 4}]
        assert [line.message for line in lines if line.direction == "out"] == [{"n": 9}]


class TestAFullDisk:
    def test_is_told_once_and_tried_again(self, path, monkeypatch):
        reported: list[Diagnostic] = []
        recorder = Recorder(Recording(path), report=reported.append)
        connection = recorder.connection({}, "")
        real, full = os.write, True

        def write(fd: int, data: Any) -> int:
            if full:
                raise OSError(28, "No space left on device")
            return real(fd, data)

        monkeypatch.setattr("acp_host.recording.file.os.write", write)
        failed = threading.Event()
        recorder._report = lambda diagnostic: (reported.append(diagnostic), failed.set())
        connection.received.put(b'{"a":1}\n')
        assert failed.wait(10)
        full = False
        connection.received.put(b'{"b":2}\n')
        connection.end("over")
        connection.close()
        recorder.flush()
        lines = list(read_recording(path))
        [gap] = [line for line in lines if line.event == MetaEvent.NOT_RECORDED]
        assert gap.details["count"] >= 1
        assert told(lines)[-1] == {"b": 2}
        [diagnostic] = reported
        assert diagnostic.kind == "recording"
        assert "No space left on device" in diagnostic.message


class TestSettings:
    @pytest.mark.parametrize("redact", [False, True, None, "secrets"])
    def test_redaction_is_never_off_by_accident(self, redact):
        with pytest.raises(InvalidInput, match=r"Redaction\(secrets=False\)"):
            Recording("x", redact=redact)

    @pytest.mark.parametrize("bounds", [{"max_bytes": 10}, {"max_files": 1}, {"max_line": 0}, {"max_files": "3"}])
    def test_bounds_are_checked(self, bounds):
        with pytest.raises(InvalidInput, match=next(iter(bounds))):
            Recording("x", **bounds)
