"""What this host may do in a session that several programs are attached to: :class:`LiveStanding`.

A host that has never attached itself is the only one as far as it knows, and may do everything. One that has may speak
and decide only while it controls the session:

=======================  ==================================  ==========================================================
                         in control                          observing, detached, or thrown out
=======================  ==================================  ==========================================================
prompt, inject           done                                ``InvalidState``; what waits to be sent fails
a permission request     answered as ever                    ``on_permission`` is asked; without it, it is cancelled if
                                                             this host's prompt runs, else left to whoever controls the
                                                             session, until this host takes over
=======================  ==================================  ==========================================================

That an agent lets a controller speak or decide, it says of it, and may deny.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from acp_host.errors import InvalidState
from acp_host.state.session_state import SessionState
from acp_host.wire.permission import CancelledPermissionOutcome, RequestPermissionOutcome, RequestPermissionRequest

if TYPE_CHECKING:
    from acp_host.state.harn.live_clients import LiveClient, LiveClientsSnapshot

__all__ = ["LiveStanding", "ObserverHandler"]

ObserverHandler = Callable[
    [RequestPermissionRequest], Awaitable[RequestPermissionOutcome | None] | RequestPermissionOutcome | None
]
"""Is asked about a permission request that another client is to decide; ``None``: what is done without it."""


class LiveStanding:
    """Where this host stands in one session.

    Attributes:
        client_id: the id that it is attached by; ``None`` as long as it has not attached itself.
        on_permission: see the table of the module.
        attach: attaches it again as it was, over another connection; ``None`` where it is not attached.

    Args:
        state: says who is attached.
    """

    def __init__(self, state: SessionState) -> None:
        self.client_id: str | None = None
        self.on_permission: ObserverHandler | None = None
        self.attach: Callable[[], Awaitable[None]] | None = None
        self._is_stranger = False
        self._state = state

    def continue_from(self, earlier: LiveStanding) -> None:
        """Go on with another connection: nothing may be done that could not be before, until it attaches itself."""
        self.client_id, self.on_permission = earlier.client_id, earlier.on_permission

    async def attach_again(self) -> None:
        """Do so after the connection was made again; until it has worked nothing may be said.

        Raises:
            AcpError: it did not work.
        """
        if self.attach is not None:
            self._is_stranger = True
            await self.attach()

    def attached(self, client_id: str) -> None:
        """Learn that the agent has attached this host."""
        self.client_id, self._is_stranger = client_id, False

    @property
    def may_speak(self) -> bool:
        """Whether a prompt or an injected message of this host is welcome."""
        return self.client_id is None or self._has_right(lambda client: client.prompt_injection)

    @property
    def may_decide(self) -> bool:
        """Whether this host is to answer permission requests."""
        return self.client_id is None or self._has_right(lambda client: client.permission_routing)

    def check_may_speak(self) -> None:
        """Return if :attr:`may_speak`.

        Raises:
            InvalidState: it is not.
        """
        refusal = self.refusal()
        if refusal is not None:
            raise refusal

    def refusal(self) -> InvalidState | None:
        """Return why nothing may be said; ``None`` if it may."""
        if self.may_speak:
            return None
        clients = self._clients()
        holder = None if clients is None else clients.active_controller_id
        if holder is not None and holder == self.client_id:
            return InvalidState("this host controls the session, but has no right to speak in it; nothing was sent")
        who = "nobody does" if holder is None else f"client {holder!r} does"
        return InvalidState(
            f"this host ({self.client_id!r}) does not control the session: {who}. Take it over first; nothing was sent"
        )

    async def decide_elsewhere(
        self, request: RequestPermissionRequest, *, runs_here: bool
    ) -> RequestPermissionOutcome | None:
        """Return the answer to a request that another client is to decide; ``None``: this host is to, by now.

        Args:
            request: the agent's question.
            runs_here: the prompt that it belongs to is this host's.
        """
        if self.on_permission is not None:
            answer = self.on_permission(request)
            outcome = await answer if inspect.isawaitable(answer) else answer
            if outcome is not None:
                return outcome
        if runs_here and not self.may_decide:
            return CancelledPermissionOutcome()
        await self._in_control()
        return None

    async def _in_control(self) -> None:
        async for _ in self._state.watch():
            if self.may_decide:
                return

    def _has_right(self, right: Callable[[LiveClient], bool]) -> bool:
        clients = self._clients()
        if clients is None or self.client_id is None or self._is_stranger or not clients.controls(self.client_id):
            return False
        client = clients.get(self.client_id)
        return client is None or right(client)

    def _clients(self) -> LiveClientsSnapshot | None:
        harn = self._state.harn
        return None if harn is None else harn.snapshot().live_clients
