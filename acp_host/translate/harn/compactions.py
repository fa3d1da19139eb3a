"""Updates about how the agent makes do with its context."""

from __future__ import annotations

from acp_host.state.events import CompactionReported, SessionEvent
from acp_host.state.harn.compactions import Compaction, Projection, TranscriptCompacted, TranscriptProjected
from acp_host.translate.harn.payload import Payload
from acp_host.wire._model import UNSET
from acp_host.wire.compaction import CompactionStatus
from acp_host.wire.content import TextContent

__all__ = ["transcript_compacted", "transcript_projected"]


def transcript_compacted(payload: Payload) -> tuple[SessionEvent, ...]:
    """Read ``transcript_compacted``: that it came says enough. It is an entry of the transcript, too."""
    compaction = Compaction(
        receipt_id=payload.text("receiptId"),
        schema_version=payload.integer("schemaVersion"),
        mode=payload.text("mode"),
        reason=payload.text("reason"),
        strategy=payload.text("strategy"),
        engine_strategy=payload.text("engineStrategy"),
        archived_messages=payload.integer("archivedMessages", 0),
        tokens_before=payload.integer("estimatedTokensBefore", 0),
        tokens_after=payload.integer("estimatedTokensAfter", 0),
        snapshot_asset_id=payload.text("snapshotAssetId"),
        instruction_mode=payload.text("instructionMode"),
        instruction_source=payload.text("instructionSource"),
        policy=payload.any("compactionPolicy"),
        recap=payload.any("recap"),
        extra=payload.rest(),
    )
    recap = compaction.recap
    summary = (TextContent(recap),) if isinstance(recap, str) and recap else UNSET
    divider = CompactionReported(compaction.receipt_id or "", CompactionStatus.COMPLETED, summary)
    return (divider, TranscriptCompacted(compaction))


def transcript_projected(payload: Payload) -> tuple[TranscriptProjected, ...]:
    """Read ``transcript_projected``."""
    projection = Projection(
        policy=payload.text("policy"),
        reason=payload.text("reason"),
        prefix_hash=payload.text("prefixHash"),
        kept_count=payload.integer("keptCount", 0),
        dropped_count=payload.integer("droppedCount", 0),
        redacted_count=payload.integer("redactedCount", 0),
        reclaimed_tokens=payload.integer("reclaimedTokens", 0),
        safety_blocked=payload.flag("providerSafetyBlocked"),
        roots_consulted=payload.any("rootsConsulted"),
        redaction_pointers=payload.any("redactionPointers"),
        extra=payload.rest(),
    )
    return (TranscriptProjected(projection),)
