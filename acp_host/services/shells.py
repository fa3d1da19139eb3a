"""The shells of this machine: :class:`Shell`, and :class:`Shells`, which finds them.

An agent may name a shell for a command line, or ask which there are. Only a shell that is found here, or that the
application has configured, is ever run: what an agent says of one serves to find it and for nothing else, so that it
cannot pass off any program as a shell.

Where they are looked for, in this order; the first that can be run is the default:

====================  =================================================================
``source``            what it is
====================  =================================================================
``configured``        given by the application
``env``               ``$SHELL``; on Windows ``%COMSPEC%``
``login``             the login shell of the user's account
``etc_shells``        listed in ``/etc/shells``
``host``              found on the search path of Windows: ``pwsh``, ``powershell``
``fallback``          ``/bin/sh``; on Windows ``cmd``
====================  =================================================================

A program is taken for a shell by its name: ``/etc/shells`` lists others too.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path, PureWindowsPath
from typing import Any

from attrs import evolve, field, frozen

from acp_host.errors import InvalidInput

__all__ = ["Shell", "ShellInvocation", "ShellSource", "Shells", "find_shells"]

_ETC_SHELLS = Path("/etc/shells")
_MAX_ETC_SHELLS = 64 * 1024
"""How much of ``/etc/shells`` is read, in bytes."""


class ShellSource(StrEnum):
    """How the host knows of a shell."""

    CONFIGURED = "configured"
    ENV = "env"
    LOGIN = "login"
    ETC_SHELLS = "etc_shells"
    FALLBACK = "fallback"
    HOST = "host"


def _platform() -> str:
    return "windows" if sys.platform == "win32" else sys.platform


@frozen(kw_only=True)
class Shell:
    """A program that runs command lines.

    Attributes:
        id: unique among the shells of this machine, e.g. ``"zsh"``.
        path: absolute path of the program.
        label: for people; the id if it is not given.
        platform: ``"linux"``, ``"darwin"``, ``"windows"``, …
        available: it can be run.
        supports_login: it can be run as a login shell.
        supports_interactive: it can be run as an interactive shell, by ``-i``.
        default_args: arguments before the command line.
        login_args: the same for a login shell.
        source: how the host knows of it.
    """

    id: str
    path: str
    label: str = ""
    platform: str = field(factory=_platform)
    available: bool = True
    supports_login: bool = True
    supports_interactive: bool = True
    default_args: tuple[str, ...] = field(default=("-c",), converter=tuple)
    login_args: tuple[str, ...] = field(default=("-l", "-c"), converter=tuple)
    source: ShellSource = field(default=ShellSource.CONFIGURED, converter=ShellSource)

    def __attrs_post_init__(self) -> None:
        if not self.id or not os.path.isabs(self.path):
            raise InvalidInput(f"a shell has an id and the absolute path of a program, not {self.id!r}, {self.path!r}")

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form that agents know."""
        return {
            "id": self.id,
            "label": self.label or self.id,
            "path": self.path,
            "platform": self.platform,
            "available": self.available,
            "supports_login": self.supports_login,
            "supports_interactive": self.supports_interactive,
            "default_args": list(self.default_args),
            "login_args": list(self.login_args),
            "source": str(self.source),
        }

    def invocation(self, command: str, *, login: bool = False, interactive: bool = False) -> ShellInvocation:
        """Return how a command line is run.

        Args:
            command: the command line.
            login: as a login shell, if this one can be one.
            interactive: as an interactive shell, if this one can be one.
        """
        before = self.login_args if login and self.supports_login else self.default_args
        if interactive and self.supports_interactive:
            before = ("-i", *before)
        return ShellInvocation(shell=self, args=(*before, command))


