"""What a run is to do: :class:`RunPlan`, its arguments checked."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from attrs import frozen

from acp_host.automation.journal import RunJournal
from acp_host.automation.limits import Budget, Retries, Timeouts
from acp_host.automation.target import ResolvedTarget
from acp_host.errors import InvalidInput
from acp_host.host.agent_target import AgentTarget
from acp_host.host.connect import StartTimeouts, connect
from acp_host.host.own_files import own_files
from acp_host.host.prompt_content import PromptPart
from acp_host.reminders import Reminder, ReminderPolicy
from acp_host.state.reminder_entry import Rung
from acp_host.transports import Transport

__all__ = ["REMINDER_RUNGS", "RunPlan", "parts_of"]

_P = ParamSpec("_P")
_T = TypeVar("_T")

REMINDER_RUNGS = (Rung.INJECT_REMINDER, Rung.REMIND, Rung.PREFIXED_USER_MESSAGE)
"""The rungs for the reminders of a run, which its user has written: so the last one, marked, may be used, too."""


@frozen(kw_only=True)
class RunPlan:
    """The arguments of :func:`~acp_host.automation.run_prompt.run_prompt`, as it documents them."""

    target: ResolvedTarget
    prompt: tuple[PromptPart, ...]
    cwd: str
    session: str | None
    continue_last: bool
    key: str | None
    journal: RunJournal | None
    rerun_unknown: bool
    reminders: tuple[Reminder, ...]
    reminder_policy: ReminderPolicy
    timeouts: Timeouts
    budget: Budget
    retries: Retries
    track_changes: bool
    before_prompt: Callable[[], Awaitable[None]] | None
    connection: Mapping[str, Any]

    def connect(self, attempt: int = 1, **more: Any) -> connect:
        """Return the way to the agent for an attempt.

        Raises:
            InvalidInput: an argument for the connection is wrong, or it cannot be made again.
        """
        target = self.target.target
        if attempt > 1 and isinstance(target, Transport):
            again = target.again({})
            if again is None:
                raise InvalidInput(f"{target.description} is for one connection: a second attempt cannot be made")
            target = again
        options = {**self.connection, **more}
        if self.timeouts.start is not None:
            options.setdefault("start_timeouts", StartTimeouts(warm=self.timeouts.start, cold=self.timeouts.start))
        return connect(target, **options)

    @property
    def environment(self) -> dict[str, str | None]:
        """Variables that the agent is given besides those of this process."""
        target, given = self.target.target, self.connection.get("env")
        return dict((target.environment(given) if isinstance(target, AgentTarget) else given) or {})

    @property
    def place(self) -> tuple[str, str]:
        """Which agent in which directory, as the journal knows them."""
        return self.target.shown, self.cwd

    @property
    def digest(self) -> str:
        """What the run is to do, as a text that says nothing of it: a key means the same for ever."""
        parts = [repr(part) for part in self.prompt] + [reminder.body for reminder in self.reminders]
        told = [*self.place, str(self.session), str(self.continue_last), *parts]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()

    def own_files(self) -> Iterator[Path]:
        """Return the files that the run writes itself while the agent works; blocks."""
        if self.journal is not None:
            yield self.journal.path
        yield from own_files(self.connection.get("audit"), self.connection.get("record"))

    async def in_journal(
        self, method: Callable[Concatenate[RunJournal, _P], _T], *args: _P.args, **kwargs: _P.kwargs
    ) -> _T:
        """Call a method of the journal in a thread."""
        assert self.journal is not None
        return await asyncio.to_thread(method, self.journal, *args, **kwargs)

    def check(self) -> None:
        """Look at what can be looked at before an agent is started.

        Raises:
            InvalidInput: an argument is wrong.
        """
        self.connect()
        if self.session is not None and self.continue_last:
            raise InvalidInput("session=… names a session, and continue_last=True means another one")
        if not self.target.remote and not os.path.isdir(self.cwd):
            raise InvalidInput(f"cwd={self.cwd!r} is not a directory")
        for part in self.prompt:
            if isinstance(part, Path) and not Path("" if self.target.remote else self.cwd, part).is_file():
                raise InvalidInput(f"{part} is not a file, so it cannot be part of a prompt")


def parts_of(prompt: PromptPart | Sequence[PromptPart]) -> tuple[PromptPart, ...]:
    """Return the parts of a prompt.

    Raises:
        InvalidInput: its text is blank.
    """
    parts = tuple(prompt) if isinstance(prompt, Sequence) and not isinstance(prompt, str | bytes) else (prompt,)
    if all(isinstance(part, str) and not part.strip() for part in parts):
        raise InvalidInput("the prompt is empty")
    return parts
