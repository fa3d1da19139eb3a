"""The files of a recording: :class:`RecordingFile`, :func:`files_of`.

One file grows to a maximum and becomes an earlier part then; of the parts the first is kept, because it has the
handshake, and the newest. Everything here blocks and belongs to one thread.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from acp_host.errors import InvalidInput
from acp_host.recording.format import (
    MetaEvent,
    RecordedDirection,
    RecordedLine,
    encode_line,
    numbered_files,
    parse_line,
    part_path,
    parts_of,
    place_of,
)

__all__ = ["RecordingFile", "files_of"]

_FIRST_LINE = 64 * 1024
"""Bytes of the first line of a file that exists that are looked at."""
_NEW_FILE = "acp-{moment}-{process}.jsonl"
"""Name of a new file in a folder."""
_LOOKS_RECORDED = re.compile(rb'\{"dir": ?"(?:in|out|meta)"')
_LOCKED_BYTE = 2**62
"""Where a file is locked on Windows, whose locks keep others from reading."""


def files_of(path: str | os.PathLike[str]) -> list[Path]:
    """Return the files of a recording that this process makes, the earlier parts included; of a folder, of all of them.

    Args:
        path: as for :class:`RecordingFile`.

    Raises:
        OSError: they cannot be looked for.
    """
    given = Path(path)
    pattern = _NEW_FILE.format(moment="*", process=os.getpid())
    newest = list(given.glob(pattern)) if given.is_dir() else [given]
    return [file for each in newest if each.exists() for file in (each, *parts_of(each).values())]


class RecordingFile:
    """Appends lines to a recording.

    A file that exists is continued if it is a recording. A new one is open to its owner alone.

    Attributes:
        path: the newest part.

    Args:
        path: the file; of a folder that exists, a new file in it.
        max_bytes: how large one file becomes; what is written at once may exceed it.
        max_files: how many files there are at most, 2 or more.

    Raises:
        InvalidInput: the file cannot be written, is written by another recording, or is something else.
    """

    def __init__(self, path: str | os.PathLike[str], *, max_bytes: int, max_files: int) -> None:
        self.path = Path(path)
        if self.path.is_dir():
            self.path /= _NEW_FILE.format(moment=time.strftime("%Y%m%d-%H%M%S"), process=os.getpid())
        self._max_bytes = max_bytes
        self._max_files = max_files
        try:
            _check_is_recording(self.path)
            self._fd, self._size = _open(self.path)
        except OSError as error:
            raise InvalidInput(f"the recording {self.path} cannot be written: {error.strerror or error}") from error
        self._is_torn = self._size > 0 and not _ends_line(self.path)
        self._part, self._first = place_of(self.path) or (1, 0)

    def write(self, pieces: Sequence[bytes], time: float) -> None:
        """Append pieces of whole lines; where a piece does not fit into this file any more, it begins a new one.

        Args:
            pieces: the lines.
            time: seconds since the recording began, for a line that says where a new file continues.

        Raises:
            OSError: they could not be written, or only a part of them; the next write begins a new line.
        """
        if self._fd < 0:  # a new part could not be opened
            self._open_part(time)
        data = b"".join(pieces)
        if self._size + len(data) <= self._max_bytes:
            self._append(data)
            return
        for piece in pieces:
            if self._size and self._size + len(piece) > self._max_bytes:
                self._begin_part(time)
            self._append(piece)

    def _append(self, data: bytes) -> None:
        view = memoryview(b"\n" + data if self._is_torn else data)
        while view:
            written = os.write(self._fd, view)
            self._size += written
            self._is_torn = written < len(view)
            view = view[written:]

    def close(self) -> None:
        """Close the file."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _begin_part(self, time: float) -> None:
        earlier = list(parts_of(self.path)) if self._first else []
        newest = max(self._part, max(numbered_files(self.path), default=0) + 1)
        if sys.platform == "win32":
            self.close()  # a file that is open cannot be renamed
        self.path.replace(part_path(self.path, newest))
        self.close()  # it was locked until here, so that nobody else took it for the newest
        self._part, self._first = newest + 1, self._first or newest
        kept = [*earlier, newest]
        for part in kept[1 : max(1, len(kept) + 2 - self._max_files)]:
            part_path(self.path, part).unlink(missing_ok=True)
        self._open_part(time)

    def _open_part(self, time: float) -> None:
        self._fd, self._size = _open(self.path)
        self._is_torn = False
        line = RecordedLine(
            direction=RecordedDirection.META,
            time=time,
            note=f"continues part {self._part - 1} of this recording",
            event=MetaEvent.CONTINUES,
            details={"part": self._part, "first": self._first},
        )
        self._append(encode_line(line))


def _open(path: Path) -> tuple[int, int]:
    """Open a file for this recording alone; return its descriptor and its size."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    fd = os.open(path, flags, 0o600)
    try:
        _lock(fd)
        found = os.fstat(fd)
        if not os.path.samestat(found, os.stat(path)):
            raise OSError("another recording has just moved it")
        return fd, found.st_size
    except OSError:
        os.close(fd)
        raise


def _check_is_recording(path: Path) -> None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return
    if not stat.S_ISREG(found.st_mode):
        raise InvalidInput(f"the recording {path} cannot be written: it is not a regular file")
    with path.open("rb") as file:
        head = file.readline(_FIRST_LINE)
    if not head.strip():
        return
    is_cut = len(head) == _FIRST_LINE  # by this look
    if not _LOOKS_RECORDED.match(head) or (not is_cut and parse_line(head).problem is not None):
        raise InvalidInput(f"the recording {path} cannot be written: the file exists and is no recording")


def _ends_line(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read() == b"\n"


if sys.platform == "win32":
    import msvcrt

    def _lock(fd: int) -> None:
        os.lseek(fd, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            raise OSError("another recording writes it; choose another name, or a folder") from None

else:
    import fcntl

    def _lock(fd: int) -> None:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OSError("another recording writes it; choose another name, or a folder") from None
        except OSError:
            pass  # a file system without locks
