"""Having an agent's writes wait until they are looked at: :class:`StagedWrites`.

What waits is in the state (``session.state.snapshot().harn``); the agent tells of it after each change.
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from acp_host.errors import InvalidInput
from acp_host.harn.calls import Calls
from acp_host.harn.history import paths_param, skipped
from acp_host.state.harn.tool_facts import SkippedPath

__all__ = ["CommittedWrites", "FsMode", "StagedWrites"]

_MODE, _COMMIT, _DISCARD = "session/fs_mode", "session/fs_commit_staged", "session/fs_discard_staged"
_MODES = ("immediate", "staged")


@frozen(kw_only=True)
class FsMode:
    """How the agent writes files: ``immediate`` or ``staged``, or another word.

    Attributes:
        mode: how it does so now.
        previous_mode: how it did before, if said.
    """

    mode: str
    previous_mode: str | None = None


@frozen(kw_only=True)
class CommittedWrites:
    """What was written of what waited.

    Attributes:
        committed: the files.
        failed: those that could not be written.
    """

    committed: tuple[str, ...] = ()
    failed: tuple[SkippedPath, ...] = ()


class StagedWrites:
    """The writes of one session that wait.

    Args:
        calls: sends the requests.
    """

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def set_mode(self, mode: str) -> FsMode:
        """Have the agent write files at once (``immediate``) or only when told to (``staged``) (``session/fs_mode``).

        Raises:
            InvalidInput: it is another mode.
            RequestFailed: the agent refused.
            NotSupported: the agent is not Harn.
        """
        if mode not in _MODES:
            raise InvalidInput(f"mode is one of {', '.join(_MODES)}, not {mode!r}")
        answer = await self._calls.answer(_MODE, {"mode": mode})
        now = FsMode(mode=answer.text("mode") or mode, previous_mode=answer.text("previousMode"))
        self._calls.read(_MODE, answer)
        return now

    async def commit(self, paths: Iterable[str] | None = None) -> CommittedWrites:
        """Have it write what waits (``session/fs_commit_staged``).

        Args:
            paths: some files; ``None``: all that wait.

        Raises:
            InvalidInput: ``paths`` is one text.
            RequestFailed: the agent refused, or cannot.
            NotSupported: the agent is not Harn.
        """
        answer = await self._calls.answer(_COMMIT, paths_param(paths))
        written = CommittedWrites(
            committed=answer.texts("committedPaths"), failed=skipped(answer, "failedPathsWithReasons")
        )
        self._calls.read(_COMMIT, answer)
        return written

    async def discard(self, paths: Iterable[str] | None = None) -> tuple[str, ...]:
        """Have it forget what waits (``session/fs_discard_staged``), and return the files; else as :meth:`commit`."""
        answer = await self._calls.answer(_DISCARD, paths_param(paths))
        discarded = answer.texts("discardedPaths")
        self._calls.read(_DISCARD, answer)
        return discarded
