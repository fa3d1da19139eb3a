"""Which files have changed during a run, with diffs: :class:`ChangeTracker`.

The working directory is looked at before the prompt is sent and after the run (:mod:`acp_host.services.working_copy`),
and the texts of small files are kept meanwhile, compressed, in a temporary file: what has changed can be shown whoever
has changed it, in whatever way, and whether or not there is version control. All of it happens in threads, and is
bounded; where there is more text than is kept, that of the project goes before that of what it depends on.
"""

from __future__ import annotations

import asyncio
import contextlib
import difflib
import os
import stat
import tempfile
import threading
import zlib
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, TypeVar

from attrs import frozen

from acp_host.automation.result import FileChange
from acp_host.services.working_copy import (
    Difference,
    DifferenceKind,
    Fingerprint,
    FingerprintLimits,
    compare,
    take_fingerprint,
)

__all__ = ["ChangeTracker", "ChangedFiles", "relative_path", "tracked"]

LARGEST_FILE = 256 * 1024
"""Largest file of which there is a diff, in bytes."""
MOST_KEPT = 16 * 1024 * 1024
"""Bytes of text that are kept at most."""
MOST_LINES = 20_000
"""Lines that are compared at most, those of before and of after together: comparing is quadratic at worst."""
MOST_SHOWN = 4 * 1024 * 1024
"""Characters of all diffs together at most."""
MOST_CHANGES = 10_000
"""Changed files that are listed at most."""

_NOT_ITS_OWN = frozenset(
    {".git", ".mypy_cache", ".tox", ".venv", "__pycache__", "build", "dist", "node_modules", "target", "venv"}
)
"""Names of directories whose text is mostly not the project's own: it is kept last."""
_OPEN = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_T = TypeVar("_T")


@frozen
class ChangedFiles:
    """What has changed.

    Attributes:
        changes: each file that has, by path.
        problem: why there may be more, as a sentence; ``None``: these are all.
    """

    changes: tuple[FileChange, ...] = ()
    problem: str | None = None


