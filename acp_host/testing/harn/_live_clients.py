"""Who is attached to a session, and who controls it: :class:`LiveClients`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import define, field

from acp_host.errors import InvalidParams

__all__ = ["LiveClient", "LiveClients"]

CONTROLLER, OBSERVER = "controller", "observer"


@define(eq=False, kw_only=True)
class LiveClient:
    """Somebody who is attached; ``attached_at`` and ``last_seen_at`` are seconds, as texts."""

    client_id: str
    mode: str
    prompt_injection: bool
    permission_routing: bool
    attached_at: str
    last_seen_at: str
    metadata: Mapping[str, Any]

    def to_wire(self) -> dict[str, Any]:
        """Return its form in results and updates."""
        return {
            "client_id": self.client_id,
            "mode": self.mode,
            "attached_at": self.attached_at,
            "last_seen_at": self.last_seen_at,
            "prompt_injection": self.prompt_injection,
            "permission_routing": self.permission_routing,
            "metadata": dict(self.metadata),
        }


@define(eq=False)
class LiveClients:
    """The clients of one session: many observers, one controller at most."""

    _clients: dict[str, LiveClient] = field(factory=dict)

    @property
    def controller(self) -> str | None:
        """The id of the client that controls the session."""
        return next((each.client_id for each in self._clients.values() if each.mode == CONTROLLER), None)

    def attach(
        self,
        client_id: str,
        mode: str,
        now: str,
        *,
        takeover: bool,
        prompt_injection: bool,
        permission_routing: bool,
        metadata: Mapping[str, Any],
    ) -> dict[str, Any]:
        """Attach a client, or attach it anew; return the result.

        Raises:
            InvalidParams: there is no such mode, or somebody else controls the session.
        """
        if mode not in (CONTROLLER, OBSERVER):
            raise InvalidParams(f"unsupported live client mode '{mode}'")
        before = self.controller
        if mode == CONTROLLER and before not in (None, client_id):
            if not takeover:
                raise InvalidParams(f"session already has controller '{before}'")
            self._demote(before)
        known = self._clients.get(client_id)
        self._clients[client_id] = LiveClient(
            client_id=client_id,
            mode=mode,
            prompt_injection=prompt_injection,
            permission_routing=permission_routing,
            attached_at=known.attached_at if known else now,
            last_seen_at=now,
            metadata=metadata,
        )
        return self.state(client_id, before)

    def detach(self, client_id: str) -> dict[str, Any]:
        """Remove a client; return the result.

        Raises:
            InvalidParams: it is not attached.
        """
        before = self.controller
        self._known(client_id)
        del self._clients[client_id]
        return self.state(None, before)

    def heartbeat(self, client_id: str, metadata: Mapping[str, Any], now: str) -> dict[str, Any]:
        """Note that a client is alive, and replace its metadata; return the result.

        Raises:
            InvalidParams: it is not attached.
        """
        client = self._known(client_id)
        client.last_seen_at = now
        client.metadata = metadata
        return self.state(client_id, self.controller)

    def state(self, client_id: str | None, previous: str | None) -> dict[str, Any]:
        """Return what results and updates tell of all of it."""
        return {
            "client": self._clients[client_id].to_wire() if client_id else None,
            "previous_controller_id": previous,
            "active_controller_id": self.controller,
            "clients": self.to_wire(),
        }

    def to_wire(self) -> list[dict[str, Any]]:
        """Return every client's form in results and updates."""
        return [client.to_wire() for client in self._clients.values()]

    def _demote(self, client_id: str | None) -> None:
        if client_id is not None:
            former = self._clients[client_id]
            former.mode, former.prompt_injection, former.permission_routing = OBSERVER, False, False

    def _known(self, client_id: str) -> LiveClient:
        if client_id not in self._clients:
            raise InvalidParams(f"live client '{client_id}' is not attached")
        return self._clients[client_id]
