"""What the permission policy says about what has changed in a turn: :func:`judge_changes`, :class:`ChangeReport`.

Some agents never ask, and no policy can keep them from writing; but what they have changed can be held against it
afterwards. Nobody can tell from the disk who has changed a file. These are the verdicts, the first that fits:

================  ====================================================================================================
verdict           the change
================  ====================================================================================================
``allowed``       is one that the policy allows without asking
``announced``     was announced by the application: its user has saved the file
``approved``      was permitted in this turn: the agent has asked for this path, or has written it through the host
``forbidden``     is one that a rule rejects, or that was refused in this turn when the agent asked for this path
``unattributed``  is one that the policy would ask about, or rejects by default, but a command was permitted in this
                  turn, or the user has permitted something for always; that may have made it
``forbidden``     is any other
================  ====================================================================================================

What was permitted with ``read``, ``search``, ``think``, ``fetch`` or ``switch_mode`` as its kind permits no change.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from attrs import frozen

from acp_host.printable import printable
from acp_host.services._confined import is_inside
from acp_host.services.permission_options import PermissionDecision
from acp_host.services.permission_subject import PermissionSubject
from acp_host.services.permissions import Explanation, PermissionPolicy
from acp_host.services.working_copy import DifferenceKind
from acp_host.wire.tool_calls import ToolKind

if TYPE_CHECKING:
    from acp_host.services.working_copy import Difference

__all__ = ["ChangeReport", "ChangeVerdict", "JudgedChange", "Permitted", "judge_changes"]

MAX_JUDGED = 10_000
"""Most changes that are judged in one turn."""
_WITH_ALL_BELOW = frozenset({ToolKind.DELETE, ToolKind.MOVE})
_JUDGED_AS: dict[DifferenceKind, tuple[ToolKind, ...]] = {DifferenceKind.DELETED: (ToolKind.DELETE, ToolKind.MOVE)}
"""Kind of change → the kinds of tool calls of which one has to be allowed; others are edits."""


class ChangeVerdict(StrEnum):
    """What the policy says about a change; the table of this module has the meanings."""

    ALLOWED = "allowed"
    ANNOUNCED = "announced"
    APPROVED = "approved"
    UNATTRIBUTED = "unattributed"
    FORBIDDEN = "forbidden"


@frozen(kw_only=True)
class JudgedChange:
    """A file that has changed in a turn, and what the policy says about it.

    Attributes:
        path: the real path.
        kind: what happened to the file.
        verdict: see the table of this module.
        rule: name of the rule that decided; ``None``: the default did.
        reason: why, in one sentence.
    """

    path: str
    kind: DifferenceKind
    verdict: ChangeVerdict
    rule: str | None
    reason: str

    def __str__(self) -> str:
        return printable(f"{self.path} ({self.kind}): {self.reason}")


@frozen(kw_only=True)
class ChangeReport:
    """What has changed in a turn.

    Attributes:
        changes: each file that has, by path.
        problem: why there may be more, as a sentence; ``None``: these are all.
    """

    changes: tuple[JudgedChange, ...] = ()
    problem: str | None = None

    @property
    def violations(self) -> tuple[JudgedChange, ...]:
        """The changes that the policy forbids."""
        return tuple(change for change in self.changes if change.verdict is ChangeVerdict.FORBIDDEN)


class Permitted:
    """What was permitted to the agent, what was refused, and what the application announced, in one turn."""

    def __init__(self) -> None:
        self.anything = False
        """Whether something was permitted that can change any file."""
        self._paths: set[str] = set()
        self._trees: set[str] = set()
        self._refused: set[str] = set()
        self._announced: set[str] = set()

    def add(self, subject: PermissionSubject, *, always: bool = False) -> None:
        """Take what was permitted; ``always``: by a user who does not want to be asked again."""
        if subject.is_harmless:
            return
        if always or subject.command is not None or subject.kind == ToolKind.EXECUTE or not subject.paths:
            self.anything = True
        self._paths.update(subject.paths)
        if subject.kind in _WITH_ALL_BELOW:
            self._trees.update(path for path in subject.paths if not is_inside(subject.cwd, path))

    def refuse(self, subject: PermissionSubject) -> None:
        """Take what was refused."""
        self._refused.update(subject.paths)

    def announce(self, path: str) -> None:
        """Take the path of a file that the application changes itself."""
        self._announced.add(os.path.realpath(path))

    def verdict_without_policy(self, path: str) -> ChangeVerdict | None:
        """Return the verdict on a change that the policy does not allow, if it was announced, approved or refused."""
        if path in self._announced:
            return ChangeVerdict.ANNOUNCED
        if path in self._paths or any(is_inside(path, tree) for tree in self._trees):
            return ChangeVerdict.APPROVED
        return ChangeVerdict.FORBIDDEN if path in self._refused else None


def judge_changes(
    changes: Sequence[Difference],
    policy: PermissionPolicy,
    permitted: Permitted,
    *,
    agent: str,
    session_id: str,
    cwd: str,
    now: datetime,
    problem: str | None = None,
) -> ChangeReport:
    """Return what a policy says about changes.

    Args:
        changes: what has changed.
        policy: decides.
        permitted: what was permitted in the turn.
        agent: name of the agent.
        session_id: the agent's id of the session.
        cwd: the session's working directory.
        now: the time, for rules that expire.
        problem: why there may be more changes.
    """
    cwd, judged = os.path.realpath(cwd), []
    for change in changes[:MAX_JUDGED]:
        about = [
            PermissionSubject(
                agent=agent,
                session_id=session_id,
                kind=kind,
                paths=(change.path,),
                named_paths=(change.path,),
                cwd=cwd,
            )
            for kind in _JUDGED_AS.get(change.kind, (ToolKind.EDIT,))
        ]
        told = [policy.judge(subject, now) for subject in about]
        judged.append(_judged(change, next((one for one in told if one.decision.allows), told[0]), permitted))
    if len(changes) > MAX_JUDGED:
        problem = f"only {MAX_JUDGED} of {len(changes)} changed files were judged"
    return ChangeReport(changes=tuple(judged), problem=problem)


def _judged(change: Difference, told: Explanation, permitted: Permitted) -> JudgedChange:
    rule = None if told.rule is None else told.rule.name
    verdict, reason = ChangeVerdict.ALLOWED, told.reason
    if not told.decision.allows:
        verdict, reason = _verdict(change, told, permitted)
    return JudgedChange(path=change.path, kind=change.kind, verdict=verdict, rule=rule, reason=reason)


def _verdict(change: Difference, told: Explanation, permitted: Permitted) -> tuple[ChangeVerdict, str]:
    known = permitted.verdict_without_policy(change.path)
    asks = told.decision is PermissionDecision.ASK
    if known is not None:
        return known, f"it was {'refused' if known is ChangeVerdict.FORBIDDEN else known} in this turn"
    if permitted.anything and (asks or told.rule is None):
        return ChangeVerdict.UNATTRIBUTED, f"{told.reason}, but something was permitted that may have made the change"
    return ChangeVerdict.FORBIDDEN, f"{told.reason}, and nobody was asked" if asks else told.reason
