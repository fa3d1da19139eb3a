"""One attempt at a job, wherever it is made: :func:`make_attempt`.

A working copy is made, the agent is started in it and given the prompt, what it has changed is made a patch, and the
working copy is removed. Of the agent nothing is left then, however the attempt ends.
"""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from attrs import evolve

from acp_host.automation.events import RunEvent, Updated
from acp_host.automation.result import RunOutcome, RunResult
from acp_host.automation.run_prompt import run_prompt
from acp_host.automation.stop import Stop
from acp_host.automation.target import resolve_target
from acp_host.errors import AcpError
from acp_host.fleet.assignment import SERVICES, Assignment, Keep
from acp_host.fleet.git import GitFailed, git_until
from acp_host.fleet.outcomes import JobOutcomeKind
from acp_host.fleet.patches import ChangedFile, Changes, changed_files
from acp_host.fleet.places import Place, clear_directory, make_home, records_in
from acp_host.fleet.result import JobResult, Violation
from acp_host.fleet.spending import Spent
from acp_host.fleet.working_copies import WorkingCopy, make_copy
from acp_host.transports import Launch, Launcher
from acp_host.wire.usage import UsageUpdate

__all__ = ["Caller", "make_attempt"]

_T = TypeVar("_T")


class Caller(Protocol):
    """Who wants an attempt made."""

    async def placed(self, place: Place) -> None:
        """Learn where it is made, before anything is there."""
        ...

    async def may_send(self) -> bool:
        """Tell whether the prompt may be sent. It is asked before, and has written down that it was when it answers."""
        ...

    def spent(self, spent: Spent) -> None:
        """Learn what the attempt has spent so far."""
        ...


async def make_attempt(assignment: Assignment, caller: Caller, stop: Stop) -> JobResult:
    """Make an attempt, and return what came of it, with what this attempt alone has spent.

    Args:
        assignment: what to do.
        caller: is told how far it is, and asked before the prompt is sent.
        stop: ends it early; the result says what was done until then.
    """
    host = socket.gethostname()
    begun = JobResult(job=assignment.job, outcome=_not_run(stop), attempt=assignment.number, host=host)
    await caller.placed(Place.of_this_process(str(assignment.directory)))
    if stop.requested:
        return begun
    try:
        result = await _in_fresh_copy(assignment, caller, stop, begun)
    except BaseException:
        await _in_thread(lambda: clear_directory(assignment.directory, assignment.job.cwd))
        raise
    if result.kept is not None:
        return result
    left = await _in_thread(lambda: clear_directory(assignment.directory, assignment.job.cwd))
    return evolve(result, kept=left)


async def _in_fresh_copy(assignment: Assignment, caller: Caller, stop: Stop, begun: JobResult) -> JobResult:
    unwanted = threading.Event()
    try:
        with stop.acts_by(unwanted.set), git_until(unwanted):
            copy = await _in_thread(lambda: _fresh_copy(assignment), given_up=unwanted.set)
    except (AcpError, OSError) as error:
        if stop.requested:
            return evolve(begun, outcome=_not_run(stop))
        detail = f"no working copy could be made: {error}"
        return evolve(begun, outcome=RunOutcome(kind=JobOutcomeKind.FAILED, detail=detail))
    result = await _run_in(copy, assignment, caller, stop, begun)
    return evolve(result, kept=copy.root) if _is_kept(result, assignment.settings.keep) else result


async def _run_in(copy: WorkingCopy, assignment: Assignment, caller: Caller, stop: Stop, begun: JobResult) -> JobResult:
    """Let the agent work in the working copy, and return what came of it."""
    recording = await _in_thread(lambda: _made_ready(assignment))
    sending = _Sending(caller)
    run = run_prompt(
        assignment.settings.agent,
        assignment.job.prompt,
        cwd=copy.cwd,
        permissions=assignment.job.permissions or assignment.settings.permissions,
        remind=(*assignment.settings.remind, *assignment.job.remind),
        timeouts=assignment.job.timeouts or assignment.settings.timeouts,
        budget=assignment.budget,
        retries=assignment.settings.retries,
        record=recording,
        before_prompt=sending.ask,
        **_connection(assignment, copy),
    )
    sending.refuse = run.cancel
    async with run:
        with stop.acts_by(lambda: run.cancel(stop.detail)):
            async for event in run:
                _tell_spending(event, caller)
            ended = await run
    caller.spent(Spent.of(ended))
    changes = await _in_thread(lambda: _changes(copy, ended))
    return evolve(
        begun,
        outcome=_without_place(_outcome(ended, sending.allowed, stop), copy),
        run=evolve(ended, changes=tuple([evolve(each, diff=None, no_diff="it is in files") for each in ended.changes])),
        files=changes.files,
        files_problem=changes.problem,
        violations=tuple(
            [Violation(path=each.path, kind=each.kind) for each in ended.changes if each.allowed is False]
        ),
        spent=Spent.of(ended),
        source=copy.source,
        copy_kind=copy.kind,
        commit=copy.commit,
        recording=recording,
    )


