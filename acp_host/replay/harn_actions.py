"""What the recorded host did with a Harn agent beyond ACP, as far as the state knows of it: :func:`harn_action`."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any

from acp_host import harn
from acp_host.host.session import Session

__all__ = ["harn_action"]


def harn_action(session: Session, method: str, params: Mapping[str, Any]) -> Awaitable[Any] | None:
    """Return what does again what a request in a session was for; ``None``: it is only sent."""
    commands = harn.of(session)
    match method, params:
        case "session/attach", {"clientId": str() as client, "mode": str() as mode}:
            rights = {"prompt_injection": params.get("promptInjection")}
            rights["permission_routing"] = params.get("permissionRouting")
            return commands.live.attach(client, mode=mode, takeover=params.get("takeover") is True, **rights)
        case "session/takeover", {"clientId": str() as client}:
            return commands.live.takeover(client)
        case "session/detach", _:
            return commands.live.detach()
        case "session/heartbeat", _:
            return commands.live.heartbeat()
        case "session/live_clients", _:
            return commands.live.clients()
        case "session/plan_document/mutate", {
            "documentId": str() as document,
            "expectedRevisionId": str() as revision,
            "mutation": {"kind": str() as kind} as mutation,
        }:
            members = {str(name): value for name, value in mutation.items() if name != "kind"}
            return commands.plan_documents.mutate(document, revision, kind, **members)
        case "harn.hitl.respond", {"request_id": str() as request, "approved": bool() as approved}:
            return commands.people.approve(request, approved)
        case "harn.hitl.respond", {"request_id": str() as request, "accepted": bool() as accepted}:
            return commands.people.accept(request, accepted)
        case "harn.hitl.respond", {"request_id": str() as request, "answer": answer}:
            return commands.people.answer(request, answer)
    return None
