"""A launched process and everything that descends from it: :class:`ProcessTree`.

It finds, tells alive from dead, and ends; it neither launches nor waits for the launched process, and knows no event
loop apart from :func:`wait_until_gone`. In what the systems differ is in ``_session`` (POSIX) and ``_job`` (Windows).

What belongs to a tree:

===========  =========================================================================================================
POSIX        the session that the launched process leads (its process group and those that shells make in it); what
             carries the tree's mark in its environment, which finds daemons that left both session and parent;
             all descendants of either
Windows      the job object that the process is put into before its first instruction; all descendants
===========  =========================================================================================================

A process is known by its id *and* its time of creation, so an id that the system gave to another process is never
signalled. A look for members reads the process table, some 50 µs for each process of the system; asking whether a known
member lives is cheap. ``psutil`` is imported with the first tree.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import sys
from collections.abc import Callable, Iterable, Mapping, Set
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from psutil import Process

__all__ = ["MARK", "ProcessTree", "may_live", "wait_until_gone"]

MARK: Final = "ACP_HOST_PROCESS_TREE"
"""Environment variable that names the trees a process belongs to, outermost first, separated by colons."""

_ROUNDS = 5
"""How often one call looks for processes that were started while it sent its signals."""


class ProcessTree:
    """The processes that one launch has led to. Use it for one launch.

    Give the launch :attr:`spawn_options` and the environment from :meth:`mark`, then :meth:`attach` the process. All
    methods are harmless when nothing lives any more, and in a forked copy of this process.

    Args:
        token: the mark of an earlier launch, to find what is left of it; ``None`` for a new one.

    Attributes:
        token: the mark of this tree, random.
    """

    def __init__(self, token: str | None = None) -> None:
        import psutil

        self._psutil = psutil
        self.token = token or secrets.token_hex(8)
        self._group = _group(self.token)
        self._members: set[Process] = set()
        self._home = os.getpid()
        self._released = False
        self._blind = False

    @property
    def spawn_options(self) -> dict[str, Any]:
        """Arguments for ``subprocess.Popen``: a group of its own, and on Windows no run before it is attached."""
        return self._group.spawn_options

    def mark(self, env: Mapping[str, str]) -> dict[str, str]:
        """Return a copy of ``env`` that marks whoever inherits it as a member, of this tree and of those around it."""
        outer = os.environ.get(MARK)
        return {**env, MARK: f"{outer}:{self.token}" if outer else self.token}

    def attach(self, pid: int) -> None:
        """Adopt the launched process ``pid``, directly after its launch.

        Raises:
            OSError: Windows cannot let the process run; it is still suspended.
        """
        try:
            leader = self._psutil.Process(pid)
            self._members.add(leader)
        except self._psutil.NoSuchProcess:  # it has ended already and was reaped
            leader = None
        try:
            self._group.attach(pid, leader)
        except self._psutil.Error as error:
            raise OSError(f"process {pid} cannot be taken into a job of its own: {error}") from error

    def adopt(self, pid: int) -> None:
        """Take in a process that somebody else has launched, and all that descends from it."""
        with contextlib.suppress(self._psutil.NoSuchProcess):
            self._members.add(self._psutil.Process(pid))

    def snapshot(self) -> frozenset[int]:
        """Look for members and remember them, so that they are still known when their parents are gone.

        Returns:
            the ids of the living ones.
        """
        return frozenset(member.pid for member in self._find())

    def alive(self) -> bool:
        """Tell whether any member lives. A zombie does not."""
        if self._foreign():
            return False
        if any(self._lives(member) for member in self._members) or self._find():
            return True
        return self._blind and self._group.alive()

    def may_live(self, table: Any = None) -> bool:
        """Tell whether any member may live, by one look; a zombie counts. For :func:`may_live`."""
        if self._foreign():
            return False
        try:
            return any(map(self._lives, self._members)) or bool(self._group.pids(table)) or self._group.alive()
        except OSError:  # no file can be opened any more
            return True

    def terminate(self) -> bool:
        """Ask every member to end: SIGTERM on POSIX, Ctrl+Break on Windows.

        Returns:
            whether anything could be asked at all.
        """
        return self._send(self._group.terminate)

    def kill(self) -> None:
        """End every member at once, those started meanwhile included. Returns before they are gone."""
        self._send(self._group.kill)

    def release(self) -> None:
        """Forget the members and give back what the system holds for the tree; on Windows this ends what is left."""
        self._released = True
        self._members.clear()
        self._group.release()

    def _foreign(self) -> bool:
        return self._released or os.getpid() != self._home

    def _find(self) -> set[Process]:
        """Look at all processes and return the living members."""
        if self._foreign():
            return set()
        try:
            pids, self._blind = self._group.pids(), False
        except OSError:  # no file can be opened any more: what is known must do
            pids, self._blind = set(), True
        for pid in pids:
            with contextlib.suppress(self._psutil.Error, OSError):
                self._members.add(self._psutil.Process(pid))
        seen: set[Process] = set()
        # Lower ids are mostly parents of higher ones, and one look covers all that is under a parent.
        for member in sorted(self._members, key=lambda member: member.pid):
            if member not in seen:
                with contextlib.suppress(self._psutil.Error, OSError):
                    seen.update(member.children(recursive=True))
        self._members = {member for member in self._members | seen if self._lives(member)}
        return set(self._members)

    def _lives(self, member: Process) -> bool:
        try:
            return member.is_running() and member.status() != self._psutil.STATUS_ZOMBIE
        except self._psutil.NoSuchProcess:
            return False
        except self._psutil.AccessDenied:
            return True
        except OSError:  # no file can be opened any more
            return self._exists(member.pid)

    def _exists(self, pid: int) -> bool:
        try:
            return bool(self._psutil.pid_exists(pid))
        except OSError:
            return True

    def _send(self, send: Callable[[Set[Process], bool], bool]) -> bool:
        if self._foreign():
            return False
        done: set[Process] = set()
        sent = False
        for number in range(_ROUNDS):
            fresh = self._find() - done
            if not fresh and number:
                break
            # Once even if none is found: one that forks again and again is never there when it is looked at.
            sent = send(fresh, not number) or sent
            if not sent:
                break
            done |= fresh
        return sent


def may_live(trees: Iterable[ProcessTree]) -> set[ProcessTree]:
    """Return those of ``trees`` of which anything may live. One look serves them all, so many cost little more."""
    table = _table()
    return {tree for tree in trees if tree.may_live(table)}


async def wait_until_gone(tree: ProcessTree, seconds: float) -> bool:
    """Wait until no member of ``tree`` lives, at most ``seconds``; tell whether that was reached."""
    clock = asyncio.get_running_loop().time
    deadline, pause = clock() + seconds, 0.005
    while tree.alive():
        left = deadline - clock()
        if left <= 0:
            return False
        await asyncio.sleep(min(pause, left))
        pause = min(2 * pause, 0.1)
    return True


class _Group(Protocol):
    """What the system itself knows of a tree. ``first`` tells the first call of a round of signals from later ones."""

    spawn_options: dict[str, Any]

    def attach(self, pid: int, leader: Process | None) -> None: ...
    def pids(self, table: Any = None) -> Set[int]: ...
    def alive(self) -> bool: ...
    def terminate(self, members: Set[Process], first: bool) -> bool: ...
    def kill(self, members: Set[Process], first: bool) -> bool: ...
    def release(self) -> None: ...


def _group(token: str) -> _Group:
    if sys.platform == "win32":
        from acp_host.transports._job import JobGroup

        return JobGroup()
    else:
        from acp_host.transports._session import SessionGroup

        return SessionGroup(MARK, token)


def _table() -> Any:
    """Return what all groups can look into, if there is such a thing."""
    if sys.platform == "win32":
        return None
    else:
        from acp_host.transports._session import ProcessTable

        with contextlib.suppress(OSError):  # no file can be opened any more: each finds out for itself
            return ProcessTable()
        return None