class _Sending:
    """Asks the caller before the prompt is sent.

    Attributes:
        allowed: it was allowed: from then on, the prompt may have been sent.
        refuse: ends the run, with a reason.
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self.allowed = False
        self.refuse: Callable[[str], None] = lambda _: None

    async def ask(self) -> None:
        if await self._caller.may_send():
            self.allowed = True
        else:
            self.refuse("the prompt was not to be sent any more")


def _not_run(stop: Stop) -> RunOutcome:
    return RunOutcome(kind=JobOutcomeKind.NOT_RUN, detail=stop.detail)


def _outcome(run: RunResult, allowed: bool, stop: Stop) -> RunOutcome:
    if run.outcome_unknown:
        return evolve(run.outcome, kind=JobOutcomeKind.UNKNOWN)
    if run.outcome.kind == JobOutcomeKind.CANCELLED and not allowed:
        return _not_run(stop)
    return run.outcome


def _without_place(outcome: RunOutcome, copy: WorkingCopy) -> RunOutcome:
    """Name files by their paths in the working copy: the place of that tells nobody anything."""
    return evolve(outcome, detail=outcome.detail.replace(os.path.join(copy.root, ""), ""))


def _fresh_copy(assignment: Assignment) -> WorkingCopy:
    """Make the working copy, in place of what earlier attempts have left behind on this machine."""
    settings, directory = assignment.settings, assignment.directory
    make_home(settings.home)
    for number in range(1, assignment.number):
        earlier = evolve(assignment, number=number).directory
        if earlier.exists() and settings.keep is Keep.NEVER:
            clear_directory(earlier, assignment.job.cwd)
    return make_copy(assignment.job.cwd, directory, kind=settings.copies, uncommitted=settings.uncommitted)


def _is_kept(result: JobResult, keep: Keep) -> bool:
    if keep is Keep.ALWAYS or (keep is Keep.FAILED and not result.completed):
        return True
    return result.files_problem is not None and result.outcome.kind != JobOutcomeKind.NOT_RUN


def _made_ready(assignment: Assignment) -> str | None:
    """Return the file of the recording; its directory is there then."""
    recording = assignment.recording
    if recording is not None:
        Path(recording).parent.mkdir(parents=True, exist_ok=True)
    return recording


def _connection(assignment: Assignment, copy: WorkingCopy) -> dict[str, Any]:
    """Return further arguments for the connection: an agent that is a command is started in its working copy."""
    settings = assignment.settings
    options = dict(settings.connection)
    for name in SERVICES & options.keys():
        if callable(options[name]):
            options[name] = options[name]()
    if resolve_target(settings.agent).remote:
        return options
    options.setdefault("process_records", records_in(settings.home))
    options["launcher"] = _launcher_in(copy.cwd, options.get("launcher"))
    return options


def _launcher_in(directory: str, inner: Launcher | None) -> Launcher:
    def launcher(launch: Launch) -> Launch:
        here = evolve(launch, cwd=directory)
        return here if inner is None else inner(here)

    return launcher


def _tell_spending(event: RunEvent, caller: Caller) -> None:
    if isinstance(event, Updated) and isinstance(event.update, UsageUpdate):
        usage = event.session.state.snapshot().usage
        cost = {} if usage.cost is None else {usage.cost.currency: usage.cost.amount}
        caller.spent(Spent(tokens=usage.used or 0, cost=cost))


def _changes(copy: WorkingCopy, run: RunResult) -> Changes:
    """Return what has changed, with what the policy says of it."""
    try:
        changes = changed_files(copy)
    except GitFailed as error:
        return Changes(problem=str(error))
    return evolve(changes, files=_judged(changes.files, run, os.path.relpath(copy.cwd, copy.root)))


def _judged(files: Sequence[ChangedFile], run: RunResult, below: str) -> tuple[ChangedFile, ...]:
    prefix = "" if below == "." else f"{below.replace(os.sep, '/')}/"
    verdicts = {f"{prefix}{change.path}": change.allowed for change in run.changes}
    return tuple([evolve(file, allowed=verdicts.get(file.path)) for file in files])


async def _in_thread(work: Callable[[], _T], given_up: Callable[[], None] = lambda: None) -> _T:
    """Do something in a thread, to its end even where the caller is cancelled: what it makes would else be left.

    Args:
        work: what to do.
        given_up: called when the caller is cancelled, to bring the end nearer.
    """
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        given_up()
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # nobody is there to hear of it
        raise
