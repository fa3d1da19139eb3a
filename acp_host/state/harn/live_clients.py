"""Who else is attached to a session of a Harn agent, and who controls it: :class:`LiveClients`, a reducer.

Each thing that is told carries the whole of it, and takes the place of what was told before, in the order of arrival:
an update may well come before the answer to the request that it is about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from acp_host.state._value import is_same, plain_json, value
from acp_host.state.changes import ChangeKind, Note
from acp_host.state.events import HarnEvent
from acp_host.wire._model import NO_EXTRA, evolve, model

__all__ = ["MAX_CLIENTS", "LiveClient", "LiveClients", "LiveClientsReported", "LiveClientsSnapshot"]

MAX_CLIENTS = 500
"""Of how many clients it is kept who they are."""

_TOPIC = "live_clients"
_CONTROLLER = "controller"


@value
class LiveClient:
    """A program that is attached to the session.

    Attributes:
        client_id: its id.
        mode: ``observer`` or ``controller``.
        attached_at: when it came, in seconds since 1970, as the agent writes them.
        last_seen_at: when it last gave a sign of life; likewise.
        prompt_injection: it may put words into the conversation.
        permission_routing: it answers what the agent asks about permissions.
        metadata: what it says of itself; JSON of its own.
        extra: what else the agent said.
    """

    client_id: str
    mode: str | None = None
    attached_at: str | None = None
    last_seen_at: str | None = None
    prompt_injection: bool = False
    permission_routing: bool = False
    metadata: Mapping[str, Any] = plain_json(default=NO_EXTRA)
    extra: Mapping[str, Any] = plain_json(default=NO_EXTRA)

    @property
    def is_controller(self) -> bool:
        """Whether it controls the session."""
        return self.mode == _CONTROLLER


@value
class LiveClientsSnapshot:
    """Who is attached at one moment.

    Attributes:
        action: what happened last: ``attached``, ``takeover``, ``detached``, ``heartbeat``, or another word;
            ``None`` where this was an answer and not told.
        client: whom it happened to; ``None`` for one that has left.
        clients: everybody who is attached, in the agent's order.
        active_controller_id: who controls the session; ``None``: nobody.
        previous_controller_id: who did before what happened last.
    """

    action: str | None = None
    client: LiveClient | None = None
    clients: tuple[LiveClient, ...] = ()
    active_controller_id: str | None = None
    previous_controller_id: str | None = None

    def get(self, client_id: str) -> LiveClient | None:
        """Return a client that is attached, or ``None``."""
        return next((client for client in self.clients if client.client_id == client_id), None)

    @property
    def controller(self) -> LiveClient | None:
        """Who controls the session, if that is known."""
        return None if self.active_controller_id is None else self.get(self.active_controller_id)

    def controls(self, client_id: str) -> bool:
        """Tell whether a client controls the session: only that one may put words into it and answer questions."""
        return client_id == self.active_controller_id


@model
class LiveClientsReported(HarnEvent):
    """Who is attached now; ``state`` is ``None`` where the agent tells only what happened."""

    action: str | None
    state: LiveClientsSnapshot | None


class LiveClients:
    """Folds what is told of who is attached.

    Args:
        note: called with each change.
    """

    def __init__(self, note: Note) -> None:
        self._note = note
        self._state: LiveClientsSnapshot | None = None

    def reducers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the method for each class of event that concerns who is attached."""
        return {LiveClientsReported: self._reported}

    def freeze(self) -> LiveClientsSnapshot | None:
        """Return who is attached; ``None`` as long as nothing was told of it."""
        return self._state

    def _reported(self, event: LiveClientsReported) -> None:
        state = evolve(event.state or self._state or LiveClientsSnapshot(), action=event.action)
        if not is_same(state, self._state):
            self._state = state
            self._note(_TOPIC, None, ChangeKind.CHANGED)
