"""What came of a fleet: :class:`JobResult` for each job, :class:`FleetSummary` for all of them."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
from attrs import field, frozen

from acp_host.automation.limits import Budget, Timeouts
from acp_host.automation.result import RunOutcome, RunResult
from acp_host.errors import InvalidInput, InvalidState
from acp_host.fleet.branches import commit_patch
from acp_host.fleet.job import Job
from acp_host.fleet.outcomes import JobOutcomeKind
from acp_host.fleet.patches import ChangedFile, apply_patch, joined
from acp_host.fleet.schema import SCHEMA_VERSION, problem_with
from acp_host.fleet.spending import Spent, unreported
from acp_host.fleet.working_copies import CopyKind, is_url
from acp_host.host.outcome import OutcomeKind
from acp_host.services.working_copy import DifferenceKind

__all__ = ["FleetReport", "FleetSummary", "JobResult", "Violation"]


_ENDED_BY_AGENTS = frozenset(JobOutcomeKind) - {
    JobOutcomeKind.CANCELLED,
    JobOutcomeKind.FAILED,
    JobOutcomeKind.UNKNOWN,
    JobOutcomeKind.NOT_RUN,
}
"""Ends of which agents tell what they have spent, if they ever do."""
_LIMITS: Mapping[str, type[Any]] = {"budget": Budget, "timeouts": Timeouts}


@frozen(kw_only=True)
class Violation:
    """A change that the policy forbids; it is in the working copy only.

    Attributes:
        path: relative to the working directory of the job, with ``/``.
        kind: ``created``, ``modified``, ``deleted`` or ``mode``.
    """

    path: str
    kind: str


@frozen(kw_only=True)
class JobResult:
    """What came of a job; a plain value, which can be pickled.

    Attributes:
        job: the job.
        outcome: how it ended; ``kind`` is one of :class:`~acp_host.fleet.outcomes.JobOutcomeKind`.
        attempt: the number of the attempt that this is about, from 1; 0 if there was none.
        run: what :func:`acp_host.run_prompt` says of that attempt; ``None`` where it did not get so far.
        files: the files that the agent has changed, as patches.
        files_problem: why there may be more of them, as a sentence; ``None``: these are all.
        violations: the changes that the policy forbids, those of files that git ignores included.
        spent: what all attempts of the job have spent together, as far as the agent says.
        source: the top directory of the repository that the patches are for, the directory, or the URL.
        copy_kind: how the working copy was made; ``None`` if it never was.
        commit: the commit that the repository was at.
        kept: the directory of the working copy, if it was kept.
        recording: the file of the recording, if there is one.
        host: name of the machine that has run the job.
        from_journal: nothing was done: the journal had the result.
    """

    job: Job
    outcome: RunOutcome
    attempt: int = 0
    run: RunResult | None = None
    files: tuple[ChangedFile, ...] = ()
    files_problem: str | None = None
    violations: tuple[Violation, ...] = ()
    spent: Spent = field(factory=Spent)
    source: str | None = None
    copy_kind: CopyKind | None = None
    commit: str | None = None
    kept: str | None = None
    recording: str | None = None
    host: str | None = None
    from_journal: bool = field(default=False, eq=False)

    @property
    def completed(self) -> bool:
        """Whether the agent says that it has done what it was asked."""
        return self.outcome.kind == OutcomeKind.COMPLETED

    @property
    def text(self) -> str:
        """The agent's message; empty where there is none."""
        return "" if self.run is None else self.run.text

    @property
    def patch(self) -> bytes:
        """All changes that the policy does not forbid, as one patch for ``git apply``."""
        return joined(file for file in self.files if file.allowed is not False)

    @property
    def forbidden_patch(self) -> bytes:
        """The changes that the policy forbids, as one patch."""
        return joined(file for file in self.files if file.allowed is False)

    def apply(
        self,
        directory: str | None = None,
        *,
        branch: str | None = None,
        message: str | None = None,
        forbidden: bool = False,
    ) -> tuple[str, ...]:
        """Make the changes in the original: in its files, or as a commit on a new branch. All of them, or none.

        What the policy forbids is left out. Blocks; call it in a thread.

        Args:
            directory: another place than ``source``, e.g. a clone of the URL.
            branch: the name of a new branch for them, which begins at ``commit``; no file is touched then.
            message: of the commit; ``None``: the first line of the prompt.
            forbidden: make those that the policy forbids, too.

        Returns:
            the paths of what has changed.

        Raises:
            InvalidState: not all changes are known, or it is not known where they belong.
            GitFailed: they do not fit what is there now, or there is such a branch.
        """
        target = directory or (None if self.source is None or is_url(self.source) else self.source)
        if target is None:
            raise InvalidState(f"it is not known where the changes of {self.job.id} belong: name a directory")
        if self.files_problem is not None:
            raise InvalidState(f"not all changes of {self.job.id} are known: {self.files_problem}")
        files = [file for file in self.files if forbidden or file.allowed is not False]
        if branch is None:
            apply_patch(joined(files), target)
        elif self.commit is None:
            raise InvalidState(f"{self.source} has no commit that a branch could begin at")
        else:
            text = message or self.job.prompt.strip().partition("\n")[0][:72]
            commit_patch(joined(files), target, onto=self.commit, branch=branch, message=text)
        return tuple(file.path for file in files)

    def revert_forbidden(self) -> tuple[str, ...]:
        """Take the changes that the policy forbids back, in a working copy that was kept. Blocks.

        Returns:
            the paths of the files.

        Raises:
            InvalidState: it was not kept.
            GitFailed: the files are others by now.
        """
        if self.kept is None:
            raise InvalidState(f"the working copy of {self.job.id} was not kept: nothing is to be taken back")
        apply_patch(self.forbidden_patch, self.kept, reverse=True, agent_was_here=True)
        return tuple(file.path for file in self.files if file.allowed is False)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values, in the form that ``schemas/fleet-1.schema.json`` describes as ``result``."""
        return {
            "version": SCHEMA_VERSION,
            "job": self.job.to_json(),
            "outcome": attrs.asdict(self.outcome),
            "attempt": self.attempt,
            "run": None if self.run is None else self.run.to_json(),
            "files": [_file_to_json(file) for file in self.files],
            "filesProblem": self.files_problem,
            "violations": [attrs.asdict(violation) for violation in self.violations],
            "spent": self.spent.to_json(),
            "source": self.source,
            "copyKind": self.copy_kind,
            "commit": self.commit,
            "kept": self.kept,
            "recording": self.recording,
            "host": self.host,
            "fromJournal": self.from_journal,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> JobResult:
        """Return the result that JSON of :meth:`to_json` stands for.

        Raises:
            InvalidInput: it is none of this version.
        """
        _check(data, "result", "result of a job")
        try:
            return cls(
                job=_job_from_json(data["job"]),
                outcome=RunOutcome(**_known(RunOutcome, data["outcome"])),
                attempt=data["attempt"],
                run=None if data["run"] is None else RunResult.from_json(data["run"]),
                files=tuple(_file_from_json(file) for file in data["files"]),
                files_problem=data["filesProblem"],
                violations=tuple(Violation(**_known(Violation, violation)) for violation in data["violations"]),
                spent=Spent.from_json(data["spent"]),
                source=data["source"],
                copy_kind=None if data["copyKind"] is None else CopyKind(data["copyKind"]),
                commit=data["commit"],
                kept=data["kept"],
                recording=data["recording"],
                host=data["host"],
                from_journal=data["fromJournal"],
            )
        except ValueError as error:  # a policy or a patch in base64 that is none, and InvalidInput, too
            raise InvalidInput(f"this is no result of a job: {error}") from None


def _check(data: Any, definition: str, what: str) -> None:
    problem = problem_with(data, definition)
    if problem is not None:
        raise InvalidInput(f"this is no {what}: {problem}")


def _known(kind: type[Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members that a class has; others may have been added within the version."""
    names = {attribute.name for attribute in attrs.fields(kind)}
    return {name: value for name, value in data.items() if name in names}


