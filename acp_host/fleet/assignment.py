"""What is handed to whoever makes an attempt: :class:`Assignment`, plain values that can be pickled."""

from __future__ import annotations

import getpass
import os
import tempfile
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from attrs import field, frozen

from acp_host.automation.limits import Budget, Retries, Timeouts
from acp_host.fleet.job import Job
from acp_host.fleet.working_copies import CopyKind, Uncommitted
from acp_host.host.agent_target import AgentTarget
from acp_host.services.permissions import PermissionPolicy

__all__ = ["SERVICES", "Assignment", "FleetSettings", "Keep"]

SERVICES = frozenset({"files", "terminals"})
"""Arguments for connections that may be functions which make a service: each agent needs one of its own."""


class Keep(StrEnum):
    """Which working copies are kept. One whose changes could not all be told is kept in any case."""

    NEVER = "never"
    FAILED = "failed"
    """Those of jobs that did not complete."""
    ALWAYS = "always"


@frozen(kw_only=True)
class FleetSettings:
    """What all jobs of a fleet share; :func:`acp_host.fleet.run` documents it.

    Attributes:
        connection: further arguments for the connection to the agent.
    """

    agent: tuple[str, ...] | str | AgentTarget
    permissions: PermissionPolicy | None = None
    timeouts: Timeouts | None = None
    remind: tuple[str, ...] = ()
    retries: Retries = field(factory=Retries)
    record: str | None = None
    copies: CopyKind | None = None
    copies_in: str | None = None
    uncommitted: Uncommitted = Uncommitted.INCLUDE
    keep: Keep = Keep.NEVER
    connection: Mapping[str, Any] = field(factory=dict, repr=False)

    @property
    def home(self) -> Path:
        """The directory for working copies, on the machine that asks."""
        if self.copies_in is not None:
            return Path(self.copies_in)
        return Path(tempfile.gettempdir(), f"acp-host-fleets-{_user()}")


@frozen(kw_only=True)
class Assignment:
    """An attempt that is to be made.

    Attributes:
        fleet: what the fleet is called in paths.
        job: the job.
        number: counts the attempts of the job, from 1.
        budget: what is left of the job's; ``None``: there is none.
        settings: what all jobs share.
    """

    fleet: str
    job: Job
    number: int
    budget: Budget | None
    settings: FleetSettings

    @property
    def directory(self) -> Path:
        """Where everything that belongs to the attempt is."""
        return self.settings.home / self.fleet / f"{self.job.id}-{self.number}"

    @property
    def recording(self) -> str | None:
        """The file of the recording; ``None``: there is none."""
        if self.job.record is not None:
            whole = Path(self.job.record)
        elif self.settings.record is not None:
            whole = Path(self.settings.record, f"{self.job.id}.jsonl")
        else:
            return None
        return str(whole if self.number == 1 else whole.with_stem(f"{whole.stem}-{self.number}"))


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # nobody with a name
        return str(os.getpid())
