"""Tells what has changed in a session's directories: :func:`take_fingerprint`, :func:`compare`.

A fingerprint holds the status of every file below some directories, and a hash of its content where that is cheap; two
of them are compared. No version control is asked. A program such as git, run in a directory that the agent writes to,
runs what the agent has configured there (filters, monitors, ways to fetch), outside of any sandbox, and what it calls
changed is the agent's to bend: by rules of what to ignore, by marks in the index, or simply by a commit.

A file counts as changed if its type, permission bits or content are others. Where both fingerprints have a hash of the
content, that decides; else any difference of size, time or inode does, the time of the last change of status included
(``ctime``), which nobody can set back; it is believed of files that have not changed in the last minute. On Windows,
which has none, files are hashed anew each time. A file system in memory (tmpfs) keeps no times of changes by a mapping.

Not looked at: the files that this program's stdout and stderr go to, what is outside of the directories, where links
lead, directories themselves, and what a ``.git`` holds, apart from what makes git run programs (``config``, ``hooks``,
``info/attributes``, the steps of a rebase) and what makes it look for these elsewhere (links, ``commondir`` and
``gitdir``).

Everything is bounded, and a fingerprint that is not of everything says so; then only files that both have are compared.

Cost: for each file one system call, some 10 µs in all; for each one that is new, or has changed since the earlier
fingerprint or within a minute before it, its content is read.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from hashlib import blake2b
from typing import NamedTuple

from attrs import field, frozen

from acp_host.printable import printable

__all__ = ["Difference", "DifferenceKind", "Fingerprint", "FingerprintLimits", "compare", "take_fingerprint"]

_OPEN = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_OUTPUTS = (1, 2)
"""The descriptors of stdout and stderr."""
_STATUS_TELLS = os.name == "posix"
"""Whether an unchanged status means unchanged content."""
_RECENT = 60_000_000_000
"""Longest time in which a file may change twice with the same status, in nanoseconds.

Clocks of files are coarse. And what a program has mapped into its memory it may change, once it has, until the system
has written it back, by default after half a minute: only the first change leaves a time."""
_GIT_PRUNED = frozenset({"objects", "logs", "refs", "lfs"})
_GIT_RUNS = frozenset({"config", "config.worktree", "attributes", "commondir", "gitdir", "git-rebase-todo"})


class DifferenceKind(StrEnum):
    """What happened to a file."""

    CREATED = "created"
    MODIFIED = "modified"
    DELETED = "deleted"
    MODE = "mode"
    """Only its permission bits are others."""


@frozen
class Difference:
    """A file that has changed.

    Attributes:
        path: the real path.
        kind: what happened to it.
    """

    path: str
    kind: DifferenceKind


@frozen(kw_only=True)
class FingerprintLimits:
    """How much work a fingerprint may be.

    Attributes:
        max_files: files and directories that are looked at.
        max_seconds: time until it gives up.
        max_hashed_file: largest file whose content is hashed, in bytes.
        max_hashed: bytes that are read for hashes.
    """

    max_files: int = 200_000
    max_seconds: float = 10.0
    max_hashed_file: int = 256 * 1024
    max_hashed: int = 64 * 1024 * 1024


class FileState(NamedTuple):
    """The status of a file, and the hash of its content where there is one."""

    mode: int
    size: int
    inode: int
    modified: int
    changed: int
    digest: bytes | None = None

    @property
    def status(self) -> tuple[int, ...]:
        return self[:5]


@frozen
class Fingerprint:
    """What some directories held at one time.

    Attributes:
        files: the state of each file, by its real path.
        problem: why it is not of everything, as a sentence; ``None``: it is.
        began: when the first file was looked at, in nanoseconds since the epoch.
    """

    files: Mapping[str, FileState]
    problem: str | None = None
    began: int = field(default=0, eq=False)


def take_fingerprint(
    roots: Iterable[str],
    earlier: Fingerprint | None = None,
    limits: FingerprintLimits | None = None,
    *,
    stopped: Callable[[], bool] = lambda: False,
) -> Fingerprint:
    """Return the fingerprint of all files below some directories. Blocks; call it in a thread.

    Args:
        roots: absolute paths of directories.
        earlier: an earlier fingerprint, whose hashes are kept for files with the same status.
        limits: how much work it may be.
        stopped: asked now and then whether nobody wants the result any more.
    """
    began = time.time_ns()
    known = earlier if earlier is not None and _STATUS_TELLS else Fingerprint({})
    look = _Look(known, limits or FingerprintLimits(), stopped)
    for root in _outermost(os.path.realpath(root) for root in roots):
        look.at(root)
    return Fingerprint(look.files, look.problem, began)


def compare(before: Fingerprint, after: Fingerprint) -> list[Difference]:
    """Return what is different, by path; only files that both have, unless both are complete."""
    changes = []
    complete = before.problem is None and after.problem is None
    for path in sorted(before.files.keys() | after.files.keys()):
        old, new = before.files.get(path), after.files.get(path)
        if old is not None and new is not None:
            kind = _difference(old, new)
        elif complete:
            kind = DifferenceKind.CREATED if old is None else DifferenceKind.DELETED
        else:
            kind = None
        if kind is not None:
            changes.append(Difference(path, kind))
    return changes


def _difference(old: FileState, new: FileState) -> DifferenceKind | None:
    if old == new:
        return None
    if stat.S_IFMT(old.mode) != stat.S_IFMT(new.mode):
        return DifferenceKind.MODIFIED
    if old.digest is not None and new.digest is not None:
        same = old.digest == new.digest
    elif old.mode != new.mode:
        same = (old.size, old.inode, old.modified) == (new.size, new.inode, new.modified)
    else:
        same = old.status == new.status
    if not same:
        return DifferenceKind.MODIFIED
    return DifferenceKind.MODE if old.mode != new.mode else None


def _outermost(roots: Iterable[str]) -> Iterator[str]:
    """Return the roots that are in no other one."""
    kept: list[str] = []
    for root in sorted(set(roots)):
        if not any(root.startswith(above.rstrip(os.sep) + os.sep) for above in kept):
            kept.append(root)
            yield root


def _is_git_directory(directory: str, entries: Iterable[os.DirEntry[str]]) -> bool:
    """Whether a directory in a ``.git``, or that itself, is a repository: a submodule may be called ``logs``."""
    return os.path.basename(directory) == ".git" or {"HEAD", "config"} <= {entry.name for entry in entries}


def _matters_to_git(entry: os.DirEntry[str], git: str) -> bool:
    """Whether something in the directory ``git`` decides which programs git runs."""
    if entry.name in _GIT_RUNS or entry.is_symlink():
        return True
    return f"{os.sep}hooks{os.sep}" in entry.path.removeprefix(git)


def _own_outputs() -> Iterator[tuple[int, int]]:
    """Return what tells the files apart that this program's output goes to."""
    for descriptor in _OUTPUTS:
        with contextlib.suppress(OSError):  # it is closed
            found = os.fstat(descriptor)
            if stat.S_ISREG(found.st_mode):
                yield found.st_dev, found.st_ino


