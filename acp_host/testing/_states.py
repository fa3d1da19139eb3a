"""What the host is told about whether a session works or waits: :class:`States`, of ACP v1, where that is nothing.

In v1 a prompt's answer ends the turn; :class:`acp_host.testing.v2.states.StatesV2` has the ``state_update`` of v2.
"""

from __future__ import annotations

from acp_host.errors import NotSupported, RequestFailed
from acp_host.wire.usage import Usage

__all__ = ["States"]


class States:
    """The states of one session on one connection."""

    def running(self) -> None:
        """Say that foreground work has begun, or goes on."""

    def requires_action(self) -> None:
        """Say that the work waits for the user."""

    def idle(self, reason: str | None, *, usage: Usage | None = None, error: RequestFailed | None = None) -> None:
        """Say that there is no foreground work.

        Args:
            reason: why it stopped; ``None`` where none did.
            usage: its tokens, where they are told.
            error: what it failed with.
        """

    def in_background(self, kind: str, id: str) -> None:
        """Say from now on that a ``"terminal"`` or a ``"tool_call"`` works on when the session is idle.

        Raises:
            NotSupported: this version of the protocol has no words for it.
        """
        raise NotSupported("ACP v1 has no background work", capability="protocolVersion", method="state_update")

    def background_ended(self, id: str) -> None:
        """Say that it does not any more."""
