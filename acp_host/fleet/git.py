"""Runs git for fleets: :func:`git`, :func:`has_git`.

Two rules keep it safe next to an agent. Where an agent has worked, git is never let look for its repository by itself:
it is told which one, so that a ``.git`` that the agent has made says nothing. And whatever git would run by itself is
switched off: hooks, monitors, external diffs, maintenance. What the *user's* configuration calls, such as the filters
of Git LFS, works.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextvars import ContextVar

from acp_host.errors import AcpError
from acp_host.printable import printable
from acp_host.redaction import redact_text

__all__ = ["IDENTITY", "GitFailed", "git", "git_until", "has_git", "local_environment"]

IDENTITY = {
    "GIT_AUTHOR_NAME": "acp-host",
    "GIT_AUTHOR_EMAIL": "acp-host@localhost",
    "GIT_COMMITTER_NAME": "acp-host",
    "GIT_COMMITTER_EMAIL": "acp-host@localhost",
}
"""Who makes commits that nobody is meant to see, and those of users who have told git no name."""

TIMEOUT = 300.0
"""Seconds that one command may take; a large checkout on a slow disk takes a minute."""
MAX_OUTPUT = 64 * 2**20
"""Most that a command may print, in bytes."""
_QUIET = (
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.quotePath=false"),
    *("-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false"),
    *("-c", "advice.addEmbeddedRepo=false"),
)
_LOCAL = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_CEILING_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_CONFIG",
        "GIT_DIR",
        "GIT_EXTERNAL_DIFF",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_NAMESPACE",
        "GIT_NO_REPLACE_OBJECTS",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_WORK_TREE",
    }
)
"""Variables that are about one repository: a fleet that a hook has started would else work on that one."""


_POLL = 0.1
"""Seconds until it is noticed that nobody waits for a command any more."""
_until: ContextVar[threading.Event | None] = ContextVar("until", default=None)


class GitFailed(AcpError):
    """git has ended with an error; the message has its words."""


@contextlib.contextmanager
def git_until(unwanted: threading.Event) -> Iterator[None]:
    """Let what runs of git within the block, in threads that it starts too, end with ``GitFailed`` at this event."""
    token = _until.set(unwanted)
    try:
        yield
    finally:
        _until.reset(token)


def has_git() -> bool:
    """Whether there is a git to run."""
    return shutil.which("git") is not None


def local_environment(**more: str) -> dict[str, str]:
    """Return this process's environment without what points git to a repository, and with ``more``."""
    kept = {name: value for name, value in os.environ.items() if name not in _LOCAL}
    return {**kept, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", **more}


def git(
    *arguments: str,
    cwd: str | os.PathLike[str],
    env: Mapping[str, str] | None = None,
    data: bytes = b"",
    allowed: tuple[int, ...] = (0,),
) -> bytes:
    """Run a git command and return what it prints. Blocks; call it in a thread.

    Args:
        arguments: after ``git``.
        cwd: where.
        env: variables besides those of this process.
        data: its standard input.
        allowed: exit codes that are no failure.

    Raises:
        GitFailed: it is not installed, failed, printed too much, took too long, or is not wanted any more
            (:func:`git_until`).
    """
    # Into files and not pipes: what is too large is found out without reading it.
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as complained, tempfile.TemporaryFile() as given:
        given.write(data)
        given.seek(0)
        try:
            process = subprocess.Popen(
                ["git", *_QUIET, *arguments],
                cwd=cwd,
                env=local_environment(**(env or {})),
                stdin=given,
                stdout=said,
                stderr=complained,
                start_new_session=True,  # Ctrl-C at a terminal is for the fleet; and what git starts ends with it
            )
        except FileNotFoundError as error:
            missing = f"{os.fspath(cwd)} is not there" if not os.path.isdir(cwd) else "git is not installed"
            raise GitFailed(f"git {arguments[0]}: {missing}") from error
        except OSError as error:
            raise GitFailed(f"git {arguments[0]} cannot be run: {error.strerror}") from error
        status = _status_of(process, arguments[0])
        if status not in allowed:
            complained.seek(0)
            words = printable(redact_text(complained.read(4096).decode("utf-8", "replace").strip()))
            raise GitFailed(f"git {arguments[0]} failed: {words or f'exit code {status}'}")
        if said.seek(0, os.SEEK_END) > MAX_OUTPUT:
            raise GitFailed(f"git {arguments[0]} printed more than {MAX_OUTPUT // 2**20} MiB")
        said.seek(0)
        return said.read()


def _status_of(process: subprocess.Popen[bytes], command: str) -> int:
    """Wait for the end of a command; whatever ends the waiting, ends the command."""
    unwanted, deadline = _until.get(), time.monotonic() + TIMEOUT
    try:
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.wait(_POLL)
            if unwanted is not None and unwanted.is_set():
                raise GitFailed(f"git {command} was ended: what it was to do is not wanted any more")
            if time.monotonic() > deadline:
                raise GitFailed(f"git {command} took more than {TIMEOUT:g} s")
    except BaseException:
        _kill(process)
        raise


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a command, and what it has started, as far as that has not left its session."""
    if sys.platform == "win32":
        process.kill()
    else:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