class ChangeTracker:
    """Looks at a directory twice.

    Args:
        directory: its path.
        limits: how much work a look may be.
        own_files: returns files that this program writes meanwhile: they are none that have changed; may block.
    """

    def __init__(
        self,
        directory: str,
        limits: FingerprintLimits | None = None,
        own_files: Callable[[], Iterable[Path]] = tuple,
    ) -> None:
        self._own_files = own_files
        self._root = os.path.realpath(directory)
        # The content is compared as text, where there is any: hashes would have to read all of it once more.
        self._limits = limits or FingerprintLimits(max_hashed=0)
        self._before = Fingerprint({}, "the files were not looked at before the run")
        self._texts: _KeptTexts | None = None
        self._first_look: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Begin with the first look, which is done by the time that :meth:`ready` returns."""
        self._first_look = asyncio.create_task(_in_thread(self._begin), name="acp_host first look at files")

    async def ready(self) -> None:
        """Wait until the first look is done."""
        if self._first_look is not None:
            await self._first_look

    async def end(self) -> ChangedFiles:
        """Take the second look, and return what has changed in between."""
        return await _in_thread(self._end)

    async def close(self) -> None:
        """End the first look, if it goes on, and let go of what was kept."""
        if self._first_look is not None and not self._first_look.done():
            self._first_look.cancel()
            await asyncio.wait([self._first_look])
        if self._texts is not None:
            self._texts.close()

    def _begin(self, stopped: Callable[[], bool]) -> None:
        self._before = take_fingerprint([self._root], None, self._limits, stopped=stopped)
        with contextlib.suppress(OSError):  # no space is left: there are fewer diffs then
            self._texts = texts = _KeptTexts()
            for path in sorted(self._before.files, key=self._rank):
                if stopped() or texts.is_full:
                    break
                state = self._before.files[path]
                if stat.S_ISREG(state.mode) and state.size <= LARGEST_FILE:
                    texts.keep(path)
        if stopped() and self._texts is not None:
            self._texts.close()

    def _rank(self, path: str) -> tuple[bool, int, str]:
        """Return in what order a file's text is kept: the project's own first, and what lies high first."""
        parents = path[len(self._root) :].split(os.sep)[:-1]
        return not _NOT_ITS_OWN.isdisjoint(parents), len(parents), path

    def _end(self, stopped: Callable[[], bool]) -> ChangedFiles:
        after = take_fingerprint([self._root], self._before, self._limits, stopped=stopped)
        own = {os.path.realpath(path) for path in self._own_files()}
        differences = [each for each in compare(self._before, after) if each.path not in own]
        problem = self._before.problem or after.problem
        if len(differences) > MOST_CHANGES:
            problem = f"only {MOST_CHANGES} of {len(differences)} changed files are listed"
        room, changes = MOST_SHOWN, []
        for difference in differences[:MOST_CHANGES]:
            change = self._change(difference, room)
            if change is not None:
                room -= len(change.diff or "")
                changes.append(change)
        return ChangedFiles(tuple(changes), problem)

    def _change(self, difference: Difference, room: int) -> FileChange | None:
        """Return a change as it is shown; ``None`` for a file that was written anew with the same text."""
        path = relative_path(difference.path, self._root)
        diff, why = self._diff(difference, path)
        if diff == "" and difference.kind is DifferenceKind.MODIFIED:
            return None
        if diff is not None and len(diff) > room:
            diff, why = None, "the diffs of this run are too long"
        return FileChange(path=path, kind=str(difference.kind), diff=diff, no_diff=why)

    def _diff(self, difference: Difference, path: str) -> tuple[str | None, str]:
        """Return a diff, or why there is none."""
        if difference.kind is DifferenceKind.MODE:
            return None, "only its permissions have changed"
        before = self._text_before(difference)
        after = "" if difference.kind is DifferenceKind.DELETED else _text_of(difference.path)
        if before is None or after is None:
            return None, "it is no text, too large, or was not kept"
        return _unified(before, after, path, difference.kind)

    def _text_before(self, difference: Difference) -> str | None:
        if difference.kind is DifferenceKind.CREATED:
            return ""
        return None if self._texts is None else self._texts.get(difference.path)


@asynccontextmanager
async def tracked(
    directory: str | None, own_files: Callable[[], Iterable[Path]]
) -> AsyncIterator[ChangeTracker | None]:
    """Track the changes in a directory while the block runs, but for own files; ``None``: nothing is tracked."""
    if directory is None:
        yield None
        return
    tracker = ChangeTracker(directory, own_files=own_files)
    tracker.begin()
    try:
        yield tracker
    finally:
        await tracker.close()


def relative_path(path: str, directory: str) -> str:
    """Return a real path relative to a directory, with ``/``."""
    return os.path.relpath(path, os.path.realpath(directory)).replace(os.sep, "/")


class _KeptTexts:
    """Texts of files as they were, in a temporary file."""

    def __init__(self) -> None:
        # Without a buffer: where no space is left that is said at once, and not when it is closed.
        self._file: IO[bytes] = tempfile.TemporaryFile(prefix="acp-host-", buffering=0)  # noqa: SIM115 - it lasts
        self._places: dict[str, tuple[int, int]] = {}
        self._kept = 0

    @property
    def is_full(self) -> bool:
        return self._kept >= MOST_KEPT

    def keep(self, path: str) -> None:
        text = _text_of(path)
        if text is None:
            return
        packed = zlib.compress(text.encode("utf-8", "surrogatepass"), 1)
        place = self._file.tell()
        if self._file.write(packed) == len(packed):
            self._places[path] = (place, len(packed))
        self._kept += len(text)

    def get(self, path: str) -> str | None:
        place = self._places.get(path)
        if place is None:
            return None
        self._file.seek(place[0])
        return zlib.decompress(self._file.read(place[1])).decode("utf-8", "surrogatepass")

    def close(self) -> None:
        self._file.close()


def _text_of(path: str) -> str | None:
    """Return the text of a file; ``None`` where it is none, too large, or cannot be read."""
    try:
        descriptor = os.open(path, _OPEN)
    except OSError:
        return None
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        data = file.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE or b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _unified(before: str, after: str, path: str, kind: DifferenceKind) -> tuple[str | None, str]:
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    if len(old) + len(new) > MOST_LINES:
        return None, "it has too many lines to be compared"
    old_name = "/dev/null" if kind is DifferenceKind.CREATED else f"a/{path}"
    new_name = "/dev/null" if kind is DifferenceKind.DELETED else f"b/{path}"
    lines = difflib.unified_diff(old, new, old_name, new_name)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines), ""


async def _in_thread(work: Callable[[Callable[[], bool]], _T]) -> _T:
    """Do something in a thread, which is told when nobody waits for it any more."""
    stop = threading.Event()
    try:
        return await asyncio.to_thread(work, stop.is_set)
    finally:
        stop.set()
