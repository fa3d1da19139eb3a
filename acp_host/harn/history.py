"""Going back in a session: :class:`History`. The agent tells of each of these in the transcript, too, and first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import field, frozen

from acp_host.errors import InvalidInput, RequestFailed
from acp_host.harn.calls import Calls
from acp_host.harn.errors import CheckpointRefused
from acp_host.state.harn.tool_facts import SkippedPath
from acp_host.wire.harn.members import Members

__all__ = ["Checkpoint", "History", "RestoredToolCall", "Truncation", "paths_param", "skipped"]

_ROLLBACK, _REDO = "session/rollback", "session/redo"
_TRUNCATE, _RESTORE = "session/truncate", "session/restore_tool_call"


@frozen(kw_only=True)
class Checkpoint:
    """What was rolled back, or done again.

    Attributes:
        status: the agent's word for what it did; ``""`` if it did not say.
        checkpoint_id: the point in the session, if said.
        messages_before: messages in the session before it.
        messages_after: and after it.
        snapshot_ids: snapshots of the files that it was done with.
        redo_snapshot_ids: those that it can be undone with.
        restores: what was done to the files, as sent.
    """

    status: str
    checkpoint_id: str | None = None
    messages_before: int | None = None
    messages_after: int | None = None
    snapshot_ids: tuple[str, ...] = ()
    redo_snapshot_ids: tuple[str, ...] = ()
    restores: Any = field(default=None, repr=False)


@frozen(kw_only=True)
class Truncation:
    """What is left of a session of which the end was cut off.

    Attributes:
        kept: how many turns.
        removed: how many are gone.
        tip_turn_id: the last turn that is left, if said.
    """

    kept: int | None = None
    removed: int | None = None
    tip_turn_id: str | None = None


@frozen(kw_only=True)
class RestoredToolCall:
    """What a tool call had changed, and is as before.

    Attributes:
        tool_call_id: the call.
        restored: the files that are as before it.
        skipped: the files that are not.
    """

    tool_call_id: str
    restored: tuple[str, ...] = ()
    skipped: tuple[SkippedPath, ...] = ()


class History:
    """Goes back in one session.

    Args:
        calls: sends the requests.
    """

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def rollback(self) -> Checkpoint:
        """Undo the last finished turn: messages and files (``session/rollback``).

        Raises:
            CheckpointRefused: it was not done; ``status`` says why.
            NotSupported: the agent is not Harn.
        """
        return await self._checkpoint(_ROLLBACK)

    async def redo(self) -> Checkpoint:
        """Do what was rolled back last (``session/redo``); raises as :meth:`rollback`."""
        return await self._checkpoint(_REDO)

    async def truncate(self, keep_first: int, *, reason: str | None = None) -> Truncation:
        """Cut the end of the session off (``session/truncate``).

        A turn that runs is cancelled first, with all that goes with that; the agent would stop it anyway.

        Args:
            keep_first: how many turns to keep.
            reason: for the record.

        Raises:
            InvalidInput: ``keep_first`` is no number of turns.
            RequestFailed: the agent refused.
            NotSupported: the agent is not Harn.
        """
        if not isinstance(keep_first, int) or isinstance(keep_first, bool) or keep_first < 0:
            raise InvalidInput(f"keep_first is a number of turns of at least 0, not {keep_first!r}")
        self._calls.require(_TRUNCATE)
        running = self._calls.session.current_turn
        if running is not None:
            running.cancel("the session is cut off")
        params = {"keepFirst": keep_first, **({} if reason is None else {"reason": reason})}
        answer = await self._calls.answer(_TRUNCATE, params)
        truncation = Truncation(
            kept=answer.whole("keptTurnCount"),
            removed=answer.whole("removedTurnCount"),
            tip_turn_id=answer.text("newTipTurnId"),
        )
        self._calls.read(_TRUNCATE, answer)
        return truncation

    async def restore_tool_call(self, tool_call_id: str, paths: Iterable[str] | None = None) -> RestoredToolCall:
        """Make the files that a tool call has changed as they were before (``session/restore_tool_call``).

        Args:
            tool_call_id: the agent's id of the call.
            paths: some of its files; ``None``: all.

        Raises:
            InvalidInput: ``paths`` is one text.
            RequestFailed: the agent refused, or cannot.
            NotSupported: the agent is not Harn.
        """
        answer = await self._calls.answer(_RESTORE, {"toolCallId": tool_call_id, **paths_param(paths)})
        restored = RestoredToolCall(
            tool_call_id=answer.text("toolCallId") or tool_call_id,
            restored=answer.texts("restoredPaths"),
            skipped=skipped(answer, "skippedPathsWithReasons"),
        )
        self._calls.read(_RESTORE, answer)
        return restored

    async def _checkpoint(self, method: str) -> Checkpoint:
        try:
            answer = await self._calls.answer(method)
        except RequestFailed as error:
            status = error.data.get("status") if isinstance(error.data, Mapping) else None
            if isinstance(status, str):
                raise CheckpointRefused(error, status) from error
            raise
        checkpoint = Checkpoint(
            status=answer.text("status") or "",
            checkpoint_id=answer.text("checkpointId"),
            messages_before=answer.whole("beforeMessageCount"),
            messages_after=answer.whole("afterMessageCount"),
            snapshot_ids=answer.texts("fsSnapshotIds"),
            redo_snapshot_ids=answer.texts("redoFsSnapshotIds"),
            restores=answer.raw.get("fsRestores"),
        )
        self._calls.read(method, answer)
        return checkpoint


def paths_param(paths: Iterable[str] | None) -> dict[str, list[str]]:
    """Return the parameter that names files; none for all of them.

    Raises:
        InvalidInput: ``paths`` is one text.
    """
    if isinstance(paths, str):
        raise InvalidInput("paths is several texts, not one")
    return {} if paths is None else {"paths": [str(path) for path in paths]}


def skipped(answer: Members, name: str) -> tuple[SkippedPath, ...]:
    """Return the files that something was not done to, with the reasons."""
    listed = answer.members(name)
    return tuple([SkippedPath(path=each.text("path") or "", reason=each.text("reason")) for each in listed])
