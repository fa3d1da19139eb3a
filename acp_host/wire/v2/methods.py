"""The method table of version 2; :mod:`acp_host.wire.methods` says how to read it.

What every agent must be able to do has no capability: to start, list, resume, prompt, cancel and close sessions.
``auth/login`` and ``auth/logout`` are there where the agent has listed a way to sign in, which is the ``Agreement``'s
to know. ``terminal/cancel`` and ``tool_call/cancel`` are offered by each terminal and call for itself.
"""

from __future__ import annotations

from acp_host.wire.methods import Direction, Method, MethodKind, MethodTable, Row

__all__ = ["METHODS", "TABLE"]

_STABLE, _DRAFT = True, False
_SESSION, _MCP = "agentCapabilities.session", "agentCapabilities.session.mcp.acp"

_ROWS: dict[tuple[MethodKind, Direction], tuple[Row, ...]] = {
    (MethodKind.REQUEST, Direction.HOST_TO_AGENT): (
        ("initialize", "v2.initialize:Initialize", None, _STABLE),
        ("auth/login", "v2.auth:LoginAuth", None, _STABLE),
        ("auth/logout", "v2.auth:LogoutAuth", None, _STABLE),
        ("auth/status", "auth:AuthStatus", "agentCapabilities.auth.status", _DRAFT),
        ("providers/list", "providers:ListProviders", "agentCapabilities.providers", _DRAFT),
        ("providers/set", "providers:SetProvider", "agentCapabilities.providers", _DRAFT),
        ("providers/disable", "providers:DisableProvider", "agentCapabilities.providers", _DRAFT),
        ("session/new", "v2.session:NewSession", None, _STABLE),
        ("session/resume", "v2.session:ResumeSession", None, _STABLE),
        ("session/fork", "v2.session:ForkSession", f"{_SESSION}.fork", _DRAFT),
        ("session/list", "v2.session:ListSessions", None, _STABLE),
        ("session/status", "v2.session:SessionStatus", f"{_SESSION}.status", _DRAFT),
        ("session/set_title", "session:SetSessionTitle", f"{_SESSION}.title", _DRAFT),
        ("session/archive", "session:ArchiveSession", f"{_SESSION}.archive", _DRAFT),
        ("session/unarchive", "session:UnarchiveSession", f"{_SESSION}.archive", _DRAFT),
        ("session/close", "session:CloseSession", None, _STABLE),
        ("session/delete", "session:DeleteSession", f"{_SESSION}.delete", _STABLE),
        ("session/set_config_option", "v2.config_options:SetSessionConfigOption", None, _STABLE),
        ("session/prompt", "v2.prompt:Prompt", None, _STABLE),
        ("terminal/cancel", "v2.terminals:CancelTerminal", None, _STABLE),
        ("tool_call/cancel", "v2.tool_calls:CancelToolCall", None, _STABLE),
        ("proxy/initialize", "v2.proxy:InitializeProxy", None, _DRAFT),
    ),
    (MethodKind.REQUEST, Direction.AGENT_TO_HOST): (
        ("session/request_permission", "v2.permission:RequestPermission", None, _STABLE),
        ("elicitation/create", "v2.elicitation:CreateElicitation", "clientCapabilities.elicitation", _STABLE),
        ("mcp/message", "mcp:MessageMcp", _MCP, _DRAFT),
    ),
    (MethodKind.REQUEST, Direction.BOTH): (("proxy/successor", "proxy:ProxySuccessor", None, _DRAFT),),
    (MethodKind.NOTIFICATION, Direction.HOST_TO_AGENT): (
        ("session/cancel", "v2.prompt:CancelSession", None, _STABLE),
        ("mcp/message", "mcp:MessageMcp", _MCP, _DRAFT),
    ),
    (MethodKind.NOTIFICATION, Direction.AGENT_TO_HOST): (
        ("session/update", "v2.updates:UpdateSession", None, _STABLE),
        ("elicitation/complete", "elicitation:CompleteElicitation", "clientCapabilities.elicitation.url", _STABLE),
        ("auth/status_update", "auth:AuthStatusUpdate", "agentCapabilities.auth.status", _DRAFT),
    ),
    (MethodKind.NOTIFICATION, Direction.BOTH): (
        ("$/cancel_request", "v2.cancellation:CancelRequest", None, _STABLE),
        ("proxy/successor", "proxy:ProxySuccessor", None, _DRAFT),
    ),
}

TABLE = MethodTable(_ROWS)
"""Version 2's methods, and where they are looked up."""
METHODS: tuple[Method, ...] = TABLE.methods
"""All methods of version 2."""
