"""What the host is told about whether a session works or waits: :class:`States`, of ACP v1, where that is nothing.

In v1 a prompt's answer ends the turn; :class:`acp_host.testing.v2.states.StatesV2` has the ``state_update`` of v2.
"""

from __future__ import annotations

from acp_host.errors import RequestFailed
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
