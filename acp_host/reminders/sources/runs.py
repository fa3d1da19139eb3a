"""Processes and test runs that have finished: :class:`FinishedRuns`."""

from __future__ import annotations

import asyncio

from acp_host.reminders.model import Reminder
from acp_host.reminders.policy import ReminderPolicy
from acp_host.reminders.sources.activity import AgentActivity
from acp_host.reminders.sources.pace import Pace
from acp_host.reminders.sources.target import ReminderTarget, send

__all__ = ["FinishedRuns"]

_TAIL = 4_000
"""How much of the output is told, in characters."""
_PIECE = 4_096


class FinishedRuns:
    """Reminds the model that a process which the host or the user started has finished.

    Runs of the agent's own are left out: it has seen their result.

    Args:
        session: the session.
        policy: how its reminders may travel; ``None`` for the default.
        ttl_turns: for how many turns they hold.
        interval: seconds between two of them for one command.
        activity: what the agent itself has just done.
        pace: in place of ``interval``.
    """

    def __init__(
        self,
        session: ReminderTarget,
        *,
        policy: ReminderPolicy | None = None,
        ttl_turns: int = 2,
        interval: float = 5.0,
        activity: AgentActivity | None = None,
        pace: Pace | None = None,
    ) -> None:
        self._session = session
        self._policy = policy
        self._ttl_turns = ttl_turns
        self._activity = activity or AgentActivity(session)
        self._pace = pace or Pace(interval)

    def close(self) -> None:
        """Remind of nothing any more."""
        self._pace.stop()
        self._activity.close()

    def finished(
        self,
        command: str,
        exit_status: int,
        output: str = "",
        *,
        failed: int | None = None,
        passed: int | None = None,
    ) -> None:
        """Tell of a run that has finished.

        Args:
            command: what was run, as one line.
            exit_status: its exit status; negative for a signal.
            output: what it wrote; the end of it is told.
            failed: for a test run, how many tests failed.
            passed: for a test run, how many passed.
        """
        if self._activity.ran(command):
            return
        text = _text(command, exit_status, output, failed, passed)
        tags = ("tests",) if failed is not None or passed is not None else ("process",)
        reminder = Reminder(text, tags=tags, dedupe_key=f"run:{command}", ttl_turns=self._ttl_turns)
        self._pace.offer(command, lambda: send(self._session, reminder, self._policy))

    async def watch(self, command: str, process: asyncio.subprocess.Process) -> int:
        """Wait for the end of a process, tell of it, and return its exit status.

        Args:
            command: what was run, as one line.
            process: the process; if its stdout is a pipe, it is read to the end.
        """
        tail = b""
        if process.stdout is not None:
            while piece := await process.stdout.read(_PIECE):
                tail = (tail + piece)[-4 * _TAIL :]  # a character has at most four bytes
        exit_status = await process.wait()
        self.finished(command, exit_status, tail.decode("utf-8", "replace"))
        return exit_status


def _text(command: str, exit_status: int, output: str, failed: int | None, passed: int | None) -> str:
    ended = f"was ended by signal {-exit_status}" if exit_status < 0 else f"finished with exit status {exit_status}"
    counts = [f"{count} {what}" for count, what in ((failed, "failed"), (passed, "passed")) if count is not None]
    first = f"`{command}`, which you did not run, {ended}{': ' + ', '.join(counts) if counts else ''}."
    tail = output.strip()
    if len(tail) > _TAIL:
        tail = "…" + tail[-_TAIL:]
    return f"{first}\nThe end of its output:\n{tail}" if tail else first
