"""A file for the entries of transcripts that have left memory: :class:`TranscriptArchive`.

It is in the format of recordings: each entry is a ``meta`` line with the ``event`` ``entry``, the ``session`` and the
``entry`` in its JSON form. Unlike a recording it leaves nothing out, since it is part of what a front-end shows; only
its owner can read it.

Cost: writing and reading an entry is one call of the operating system each; 16 bytes of memory an entry.
"""

from __future__ import annotations

import os
import tempfile
import time
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from acp_host.errors import InvalidInput
from acp_host.recording.exact_json import loads
from acp_host.state.memory import Archive
from acp_host.wire.codec import encode

__all__ = ["TranscriptArchive"]


class TranscriptArchive:
    """Keeps entries of any number of sessions in one file::

        with TranscriptArchive("old.jsonl") as archive:
            memory = MemoryPolicy(keep_turns=20, archive=archive.of)
            ...

    Args:
        path: the file, which must not be there yet; ``None``: one without a name, that is gone with the program.

    Raises:
        InvalidInput: the file cannot be made.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self._file = _new_file(path)
        self._started = time.monotonic()
        self._end = 0

    def of(self, session_id: str) -> Archive:
        """Return an archive for one session's state, empty: one that is opened again counts its entries anew."""
        return _SessionArchive(self, session_id)

    def __enter__(self) -> TranscriptArchive:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; what is in it cannot be fetched any more. May be called repeatedly."""
        self._file.close()

    def write(self, session_id: str, entry: Mapping[str, Any]) -> int:
        """Write an entry; return where it stands."""
        seconds = round(time.monotonic() - self._started, 6)
        line = {"dir": "meta", "t": seconds, "event": "entry", "session": session_id, "entry": entry}
        data, place = encode(line), self._end
        self._file.seek(place)
        self._file.write(data)
        self._end += len(data)
        return place

    def read(self, place: int) -> Mapping[str, Any]:
        """Return the entry that stands at a place."""
        self._file.seek(place)
        entry: Mapping[str, Any] = loads(self._file.readline())["entry"]
        return entry


class _SessionArchive:
    """The entries of one session, in the order of their positions, between which there may be gaps."""

    def __init__(self, file: TranscriptArchive, session_id: str) -> None:
        self._file = file
        self._session_id = session_id
        self._positions = array("Q")
        self._places = array("Q")

    def append(self, entries: Sequence[Mapping[str, Any]]) -> None:
        for entry in entries:
            # When one could not be written, it is given again, together with those before it.
            if not self._positions or entry["position"] > self._positions[-1]:
                self._places.append(self._file.write(self._session_id, entry))
                self._positions.append(entry["position"])

    def fetch(self, first: int, last: int) -> Sequence[Mapping[str, Any]]:
        begin, end = bisect_left(self._positions, first), bisect_right(self._positions, last)
        return [self._file.read(place) for place in self._places[begin:end]]


def _new_file(path: str | Path | None) -> IO[bytes]:
    if path is None:
        return tempfile.TemporaryFile(prefix="acp_host")
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    except OSError as error:
        raise InvalidInput(f"the archive {os.fspath(path)} cannot be made: {error.strerror or error}") from error
    return os.fdopen(descriptor, "w+b")
