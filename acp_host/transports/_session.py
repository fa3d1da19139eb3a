"""What POSIX knows of a process tree: the session of the launched process, its group, and a mark in the environment.

Only :mod:`acp_host.transports.process_tree` uses it. It has been run on Linux.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

if TYPE_CHECKING:
    from psutil import Process

__all__ = ["ProcessTable", "SessionGroup"]

assert sys.platform != "win32"  # type checkers skip the rest there


class ProcessTable:
    """The processes of the system at one moment, each asked for its environment once, however many trees want to know.

    Attributes:
        pids: their ids.
    """

    def __init__(self) -> None:
        self.pids = psutil.pids()
        self._marks: dict[int, bytes] = {}

    def mark(self, pid: int, name: str) -> bytes:
        """Return something that holds the value of the variable ``name`` of a process; empty if nobody may see it."""
        if pid not in self._marks:
            self._marks[pid] = _read_mark(pid, name)
        return self._marks[pid]


class SessionGroup:
    """The session that one launched process leads.

    Args:
        mark: environment variable that members carry.
        token: what its value contains for members of this tree.
    """

    def __init__(self, mark: str, token: str) -> None:
        self.spawn_options: dict[str, Any] = {"start_new_session": True}
        self._mark = mark
        self._token = token
        self._pid: int | None = None
        self._leader: Process | None = None

    def attach(self, pid: int, leader: Process | None) -> None:
        """Learn which session it is; ``leader`` is ``None`` if the launched process has ended already."""
        self._pid = pid
        self._leader = leader

    def pids(self, table: ProcessTable | None = None) -> Set[int]:
        """Return the ids of all processes in the session and of all that carry the mark, zombies included.

        Args:
            table: where to look; ``None``: at the processes as they are now.
        """
        table, token = table or ProcessTable(), self._token.encode()
        session = None if self._recycled() else self._pid
        return {pid for pid in table.pids if _ask(os.getsid, pid) == session or token in table.mark(pid, self._mark)}

    def alive(self) -> bool:
        """Tell whether the group exists, without a look at its members; a zombie counts."""
        if self._pid is None or self._recycled():
            return False
        try:
            os.killpg(self._pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True

    def terminate(self, members: Set[Process], first: bool) -> bool:
        """Send SIGTERM."""
        return self._signal(signal.SIGTERM, members, first)

    def kill(self, members: Set[Process], first: bool) -> bool:
        """Send SIGKILL."""
        return self._signal(signal.SIGKILL, members, first)

    def release(self) -> None:
        """Forget the session."""
        self._pid = None

    def _signal(self, number: int, members: Set[Process], first: bool) -> bool:
        """Signal the group as one, so that none of it can slip away by forking, then those outside one by one.

        The group is also signalled where none of the members is in it: nobody may have been able to look for them, and
        a process that forks again and again is gone before its turn comes, while its child is in the group.
        """
        inside = {member for member in members if _ask(os.getpgid, member.pid) == self._pid}
        alone, sent = members, bool(members)
        if first and self._pid is not None and (inside or not self._recycled()):
            # EPERM: some of it changed user, or (macOS) all of it are zombies; then each is tried by itself.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._pid, number)
                alone, sent = members - inside, True
        for member in alone:
            with contextlib.suppress(psutil.Error, OSError):
                member.send_signal(number)
        return sent

    def _recycled(self) -> bool:
        """Tell whether the leader's id names another process by now, and with it perhaps another session."""
        if self._pid is None:
            return True
        with contextlib.suppress(OSError):
            if self._leader is not None and self._leader.is_running():
                return False
        return _ask(os.getsid, self._pid) != -1


def _read_mark(pid: int, name: str) -> bytes:
    if pid == os.getpid():
        return b""
    try:
        if sys.platform == "linux":  # a tenth of the cost of the portable way
            return Path(f"/proc/{pid}/environ").read_bytes()
        return psutil.Process(pid).environ().get(name, "").encode()
    except (OSError, psutil.Error):
        return b""


def _ask(call: Callable[[int], int], pid: int) -> int:
    try:
        return call(pid)
    except OSError:
        return -1
