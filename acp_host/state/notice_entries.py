"""What a user interface shows of the notices of a session, and the event that they are folded from."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from attrs import frozen

from acp_host.state._value import plain_json, value
from acp_host.state.notice_preferences import Politeness
from acp_host.wire._model import Unset, model
from acp_host.wire.notices import Notice as WireNotice

__all__ = [
    "Notice",
    "NoticeLook",
    "NoticeReceived",
    "NoticeState",
    "NoticesSnapshot",
    "Presentation",
    "Suppression",
]


@model
class NoticeReceived:
    """The agent sent a notice.

    Attributes:
        session_id: the session it was sent to.
        severity: the word as sent.
        title: as sent.
        description: as sent; ``None`` where there is none.
        meta: ``_meta`` as sent; ``None`` where there is none.
        during_replay: it came with a replayed history.
        offered: the agent may send notices; ``False`` where the host did not say that it shows them.
    """

    session_id: str
    severity: str
    title: str
    description: str | None = None
    meta: Mapping[str, Any] | None = None
    during_replay: bool = False
    offered: bool = True

    @classmethod
    def from_wire(
        cls, session_id: str, notice: WireNotice, *, during_replay: bool = False, offered: bool = True
    ) -> NoticeReceived:
        """Return the event for a notice; absent and ``null`` are the same."""
        description = None if isinstance(notice.description, Unset) else notice.description
        meta = None if isinstance(notice.meta, Unset) else notice.meta
        return cls(session_id, notice.severity, notice.title, description, meta, during_replay, offered)


class NoticeState(StrEnum):
    """What became of the toast that shows a notice."""

    VISIBLE = "visible"
    DISMISSED = "dismissed"
    """The user, or the application, closed it."""
    TIMED_OUT = "timed_out"
    """It left by itself: its time was up, or newer ones needed the room."""


class NoticeLook(StrEnum):
    """What a toast may look like; ``neutral`` where nothing may be inferred from the severity."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
    NEUTRAL = "neutral"


class Suppression(StrEnum):
    """Why a notice is in the history only."""

    NOT_OFFERED = "not_offered"
    """The host had not said that it shows notices; the agent was not to send any."""
    REPLAY = "replay"
    """It came with a replayed history."""
    PREFERENCES = "preferences"
    """Its severity is not to be shown."""
    NO_ROOM = "no_room"
    """The screen was full of toasts that stay, and it would not have."""
    RATE_LIMIT = "rate_limit"
    """There were too many in a short time."""


@frozen(kw_only=True)
class Presentation:
    """How to show a toast.

    Attributes:
        duration: seconds until it leaves by itself; ``None``: it stays until it is dismissed.
        politeness: how a screen reader announces it.
        look: what it may look like.
    """

    duration: float | None
    politeness: Politeness
    look: NoticeLook


@value
class Notice:
    """A notice in the history, or the toast that shows one or several of them.

    Text from the agent is plain text: show it literally. Show ``agent_name`` apart from it, where that text cannot
    reach.

    Attributes:
        id: host-local id; a toast has the id of the first notice that it shows.
        session_id: the session it was sent to.
        agent_name: what to call the agent, safe for display.
        severity: the word as sent; ``info``, ``warning``, ``error``, or any other.
        title: as sent, of any length and content.
        description: likewise; ``None`` where there is none.
        display_title: the title on one line, control characters spelled out, at most 200 characters.
        display_description: the description, control characters spelled out, at most 1,000 characters on 20 lines.
        meta: ``_meta`` as sent; ``None`` where there is none.
        received: when it came, in seconds since the epoch.
        last_received: of a toast: when the last notice that it shows came; else as ``received``.
        count: of a toast: how many notices it stands for; else 1.
        state: what became of the toast; ``None``: there was none.
        presentation: how to show it.
        toast_id: the id of the toast that shows it; ``None``: there was none.
        suppressed_by: why there was none.
        during_replay: it came with a replayed history.
    """

    id: str
    session_id: str
    agent_name: str
    severity: str
    title: str
    description: str | None
    display_title: str
    display_description: str | None
    meta: Mapping[str, Any] | None = plain_json()
    received: float
    last_received: float
    count: int
    state: NoticeState | None
    presentation: Presentation
    toast_id: str | None
    suppressed_by: Suppression | None
    during_replay: bool


@frozen(kw_only=True)
class NoticesSnapshot:
    """The notices of a session at one moment; every notice is counted as shown, coalesced or suppressed.

    Attributes:
        toasts: what is on the screen, oldest first.
        history: the newest notices, oldest first, each for itself.
        total: how many came.
        shown: how many opened a toast.
        coalesced: how many were counted with a toast that was there.
        suppressed: how many are in the history only.
        displaced: how many toasts left early to make room; among those shown.
    """

    toasts: tuple[Notice, ...] = ()
    history: tuple[Notice, ...] = ()
    total: int = 0
    shown: int = 0
    coalesced: int = 0
    suppressed: int = 0
    displaced: int = 0
