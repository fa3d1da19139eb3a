"""What a session was opened with, to open it again: :class:`SessionOrigin`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from acp_host.host.child_environment import ChildEnvironment
from acp_host.wire.mcp import McpServer
from acp_host.wire.session import SystemPrompt

if TYPE_CHECKING:
    from acp_host.services.mcp import HostMcpServer

__all__ = ["SessionOrigin"]


@frozen(kw_only=True)
class SessionOrigin:
    """The arguments of :meth:`HostConnection.new_session`, as the application gave them."""

    cwd: str | Path
    additional_directories: Sequence[str | Path] = ()
    mcp_servers: Sequence[McpServer | HostMcpServer] = ()
    system_prompt: SystemPrompt | None = None
    meta: Mapping[str, Any] | None = None
    environment: ChildEnvironment | None = None

    def arguments(self) -> dict[str, Any]:
        """Return them by name."""
        return {
            "cwd": self.cwd,
            "additional_directories": self.additional_directories,
            "mcp_servers": self.mcp_servers,
            "system_prompt": self.system_prompt,
            "meta": self.meta,
            "environment": self.environment,
        }
