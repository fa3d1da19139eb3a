"""Finds a file inside a set of root directories, and nowhere else.

Owns the walk from an agent's path to a :class:`~acp_host.services._place.Place`: the directory that holds the file, as
an open handle, and the file's name in it. Every component is opened relative to the handle of its parent and never
through a symbolic link; a link is read, and its target is walked in the same way and must again lie inside a root. So
links within the roots work, links that lead out of them do not, and whatever is swapped while the walk is under way can
only change where *inside* the roots it ends.

A path is inside a root if it begins, component by component, with the root as it was given or with its real path. An
absolute link target is held to the same rule, and ``..`` above a root leads out of it. What this does not see: a hard
link or a mount inside a root is part of the root.

Where files cannot be opened relative to a handle (Windows), :class:`PortableRoots` resolves the path and checks the
result. Another process can swap a component between that check and the use.

Cost: one system call a component.
"""

from __future__ import annotations

import errno
import ntpath
import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from types import ModuleType

from acp_host.errors import InvalidInput, InvalidParams
from acp_host.services._place import Place

__all__ = ["HAVE_HANDLES", "MAX_HOPS", "MAX_PATH", "HandleRoots", "Permit", "PortableRoots", "Roots", "confine"]

Permit = Callable[[str], None]
"""Takes the real path at which a walk ends, and raises if it may not end there."""

MAX_PATH = 4096
"""Longest path that an agent may name, in bytes."""
MAX_HOPS = 40
"""How many links and steps upward one path may take."""

HAVE_HANDLES = hasattr(os, "O_NOFOLLOW") and {os.open, os.stat, os.readlink, os.mkdir, os.rename, os.unlink} <= (
    os.supports_dir_fd
)
"""Whether this platform opens files relative to the handle of a directory."""

# O_PATH (Linux) asks for the right to pass through the directory only, not to list it.
_DIRECTORY = (
    getattr(os, "O_DIRECTORY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_PATH", os.O_RDONLY)
)
# What opening a link as a directory may answer, by platform.
_MAYBE_LINK = frozenset({errno.ELOOP, errno.ENOTDIR, errno.EMLINK})

_WINDOWS_DEVICES = frozenset(
    {"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"}
    | {f"{port}{digit}" for port in ("COM", "LPT") for digit in "123456789¹²³"}
)


def _permit_all(path: str) -> None:
    """Let a walk end anywhere inside the roots."""


def confine(roots: Sequence[str | Path]) -> Roots:
    """Return the strictest kind of :class:`Roots` that this platform allows.

    Raises:
        InvalidInput: a root is not an absolute path.
    """
    return HandleRoots(roots) if HAVE_HANDLES else PortableRoots(roots)


class Roots(ABC):
    """A set of directories, and the way to files in them.

    Args:
        roots: absolute paths; they need not exist yet. Links in them are resolved now.

    Attributes:
        given: the roots as they were given.
        real: the roots with all links resolved, in the same order.
    """

    def __init__(self, roots: Sequence[str | Path]) -> None:
        self.given = tuple(os.fspath(root) for root in roots)
        for root in self.given:
            if not os.path.isabs(root):
                raise InvalidInput(f"a root must be an absolute path, not {root!r}")
        self.real = tuple(os.path.realpath(root) for root in self.given)

    @contextmanager
    def place(self, path: str, *, make_parents: bool = False, permit: Permit = _permit_all) -> Iterator[Place]:
        """Find where the file ``path`` is, or would be.

        Args:
            path: as the agent named it.
            make_parents: make the directories that are missing on the way.
            permit: asked about the file's real path, before a directory is made; what it raises ends the walk.

        Raises:
            InvalidParams: the path is not absolute, is malformed, or leads out of the roots.
            OSError: a directory on the way is missing or cannot be entered, or the path names a directory.
        """
        _check_path(path)
        if os.path.basename(path) in ("", ".", ".."):
            raise _is_directory()
        with self._find(path, make_parents, permit) as place:
            if os.path.basename(place.path) == ".":  # a link has led to a root itself
                raise _is_directory()
            yield place

    def directory(self, path: str) -> str:
        """Return the real path of the existing directory ``path``; raises as :meth:`place` does."""
        _check_path(path)
        with self._find(os.path.join(path, "."), False, _permit_all) as place:
            return os.path.dirname(place.path)

    @abstractmethod
    def _find(self, path: str, make_parents: bool, permit: Permit) -> AbstractContextManager[Place]:
        """Walk to ``path``, which is well formed; one that ends in ``/.`` is a directory that must exist."""


