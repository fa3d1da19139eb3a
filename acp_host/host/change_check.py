"""Holds what an agent changed in a turn against the policy: :class:`ChangeCheck`.

A session's directories are looked at before its prompt is sent and after it is answered, both in a thread. The result
of the turn waits for that, and so does the next prompt. A session without a check has no object of this kind.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.host.tasks import TaskOwner
from acp_host.printable import printable
from acp_host.services.audit import AuditDecision, AuditRecord, AuditTrail, DecidedBy
from acp_host.services.change_verdicts import ChangeReport, JudgedChange, Permitted, judge_changes
from acp_host.services.permission_subject import PermissionSubject
from acp_host.services.permissions import PermissionPolicy
from acp_host.services.working_copy import Fingerprint, compare, take_fingerprint
from acp_host.state.clock import Clock

if TYPE_CHECKING:
    from acp_host.services.working_copy import FingerprintLimits

__all__ = ["ChangeCheck", "ChangeCheckSettings"]

_MAX_TOLD = 100
"""Most violations of a turn that go into the audit trail one by one."""
_METHOD = "session/prompt"


@frozen(kw_only=True)
class ChangeCheckSettings:
    """What the checks of a connection share.

    Attributes:
        policy: says which changes are allowed.
        agent_name: says who the agent is.
        peer: says where it is, if it is elsewhere.
        tasks: owns the work.
        audit: takes a record of each violation.
        clock: says when.
        report: takes diagnostics.
        limits: how much work a look at the directories may be.
        own_files: returns the files that this program writes itself; may block.
    """

    policy: PermissionPolicy
    agent_name: Callable[[], str]
    peer: Callable[[], str | None]
    tasks: TaskOwner
    audit: AuditTrail
    clock: Clock
    report: Callable[[Diagnostic], None]
    limits: FingerprintLimits
    own_files: Callable[[], Iterable[Path]]


class ChangeCheck:
    """The check of one session; told of each turn's beginning and end, one turn at a time.

    Args:
        session_id: the agent's id of the session.
        roots: its directories; the first is its working directory.
        settings: what the connection's checks share.
    """

    def __init__(self, session_id: str, roots: Sequence[str], settings: ChangeCheckSettings) -> None:
        self._session_id = session_id
        self._roots = tuple(roots)
        self._settings = settings
        self._before: Fingerprint | None = None
        self._latest: Fingerprint | None = None
        self._permitted = Permitted()
        self._always = False
        self._report_of_turn = ChangeReport()

    def permit(self, subject: PermissionSubject, *, always: bool = False) -> None:
        """Learn what was permitted to the agent; ``always``: by a user who does not want to be asked again."""
        self._always = self._always or always
        self._permitted.add(subject, always=always)

    def refuse(self, subject: PermissionSubject) -> None:
        """Learn what was refused to the agent."""
        self._permitted.refuse(subject)

    def announce(self, path: str) -> None:
        """Learn that the application changes a file."""
        self._permitted.announce(path)

    def begin(self, then: Callable[[], None]) -> None:
        """Look at the directories before a turn, and call ``then`` afterwards; never once the connection closes."""
        self._before = None
        if self._settings.tasks.is_open:
            task = self._settings.tasks.start(self._begin())
            task.add_done_callback(lambda _: None if task.cancelled() else then())

    def end(self, then: Callable[[ChangeReport], None]) -> None:
        """Look again after the turn, and call ``then`` in any case, later."""
        self._report_of_turn = ChangeReport(problem="looking at the files was given up")
        if self._settings.tasks.is_open:
            # Not at the end of the work: a task that is cancelled before its first step has none.
            task = self._settings.tasks.start(self._end())
            task.add_done_callback(lambda _: then(self._report_of_turn))
        else:
            asyncio.get_running_loop().call_soon(lambda: then(self._report_of_turn))

    async def _begin(self) -> None:
        self._before = self._latest = await self._look()
        self._permitted = Permitted()
        self._permitted.anything = self._always

    async def _end(self) -> None:
        after = await self._look()
        try:
            self._report_of_turn = await asyncio.to_thread(self._judge, after)
        except Exception as error:  # a fault of this library is said, and ends no connection
            self._report_of_turn = ChangeReport(problem=f"judging the changes failed: {error!r}")
        self._tell(self._report_of_turn)
        self._before, self._latest = None, after

    async def _look(self) -> Fingerprint:
        stop = threading.Event()
        try:
            return await asyncio.to_thread(
                take_fingerprint, self._roots, self._latest, self._settings.limits, stopped=stop.is_set
            )
        except Exception as error:
            return Fingerprint({}, f"looking at the files failed: {error!r}")
        finally:
            stop.set()

    def _judge(self, after: Fingerprint) -> ChangeReport:
        settings = self._settings
        for path in settings.own_files():  # every turn adds to them; nobody could tell who else did
            self.announce(str(path))
        before = self._before or Fingerprint({}, "the files were not looked at before the turn")
        return judge_changes(
            compare(before, after),
            settings.policy,
            self._permitted,
            agent=settings.agent_name(),
            session_id=self._session_id,
            cwd=self._roots[0],
            now=datetime.now(UTC),
            problem=before.problem or after.problem,
        )

    def _tell(self, report: ChangeReport) -> None:
        for change in report.violations[:_MAX_TOLD]:
            self._settings.audit.add(self._record(change))
        if report.violations:
            text = f"the agent changed what the policy does not allow: {_listed(report.violations)}"
            self._report(text)
        if report.problem is not None:
            self._report(f"not every change of the agent could be held against the policy: {report.problem}")

    def _record(self, change: JudgedChange) -> AuditRecord:
        return AuditRecord(
            time=self._settings.clock.now(),
            session_id=self._session_id,
            agent=self._settings.agent_name(),
            action=_METHOD,
            subject=change.path,
            decision=AuditDecision.VIOLATED,
            decided_by=DecidedBy.POLICY,
            rule=change.rule,
            detail=f"{change.kind}: {change.reason}",
            peer=self._settings.peer(),
        )

    def _report(self, text: str) -> None:
        kind = DiagnosticKind.PERMISSION
        self._settings.report(Diagnostic(kind, text, method=_METHOD, session_id=self._session_id))


def _listed(violations: Sequence[JudgedChange]) -> str:
    shown = printable(", ".join(f"{change.path} ({change.kind})" for change in violations[:5]))
    return shown if len(violations) <= 5 else f"{shown} and {len(violations) - 5} more"
