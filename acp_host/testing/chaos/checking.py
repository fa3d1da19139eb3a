"""Runs the command of a host against bad agents: :func:`check_host`.

The host is launched once for each agent, with the command of the agent among its arguments. What it gets right is seen
from the agent's end of the wire, from how its process ends, and from what is left of the agent's.
"""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil

from acp_host.errors import InvalidInput
from acp_host.testing.chaos.bad_agent import BadAgent, Ends
from acp_host.testing.chaos.catalogue import CATALOGUE
from acp_host.testing.chaos.journal import JOURNAL_VARIABLE, Event, What, read_journal
from acp_host.testing.chaos.judging import Finding, Rule, judge
from acp_host.testing.chaos.report import Meeting, Report

__all__ = ["AGENT", "check_host"]

AGENT = "{agent}"
"""Stands for the command of the agent in the command of a host."""
_TAIL = 8192
_LAST_STEPS = 10.0
"""Seconds that processes of the agent may take to end once the host has."""
_LOOK = 0.05
"""Seconds between two looks at what another process is doing."""


async def check_host(
    command: Sequence[str],
    agents: Sequence[BadAgent] | None = None,
    *,
    timeout: float = 60.0,
    at_once: int = 1,
    interrupt: bool = False,
    judge_status: bool = True,
    met: Callable[[Meeting], None] = lambda _: None,
) -> Report:
    """Run a host against agents, once for each, in this working directory, and say what it gets right.

    The host has to connect to the agent, open a session, send one prompt, and end when the turn is over. Nobody sits in
    front of it: what it would ask a person has to be decided by itself.

    Args:
        command: the host's, with ``{agent}`` where the agent's is: as an argument it becomes all the words of it,
            within one a text that a POSIX shell would split into them.
        agents: whom to meet; ``None``: all but those that never answer, since a host is not to blame for having no
            deadlines.
        timeout: seconds after which a host that has not ended hangs.
        at_once: how many meetings go on at the same time.
        interrupt: send SIGINT to the host as soon as a turn of an agent runs that waits for its cancel. Without it
            those are not seen, unless the host cancels by itself.
        judge_status: the host's exit status is 0 exactly if the turn was completed.
        met: called with each meeting when it is over.

    Raises:
        InvalidInput: the command does not say where the agent's goes, or there is no such program.
    """
    if not any(AGENT in word for word in command):
        raise InvalidInput(f"say where the command of the agent goes: write {AGENT} into the command of the host")
    if shutil.which(command[0]) is None:
        raise InvalidInput(f"the host cannot be started: there is no program {command[0]}")
    if agents is None:
        agents = [agent for agent in CATALOGUE if not agent.tries_patience]
    room = asyncio.Semaphore(at_once)

    async def meet(agent: BadAgent) -> Meeting:
        async with room:
            with tempfile.TemporaryDirectory(prefix="acp-host-chaos-", ignore_cleanup_errors=True) as folder:
                meeting = await _Run(agent, command, Path(folder), timeout, interrupt, judge_status).meet()
        met(meeting)
        return meeting

    async with asyncio.TaskGroup() as tasks:
        running = [tasks.create_task(meet(agent)) for agent in agents]
    return Report(tuple(task.result() for task in running))


class _Run:
    """One meeting."""

    def __init__(
        self,
        agent: BadAgent,
        command: Sequence[str],
        folder: Path,
        timeout: float,
        interrupt: bool,
        judge_status: bool,
    ) -> None:
        self._agent = agent
        self._folder = folder
        self._journal = folder / "journal.jsonl"
        # As an argument, since not every host hands its environment on.
        self._argv = _with_agent(command, [*agent.command(), f"--journal={self._journal}"])
        self._timeout = timeout
        self._interrupt = interrupt and agent.cancels
        self._judge_status = judge_status

    async def meet(self) -> Meeting:
        # Two small files of this machine: opening them holds up nothing but this meeting.
        with open(self._folder / "out", "wb") as out, open(self._folder / "err", "wb") as err:  # noqa: ASYNC230
            host = await asyncio.create_subprocess_exec(
                *self._argv, stdin=asyncio.subprocess.DEVNULL, stdout=out, stderr=err
            )
            began = time.monotonic()
            try:
                ended = await self._ended(host)
                seconds = time.monotonic() - began
                left = await self._left() if ended else []
            finally:
                self._end_all()
                await host.wait()
        events = list(read_journal(self._journal))
        findings = [*judge(events), *self._of_process(host.returncode if ended else None, left, events)]
        return Meeting(
            self._agent,
            tuple(findings),
            exit_status=host.returncode if ended else None,
            seconds=seconds,
            stderr=(self._folder / "err").read_bytes()[-_TAIL:].decode(errors="replace"),
        )

    async def _ended(self, host: asyncio.subprocess.Process) -> bool:
        """Wait for the end of the host; tell whether it came in time."""
        interrupting = asyncio.create_task(self._interrupt_in_turn(host)) if self._interrupt else None
        try:
            async with asyncio.timeout(self._timeout):
                await host.wait()
        except TimeoutError:
            return False
        finally:
            if interrupting is not None:
                interrupting.cancel()
                await asyncio.wait({interrupting})
        return True

    async def _interrupt_in_turn(self, host: asyncio.subprocess.Process) -> None:
        # Another process writes the journal, so there is no event to wait for.
        while not any(event.what == What.WORKING for event in read_journal(self._journal)):  # noqa: ASYNC110
            await asyncio.sleep(_LOOK)
        with contextlib.suppress(ProcessLookupError):
            host.send_signal(signal.SIGINT)

    async def _left(self) -> list[str]:
        """Return the processes of the meeting that do not end."""
        until = time.monotonic() + _LAST_STEPS
        # They are no children of this process, so nobody tells of their end.
        while (living := self._living()) and time.monotonic() < until:  # noqa: ASYNC110
            await asyncio.sleep(_LOOK)
        return [f"{process.pid}: {_words(process)}" for process in living]

    def _living(self) -> list[psutil.Process]:
        """Return the processes of the meeting: the journal's name is among their arguments, or in their environment."""
        found, journal = [], str(self._journal)
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                named = any(journal in word for word in process.cmdline())
                if (named or process.environ().get(JOURNAL_VARIABLE) == journal) and not _is_zombie(process):
                    found.append(process)
        return found

    def _end_all(self) -> None:
        for process in self._living():
            with contextlib.suppress(psutil.Error):
                process.kill()

    def _of_process(self, status: int | None, left: Sequence[str], events: Sequence[Event]) -> list[Finding]:
        """Return what the host's process shows."""
        if status is None:
            return [Finding(Rule.EXITS, False, f"it did not end within {self._timeout:g} s")]
        found = [Finding(Rule.EXITS, True), Finding(Rule.NONE_LEFT, not left, "; ".join(left))]
        cancelled = self._agent.cancels and any(event.method == "session/cancel" for event in events)
        if self._judge_status and self._agent.ends != Ends.EITHER and not cancelled:
            completed = self._agent.ends == Ends.COMPLETED
            found.append(Finding(Rule.STATUS, (status == 0) == completed, f"it ended with status {status}"))
        return found


def _with_agent(command: Sequence[str], agent: Sequence[str]) -> list[str]:
    words: list[str] = []
    for word in command:
        words += agent if word == AGENT else [word.replace(AGENT, shlex.join(agent))]
    return words


def _is_zombie(process: psutil.Process) -> bool:
    return bool(process.status() == psutil.STATUS_ZOMBIE)


def _words(process: psutil.Process) -> str:
    try:
        return shlex.join(process.cmdline())[:120]
    except psutil.Error:
        return "?"
