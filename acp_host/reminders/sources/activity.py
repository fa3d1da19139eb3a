"""What the agent itself has just done: :class:`AgentActivity`.

A host that reminded a model of the model's own edits would only confuse it. An edit counts as the agent's from the
moment in which it is named in a tool call until some seconds after that call has ended, or when it is written through
the host.
"""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from attrs import define, field

from acp_host.reminders.sources.target import ReminderTarget
from acp_host.wire.tool_calls import Diff, ToolCall, ToolCallStatus, ToolCallUpdate, ToolKind
from acp_host.wire.v2 import tool_calls as v2
from acp_host.wire.v2.diffs import Diff as PatchedFiles

__all__ = ["AgentActivity"]

_MOST = 1_000
_LONGEST_CALL = 900.0
"""Seconds after which a call that was never ended does not count any more."""
_ENDED = (ToolCallStatus.COMPLETED, ToolCallStatus.FAILED, v2.ToolCallStatus.CANCELLED)
_CALLS = (ToolCall, ToolCallUpdate, v2.ToolCallUpdate)
_CHANGES_NOTHING = (ToolKind.READ, ToolKind.SEARCH)


@define(eq=False)
class _Call:
    """A tool call that has not ended."""

    since: float
    kind: str | None = None
    paths: set[str] = field(factory=set)
    commands: set[str] = field(factory=set)


class AgentActivity:
    """The files and commands of an agent's recent tool calls, and the files it wrote through the host.

    Args:
        target: the session.
        memory: for how many seconds something counts as just done.
        now: says what time it is, in seconds.
    """

    def __init__(
        self, target: ReminderTarget, *, memory: float = 5.0, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._cwd = target.cwd
        self._memory = memory
        self._now = now
        self._calls: OrderedDict[str, _Call] = OrderedDict()
        self._done: OrderedDict[str, float] = OrderedDict()
        self._ends = [target.on_update(self._observe), target.on_file_written(self._written)]

    def close(self) -> None:
        """Observe no longer."""
        for end in self._ends:
            end()

    def touched(self, path: str) -> bool:
        """Whether the agent has just changed a file, or is about to."""
        real = self._real(path)
        return self._recently(f"file:{real}") or any(real in call.paths for call in self._open_calls())

    def ran(self, command: str) -> bool:
        """Whether the agent itself runs a command, or has just run it."""
        return self._recently(f"command:{command}") or any(command in call.commands for call in self._open_calls())

    def _observe(self, update: Any) -> None:
        if isinstance(update, v2.ToolCallContentChunk):
            self._named_in(update.tool_call_id).paths.update(map(self._real, _paths_in([update.content])))
        if not isinstance(update, _CALLS):
            return
        call = self._named_in(update.tool_call_id)
        call.kind = update.kind or call.kind
        call.paths |= {self._real(path) for path in _paths(update)}
        call.commands |= set(_commands(update))
        if update.status in _ENDED:
            del self._calls[update.tool_call_id]
            if call.kind not in _CHANGES_NOTHING:
                self._note(f"file:{path}" for path in call.paths)
            self._note(f"command:{command}" for command in call.commands)

    def _named_in(self, tool_call_id: str) -> _Call:
        """Return what is known of a call, which may be a new one."""
        call = self._calls.get(tool_call_id)
        if call is None:
            call = self._calls[tool_call_id] = _Call(self._now())
            while len(self._calls) > _MOST:
                self._calls.popitem(last=False)
        return call

    def _written(self, path: str) -> None:
        self._note([f"file:{self._real(path)}"])

    def _note(self, things: Iterable[str]) -> None:
        now = self._now()
        for thing in things:
            self._done[thing] = now
            self._done.move_to_end(thing)
        while len(self._done) > _MOST:
            self._done.popitem(last=False)

    def _recently(self, thing: str) -> bool:
        done = self._done.get(thing)
        return done is not None and self._now() - done <= self._memory

    def _open_calls(self) -> Iterable[_Call]:
        now = self._now()
        for call in self._calls.values():
            if call.kind not in _CHANGES_NOTHING and now - call.since <= _LONGEST_CALL:
                yield call

    def _real(self, path: str) -> str:
        return os.path.normcase(os.path.realpath(os.path.join(self._cwd, path)))


def _paths(update: ToolCall | ToolCallUpdate | v2.ToolCallUpdate) -> Iterable[str]:
    yield from (location.path for location in update.locations or ())
    yield from _paths_in(update.content or ())


def _paths_in(produced: Iterable[Any]) -> Iterable[str]:
    """Yield the paths of the files that a tool call has changed, as it shows by what it has produced."""
    for content in produced:
        if isinstance(content, Diff):
            yield content.path
        elif isinstance(content, PatchedFiles):
            for change in content.changes:
                yield from (path for name in ("old_path", "path") if (path := getattr(change, name, None)))


def _commands(update: ToolCall | ToolCallUpdate | v2.ToolCallUpdate) -> Iterable[str]:
    if update.title:
        yield update.title.strip("`")
    raw: Any = update.raw_input
    command = raw.get("command") if isinstance(raw, Mapping) else None
    if isinstance(command, str):
        yield command
    elif isinstance(command, list) and all(isinstance(part, str) for part in command):
        yield " ".join(command)
