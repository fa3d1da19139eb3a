"""Updates about how far the agent has come, in all their variants: :func:`progress`."""

from __future__ import annotations

from acp_host.state.events import SessionEvent
from acp_host.state.harn.progress import Progress, ProgressReported
from acp_host.state.harn.staged_writes import MAX_STAGED, StagedWrite, StagedWrites, StagedWritesReported
from acp_host.state.harn.text_patches import TextPatch, TextPatchReported
from acp_host.translate.harn.payload import Payload

__all__ = ["progress"]


def progress(payload: Payload) -> tuple[SessionEvent, ...]:
    """Read ``progress``, the update and the notification of the bridge."""
    kind = payload.text("kind")
    if kind == "staged_writes_pending":
        return (StagedWritesReported(_staged_writes(payload)),)
    if kind == "safe_text_patch_result":
        return (TextPatchReported(_text_patch(payload)),)
    report = Progress(
        message=payload.required("message", payload.text),
        phase=payload.text("phase") or "",
        done=payload.number("progress"),
        total=payload.number("total"),
        data=payload.any("data"),
        extra={**({} if kind is None else {"kind": kind}), **payload.rest()},
    )
    return (ProgressReported(report),)


def _staged_writes(payload: Payload) -> StagedWrites:
    told = payload.objects("pendingWrites") or ()
    count = payload.integer("pendingCount", 0)
    writes = [_staged_write(each) for each in told[:MAX_STAGED]]
    return StagedWrites(
        count=len(told) if count is None else count,
        total_bytes=payload.integer("totalBytes", 0),
        writes=tuple([write for write in writes if write is not None]),
        message=payload.text("message") or "",
    )


def _staged_write(payload: Payload) -> StagedWrite | None:
    path = payload.text("path")
    if path is None:
        payload.problems.append("a staged write has no path")
        return None
    return StagedWrite(
        path=path,
        kind=payload.text("kind"),
        byte_delta=payload.integer("byteDelta"),
        snapshot_id=payload.text("snapshotId"),
        extra=payload.rest(),
    )


def _text_patch(payload: Payload) -> TextPatch:
    payload.any("phase")  # always the same
    return TextPatch(
        path=payload.identity("path"),
        result=payload.text("result"),
        hunks=payload.integer("hunksCount", 0),
        bytes_written=payload.integer("bytesWritten", 0),
        failed_hunk=payload.integer("failedHunkIndex", 0),
        message=payload.text("message") or "",
        extra=payload.rest(),
    )
