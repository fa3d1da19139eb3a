"""How the reference agent answers what is about its user and its models: :class:`AccountMethods`; all of it made up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from acp_host.errors import InvalidParams
from acp_host.testing.agent_side import Handler
from acp_host.wire._model import UNSET, evolve
from acp_host.wire.auth import (
    AuthAccount,
    AuthenticateRequest,
    AuthMethod,
    AuthMethodAgent,
    AuthMethodTerminal,
    AuthState,
    AuthStatusRequest,
    AuthStatusResponse,
    AuthStatusUpdateNotification,
    LogoutRequest,
    UnknownAuthMethod,
)
from acp_host.wire.providers import (
    DisableProviderRequest,
    ListProvidersRequest,
    ListProvidersResponse,
    LlmProtocol,
    ProviderCurrentConfig,
    ProviderInfo,
    SetProviderRequest,
)

if TYPE_CHECKING:
    from acp_host.testing._connection import Connection

__all__ = ["KEY_VARIABLE", "LOGIN", "LOGINS", "PROVIDERS", "AccountMethods"]

KEY_VARIABLE = "REFERENCE_AGENT_KEY"
"""The environment variable that logs in at the start, with any value."""

LOGIN = AuthMethodAgent("reference-login", "Log in", description="Succeeds without asking for anything.")
_ENV_VAR = {
    "type": "env_var",
    "id": "reference-key",
    "name": "Use a key",
    "vars": [
        {"name": KEY_VARIABLE, "label": "Key"},
        {"name": "REFERENCE_AGENT_HINT", "secret": False, "optional": True},
    ],
}
_CARD = {"type": "card", "id": "reference-card", "name": "Show a card"}

LOGINS: Mapping[str, AuthMethod] = {
    "agent": LOGIN,
    "terminal": AuthMethodTerminal("reference-terminal", "Log in in a terminal", args=("--log-in",)),
    "env_var": UnknownAuthMethod("env_var", _ENV_VAR),
    "card": UnknownAuthMethod("card", _CARD),
}
"""The ways to log in by the word for their kind; nobody knows what a card is."""

PROVIDERS = (
    ProviderInfo(
        "main",
        (LlmProtocol.ANTHROPIC, LlmProtocol.OPENAI),
        required=True,
        current=ProviderCurrentConfig(LlmProtocol.OPENAI, "http://127.0.0.1:1/v1"),
    ),
    ProviderInfo("spare", (LlmProtocol.OPENAI,), required=False, current=None),
)
"""What can be set, and how it is set at the beginning."""


class AccountMethods:
    """Login and providers, on one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._agent = connection.agent

    def handlers(self) -> dict[str, Handler]:
        """Return the handlers by wire method."""
        return {
            "authenticate": self.authenticate,
            "logout": self.logout,
            "auth/status": self.auth_status,
            "providers/list": self.list_providers,
            "providers/set": self.set_provider,
            "providers/disable": self.disable_provider,
        }

    def authenticate(self, request: AuthenticateRequest) -> None:
        """Log in."""
        if not self._agent.require_auth or request.method_id != LOGIN.id or "agent" not in self._agent.logins:
            raise InvalidParams(f"there is no way to log in that is called {request.method_id!r}")
        self._set_logged_in(True)

    def logout(self, request: LogoutRequest) -> None:
        """Log out; sessions that are open take no further prompts."""
        self._set_logged_in(False)

    def auth_status(self, request: AuthStatusRequest) -> AuthStatusResponse:
        """Tell who is logged in."""
        state = self._state()
        accounts = (AuthAccount("Reference User", active=True),) if state == AuthState.AUTHENTICATED else UNSET
        return AuthStatusResponse(state, accounts)

    def _state(self) -> AuthState:
        if not self._agent.require_auth:
            return AuthState.NOT_REQUIRED
        return AuthState.AUTHENTICATED if self._agent.logged_in else AuthState.UNAUTHENTICATED

    def _set_logged_in(self, logged_in: bool) -> None:
        before = self._state()
        self._agent.logged_in = logged_in
        if self._state() != before and "authStatus" in self._agent.features:
            status = self.auth_status(AuthStatusRequest())
            self._connection.side.notify(
                "auth/status_update", AuthStatusUpdateNotification(status.state, status.accounts)
            )

    def list_providers(self, request: ListProvidersRequest) -> ListProvidersResponse:
        """Return the providers."""
        return ListProvidersResponse(tuple(self._agent.providers.values()))

    def set_provider(self, request: SetProviderRequest) -> None:
        """Set a provider."""
        provider = self._agent.providers.get(request.provider_id)
        if provider is None or request.api_type not in provider.supported:
            raise InvalidParams(f"{request.provider_id!r} cannot be set to {request.api_type!r}")
        current = ProviderCurrentConfig(request.api_type, request.base_url)
        self._agent.providers[request.provider_id] = evolve(provider, current=current)

    def disable_provider(self, request: DisableProviderRequest) -> None:
        """Disable a provider; one that is not there is disabled already."""
        provider = self._agent.providers.get(request.provider_id)
        if provider is not None and provider.required:
            raise InvalidParams(f"{request.provider_id!r} is required")
        if provider is not None:
            self._agent.providers[request.provider_id] = evolve(provider, current=None)
