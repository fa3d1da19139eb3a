"""What :func:`acp_host.connect` settles about a connection before there is one: :class:`ConnectionOptions`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from attrs import field, frozen

from acp_host.host.authentication import LoginHandler, LoginRunner
from acp_host.host.cancel_timeouts import CancelTimeouts
from acp_host.host.directories import Directories
from acp_host.host.reconnect_policy import ReconnectPolicy
from acp_host.host.telemetry.settings import Telemetry
from acp_host.quirks import QUIRKS, Quirk
from acp_host.scheduling import SystemClock
from acp_host.state.clock import Clock
from acp_host.state.memory import MemoryPolicy
from acp_host.state.notice_preferences import NoticePreferences
from acp_host.wire.capabilities import ClientCapabilities
from acp_host.wire.framing import MAX_MESSAGE_SIZE
from acp_host.wire.initialize import Implementation

__all__ = ["ConnectionOptions"]


@frozen(kw_only=True)
class ConnectionOptions:
    """How a connection behaves, the services aside.

    Attributes:
        client_info: name and version of the host program, told to the agent.
        protocol_versions: the versions of the protocol that are spoken, the preferred one first.
        directories: whether the directories of sessions are on this machine.
        start_timeout: seconds the agent may take to answer ``initialize``.
        cancel_timeouts: how long a cancelled turn may take to end.
        login_handler: chooses a way to log in when the agent refuses a call for want of one.
        login_terminal: runs the agent's command in a visible terminal for its login; ``None``: not offered.
        notices: offer to show notices.
        notice_preferences: how sessions show them.
        unstable: offer draft features: plan variants and subagents.
        sidebar: a person sees the reminders panel.
        memory: how much of the transcripts is kept.
        reconnect: whether, and how, a lost connection is made again; ``None``: over the network only.
        quirks: the table of quirks in force.
        max_message_size: longest message that is read, in bytes.
        clock: says when something happened.
        telemetry: what is told to OpenTelemetry; ``None``: nothing.
        own_files: returns the files that this program writes for the connection, so that nobody takes them for the
            agent's doing; may block.
        offer: what the agent was told the host offers, where that was settled before: in a recording. ``None``: what
            the services and the other options amount to.
    """

    client_info: Implementation
    start_timeout: float
    directories: Directories = field(factory=Directories)
    cancel_timeouts: CancelTimeouts = field(factory=CancelTimeouts)
    protocol_versions: tuple[int, ...] = (1,)
    login_handler: LoginHandler | None = None
    login_terminal: LoginRunner | None = None
    notices: bool = True
    notice_preferences: NoticePreferences = field(factory=NoticePreferences)
    unstable: bool = False
    sidebar: bool = False
    memory: MemoryPolicy = field(factory=MemoryPolicy)
    reconnect: ReconnectPolicy | bool | None = None
    quirks: tuple[Quirk, ...] = QUIRKS
    max_message_size: int = MAX_MESSAGE_SIZE
    clock: Clock = field(factory=SystemClock)
    telemetry: Telemetry | None = None
    own_files: Callable[[], Iterable[Path]] = tuple
    offer: ClientCapabilities | None = None
