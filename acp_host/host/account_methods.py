"""The agent's methods about its user, its models and the host's MCP servers, typed: :class:`AccountMethods`.

They check and raise as those of :mod:`acp_host.host.agent_methods` do. To log in, ``host.authentication`` does more
than the bare requests here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, TypeVar

from acp_host.host.authentication import Authentication
from acp_host.host.diagnostic_log import DiagnosticLog
from acp_host.host.driver import Driver
from acp_host.protocol.negotiation import Agreement
from acp_host.wire._model import UNSET
from acp_host.wire.auth import (
    AuthenticateRequest,
    AuthenticateResponse,
    AuthStatusRequest,
    AuthStatusResponse,
    LogoutRequest,
    LogoutResponse,
)
from acp_host.wire.mcp import MessageMcpNotification
from acp_host.wire.providers import (
    DisableProviderRequest,
    DisableProviderResponse,
    ListProvidersRequest,
    ListProvidersResponse,
    SetProviderRequest,
    SetProviderResponse,
)

__all__ = ["AccountMethods"]

_T = TypeVar("_T")


class AccountMethods(ABC):
    """The typed requests that concern no session; a base of :class:`~acp_host.host.connection.HostConnection`."""

    diagnostics: DiagnosticLog
    authentication: Authentication
    _driver: Driver

    @property
    @abstractmethod
    def agreement(self) -> Agreement:
        """What was agreed with the agent."""

    # --- authentication ---------------------------------------------------------------------------------------------

    async def authenticate(self, method_id: str, *, force: bool = False) -> AuthenticateResponse:
        """Log in by one of ``agreement.auth_methods`` (``authenticate``)."""
        return await self._call("authenticate", AuthenticateRequest(method_id), AuthenticateResponse, force)

    async def logout(self, *, force: bool = False) -> LogoutResponse:
        """Log out (``logout``)."""
        return await self._call("logout", LogoutRequest(), LogoutResponse, force)

    async def auth_status(self, *, force: bool = False) -> AuthStatusResponse:
        """Ask whether somebody is logged in (``auth/status``). Unstable."""
        response = await self._call("auth/status", AuthStatusRequest(), AuthStatusResponse, force)
        self.authentication.told(response)
        return response

    # --- providers and MCP ------------------------------------------------------------------------------------------

    async def list_providers(self, *, force: bool = False) -> ListProvidersResponse:
        """Return the model providers that can be configured (``providers/list``). Unstable."""
        return await self._call("providers/list", ListProvidersRequest(), ListProvidersResponse, force)

    async def set_provider(
        self,
        provider_id: str,
        *,
        api_type: str,
        base_url: str,
        headers: Mapping[str, str] | None = None,
        force: bool = False,
    ) -> SetProviderResponse:
        """Point a provider at another server (``providers/set``). Unstable.

        Args:
            provider_id: the provider.
            api_type: the protocol of the server, one of the provider's ``supported``.
            base_url: its address.
            headers: sent with every request to it; may hold secrets.
            force: send it although it was not agreed.
        """
        self.diagnostics.redactor.add((headers or {}).values())
        request = SetProviderRequest(provider_id, api_type, base_url, headers=UNSET if headers is None else headers)
        return await self._call("providers/set", request, SetProviderResponse, force)

    async def disable_provider(self, provider_id: str, *, force: bool = False) -> DisableProviderResponse:
        """Turn a provider off (``providers/disable``). Unstable."""
        return await self._call(
            "providers/disable", DisableProviderRequest(provider_id), DisableProviderResponse, force
        )

    async def send_mcp_message(
        self,
        server_id: str,
        request_id: str,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        force: bool = False,
    ) -> None:
        """Send an MCP notification that belongs to a request the agent made (``mcp/message``). Unstable.

        Args:
            server_id: the MCP server that the host serves over ACP.
            request_id: ``request_id`` of the agent's ``mcp/message`` request.
            method: the MCP method.
            params: its parameters.
            force: send it although it was not agreed.
        """
        message = MessageMcpNotification(server_id, request_id, method, params=UNSET if params is None else params)
        self._driver.notify("mcp/message", message, force=force)
        await self._driver.transport.drain()

    async def _call(self, method: str, request: Any, result: type[_T], force: bool) -> _T:
        answer: _T = await self.authentication.logged_in(
            method, lambda: self._driver.call(method, request, force=force)
        )
        return answer
