"""Names for the protocol's identifiers, and what may be the id of a request: :func:`valid_id`.

Every identifier is an opaque string that its maker chose: compare it, send it back, never take it apart. They are plain
aliases, so that an identifier costs no more than the string it is.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

__all__ = [
    "AuthMethodId",
    "CompactionId",
    "ElicitationId",
    "McpRequestId",
    "McpServerAcpId",
    "MessageId",
    "PermissionOptionId",
    "PlanId",
    "ProviderId",
    "RequestId",
    "SessionConfigGroupId",
    "SessionConfigId",
    "SessionConfigValueId",
    "SessionId",
    "SessionModeId",
    "TerminalId",
    "ToolCallId",
    "valid_id",
]

AuthMethodId: TypeAlias = str
"""A way to sign in, named by the agent."""
CompactionId: TypeAlias = str
"""One run of shortening the conversation, named by the agent."""
ElicitationId: TypeAlias = str
"""A question to the user that is answered outside the connection, named by the agent."""
McpRequestId: TypeAlias = str
"""One exchange with an MCP server that is reached over the ACP connection. Unstable."""
McpServerAcpId: TypeAlias = str
"""An MCP server that is reached over the ACP connection. Unstable."""
MessageId: TypeAlias = str
"""A message of the transcript, named by the agent; chunks that carry the same one belong together."""
PermissionOptionId: TypeAlias = str
"""One of the answers that a permission request offers."""
PlanId: TypeAlias = str
"""A plan, within one session. Unstable."""
ProviderId: TypeAlias = str
"""A provider of models that the agent can be pointed at. Unstable."""
SessionConfigGroupId: TypeAlias = str
"""A group of values of one configuration option."""
SessionConfigId: TypeAlias = str
"""A configuration option, within one session."""
SessionConfigValueId: TypeAlias = str
"""A value of a configuration option that is chosen from a list."""
SessionId: TypeAlias = str
"""A session, named by the agent; a subagent's session has one of its own."""
SessionModeId: TypeAlias = str
"""A mode of a session, such as "ask" or "code"."""
TerminalId: TypeAlias = str
"""A terminal that the host runs for the agent, named by the host."""
ToolCallId: TypeAlias = str
"""A tool call, within one session."""

RequestId: TypeAlias = int | str | None
"""The id of a JSON-RPC request; kept as it came, type included."""


def valid_id(value: Any) -> bool:
    """Whether a decoded JSON value may be the id of a request (JSON-RPC 2.0, section 4): a string, a number or null."""
    kind = type(value)
    return kind is int or kind is str or value is None or (kind is float and math.isfinite(value))