def _job_from_json(data: Mapping[str, Any]) -> Job:
    members = _known(Job, data)
    limits = {name: _known(kind, members[name]) for name, kind in _LIMITS.items() if name in members}
    return Job.from_json(members | limits)


def _file_to_json(file: ChangedFile) -> dict[str, Any]:
    data: dict[str, Any] = {"path": file.path, "kind": file.kind, "allowed": file.allowed}
    try:
        data["patch"] = file.patch.decode("utf-8")
    except UnicodeDecodeError:
        data["patchBase64"] = base64.b64encode(file.patch).decode("ascii")
    return data


def _file_from_json(data: Mapping[str, Any]) -> ChangedFile:
    text = data.get("patch")
    patch = base64.b64decode(data["patchBase64"]) if text is None else text.encode("utf-8")
    return ChangedFile(path=data["path"], kind=DifferenceKind(data["kind"]), patch=patch, allowed=data["allowed"])


@frozen(kw_only=True)
class FleetSummary:
    """What came of all jobs together.

    Attributes:
        jobs: how many there are.
        outcomes: how many ended in which way, by the words of :class:`~acp_host.fleet.outcomes.JobOutcomeKind`.
        attempts: how many attempts were made.
        changed_files: how many files have changed.
        violations: how many changes the policy forbids.
        spent: what was spent, as far as the agents say.
        unreported: which limits of the fleet's budget could not be held, since not all agents report what they are
            about, a cost in the budget's currency: some of ``tokens``, ``cost``.
        stopped: why the fleet ended before its end, for people; ``None``: it did not.
        duration: how long it took, in seconds.
    """

    jobs: int = 0
    outcomes: Mapping[str, int] = field(factory=dict)
    attempts: int = 0
    changed_files: int = 0
    violations: int = 0
    spent: Spent = field(factory=Spent)
    unreported: tuple[str, ...] = ()
    stopped: str | None = None
    duration: float = field(default=0.0, eq=False)

    @classmethod
    def of(
        cls, results: Sequence[JobResult], *, jobs: int, budget: Budget | None, stopped: str | None, duration: float
    ) -> FleetSummary:
        """Return the summary of some results, which may not be all yet."""
        ended = [result.spent for result in results if result.outcome.kind in _ENDED_BY_AGENTS]
        return cls(
            jobs=jobs,
            outcomes=dict(sorted(Counter(str(result.outcome.kind) for result in results).items())),
            attempts=sum(result.attempt for result in results),
            changed_files=sum(len(result.files) for result in results),
            violations=sum(len(result.violations) for result in results),
            spent=Spent.total(result.spent for result in results),
            unreported=() if budget is None else unreported(budget, ended),
            stopped=stopped,
            duration=duration,
        )

    @property
    def completed(self) -> bool:
        """Whether all jobs have completed."""
        return self.outcomes.get(JobOutcomeKind.COMPLETED, 0) == self.jobs

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return {
            "version": SCHEMA_VERSION,
            "jobs": self.jobs,
            "outcomes": dict(self.outcomes),
            "attempts": self.attempts,
            "changedFiles": self.changed_files,
            "violations": self.violations,
            "spent": self.spent.to_json(),
            "unreported": list(self.unreported),
            "stopped": self.stopped,
            "duration": self.duration,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> FleetSummary:
        """Return the summary that JSON of :meth:`to_json` stands for.

        Raises:
            InvalidInput: it is none of this version.
        """
        _check(data, "summary", "summary of a fleet")
        return cls(
            jobs=data["jobs"],
            outcomes=data["outcomes"],
            attempts=data["attempts"],
            changed_files=data["changedFiles"],
            violations=data["violations"],
            spent=Spent.from_json(data["spent"]),
            unreported=tuple(data.get("unreported", ())),
            stopped=data["stopped"],
            duration=data["duration"],
        )


@frozen(kw_only=True)
class FleetReport:
    """A finished fleet.

    Attributes:
        results: one for each job, in the order of the jobs.
        summary: of these.
    """

    results: tuple[JobResult, ...]
    summary: FleetSummary

    def __getitem__(self, job_id: str) -> JobResult:
        """Return the result of the job with this id; raises ``KeyError``."""
        return {result.job.id: result for result in self.results}[job_id]

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return {
            "version": SCHEMA_VERSION,
            "results": [result.to_json() for result in self.results],
            "summary": self.summary.to_json(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> FleetReport:
        """Return the report that JSON of :meth:`to_json` stands for.

        Raises:
            InvalidInput: it is none of this version.
        """
        _check(data, "report", "report of a fleet")
        results = tuple([JobResult.from_json(result) for result in data["results"]])
        return cls(results=results, summary=FleetSummary.from_json(data["summary"]))
