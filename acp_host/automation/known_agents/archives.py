"""Archives of programs, unpacked so that nothing leaves the folder they are unpacked into: :func:`unpack`.

The rules are the same for all formats, and are kept here since ``zipfile`` has none for links, and ``tarfile`` not in
every release of Python 3.11: no entry is written through a link, none has a path that leads out, and at the end no link
does.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Generator
from pathlib import Path, PurePosixPath
from typing import IO

from attrs import frozen

from acp_host.errors import InvalidInput

__all__ = ["archive_kind", "unpack"]

_MAX_ENTRIES = 200_000
_MAX_SIZE = 4 * 2**30
"""Bytes that an archive has at most when it is unpacked."""
_LONGEST_LINK = 4_096
_PIECE = 2**20
_ZIPS = (".zip",)
_TARS = {".tar.gz": gzip, ".tgz": gzip, ".tar.bz2": bz2, ".tbz2": bz2, ".tar.xz": lzma, ".txz": lzma}
_DAMAGED = (tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error, lzma.LZMAError, KeyError, RuntimeError)
"""What the readers raise for archives that are damaged, name what is not in them, or want a password."""
_INSTALLERS = (".dmg", ".pkg", ".deb", ".rpm", ".msi")


@frozen
class _Entry:
    path: str
    mode: int
    link: str | None
    is_folder: bool
    content: IO[bytes] | None


def archive_kind(name: str) -> str | None:
    """Return the ending that says which format a file has; ``None`` for a program that is no archive.

    Raises:
        InvalidInput: it is an installer, which is not run here.
    """
    lower = name.lower()
    if lower.endswith(_INSTALLERS):
        raise InvalidInput(f"{name} is an installer and no archive")
    return next((ending for ending in (*_ZIPS, *_TARS, ".tar") if lower.endswith(ending)), None)


def unpack(archive: Path, kind: str, folder: Path) -> None:
    """Unpack an archive into a new folder.

    Args:
        archive: the file.
        kind: its format, from :func:`archive_kind`.
        folder: must not be there; what is in it after an error is of no use.

    Raises:
        InvalidInput: it is damaged, too large, or has entries that lead out of the folder or are neither files, folders
            nor links.
        OSError: the disk is full, or the like.
    """
    folder.mkdir(mode=0o700)
    size = 0
    try:
        with contextlib.closing(_entries(archive, kind)) as entries:
            for number, entry in enumerate(entries):
                if number >= _MAX_ENTRIES:
                    raise InvalidInput(f"the archive has more than {_MAX_ENTRIES} entries")
                size += _write(entry, folder, _MAX_SIZE - size)
    except _DAMAGED as error:
        raise InvalidInput(f"the archive cannot be read: {error}") from None
    except OSError as error:
        if error.errno is not None:
            raise
        raise InvalidInput(f"the archive cannot be read: {error}") from None  # of gzip and bz2, for damaged data
    _check_links(folder)


def _entries(archive: Path, kind: str) -> Generator[_Entry]:
    if kind in _ZIPS:
        yield from _of_zip(archive)
        return
    opener = _TARS.get(kind)
    with opener.open(archive, "rb") if opener else open(archive, "rb") as file, tarfile.open(fileobj=file) as tar:
        for member in tar:
            if not (member.isreg() or member.isdir() or member.islnk() or member.issym()):
                raise InvalidInput(f"the archive has an entry that is no file: {member.name[:200]!r}")
            # Of a hard link, it is the content of the file in the archive that it is another name of.
            content = tar.extractfile(member) if member.isreg() or member.islnk() else None
            link = member.linkname if member.issym() else None
            yield _Entry(member.name, member.mode, link, member.isdir(), content)


def _of_zip(archive: Path) -> Generator[_Entry]:
    with zipfile.ZipFile(archive) as packed:
        for info in packed.infolist():
            mode = info.external_attr >> 16
            if stat.S_ISLNK(mode):
                with packed.open(info) as content:
                    yield _Entry(info.filename, mode, os.fsdecode(content.read(_LONGEST_LINK)), False, None)
            elif info.is_dir():
                yield _Entry(info.filename, mode, None, True, None)
            else:
                with packed.open(info) as content:
                    yield _Entry(info.filename, mode, None, False, content)


def _write(entry: _Entry, folder: Path, limit: int) -> int:
    """Write an entry of so many bytes at most, and return how many it has."""
    place = _place(entry.path, folder)
    _make_folders(place if entry.is_folder else place.parent, folder)
    if entry.is_folder:
        return 0
    if os.path.lexists(place):
        raise InvalidInput(f"the archive has {entry.path[:200]!r} twice")
    if entry.link is not None:
        os.symlink(entry.link, place)
        return 0
    executable = 0o700 if entry.mode & 0o100 else 0o600
    descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), executable)
    written = 0
    with os.fdopen(descriptor, "wb") as file:
        while entry.content is not None and (piece := entry.content.read(_PIECE)):
            written += len(piece)
            if written > limit:
                raise InvalidInput(f"the archive has more than {_MAX_SIZE} bytes when it is unpacked")
            file.write(piece)
    return written


def _place(name: str, folder: Path) -> Path:
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or ":" in name or "\0" in name:
        raise InvalidInput(f"the archive has an entry that leads out of it: {name[:200]!r}")
    return folder.joinpath(*path.parts)


def _make_folders(place: Path, folder: Path) -> None:
    """Make the folders on the way to a place; a link on the way would lead somewhere else."""
    current = folder
    for part in place.relative_to(folder).parts:
        current = current / part
        with contextlib.suppress(FileExistsError):
            current.mkdir(mode=0o700)
        if not stat.S_ISDIR(current.lstat().st_mode):
            raise InvalidInput(f"the archive writes through {part[:200]!r}, which is no folder of it")


def _check_links(folder: Path) -> None:
    root = Path(os.path.realpath(folder))
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(parent, name)
            if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(root):
                raise InvalidInput(f"the archive has a link that leads out of it: {name[:200]!r}")
