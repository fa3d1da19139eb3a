"""One prompt to one agent in one call: :func:`run_prompt`."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from acp_host.automation.conduct import conduct
from acp_host.automation.journal import RunJournal, default_journal
from acp_host.automation.limits import Budget, Retries, Timeouts
from acp_host.automation.plan import REMINDER_RUNGS, RunPlan, parts_of
from acp_host.automation.run import Run
from acp_host.automation.target import resolve_target
from acp_host.errors import InvalidInput
from acp_host.given_files import absolute
from acp_host.host.agent_target import AgentTarget
from acp_host.host.prompt_content import PromptPart
from acp_host.reminders import Reminder, ReminderPolicy
from acp_host.services.permissions import PermissionHandler, PermissionPolicy, Permissions
from acp_host.transports import Transport

if TYPE_CHECKING:
    from acp_host.recording import Recording

__all__ = ["run_prompt"]


def run_prompt(
    agent: Sequence[str] | str | Transport | AgentTarget,
    prompt: PromptPart | Sequence[PromptPart],
    *,
    cwd: str | os.PathLike[str] = ".",
    permissions: Permissions | PermissionPolicy | PermissionHandler | None = None,
    remind: str | Reminder | Iterable[str | Reminder] = (),
    remind_require: str | None = None,
    timeouts: Timeouts | float | None = None,
    budget: Budget | None = None,
    retries: Retries | int = 0,
    session: str | None = None,
    continue_last: bool = False,
    key: str | None = None,
    journal: RunJournal | str | os.PathLike[str] | None = None,
    rerun_unknown: bool = False,
    record: Recording | str | os.PathLike[str] | None = None,
    track_changes: bool = True,
    before_prompt: Callable[[], Awaitable[None]] | None = None,
    **connection: Any,
) -> Run:
    """Send one prompt to an agent, and end the agent when it is done. ::

        result = await acp_host.run_prompt(["some-agent", "--acp"], "Fix the failing test", cwd="project")
        print(result.outcome.kind, result.text)

    Nothing that the agent does is raised: whatever becomes of it is in the result. The run begins when it is first
    awaited, iterated over or entered, see :class:`~acp_host.automation.run.Run`.

    Args:
        agent: its command, its URL, a transport, or what :func:`acp_host.known` returns; as for
            :func:`acp_host.connect`.
        prompt: text, paths, image bytes or content blocks; one or several, as for :meth:`acp_host.Session.prompt`.
        cwd: working directory of the session. For an agent elsewhere, an absolute path of its machine.
        permissions: decides what the agent may do; as for ``connect``, so that ``None`` rejects all that it asks for.
        remind: what the model is to be told before the prompt, and is not the user's prompt. Whoever calls this has
            written it, so that it may also be put before the prompt, marked, where the agent has no better way.
        remind_require: the rung that has to take each; where it does not, the prompt is not sent.
        timeouts: how long it may take; a number is that of seconds in all.
        budget: what it may spend; the turn is cancelled when it has spent more.
        retries: whether it is tried again; a number is that of further attempts after the first.
        session: the agent's id of a session of earlier to go on with; ``None`` for a new one.
        continue_last: go on with the session that this agent had last in this directory: as the journal says, or else
            as the agent does.
        key: names the run in the journal, so that it is done once: the same key again returns its result, after a
            crash, too; see :mod:`acp_host.automation.journal`.
        journal: the file that keeps what runs came to, and which session was the last one. ``None``: none, or that of
            the user where a ``key`` or ``continue_last`` needs one.
        rerun_unknown: do a run again whose prompt was sent by a process that has ended before it knew what came of it.
        record: as for ``connect``; each attempt is recorded anew.
        track_changes: look at the files of the working directory before and after, for ``result.changes``; not for an
            agent elsewhere.
        before_prompt: awaited in each attempt when all is ready, before the prompt is sent, e.g. to write down that it
            will be. It may cancel the run: then it is not.
        **connection: everything else that :func:`acp_host.connect` takes, e.g. ``files=True``.

    Raises:
        InvalidInput: an argument is wrong; at once, or from the run where it shows later.
        InvalidState: from the run: another process is at the run with this key.
    """
    if remind_require not in (None, *REMINDER_RUNGS):
        raise InvalidInput(f"remind_require is one of {', '.join(REMINDER_RUNGS)}, not {remind_require!r}")
    target = resolve_target(agent)
    plan = RunPlan(
        target=target,
        prompt=parts_of(prompt),
        cwd=_directory(cwd, remote=target.remote),
        session=session,
        continue_last=continue_last,
        key=key,
        journal=_journal(journal, needed=key is not None or continue_last),
        rerun_unknown=rerun_unknown,
        reminders=_reminders(remind),
        reminder_policy=ReminderPolicy(rungs=REMINDER_RUNGS, require=remind_require),
        timeouts=timeouts if isinstance(timeouts, Timeouts) else Timeouts(total=timeouts),
        budget=budget or Budget(),
        retries=Retries.of(retries),
        track_changes=track_changes and not target.remote,
        before_prompt=before_prompt,
        connection={**connection, "permissions": permissions, "record": record},
    )
    plan.check()
    return Run(lambda emit, stop: conduct(plan, emit, stop))


def _journal(given: RunJournal | str | os.PathLike[str] | None, *, needed: bool) -> RunJournal | None:
    if given is None:
        return default_journal() if needed else None
    return given if isinstance(given, RunJournal) else RunJournal(given)


def _directory(cwd: str | os.PathLike[str], *, remote: bool) -> str:
    return os.fspath(cwd) if remote else absolute(cwd)


def _reminders(remind: Any) -> tuple[Reminder, ...]:
    listed = [remind] if isinstance(remind, str | Reminder) else list(remind)
    return tuple([each if isinstance(each, Reminder) else Reminder(body=each) for each in listed])
