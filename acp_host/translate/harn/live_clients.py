"""Who is attached to a session, from updates and from the answers of the methods that change it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from acp_host.state.harn.live_clients import MAX_CLIENTS, LiveClient, LiveClientsReported, LiveClientsSnapshot
from acp_host.translate.harn import HarnReport
from acp_host.translate.harn.payload import Payload
from acp_host.wire._model import NO_EXTRA

__all__ = ["live_clients_answer", "live_clients_list", "live_session_client"]


def live_session_client(payload: Payload) -> tuple[LiveClientsReported, ...]:
    """Read ``live_session_client``."""
    action, state = payload.identity("action"), payload.nested("state")
    return (LiveClientsReported(action, None if state is None else _state(state)),)


def live_clients_answer(result: Any, action: str | None = None) -> HarnReport:
    """Read the answer to ``session/attach``, ``takeover``, ``detach`` or ``heartbeat``: the same as in an update.

    Args:
        result: the answer.
        action: what was done, in the word of the update.
    """
    if not isinstance(result, Mapping):
        return HarnReport((), ("the answer is no object",))
    payload = Payload(result)
    return HarnReport((LiveClientsReported(action, _state(payload)),), tuple(payload.problems))


def live_clients_list(result: Any) -> HarnReport:
    """Read the answer to ``session/live_clients``: everybody who is attached."""
    payload = Payload(result) if isinstance(result, Mapping) else Payload({})
    listed = payload.objects("data")
    if listed is None:
        return HarnReport((), ("the answer has no list of clients", *payload.problems))
    clients = _clients(payload, listed)
    controller = next((each.client_id for each in clients if each.is_controller), None)
    state = LiveClientsSnapshot(clients=clients, active_controller_id=controller)
    return HarnReport((LiveClientsReported(None, state),), tuple(payload.problems))


def _state(payload: Payload) -> LiveClientsSnapshot:
    client = payload.nested("client")
    return LiveClientsSnapshot(
        client=None if client is None else _client(client),
        clients=_clients(payload, payload.objects("clients") or ()),
        active_controller_id=payload.text("active_controller_id"),
        previous_controller_id=payload.text("previous_controller_id"),
    )


def _clients(payload: Payload, listed: Sequence[Payload]) -> tuple[LiveClient, ...]:
    if len(listed) > MAX_CLIENTS:
        payload.problems.append(f"{len(listed)} clients: those after the first {MAX_CLIENTS} are left out")
    known = [_client(each) for each in listed[:MAX_CLIENTS]]
    return tuple([each for each in known if each is not None])


def _client(payload: Payload) -> LiveClient | None:
    client_id = payload.text("client_id")
    if client_id is None:
        payload.problems.append("a client has no client_id")
        return None
    mode = payload.text("mode")
    return LiveClient(
        client_id=client_id,
        mode=mode,
        attached_at=_seconds(payload, "attached_at"),
        last_seen_at=_seconds(payload, "last_seen_at"),
        prompt_injection=_right(payload, "prompt_injection", mode),
        permission_routing=_right(payload, "permission_routing", mode),
        metadata=payload.object("metadata") or NO_EXTRA,
        extra=payload.rest(),
    )


def _right(payload: Payload, name: str, mode: str | None) -> bool:
    """Return whether a client has a right; where it is not said, a controller has it, and nobody else."""
    told = payload.flag(name)
    return mode == "controller" if told is None else told


def _seconds(payload: Payload, name: str) -> str | None:
    """Return seconds as the string that they should be, also where they are a number."""
    found = payload.any(name)
    return str(found) if isinstance(found, int) and not isinstance(found, bool) else payload.text(name)
