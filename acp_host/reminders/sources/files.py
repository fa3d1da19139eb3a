"""Files that change on disk beside the conversation: :class:`FileWatcher`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from acp_host.errors import InvalidInput, InvalidState
from acp_host.reminders.model import Reminder
from acp_host.reminders.policy import ReminderPolicy
from acp_host.reminders.sources.activity import AgentActivity
from acp_host.reminders.sources.pace import Pace
from acp_host.reminders.sources.target import ReminderTarget, send
from acp_host.state.reminder_entry import ReminderStatus

__all__ = ["FileChange", "FileWatcher"]

FileChange = tuple[str, str]
"""What happened to a file (``added``, ``modified`` or ``deleted``), and its absolute path."""

_MOST_NAMED = 20
_NOT_SEEN_YET = (
    ReminderStatus.QUEUED,
    ReminderStatus.SENDING,
    ReminderStatus.PENDING,
    ReminderStatus.UNCERTAIN,
    ReminderStatus.SIDEBAR,
)


class FileWatcher:
    """Reminds the model of files that somebody else changed.

    Files that the agent changes itself are left out: what it writes through the host, and what its tool calls name. One
    reminder tells of all changes that the model has not been shown yet.

    Args:
        session: the session.
        paths: files and directories to watch; the session's working directory by default.
        policy: how its reminders may travel; ``None`` for the default.
        ttl_turns: for how many turns they hold.
        interval: seconds between two of them.
        watch: yields changes; ``None`` for ``watchfiles``, which leaves out version control, caches and the like.
        activity: what the agent itself has just done.
        pace: in place of ``interval``.

    Raises:
        InvalidInput: a path does not exist.
    """

    def __init__(
        self,
        session: ReminderTarget,
        paths: Sequence[str | Path] = (),
        *,
        policy: ReminderPolicy | None = None,
        ttl_turns: int = 2,
        interval: float = 2.0,
        watch: Callable[..., AsyncIterator[Iterable[FileChange]]] | None = None,
        activity: AgentActivity | None = None,
        pace: Pace | None = None,
    ) -> None:
        self._paths = [os.path.join(session.cwd, path) for path in paths] or [session.cwd]
        for path in self._paths:
            if not os.path.exists(path):
                raise InvalidInput(f"{path} does not exist, so it cannot be watched")
        self._session = session
        self._policy = policy
        self._ttl_turns = ttl_turns
        self._watch = watch or _watchfiles()
        self._activity = activity or AgentActivity(session)
        self._pace = pace or Pace(interval)
        self._told: dict[str, str] = {}
        self._news: dict[str, str] = {}
        self._last: str | None = None
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> FileWatcher:
        self.start()
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    def start(self) -> None:
        """Begin to watch.

        Raises:
            InvalidState: it has begun before.
        """
        if self._task is not None:
            raise InvalidState("the watcher has been started already")
        self._task = asyncio.create_task(self._run(), name="acp_host file watcher")

    async def close(self) -> None:
        """Watch no longer."""
        self._pace.stop()
        self._activity.close()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    def changed(self, changes: Iterable[FileChange]) -> None:
        """Take changes; for hosts that know them in another way and do not :meth:`start` the watcher."""
        for kind, path in changes:
            if not self._activity.touched(path):
                self._news[path] = kind
        if self._news:
            self._pace.offer("", self._remind)

    async def _run(self) -> None:
        async for changes in self._watch(*self._paths):
            self.changed(changes)

    def _remind(self) -> None:
        if self._last is not None:
            entry = self._session.reminders.get(self._last)
            if entry is None or entry.status not in _NOT_SEEN_YET:
                self._told = {}
        # A newer reminder replaces the older one, so it has to tell what that one told.
        self._told |= self._news
        self._news = {}
        reminder = Reminder(self._text(), tags=("workspace", "files"), dedupe_key="files", ttl_turns=self._ttl_turns)
        self._last = send(self._session, reminder, self._policy)

    def _text(self) -> str:
        named = [
            f"- {os.path.relpath(path, self._session.cwd)} ({kind})"
            for path, kind in sorted(self._told.items())[:_MOST_NAMED]
        ]
        more = len(self._told) - len(named)
        lines = "\n".join([*named, *([f"- and {more} more"] if more else [])])
        return f"These files were changed on disk by someone else; read them again before you rely on them:\n{lines}"


def _watchfiles() -> Callable[..., AsyncIterator[Iterable[FileChange]]]:
    try:
        from watchfiles import awatch
    except ImportError as error:
        raise InvalidInput(
            "watching files needs the package watchfiles: pip install 'acp-host[watch]', or pass watch="
        ) from error

    async def watch(*paths: str) -> AsyncIterator[Iterable[FileChange]]:
        changes: Any
        async for changes in awatch(*paths):
            yield [(change.raw_str(), path) for change, path in changes]

    return watch