class HandleRoots(Roots):
    """Roots whose files are reached from handle to handle."""

    def __init__(self, roots: Sequence[str | Path]) -> None:
        super().__init__(roots)
        spellings = [
            (tuple(_components(spelling)), tuple(_components(real)))
            for given, real in zip(self.given, self.real, strict=True)
            for spelling in (given, real)
        ]
        # The longest first, so that a root inside another is found by its own spelling.
        self._spellings = sorted(spellings, key=lambda pair: len(pair[0]), reverse=True)

    def locate(self, components: Sequence[str]) -> tuple[list[str], list[str]] | None:
        """Split an absolute path into a root's real path and what follows it; ``None`` if it is in no root."""
        for spelling, real in self._spellings:
            if tuple(components[: len(spelling)]) == spelling:
                return list(real), list(components[len(spelling) :])
        return None

    @contextmanager
    def _find(self, path: str, make_parents: bool, permit: Permit) -> Iterator[Place]:
        walk = _Walk(self, path, make_parents, permit)
        try:
            name = walk.run()
            real = "/" + "/".join([*walk.names, name])
            permit(real)
            yield Place(name, real, walk.handle)
        finally:
            walk.close()


class _Walk:
    """One walk: the directory reached so far, by handle and by the names that lead to it, and what is still to walk."""

    def __init__(self, roots: HandleRoots, path: str, make_parents: bool, permit: Permit) -> None:
        self.handle = -1
        self.names: list[str] = []
        self._roots = roots
        self._path = path
        self._make_parents = make_parents
        self._permit = permit
        self._pending: deque[str] = deque()
        self._hops = 0

    def run(self) -> str:
        """Walk up to the directory that holds the file and return the file's name, which is no link."""
        # The "." at the end that asks for a directory itself must survive.
        ending = ["."] if self._path.endswith("/.") else []
        self._enter(_components(self._path) + ending)
        while True:
            name = self._pending.popleft() if self._pending else "."
            if name == "..":
                self._jump(self.names[:-1])
            elif self._pending:
                self._descend(name)
            elif (target := self._link(name)) is None:
                return name
            else:
                self._follow(target)

    def close(self) -> None:
        if self.handle >= 0:
            os.close(self.handle)
            self.handle = -1

    def _enter(self, components: list[str]) -> None:
        """Start anew at the root that the absolute path ``components`` lies in."""
        located = self._roots.locate(components)
        if located is None:
            raise _outside(self._path)
        root, rest = located
        self.close()
        self.names = []
        self.handle = os.open("/", _DIRECTORY)
        for name in root:  # the real path: a link that is met here was put there since, and is not followed
            self._move(os.open(name, _DIRECTORY, dir_fd=self.handle), name)
        self._pending = deque(rest)

    def _jump(self, components: list[str]) -> None:
        """Go on with what is pending from the directory ``components``."""
        self._hops += 1
        if self._hops > MAX_HOPS:
            raise InvalidParams(f"{self._path} takes too many links", data={"path": self._path})
        self._enter([*components, *self._pending])

    def _follow(self, target: str) -> None:
        self._jump(_components(target) if target.startswith("/") else [*self.names, *_components(target)])

    def _descend(self, name: str) -> None:
        try:
            self._move(self._open(name), name)
        except OSError as error:
            if error.errno not in _MAYBE_LINK:
                raise
            target = self._link(name)
            if target is None:
                raise
            self._follow(target)

    def _open(self, name: str) -> int:
        try:
            return os.open(name, _DIRECTORY, dir_fd=self.handle)
        except FileNotFoundError:
            if not self._make_parents or ".." in self._pending:
                raise
        # Below a directory that is missing there are no links: the path ends where its names say.
        self._permit("/" + "/".join([*self.names, name, *self._pending]))
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=self.handle)
        return os.open(name, _DIRECTORY, dir_fd=self.handle)

    def _move(self, handle: int, name: str) -> None:
        self.close()
        self.handle = handle
        self.names.append(name)

    def _link(self, name: str) -> str | None:
        """Return the target of the link ``name``; ``None`` if there is something else, or nothing."""
        try:
            return os.readlink(name, dir_fd=self.handle)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            return None