@frozen(kw_only=True)
class ShellInvocation:
    """A shell and its arguments, the command line last."""

    shell: Shell
    args: tuple[str, ...]

    @property
    def argv(self) -> tuple[str, ...]:
        """The program and its arguments."""
        return (self.shell.path, *self.args)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form that agents know."""
        return {
            "program": self.shell.path,
            "args": list(self.args),
            "command_arg_index": len(self.args) - 1,
            "shell": self.shell.to_json(),
        }


class Shells:
    """The shells that may be run, looked up anew each time: a handful of reads from the disk, to be made in a thread.

    Args:
        configured: shells of the application, before those that are found; one that has the id of another replaces it.
        find: finds the others.

    Raises:
        InvalidInput: two of ``configured`` have one id.
    """

    def __init__(self, configured: Sequence[Shell] = (), *, find: Callable[[], Sequence[Shell]] | None = None) -> None:
        if len({shell.id for shell in configured}) != len(configured):
            raise InvalidInput("each of the configured shells needs an id of its own")
        self._configured = tuple(configured)
        self._find = find or find_shells

    def all(self) -> tuple[Shell, ...]:
        """Return the shells, the preferred one first."""
        configured = [evolve(shell, available=_can_run(shell.path)) for shell in self._configured]
        taken = {shell.id for shell in configured}
        return (*configured, *(shell for shell in self._find() if shell.id not in taken))

    def default(self) -> Shell | None:
        """Return the first shell that can be run; ``None`` if there is none."""
        return next((shell for shell in self.all() if shell.available), None)

    def named(self, name: str | Mapping[str, Any]) -> Shell | None:
        """Return the shell that an agent means, if it can be run here.

        Args:
            name: its id, or an object with ``path`` or ``id`` in it: a shell with this path, else one with this id.
        """
        shells = [shell for shell in self.all() if shell.available]
        if isinstance(name, str):
            return next((shell for shell in shells if shell.id == name), None)
        path, shell_id = name.get("path"), name.get("id")
        by_path = (shell for shell in shells if isinstance(path, str) and _same_program(shell.path, path))
        return next(by_path, None) or next((shell for shell in shells if shell.id == shell_id), None)


# --- finding them ------------------------------------------------------------------------------------------------

_POSIX: Mapping[str, Any] = {}
_POWERSHELL: Mapping[str, Any] = {
    "default_args": ("-NoProfile", "-Command"),
    "login_args": ("-NoProfile", "-Command"),
    "supports_login": False,
    "supports_interactive": False,
}
_CMD: Mapping[str, Any] = {
    "default_args": ("/C",),
    "login_args": ("/C",),
    "supports_login": False,
    "supports_interactive": False,
}
_C_SHELL: Mapping[str, Any] = {"login_args": ("-c",), "supports_login": False, "supports_interactive": False}
_KINDS: Mapping[str, Mapping[str, Any]] = {
    **dict.fromkeys(("sh", "bash", "dash", "ash", "zsh", "ksh", "ksh93", "mksh", "fish", "nu"), _POSIX),
    **dict.fromkeys(("csh", "tcsh"), _C_SHELL),
    **dict.fromkeys(("pwsh", "powershell"), _POWERSHELL),
    "cmd": _CMD,
}
"""Names of shells → what is special about them."""


def find_shells(environ: Mapping[str, str] | None = None) -> tuple[Shell, ...]:
    """Return the shells of this machine that can be run, the preferred one first. Reads the disk.

    Args:
        environ: the environment to look at; ``None`` for this process's.
    """
    environ = os.environ if environ is None else environ
    found = _on_windows(environ) if sys.platform == "win32" else _on_posix(environ)
    shells: dict[str, Shell] = {}
    seen = set()
    for path, source in found:
        name = _name_of(path)
        if name not in _KINDS or not _can_run(path) or (key := (name, os.path.realpath(path))) in seen:
            continue
        seen.add(key)
        shell_id = name if name not in shells else f"{name}:{path}"
        shells[shell_id] = Shell(id=shell_id, path=path, source=source, **_KINDS[name])
    return tuple(shells.values())


def _on_posix(environ: Mapping[str, str]) -> Iterator[tuple[str, ShellSource]]:
    yield environ.get("SHELL", ""), ShellSource.ENV
    yield _login_shell(), ShellSource.LOGIN
    for path in _listed_shells():
        yield path, ShellSource.ETC_SHELLS
    yield "/bin/sh", ShellSource.FALLBACK


def _on_windows(
    environ: Mapping[str, str], which: Callable[..., str | None] = shutil.which
) -> Iterator[tuple[str, ShellSource]]:
    for name in ("pwsh", "powershell"):
        yield which(name, path=environ.get("PATH", "")) or "", ShellSource.HOST
    yield environ.get("COMSPEC", ""), ShellSource.ENV
    yield which("cmd", path=environ.get("PATH", "")) or "", ShellSource.FALLBACK


def _login_shell() -> str:
    if sys.platform == "win32":
        return ""
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_shell
    except KeyError:  # in a container, the user may have no account
        return ""


def _listed_shells() -> list[str]:
    try:
        with _ETC_SHELLS.open(encoding="utf-8", errors="replace") as file:
            lines = file.read(_MAX_ETC_SHELLS).splitlines()
    except OSError:
        return []
    return [line.strip() for line in lines if line.strip().startswith("/")]


def _name_of(path: str) -> str:
    """Return the name of a program without its folder, and without ``.exe``."""
    name = PureWindowsPath(path).name if "\\" in path else os.path.basename(path)
    return name.lower().removesuffix(".exe")


def _can_run(path: str) -> bool:
    return os.path.isabs(path) and os.path.isfile(path) and os.access(path, os.X_OK)


def _same_program(one: str, other: str) -> bool:
    """Whether two paths are of one program by one name: ``/bin/sh`` is not the ``bash`` that it may be a link to."""
    try:
        return _name_of(one) == _name_of(other) and os.path.realpath(one) == os.path.realpath(other)
    except (ValueError, OSError):  # no file can have this path
        return False
