"""The format of recordings: :class:`RecordedLine`, :func:`read_recording`, :func:`encode_line`.

A recording is JSON Lines, one object for each message or remark::

    {"dir": "in"|"out"|"meta", "t": seconds, "msg": {…} | "raw": "…" | "note": "…"}

``in`` is agent to host; ``t`` is monotonic within one run of a host. ``raw`` is what is no JSON object: noise, a batch,
half a message. A ``meta`` line with a ``note`` alone, as other recorders write it, says that a new process or
connection begins: ids that were pending are forgotten, sessions go on. This recorder's own ``meta`` lines say more,
with a :class:`MetaEvent` in ``event`` and further members beside it.

A recording that has become too large is continued in a new file. The path of a recording always names its newest part;
earlier parts of ``talk.jsonl`` are ``talk.1.jsonl``, ``talk.2.jsonl`` and so on, oldest first. Each but the first says
in its first line that it continues the others, so that other files with such names are never taken for parts.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import zlib
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import IO, Any, cast

from attrs import evolve, field, frozen

from acp_host.diagnostics import excerpt
from acp_host.given_files import reading
from acp_host.recording.exact_json import loads
from acp_host.wire.codec import encode

__all__ = [
    "CLOSED_BY_HOST",
    "END_OF_STREAM",
    "MAX_LINE",
    "MetaEvent",
    "RecordedDirection",
    "RecordedLine",
    "encode_line",
    "numbered_files",
    "parse_line",
    "part_path",
    "parts_of",
    "place_of",
    "read_recording",
]

_FIRST_LINE = 64 * 1024
"""Bytes of the first line of a file that are looked at to find out which part it is."""

_LONG = 1024
"""Characters of a line that is longer than what a file says of itself."""

MAX_LINE = 96 * 2**20
"""Longest line that is read, in bytes: a message of the largest size, and room for what escapes add to it."""

CLOSED_BY_HOST = "closed by this host"
"""The note of an ``end`` where nothing was lost: the host had no more to do with the agent."""

END_OF_STREAM = "<EOF>"
"""What some recorders write as ``raw`` where a stream ended; the line that begins the next connection says it again."""

_LONGEST_TIME = 1e300
"""Seconds; what is longer is no number that can be written again."""
_GZIP = b"\x1f\x8b"
_MEMBERS = frozenset(("dir", "t", "msg", "raw", "note", "event"))


class RecordedDirection(StrEnum):
    """Where what a line records was going."""

    IN = "in"
    """From the agent to the host."""
    OUT = "out"
    """From the host to the agent."""
    META = "meta"
    """Nowhere: it is a remark of the recorder."""


class MetaEvent(StrEnum):
    """What a ``meta`` line of this recorder says."""

    START = "start"
    """A host begins to record: ``at`` (UTC), ``acp_host``, ``python`` and ``platform`` (versions)."""
    CONNECTION = "connection"
    """A new process or connection: ``number`` in this run, and what is connected to, without secrets, in ``agent``."""
    END = "end"
    """A process or connection is over, as the note says: ``exit_status`` and the end of ``stderr``, as far as known."""
    STDERR = "stderr"
    """The note is a line that the agent wrote to its stderr."""
    NOT_RECORDED = "not_recorded"
    """``count`` messages in the direction ``of`` are missing here."""
    CONTINUES = "continues"
    """A file begins that continues an earlier one, as its part ``part``; the number of the first one is ``first``."""
    PARTS_MISSING = "parts_missing"
    """``count`` parts that stood here were deleted to make room. It is in no file: the reader makes this line."""


@frozen(kw_only=True)
class RecordedLine:
    """One line of a recording. Of ``message``, ``raw``, ``note`` and ``problem`` one is there.

    Attributes:
        direction: one of :class:`RecordedDirection`.
        time: seconds since the run of the host began; it starts anew where ``event`` is ``start``.
        message: the message, as decoded, usually a ``dict``; treat it as read-only.
        raw: what went over the wire and is no JSON object, without its newline; invalid UTF-8 as U+FFFD.
        note: a remark, for people.
        event: one of :class:`MetaEvent`, or another recorder's word; ``None`` where a line has none.
        details: the line's other members; ``cut`` is how many characters of long texts were left out of it.
        number: number of the line in its file, from 1; 0 for one that was not read.
        problem: why the line could not be read; ``raw`` is an excerpt of it then.
    """

    direction: str
    time: float = 0.0
    message: Any = None
    raw: str | None = None
    note: str | None = None
    event: str | None = None
    details: Mapping[str, Any] = field(factory=dict)
    number: int = 0
    problem: str | None = None

    @property
    def begins_connection(self) -> bool:
        """Whether a new process or connection begins here."""
        if self.direction != RecordedDirection.META or self.problem is not None:
            return False
        return self.event == MetaEvent.CONNECTION or (self.event is None and self.note is not None)


def encode_line(line: RecordedLine) -> bytes:
    """Return a line as it stands in a file, newline included; one that could not be read still cannot be.

    Raises:
        InvalidInput: something in it has no JSON form.
    """
    if line.problem is not None:
        return " ".join((line.raw or "").split()).encode(errors="replace") + b" (unreadable)\n"
    members: dict[str, Any] = {"dir": line.direction, "t": round(line.time, 6)}
    if line.note is not None:
        members["note"] = line.note
    if line.event is not None:
        members["event"] = line.event
    members.update(line.details)
    if line.raw is not None:
        members["raw"] = line.raw
    elif line.note is None or line.message is not None:
        members["msg"] = line.message
    return encode(members)


def parse_line(data: bytes, number: int = 0) -> RecordedLine:
    """Return one line of a file; one that cannot be read has a ``problem``.

    >>> parse_line(b'{"dir": "sideways"}').problem
    '"dir" is neither "in" nor "out" nor "meta"'
    """
    try:
        members = loads(data, lenient=True)
    except (ValueError, RecursionError) as error:
        return _unreadable(data, number, f"it is not JSON: {error}")
    if not isinstance(members, dict):
        return _unreadable(data, number, "it is not a JSON object")
    direction, time = members.get("dir"), members.get("t", 0.0)
    if direction not in tuple(RecordedDirection):
        return _unreadable(data, number, '"dir" is neither "in" nor "out" nor "meta"')
    if isinstance(time, bool) or not isinstance(time, int | float) or not abs(time) < _LONGEST_TIME:
        return _unreadable(data, number, '"t" is no number of seconds')
    raw, note, event = members.get("raw"), members.get("note"), members.get("event")
    for name, value in (("raw", raw), ("note", note), ("event", event)):
        if not isinstance(value, str | None):
            return _unreadable(data, number, f'"{name}" is no string')
    if direction != RecordedDirection.META and "msg" not in members and raw is None:
        return _unreadable(data, number, 'it has neither "msg" nor "raw"')
    return RecordedLine(
        direction=direction,
        time=float(time),
        message=members.get("msg"),
        raw=raw,
        note=note,
        event=event,
        details={name: value for name, value in members.items() if name not in _MEMBERS},
        number=number,
    )


def part_path(path: str | os.PathLike[str], part: int) -> Path:
    """Return the path of an earlier part of a recording, counted from 1."""
    newest = Path(path)
    return newest.with_name(f"{newest.stem}.{part}{newest.suffix}")


def numbered_files(path: str | os.PathLike[str]) -> dict[int, Path]:
    """Return the files that have the name of an earlier part of a recording, by number, lowest first."""
    newest = Path(path)
    name = re.compile(rf"{re.escape(newest.stem)}\.([1-9][0-9]{{0,8}}){re.escape(newest.suffix)}")
    found = ((name.fullmatch(entry.name), entry) for entry in newest.parent.iterdir())
    return dict(sorted((int(match[1]), entry) for match, entry in found if match is not None))


def parts_of(path: str | os.PathLike[str]) -> dict[int, Path]:
    """Return the earlier parts of a recording that exist, by number, oldest first.

    Raises:
        OSError: a file cannot be opened or read.
    """
    found = numbered_files(path)
    place = place_of(Path(path))
    first = place[1] if place is not None else _first_of(found)
    return {number: part for number, part in found.items() if first and _belongs(part, number, first)}


def place_of(path: Path) -> tuple[int, int] | None:
    """Return which part of a recording a file is and which one is the first, 0 for itself; ``None``: it does not say.

    Raises:
        OSError: the file cannot be opened or read.
    """
    try:
        with path.open("rb") as file:
            line = next(_read_file(file, _FIRST_LINE), None)
    except FileNotFoundError:
        return None
    if line is None or (line.problem is not None and len(line.raw or "") < _LONG):
        return None
    if line.event != MetaEvent.CONTINUES:
        return 1, 0
    return _number(line.details.get("part")), _number(line.details.get("first")) or 1


def _first_of(found: dict[int, Path]) -> int:
    """Return the number of the first part where the newest one does not say it, because nothing was written to it."""
    for number, path in reversed(found.items()):
        place = place_of(path)
        if place is not None:
            return place[1] or number
    return 0


def _belongs(path: Path, number: int, first: int) -> bool:
    if number <= first:
        return number == first
    place = place_of(path)
    return place is not None and place[1] == first


def read_recording(source: str | os.PathLike[str] | IO[bytes], *, max_line: int = MAX_LINE) -> Iterator[RecordedLine]:
    """Yield the lines of a recording, whatever state it is in; empty lines are left out.

    Args:
        source: path of the newest part, which brings the earlier ones with it; or a file that is open for bytes, which
            is read alone. Either may be compressed with gzip.
        max_line: longest line that is read, in bytes; of a longer one, only its beginning is in the line's ``raw``.

    Raises:
        InvalidInput: a file cannot be opened or read.
    """
    if not isinstance(source, str | os.PathLike):
        yield from _read_file(source, max_line)
        return
    with reading(source):
        parts = parts_of(source)
        expected = min(parts, default=1)
        for part, path in parts.items():
            if part > expected:
                yield _missing(part - expected)
            expected = part + 1
            with path.open("rb") as file:
                yield from _read_file(file, max_line)
        with open(source, "rb") as file:
            for line in _read_file(file, max_line):
                missing = _number(line.details.get("part")) - expected if line.event == MetaEvent.CONTINUES else 0
                if line.number == 1 and missing > 0:
                    yield _missing(missing)
                yield line


def _read_file(file: IO[bytes], max_line: int) -> Iterator[RecordedLine]:
    buffered = io.BufferedReader(cast(io.RawIOBase, file))
    try:
        if buffered.peek(2)[:2] == _GZIP:
            with gzip.open(buffered, "rb") as unpacked:
                yield from _read_lines(cast(IO[bytes], unpacked), max_line)
        else:
            yield from _read_lines(buffered, max_line)
    finally:
        buffered.detach()  # else it would close the file, which is its owner's to do


def _read_lines(file: IO[bytes], max_line: int) -> Iterator[RecordedLine]:
    number = 0
    try:
        while data := file.readline(max_line + 1):
            number += 1
            line = data.removesuffix(b"\n")
            if len(line) > max_line:
                size = len(line) + _skip_line(file)
                yield _unreadable(line, number, f"it has {size} bytes; at most {max_line} are read")
            elif line.strip():
                parsed = parse_line(line, number)
                yield parsed if data.endswith(b"\n") or parsed.problem is None else _torn(parsed)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        yield _unreadable(b"", number + 1, f"the compressed file ends in the middle or is damaged: {error}")


def _skip_line(file: IO[bytes]) -> int:
    """Read to the end of a line; return how long its rest was."""
    size = 0
    while piece := file.readline(2**16):
        size += len(piece)
        if piece.endswith(b"\n"):
            return size - 1
    return size


def _torn(line: RecordedLine) -> RecordedLine:
    return evolve(line, problem=f"{line.problem}; the file ends in the middle of it")


def _missing(count: int) -> RecordedLine:
    note = f"{count} part{'s' if count > 1 else ''} of the recording that stood here were deleted to make room"
    return RecordedLine(
        direction=RecordedDirection.META, note=note, event=MetaEvent.PARTS_MISSING, details={"count": count}
    )


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _unreadable(data: bytes, number: int, problem: str) -> RecordedLine:
    return RecordedLine(direction=RecordedDirection.META, raw=excerpt(data), number=number, problem=problem)