class _Look:
    """One look at the disk."""

    def __init__(self, earlier: Fingerprint, limits: FingerprintLimits, stopped: Callable[[], bool]) -> None:
        self.files: dict[str, FileState] = {}
        self.problem: str | None = None
        self._known = earlier.files
        self._settled = earlier.began - _RECENT
        self._limits = limits
        self._stopped = stopped
        self._own = frozenset(_own_outputs())
        self._deadline = time.monotonic() + limits.max_seconds
        self._to_hash = limits.max_hashed
        self._seen = 0

    def at(self, root: str) -> None:
        """Look at everything below a directory, in an order that is the same each time."""
        pending = [(root, "")]
        while pending and not self._gives_up():
            directory, git = pending.pop()
            below, entries = [], self._entries(directory)
            pruned = _GIT_PRUNED if git and _is_git_directory(directory, entries) else frozenset()
            for entry in entries:
                self._seen += 1
                if self._gives_up():
                    return
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in pruned:
                        below.append((entry.path, git or (entry.path if entry.name == ".git" else "")))
                elif not git or _matters_to_git(entry, git):
                    self._note(entry)
            pending.extend(reversed(below))

    def _gives_up(self) -> bool:
        if self._seen > self._limits.max_files:
            self.problem = f"there are more than {self._limits.max_files} files and directories"
        elif time.monotonic() > self._deadline:
            self.problem = f"looking at the files took more than {self._limits.max_seconds:g} s"
        elif self._stopped():
            self.problem = "looking at the files was given up"
        else:
            return False
        return True

    def _entries(self, directory: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(directory) as entries:
                some = itertools.islice(entries, self._limits.max_files - self._seen + 1)
                return sorted(some, key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):  # it is not there any more
            return []
        except OSError as error:
            self.problem = self.problem or f"{printable(directory)} cannot be looked at: {error.strerror}"
            return []

    def _note(self, entry: os.DirEntry[str]) -> None:
        try:
            found = entry.stat(follow_symlinks=False)
        except OSError:  # it is not there any more
            return
        if (found.st_dev, found.st_ino) in self._own:
            return
        path = entry.path
        state = FileState(found.st_mode, found.st_size, found.st_ino, found.st_mtime_ns, found.st_ctime_ns)
        known = self._known.get(path)
        unchanged = known is not None and known.digest is not None and known.status == state.status
        if known is not None and unchanged and state.changed < self._settled:
            self.files[path] = known
        else:
            digest = self._digest(path, state)
            self.files[path] = state if digest is None else state._replace(digest=digest)

    def _digest(self, path: str, state: FileState) -> bytes | None:
        content: bytes | None = None
        with contextlib.suppress(OSError):
            if stat.S_ISLNK(state.mode):
                content = os.fsencode(os.readlink(path))
            elif stat.S_ISREG(state.mode) and state.size <= min(self._limits.max_hashed_file, self._to_hash):
                self._to_hash -= state.size
                content = self._read(path, state.size)
        return None if content is None else blake2b(content, digest_size=16).digest()

    def _read(self, path: str, size: int) -> bytes | None:
        """Return the content of a file; ``None`` if it is another one, or longer, by now."""
        descriptor = os.open(path, _OPEN)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            content = bytearray()
            while chunk := os.read(descriptor, size + 1 - len(content)):
                content += chunk
            return bytes(content) if len(content) == size else None
        finally:
            os.close(descriptor)
