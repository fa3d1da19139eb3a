"""How the Harn-like agent goes back in a session, and takes what the host does by itself: :class:`HistoryMethods`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_host.errors import InvalidParams, RequestFailed
from acp_host.testing.agent_side import Handler
from acp_host.testing.harn._capabilities import CONFLICT
from acp_host.testing.harn._frames import named
from acp_host.testing.harn._params import text_member
from acp_host.testing.harn._session import HarnSession

if TYPE_CHECKING:
    from acp_host.testing.harn._connection import Connection

__all__ = ["HistoryMethods"]

_EVENTS = ("host_tool_result", "host_attachment")


class HistoryMethods:
    """Rollback, redo and truncation; staged writes; events of the host; plan documents."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._agent = connection.agent

    def handlers(self) -> dict[str, Handler]:
        """Return the handlers by wire method."""
        behind = self._connection.queue.behind
        return {
            "session/rollback": behind(lambda params: self._go(params, "session_rollback")),
            "session/redo": behind(lambda params: self._go(params, "session_redo")),
            "session/truncate": self.truncate,
            "session/fs_mode": behind(self.fs_mode),
            "session/fs_commit_staged": behind(lambda params: self._unstage(params, "committedPaths")),
            "session/fs_discard_staged": behind(lambda params: self._unstage(params, "discardedPaths")),
            "session/inject_host_event": behind(self.inject_host_event),
            "session/plan_document/mutate": behind(self.mutate_plan),
            "_harn/providerCatalog": behind(lambda params: {"schemaVersion": 10, "providers": []}),
        }

    def _go(self, params: Any, kind: str) -> dict[str, Any]:
        session = self._connection.session_of(params)
        checkpoint = f"checkpoint-{session.turns}"
        update = {"sessionUpdate": kind, "checkpointId": checkpoint, "status": "ok"}
        self._connection.host.update(session, update)
        counts = {"beforeMessageCount": 2 * session.turns, "afterMessageCount": 2 * max(session.turns - 1, 0)}
        files: dict[str, Any] = {"fsSnapshotIds": [], "redoFsSnapshotIds": [], "fsRestores": []}
        return {"status": "ok", "checkpointId": checkpoint, **counts, **files}

    def truncate(self, params: Any) -> Any:
        """Forget the last turns; a prompt that runs is cancelled at once."""
        session, keep = self._connection.session_of(params), params.get("keepFirst")
        if not isinstance(keep, int) or isinstance(keep, bool) or keep < 0:
            raise InvalidParams("session/truncate: keepFirst must be a whole number of at least 0")
        if session.prompt is not None:
            session.prompt.cancel()
        return self._connection.queue.behind_all(lambda: self._truncated(session, keep))

    def _truncated(self, session: HarnSession, keep: int) -> dict[str, Any]:
        kept = min(keep, session.turns)
        told = {"keptTurnCount": kept, "removedTurnCount": session.turns - kept, "newTipTurnId": None}
        session.turns = kept
        self._connection.host.update(session, {"sessionUpdate": "session_truncated", **told})
        return {"sessionId": session.id, **told}

    def fs_mode(self, params: Any) -> dict[str, Any]:
        """Write files at once from now on, or stage what is written."""
        session, mode = self._connection.session_of(params), params.get("mode")
        if mode not in ("immediate", "staged"):
            raise InvalidParams(f"session/fs_mode: unknown mode {mode!r}")
        before = "staged" if session.files_staged else "immediate"
        session.files_staged = mode == "staged"
        return {"previousMode": before, "mode": mode}

    def _unstage(self, params: Any, name: str) -> dict[str, Any]:
        session = self._connection.session_of(params)
        nothing = {"pendingCount": 0, "totalBytes": 0, "pendingWrites": []}
        phase = {"phase": "fs_staging", "message": "Nothing is staged", "progress": 0}
        self._connection.host.update(session, named("progress", kind="staged_writes_pending", **phase, **nothing))
        failed: dict[str, Any] = {"failedPathsWithReasons": []} if name == "committedPaths" else {}
        return {name: params.get("paths") or [], **failed}

    def inject_host_event(self, params: Any) -> dict[str, Any]:
        """Take what the host has done by itself."""
        session, event = self._connection.session_of(params), params.get("event")
        kind = event.get("kind") if isinstance(event, dict) else None
        if kind not in _EVENTS or "payload" not in event or "provenance" not in event:
            raise InvalidParams("session/inject_host_event: event is not as it must be")
        injection, delivery = self._agent.number("injection"), event.get("delivery", "turn_boundary")
        told = {"kind": kind, "injectionId": injection, "delivery": delivery, "sequence": 1}
        self._connection.host.notify(session, "_harn/agentEvent", told)
        return {"injection_id": injection, "sequence": 1, "delivery": delivery, "status": "queued"}

    def mutate_plan(self, params: Any) -> dict[str, Any]:
        """Change a plan document, if it is still as the host knows it."""
        document, expected = text_member(params, "documentId"), text_member(params, "expectedRevisionId")
        current = self._agent.plan_revisions.get(document, "revision-1")
        if expected != current:
            known = {"documentId": document, "expectedRevisionId": expected, "currentRevisionId": current}
            raise RequestFailed("the plan has changed", code=CONFLICT, data={"schemaVersion": 1, **known})
        revision = self._agent.plan_revisions[document] = self._agent.number("revision")
        return {"planDocument": {"document_id": document, "current_revision": {"revision_id": revision}}}