class PortableRoots(Roots):
    """Roots whose files are found by resolving the path and checking where it ends."""

    @contextmanager
    def _find(self, path: str, make_parents: bool, permit: Permit) -> Iterator[Place]:
        real = self._resolve(path)
        permit(real)
        if os.path.basename(path) == ".":
            os.scandir(real).close()  # raises unless it is a directory
            real = os.path.join(real, ".")
        elif make_parents:
            os.makedirs(os.path.dirname(real), exist_ok=True)
        yield Place(real, real, None)

    def _resolve(self, path: str) -> str:
        # A share of another host is refused by its name: resolving it would already contact that host.
        if not is_on_drive_of(path, (*self.given, *self.real)):
            raise _outside(path)
        if os.name == "nt" and is_special_on_windows(path):
            raise InvalidParams(f"{path} does not name an ordinary file", data={"path": path})
        real = os.path.realpath(path)
        if not any(is_inside(real, root) for root in self.real):
            raise _outside(path)
        return real


def is_special_on_windows(path: str) -> bool:
    """Whether Windows reads something other than a plain name into ``path``: a device, a stream, a name it alters."""
    drive, tail = ntpath.splitdrive(path)
    if drive.startswith(("\\\\?\\", "\\\\.\\", "//?/", "//./")) or ":" in tail:
        return True
    for component in tail.replace("/", "\\").split("\\"):
        if component in ("", ".", ".."):
            continue
        if component[-1] in ". " or component.partition(".")[0].rstrip(" ").upper() in _WINDOWS_DEVICES:
            return True
    return False


def is_on_drive_of(path: str, roots: Sequence[str], flavour: ModuleType = os.path) -> bool:
    """Whether a path is on the same drive, or the same share of another host, as one of some roots."""

    def drive(name: str) -> str:
        return str(flavour.normcase(flavour.splitdrive(name)[0]))

    return drive(path) in map(drive, roots)


def is_inside(real: str, root: str, flavour: ModuleType = os.path) -> bool:
    """Whether a real path is a root or below it, in spellings that mean the same to the system."""
    real, root = flavour.normcase(real), flavour.normcase(root)
    return real == root or real.startswith(root.rstrip(flavour.sep) + flavour.sep)


def _components(path: str) -> list[str]:
    return [component for component in path.split("/") if component not in ("", ".")]


def _check_path(path: str) -> None:
    try:
        length = len(path.encode())
    except UnicodeEncodeError:
        raise InvalidParams("the path has half a surrogate pair in it") from None
    data = {"path": path[:MAX_PATH]}
    if length > MAX_PATH:
        raise InvalidParams(f"the path is longer than {MAX_PATH} bytes", data=data)
    if "\0" in path:
        raise InvalidParams("the path has a null character in it", data=data)
    if not os.path.isabs(path):
        raise InvalidParams(f"the path must be absolute: {path}", data=data)


def _is_directory() -> IsADirectoryError:
    return IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))


def _outside(path: str) -> InvalidParams:
    return InvalidParams(f"{path} is outside the directories of this session", data={"path": path})
