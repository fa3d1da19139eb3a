"""What an application does with a Harn agent beyond ACP; begin with :func:`of`. ::

    from acp_host import harn

    commands = harn.of(session)
    await commands.live.attach("notebook-1", mode="controller")
    await commands.cancel_tool_call("call-7")

What an agent asks of its host is served by a :class:`HarnBridge`. What it tells is in the session's state
(``session.state.snapshot().harn``), and saying something while it works is :meth:`acp_host.Session.inject`. Names are
loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_host.lazy_names import lazy_names

if TYPE_CHECKING:
    from acp_host.harn.bridge import HarnBridge
    from acp_host.harn.budget import UNCHANGED
    from acp_host.harn.connections import SessionConnections
    from acp_host.harn.errors import AttachRefused, CheckpointRefused, PlanConflict
    from acp_host.harn.history import Checkpoint, History, RestoredToolCall, Truncation
    from acp_host.harn.host_events import HostAttachment, HostEventReceipt, HostToolResult, Provenance
    from acp_host.harn.human_requests import HumanAnswers
    from acp_host.harn.live_clients import LiveClientCommands
    from acp_host.harn.plan_documents import PlanDocuments
    from acp_host.harn.session import HarnSession, of
    from acp_host.harn.staged_writes import CommittedWrites, FsMode, StagedWrites
    from acp_host.harn.tool_calls import ToolCallCancellation

_HOMES = {
    "bridge": ("HarnBridge",),
    "budget": ("UNCHANGED",),
    "connections": ("SessionConnections",),
    "errors": ("AttachRefused", "CheckpointRefused", "PlanConflict"),
    "history": ("Checkpoint", "History", "RestoredToolCall", "Truncation"),
    "host_events": ("HostAttachment", "HostEventReceipt", "HostToolResult", "Provenance"),
    "human_requests": ("HumanAnswers",),
    "live_clients": ("LiveClientCommands",),
    "plan_documents": ("PlanDocuments",),
    "session": ("HarnSession", "of"),
    "staged_writes": ("CommittedWrites", "FsMode", "StagedWrites"),
    "tool_calls": ("ToolCallCancellation",),
}

__all__ = [
    "UNCHANGED",
    "AttachRefused",
    "Checkpoint",
    "CheckpointRefused",
    "CommittedWrites",
    "FsMode",
    "HarnBridge",
    "HarnSession",
    "History",
    "HostAttachment",
    "HostEventReceipt",
    "HostToolResult",
    "HumanAnswers",
    "LiveClientCommands",
    "PlanConflict",
    "PlanDocuments",
    "Provenance",
    "RestoredToolCall",
    "SessionConnections",
    "StagedWrites",
    "ToolCallCancellation",
    "Truncation",
    "of",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
