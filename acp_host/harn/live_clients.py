"""Attaching this host to a session beside other programs: :class:`LiveClientCommands`.

Many may observe a session, one at most controls it: only that one speaks, and answers permission requests; see
:mod:`acp_host.host.live_standing` for what that means for this host. Who is attached is in the state
(``session.state.snapshot().harn.live_clients``); each answer replaces all that was known of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from acp_host.errors import ConnectionLost, InvalidInput, InvalidParams, InvalidState, OutcomeUnknown
from acp_host.harn.calls import Calls
from acp_host.harn.errors import AttachRefused
from acp_host.host.live_standing import ObserverHandler
from acp_host.state.harn.live_clients import LiveClient, LiveClientsSnapshot
from acp_host.translate.harn import HarnReport
from acp_host.translate.harn.live_clients import live_clients_answer, live_clients_list

__all__ = ["LiveClientCommands"]

_CONTROLLER, _MODES = "controller", ("observer", "controller")
_ACTIONS = {"session/attach": "attached", "session/takeover": "takeover", "session/detach": "detached"}


class LiveClientCommands:
    """Attaches this host to one session.

    Args:
        calls: sends the requests.
    """

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._standing = calls.session.standing
        self._metadata: dict[str, Any] = {}
        self._rights: dict[str, bool] = {}

    @property
    def client_id(self) -> str | None:
        """The id that this host has attached itself by; ``None`` if it has not."""
        return self._standing.client_id

    @property
    def in_control(self) -> bool:
        """Whether this host may speak: it controls the session, or has never attached itself."""
        return self._standing.may_speak

    @property
    def on_permission(self) -> ObserverHandler | None:
        """Is asked about permission requests that come here while another client controls the session.

        Without one, or where it returns ``None``, such a request is cancelled if this host's prompt runs, and else left
        to the controller.
        """
        return self._standing.on_permission

    @on_permission.setter
    def on_permission(self, handler: ObserverHandler | None) -> None:
        self._standing.on_permission = handler

    async def attach(
        self,
        client_id: str,
        *,
        mode: str = "observer",
        takeover: bool = False,
        prompt_injection: bool | None = None,
        permission_routing: bool | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> LiveClientsSnapshot:
        """Attach this host (``session/attach``); do it again, by the same id, after a lost connection.

        Args:
            client_id: what to be known by; the same for as long as this program is the same to its user.
            mode: ``observer`` or ``controller``. A controller that becomes an observer gives control away.
            takeover: take control from whoever has it.
            prompt_injection: want to speak; ``None``: as the mode has it.
            permission_routing: want to answer permission requests; ``None``: likewise.
            metadata: what to say of this host; resent with each :meth:`heartbeat`.

        Raises:
            InvalidInput: an argument is wrong.
            AttachRefused: the agent did not let it; ``may_take_over`` says whether to offer that.
            NotSupported: the agent is not Harn.
        """
        if mode not in _MODES:
            raise InvalidInput(f"mode is one of {', '.join(_MODES)}, not {mode!r}")
        rights = {"promptInjection": prompt_injection, "permissionRouting": permission_routing}
        self._rights = {name: it for name, it in rights.items() if it is not None}
        params = {"mode": mode, "takeover": takeover, **self._rights}
        try:
            return await self._enter("session/attach", client_id, params, metadata)
        except InvalidParams as error:
            raise AttachRefused(error, may_take_over=mode == _CONTROLLER and not takeover) from error

    async def takeover(
        self, client_id: str | None = None, *, metadata: Mapping[str, Any] | None = None
    ) -> LiveClientsSnapshot:
        """Take control of the session, whoever has it (``session/takeover``).

        Args:
            client_id: as for :meth:`attach`; ``None``: the one that this host is attached by.
            metadata: likewise; ``None``: as said before.

        Raises:
            InvalidState: this host is not attached, and ``client_id`` is ``None``.
            AttachRefused: the agent did not let it.
            NotSupported: the agent is not Harn.
        """
        try:
            return await self._enter("session/takeover", client_id or self._attached(), {}, metadata)
        except InvalidParams as error:
            raise AttachRefused(error, may_take_over=False) from error

    async def detach(self, *, reason: str | None = None) -> LiveClientsSnapshot:
        """Leave the session (``session/detach``); to speak again, attach again.

        Args:
            reason: the agent's default is ``client_detached``.

        Raises:
            InvalidState: this host is not attached.
            RequestFailed: the agent refused.
        """
        params = {} if reason is None else {"reason": reason}
        self._standing.attach = None
        return await self._send("session/detach", self._attached(), params)

    async def heartbeat(self, metadata: Mapping[str, Any] | None = None) -> LiveClientsSnapshot:
        """Give a sign of life (``session/heartbeat``).

        Args:
            metadata: what to say of this host from now on; ``None``: the same as before, which is sent again, since
                the agent would forget it.

        Raises:
            InvalidState: this host is not attached.
            RequestFailed: the agent refused: it does not know this client any more, as a rule.
        """
        client_id = self._attached()
        self._remember(metadata)
        return await self._send("session/heartbeat", client_id, self._said())

    async def keep_alive(self, every: float = 20.0) -> None:
        """Give signs of life until the task is cancelled or one of them fails; a connection that returns is waited for.

        Args:
            every: seconds between two.

        Raises:
            AcpError: as :meth:`heartbeat`.
        """
        while True:
            try:
                await self.heartbeat()
            except (OutcomeUnknown, ConnectionLost):
                if not self._calls.session.is_suspended:
                    raise
            await asyncio.sleep(every)

    async def clients(self) -> tuple[LiveClient, ...]:
        """Ask who is attached (``session/live_clients``).

        Raises:
            RequestFailed: the agent refused.
        """
        method = "session/live_clients"
        await self._calls.request(method, on_result=lambda answer: self._take(method, live_clients_list(answer)))
        return self._known().clients

    async def _attach_again(self) -> None:
        """Attach this host by the same id over another connection: as the controller only if nobody else is by now."""
        client_id = self._attached()
        controls = self._known().controls(client_id)
        for mode in (_CONTROLLER, "observer") if controls else ("observer",):
            try:
                await self._enter("session/attach", client_id, {"mode": mode, "takeover": False, **self._rights}, None)
            except InvalidParams:
                if mode != _CONTROLLER:
                    raise
            else:
                return

    async def _enter(
        self, method: str, client_id: str, params: Mapping[str, Any], metadata: Mapping[str, Any] | None
    ) -> LiveClientsSnapshot:
        if not isinstance(client_id, str) or not client_id.strip():
            raise InvalidInput(f"client_id is a text that is not blank, not {client_id!r}")
        self._remember(metadata)
        return await self._send(method, client_id, {**params, **self._said()}, enters=True)

    async def _send(
        self, method: str, client_id: str, params: Mapping[str, Any], *, enters: bool = False
    ) -> LiveClientsSnapshot:
        def answered(answer: Any) -> None:
            if enters:
                self._standing.attached(client_id)
                self._standing.attach = self._attach_again
            self._take(method, live_clients_answer(answer, _ACTIONS.get(method, "heartbeat")))

        await self._calls.request(method, {"clientId": client_id, **params}, on_result=answered)
        return self._known()

    def _take(self, method: str, report: HarnReport) -> None:
        self._calls.session.report_malformed(method, report.problems)
        for event in report.events:
            self._calls.session.state.apply(event)

    def _known(self) -> LiveClientsSnapshot:
        harn = self._calls.session.state.harn
        return (None if harn is None else harn.snapshot().live_clients) or LiveClientsSnapshot()

    def _remember(self, metadata: Mapping[str, Any] | None) -> None:
        if not isinstance(metadata, Mapping | None):
            raise InvalidInput(f"metadata is a JSON object, not {type(metadata).__name__}")
        if metadata is not None:
            self._metadata = dict(metadata)

    def _said(self) -> dict[str, Any]:
        return {"metadata": self._metadata} if self._metadata else {}

    def _attached(self) -> str:
        if self._standing.client_id is None:
            raise InvalidState("this host is not attached to the session; nothing was sent")
        return self._standing.client_id
