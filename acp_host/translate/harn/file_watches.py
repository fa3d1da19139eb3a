"""Updates about files that the agent watches: :func:`fs_watch`."""

from __future__ import annotations

from acp_host.state.harn.file_watches import MAX_WATCHED, WatchedChange, WatchedChangesReported
from acp_host.translate.harn.payload import Payload

__all__ = ["fs_watch"]


def fs_watch(payload: Payload) -> tuple[WatchedChangesReported, ...]:
    """Read ``fs_watch``."""
    subscription_id = payload.identity("subscriptionId")
    told = payload.required("events", payload.objects)
    return (WatchedChangesReported(tuple([_change(subscription_id, each) for each in told[-MAX_WATCHED:]])),)


def _change(subscription_id: str, payload: Payload) -> WatchedChange:
    return WatchedChange(
        subscription_id=subscription_id,
        kind=payload.text("kind"),
        paths=payload.texts("paths") or (),
        relative_paths=payload.texts("relative_paths") or (),
        raw_kind=payload.text("raw_kind"),
        error=payload.text("error"),
        extra=payload.rest(),
    )
