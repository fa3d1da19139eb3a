"""What exactly is launched, and what to tell a person when that fails.

A :class:`Launch` is checked when it is made, and resolved when the process is about to start, so that a program
installed in between is found. Nothing here starts anything.
"""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence

from attrs import field, frozen

from acp_host.errors import InvalidInput, StartFailed
from acp_host.transports import _windows

__all__ = ["Launch", "Launcher", "relaunched"]

_HINTS = {
    errno.ENOEXEC: "it is neither a program for this machine nor a script whose first line begins with #!",
    errno.E2BIG: "the arguments and the environment together are too long for this system",
    errno.EMFILE: "this process has too many files open",
    errno.ENFILE: "this system has too many files open",
    errno.EAGAIN: "this user may start no more processes",
    errno.ENOMEM: "there is not enough memory",
}


@frozen
class Launch:
    """A command with its surroundings.

    Attributes:
        argv: program and arguments, at least the program.
        cwd: the child's working directory; ``None`` is the current one.
        env: variables added over those inherited; ``None`` takes one away.
        inherit_env: whether the host's own environment is inherited.
    """

    argv: tuple[str, ...]
    cwd: str | None
    env: Mapping[str, str | None] = field(repr=False)
    inherit_env: bool

    @staticmethod
    def of(
        argv: Sequence[str | os.PathLike[str]],
        cwd: str | os.PathLike[str] | None,
        env: Mapping[str, str | None] | None,
        inherit_env: bool,
    ) -> Launch:
        """Check the values and return them as a launch.

        Raises:
            InvalidInput: one of them can never be launched.
        """
        if isinstance(argv, str | bytes):
            raise InvalidInput(f"argv must be a list of the program and its arguments, not one string: {argv!r}")
        items = tuple(item if isinstance(item, str) else _path(item) for item in argv)
        if not items or not items[0]:
            raise InvalidInput("argv must begin with a program")
        variables = dict(env or {})
        for item in (*items, *variables):
            if not isinstance(item, str) or "\0" in item:
                raise InvalidInput(f"argv and env must hold text without NUL, not {item!r}")
        for name, value in variables.items():
            if not name or "=" in name:
                raise InvalidInput(f"{name!r} cannot be the name of an environment variable")
            if value is not None and (not isinstance(value, str) or "\0" in value):  # it may be a secret: not shown
                raise InvalidInput(f"the environment variable {name} must hold text without NUL")
        return Launch(items, None if cwd is None else os.fspath(cwd), variables, inherit_env)

    @property
    def description(self) -> str:
        """The command as one would type it."""
        return subprocess.list2cmdline(self.argv) if sys.platform == "win32" else shlex.join(self.argv)

    def environment(self) -> dict[str, str]:
        """Return the whole environment of the child."""
        merged = dict(os.environ) if self.inherit_env else {}
        if sys.platform == "win32":
            # Names ignore case there, and hardly a program starts without SYSTEMROOT.
            given = {name.upper() for name in self.env}
            merged = {name: value for name, value in merged.items() if name.upper() not in given}
            if "SYSTEMROOT" in os.environ:
                merged.setdefault("SYSTEMROOT", os.environ["SYSTEMROOT"])
        for name, value in self.env.items():
            if value is None:
                merged.pop(name, None)
            else:
                merged[name] = value
        return merged

    def command(self, env: Mapping[str, str]) -> tuple[str, ...]:
        """Return the arguments for the system call, with batch files of Windows put behind their interpreter.

        Raises:
            StartFailed: on Windows, the program is not found or cannot be given these arguments.
        """
        return self.windows_command(env) if sys.platform == "win32" else self.argv

    def windows_command(self, env: Mapping[str, str]) -> tuple[str, ...]:
        """Return what :meth:`command` returns on Windows."""
        program, *arguments = self.argv
        path = _windows.find_program(program, env=env, cwd=self.cwd, is_file=os.path.isfile)
        if path is None:
            raise self.failed("no such program", "no file of that name with an extension of PATHEXT is on the PATH")
        if not _windows.is_batch_file(path):
            return (path, *arguments)
        try:
            return (_windows.interpreter(os.environ), _windows.batch_arguments(path, arguments))
        except ValueError as error:
            raise self.failed(str(error), f"{path} is a batch file") from None

    def failed(self, reason: str, hint: str = "") -> StartFailed:
        """Return the error that says why the launch failed."""
        where = "" if self.cwd is None else f" in {self.cwd}"
        return StartFailed(f"cannot start `{self.description}`{where}: {reason}" + (f" ({hint})" if hint else ""))

    def explain(self, error: Exception, env: Mapping[str, str]) -> StartFailed:
        """Turn what the event loop raised into the error that says what to do about it."""
        if isinstance(error, StartFailed):
            return error
        if isinstance(error, OSError):
            return self.failed(error.strerror or str(error), self._hint(error, env))
        if isinstance(error, ValueError):
            return self.failed(str(error))
        return self.failed(
            f"the running event loop cannot start processes: {str(error) or type(error).__name__}",
            "on Windows use the default ProactorEventLoop; under another loop, connect from a thread with a loop of "
            "its own",
        )

    def _hint(self, error: OSError, env: Mapping[str, str]) -> str:
        program = self.argv[0]
        if self.cwd is not None and not os.path.isdir(self.cwd):
            return f"the working directory {self.cwd} is not a directory or does not exist"
        if error.errno in _HINTS:
            return _HINTS[error.errno]
        if isinstance(error, PermissionError):
            return f"{program} is a directory or not marked as executable, or the working directory is closed to you"
        if not isinstance(error, FileNotFoundError):
            return ""
        found = shutil.which(program, path=env.get("PATH", os.defpath))
        if found is not None:
            return f"{found} exists, but the interpreter that its first line names does not"
        if len(self.argv) == 1 and " " in program:
            return "this is the name of one program: give its arguments apart from it, without quotes around both"
        if os.path.dirname(program):
            return "there is no such file"
        return f"{program} is not on the PATH: is it installed?"


Launcher = Callable[[Launch], Launch]
"""Returns what is launched in place of its argument, e.g. the same command in a sandbox; it may look at the disk."""


def relaunched(launch: Launch, launcher: Launcher) -> Launch:
    """Return what ``launcher`` makes of ``launch``.

    Raises:
        StartFailed: it failed, or its result cannot be launched; nothing is to be launched then.
    """
    try:
        made = launcher(launch)
        return Launch.of(made.argv, made.cwd, made.env, made.inherit_env)
    except Exception as error:
        raise launch.failed(f"the launcher failed: {type(error).__name__}: {error}") from error


def _path(item: os.PathLike[str]) -> str:
    try:
        return os.fspath(item)
    except TypeError as error:
        raise InvalidInput(f"argv must hold strings and paths: {error}") from None
