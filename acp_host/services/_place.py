"""A file's place, and what may be done there: :class:`Place`.

Owns the system calls on the file itself, each of them relative to an open handle of its directory and none through a
symbolic link: opening a regular file, and replacing a file in one step. How the place was found is
:mod:`acp_host.services._confined`'s work.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import sys
import threading

import attrs

__all__ = ["ChangedMeanwhile", "Place", "SpecialFileError"]

_replacing = threading.Lock()
"""Held between the last look at a file and the new one taking its place, so that of two writers one sees the other."""

_GUARDED = (
    getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


class SpecialFileError(Exception):
    """What is at the place is a device, a FIFO, a socket or a link, not a regular file.

    Attributes:
        problem: the end of a sentence that begins with the path.
    """

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem


class ChangedMeanwhile(Exception):
    """The file at the place is no longer the one that was read; nothing was written."""


@attrs.frozen
class Place:
    """Where a file is, or would be.

    Attributes:
        name: the file's name relative to ``handle``; its whole path where there is no handle.
        path: the real path of the file, for messages and for what shows it.
        handle: an open directory, valid while the walk that found the place is not closed; ``None`` where the platform
            has no such handles.
    """

    name: str
    path: str
    handle: int | None

    def stat(self) -> os.stat_result:
        """Return the file's status; raises ``FileNotFoundError`` if there is none."""
        return os.stat(self.name, dir_fd=self.handle, follow_symlinks=False)

    def open(self, flags: int) -> int:
        """Open the regular file with ``flags`` and return its descriptor, which the caller closes.

        Raises:
            IsADirectoryError: a directory is there.
            SpecialFileError: something else that is not a regular file is there.
            OSError: it cannot be opened.
        """
        _require_regular(self.stat())  # before it is opened, because opening a device can already act on it
        try:
            descriptor = os.open(self.name, flags | _GUARDED, dir_fd=self.handle)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.EMLINK):
                raise SpecialFileError("became a link while it was being opened") from None
            raise
        try:
            _require_regular(os.fstat(descriptor))
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def read(self, limit: int, flags: int = os.O_RDONLY) -> tuple[bytes, os.stat_result]:
        """Return at most ``limit`` bytes of the file and its status; raises as :meth:`open` does."""
        with os.fdopen(self.open(flags), "rb") as file:
            return file.read(limit), os.fstat(file.fileno())

    def replace(self, data: bytes, like: os.stat_result | None = None) -> None:
        """Make ``data`` the file's content: a reader sees the old content or the new, never a part.

        Args:
            data: the whole content.
            like: the status of the file that is replaced, whose permission bits and, where that is allowed, owner are
                kept; ``None`` for a new file. Bits that make a program run as its owner are dropped.

        Raises:
            ChangedMeanwhile: the file that is there now has another status, or ``like`` is ``None`` and there is one.
            OSError: it cannot be written.
        """
        temporary = os.path.join(os.path.dirname(self.name), f".acp-host-{secrets.token_hex(8)}.tmp")
        mode = 0o666 if like is None else 0o600
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _GUARDED, mode, dir_fd=self.handle)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                if like is not None:
                    _copy_status(file.fileno(), like)
                os.fsync(file.fileno())
            with _replacing:
                self._require_unchanged(like)
                os.replace(temporary, self.name, src_dir_fd=self.handle, dst_dir_fd=self.handle)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=self.handle)
            raise
        self._sync_directory()

    def _require_unchanged(self, like: os.stat_result | None) -> None:
        try:
            now = self.stat()
        except FileNotFoundError:
            return  # what is gone cannot be overwritten
        if like is None or _identity(now) != _identity(like):
            raise ChangedMeanwhile

    def _sync_directory(self) -> None:
        """Make the new name survive a crash, where the platform can."""
        if self.handle is None:
            return
        with contextlib.suppress(OSError):  # the file is in place; a directory that cannot be synced is no failure
            descriptor = os.open(".", os.O_RDONLY, dir_fd=self.handle)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _require_regular(status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode):
        raise SpecialFileError("is not a regular file")


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _copy_status(descriptor: int, like: os.stat_result) -> None:
    if sys.platform == "win32":
        return
    now = os.fstat(descriptor)
    if (now.st_uid, now.st_gid) != (like.st_uid, like.st_gid):
        with contextlib.suppress(OSError):  # only a privileged host may give files away
            os.fchown(descriptor, like.st_uid, like.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(like.st_mode) & 0o777)
