"""Many jobs at once, each with an agent of its own in a working copy of its own, here or on a Dask cluster.

Start with :func:`run`; :mod:`acp_host.fleet.blocking` has it without ``await``.
"""

from acp_host.automation.limits import Budget, Retries, Timeouts
from acp_host.fleet import blocking
from acp_host.fleet.assignment import Keep
from acp_host.fleet.engine import LocalEngine
from acp_host.fleet.fleet import Fleet
from acp_host.fleet.git import GitFailed
from acp_host.fleet.job import Job, jobs_from, read_jobs
from acp_host.fleet.journal import Journal, JournaledJob, JournalFailed
from acp_host.fleet.outcomes import JobOutcomeKind
from acp_host.fleet.patches import ChangedFile
from acp_host.fleet.result import FleetReport, FleetSummary, JobResult, Violation
from acp_host.fleet.running import run
from acp_host.fleet.spending import Spent
from acp_host.fleet.working_copies import CopyKind, Uncommitted

__all__ = [
    "Budget",
    "ChangedFile",
    "CopyKind",
    "Fleet",
    "FleetReport",
    "FleetSummary",
    "GitFailed",
    "Job",
    "JobOutcomeKind",
    "JobResult",
    "Journal",
    "JournalFailed",
    "JournaledJob",
    "Keep",
    "LocalEngine",
    "Retries",
    "Spent",
    "Timeouts",
    "Uncommitted",
    "Violation",
    "blocking",
    "jobs_from",
    "read_jobs",
    "run",
]
