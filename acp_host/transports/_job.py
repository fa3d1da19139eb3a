"""What Windows knows of a process tree: a job object, the kernel's own list of a process and all it starts.

Only :mod:`acp_host.transports.process_tree` uses it. The functions of ``kernel32`` are taken as an argument, so that
the sequence of calls can be tested on other systems; the calls themselves have not been run on Windows.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Set
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psutil import Process

__all__ = ["Job", "JobGroup"]

_CREATE_SUSPENDED = 0x00000004
_CREATE_NEW_PROCESS_GROUP = 0x00000200

_EXTENDED_LIMIT_INFORMATION = 9
_BASIC_PROCESS_ID_LIST = 3
_LIMIT_KILL_ON_JOB_CLOSE = 0x2000
_PROCESS_TERMINATE = 0x0001
_PROCESS_SET_QUOTA = 0x0100
_MOST_PROCESSES = 4096

# The widths are written out, because `ctypes.wintypes` has other ones where `long` has 64 bits.


class _BasicLimits(ctypes.Structure):
    _fields_ = (
        ("PerProcessUserTimeLimit", ctypes.c_int64),
        ("PerJobUserTimeLimit", ctypes.c_int64),
        ("LimitFlags", ctypes.c_uint32),
        ("MinimumWorkingSetSize", ctypes.c_size_t),
        ("MaximumWorkingSetSize", ctypes.c_size_t),
        ("ActiveProcessLimit", ctypes.c_uint32),
        ("Affinity", ctypes.c_size_t),
        ("PriorityClass", ctypes.c_uint32),
        ("SchedulingClass", ctypes.c_uint32),
    )


class _ExtendedLimits(ctypes.Structure):
    _fields_ = (
        ("BasicLimitInformation", _BasicLimits),
        ("IoInfo", ctypes.c_uint64 * 6),
        ("ProcessMemoryLimit", ctypes.c_size_t),
        ("JobMemoryLimit", ctypes.c_size_t),
        ("PeakProcessMemoryUsed", ctypes.c_size_t),
        ("PeakJobMemoryUsed", ctypes.c_size_t),
    )


class _ProcessIds(ctypes.Structure):
    _fields_ = (
        ("NumberOfAssignedProcesses", ctypes.c_uint32),
        ("NumberOfProcessIdsInList", ctypes.c_uint32),
        ("ProcessIdList", ctypes.c_size_t * _MOST_PROCESSES),
    )


def _kernel32() -> Any:
    if sys.platform != "win32":
        raise OSError("job objects exist on Windows only")
    library = ctypes.WinDLL("kernel32", use_last_error=True)
    # Handles are pointers; the default return type would cut them to 32 bits.
    library.CreateJobObjectW.restype = ctypes.c_void_p
    library.OpenProcess.restype = ctypes.c_void_p
    return library


class Job:
    """One job object. Nothing in it can leave it, and closing it ends all that is in it.

    Args:
        kernel32: the library's functions; by default those of this system.

    Raises:
        OSError: the system refuses to make one.
    """

    def __init__(self, kernel32: Any = None) -> None:
        self._api = _kernel32() if kernel32 is None else kernel32
        self._handle = ctypes.c_void_p(self._checked(self._api.CreateJobObjectW(None, None)))
        limits = _ExtendedLimits()
        limits.BasicLimitInformation.LimitFlags = _LIMIT_KILL_ON_JOB_CLOSE
        try:
            self._checked(
                self._api.SetInformationJobObject(
                    self._handle, _EXTENDED_LIMIT_INFORMATION, ctypes.byref(limits), ctypes.sizeof(limits)
                )
            )
        except OSError:
            self.close()
            raise

    def assign(self, pid: int) -> None:
        """Put the process ``pid`` into the job; what it starts from now on is in it too."""
        rights = _PROCESS_SET_QUOTA | _PROCESS_TERMINATE
        process = ctypes.c_void_p(self._checked(self._api.OpenProcess(rights, False, pid)))
        try:
            self._checked(self._api.AssignProcessToJobObject(self._handle, process))
        finally:
            self._api.CloseHandle(process)

    def pids(self) -> set[int]:
        """Return the ids of the processes in the job; empty once it is closed."""
        if not self._handle:
            return set()
        listed = _ProcessIds()
        done = self._api.QueryInformationJobObject(
            self._handle, _BASIC_PROCESS_ID_LIST, ctypes.byref(listed), ctypes.sizeof(listed), None
        )
        return set(listed.ProcessIdList[: listed.NumberOfProcessIdsInList]) if done else set()

    def terminate(self) -> None:
        """End every process in the job at once, with exit code 1."""
        if self._handle:
            self._api.TerminateJobObject(self._handle, 1)

    def close(self) -> None:
        """Give the handle back, which ends what is still in the job."""
        if self._handle:
            self._api.CloseHandle(self._handle)
            self._handle = ctypes.c_void_p(None)

    def _checked(self, result: Any) -> Any:
        if not result:
            code = getattr(ctypes, "get_last_error", lambda: 0)()
            raise OSError(code, "the job object for the agent's processes cannot be used")
        return result


class JobGroup:
    """The job of one launched process, and its console group, which Ctrl+Break reaches.

    The process is launched suspended and resumed once it is in the job, so that nothing it starts is outside.
    """

    def __init__(self, job: Job | None = None) -> None:
        self._job = job
        if job is None:
            with contextlib.suppress(OSError):  # then descendants are still found by their parents
                self._job = Job()
        self._pid: int | None = None
        flags = _CREATE_NEW_PROCESS_GROUP | _CREATE_SUSPENDED
        if sys.platform == "win32" and not ctypes.WinDLL("kernel32").GetConsoleWindow():
            flags |= subprocess.CREATE_NO_WINDOW  # a console program would open a window beside a graphical host
        self.spawn_options: dict[str, Any] = {"creationflags": flags}

    def attach(self, pid: int, leader: Process | None) -> None:
        """Put the suspended process into the job and let it run."""
        self._pid = pid
        if self._job is not None:
            try:
                self._job.assign(pid)
            except OSError:  # it is in a job that allows no other inside
                self._job.close()
                self._job = None
        if leader is not None:
            leader.resume()

    def pids(self, table: None = None) -> Set[int]:
        """Return the ids of all processes in the job, which itself is the table of them."""
        return set() if self._job is None else self._job.pids()

    def alive(self) -> bool:
        """Tell whether anything is in the job."""
        return bool(self.pids())

    def terminate(self, members: Set[Process], first: bool) -> bool:
        """Send Ctrl+Break to the console group; tell whether that was possible."""
        if sys.platform != "win32" or self._pid is None or not first:
            return False
        try:
            os.kill(self._pid, signal.CTRL_BREAK_EVENT)
        except OSError:  # no console in common, or the process is gone: only the hard way is left
            return False
        return True

    def kill(self, members: Set[Process], first: bool) -> bool:
        """End the job, and those members that are not in it."""
        import psutil

        if self._job is not None:
            self._job.terminate()
        for member in members:
            with contextlib.suppress(psutil.Error):
                member.kill()
        return True

    def release(self) -> None:
        """Close the job, which ends what is still in it."""
        if self._job is not None:
            self._job.close()
