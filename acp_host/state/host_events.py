"""What this host does in a session, and what it learns by itself, as events: turns, questions, replays, the connection.

:mod:`acp_host.state.events` has them all, and says how to read them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_host.state.option_entries import OptionSource
from acp_host.wire._model import model
from acp_host.wire.config_options import SessionConfigOption
from acp_host.wire.content import ContentBlock
from acp_host.wire.ids import RequestId
from acp_host.wire.usage import Usage

if TYPE_CHECKING:
    from acp_host.state.harn.permission_facts import PermissionFacts

__all__ = [
    "ConnectionBroken",
    "HealthChanged",
    "OptionSetFailed",
    "OptionSetSent",
    "OptionSetTaken",
    "QuestionAsked",
    "QuestionClosed",
    "ReminderShown",
    "ReplayAnswered",
    "ReplayEnded",
    "ReplayStarted",
    "SessionClosed",
    "TerminalReported",
    "TurnDropped",
    "TurnEnded",
    "TurnQueued",
    "TurnStarted",
]


@model
class OptionSetSent:
    """The user sets an option, and the agent was asked to.

    Attributes:
        number: names the set; those of a session count up.
        source: what is set: a configuration option, the mode, or the model.
        value: what it is to be.
        config_id: the configuration option; else empty.
    """

    number: int
    source: OptionSource
    value: str | bool
    config_id: str = ""


@model
class OptionSetTaken:
    """The agent has set an option; ``options``: what all of them are now, empty where it does not say."""

    sent: OptionSetSent
    options: tuple[SessionConfigOption, ...] = ()


@model
class OptionSetFailed:
    """A set was refused, or nobody will ever say what became of it; ``reason`` is for people."""

    number: int
    reason: str


@model
class TerminalReported:
    """A command that the host runs for the agent began, printed something, ended or was let go of.

    Attributes:
        terminal_id: its id.
        command: what runs, as one line for people.
        via_shell: the platform's shell reads it.
        printed: what it has printed since the last report.
        ended: it has ended; ``exit_code`` or ``signal`` says how, if anybody can tell.
        released: the agent has let go of it.
    """

    terminal_id: str
    command: str
    via_shell: bool = False
    printed: str = ""
    ended: bool = False
    exit_code: int | None = None
    signal: str | None = None
    released: bool = False


@model
class TurnQueued:
    """A prompt waits for its turn."""

    turn: int
    prompt: tuple[ContentBlock, ...]


@model
class TurnStarted:
    """A prompt was sent, or the agent has begun to work by itself.

    Attributes:
        turn: number of the turn.
        prompt: the user's own content.
        sent: all that was sent; begins with the reminders that the host put before ``prompt``.
        leading: those reminders.
        origin: ``user`` for a prompt; ``agent`` where there is none, and nothing was sent.
    """

    turn: int
    prompt: tuple[ContentBlock, ...]
    sent: tuple[ContentBlock, ...]
    leading: tuple[ReminderShown, ...] = ()
    origin: str = "user"


@model
class TurnEnded:
    """A turn is over; ``outcome`` is one of the outcome kinds, ``stop_reason`` the raw word if there is one."""

    turn: int
    outcome: str
    stop_reason: str | None = None
    detail: str = ""
    usage: Usage | None = None


@model
class TurnDropped:
    """A prompt left the queue without being sent."""

    turn: int


@model
class ReminderShown:
    """A reminder was put before a prompt, or was recognised in what the agent repeats as the user's words."""

    reminder_id: str
    body: str


@model
class QuestionAsked:
    """The agent asks the user something: a permission request or an elicitation.

    Attributes:
        request_id: the agent's id of the request.
        method: wire method.
        request: its parameters, a wire type.
        harn: what a Harn agent says of it besides.
    """

    request_id: RequestId
    method: str
    request: Any
    harn: PermissionFacts | None = None


@model
class QuestionClosed:
    """A question needs no answer any more: it was answered, cancelled or withdrawn."""

    request_id: RequestId


@model
class ReplayStarted:
    """What follows is history.

    Attributes:
        whole: the agent was asked to tell all of it: what comes takes the place of what is known. Otherwise only
            something of the user's own begins to, by which an agent shows that it tells all of it unasked.
    """

    whole: bool = True


@model
class ReplayAnswered:
    """The agent has opened the session: what it has told so far takes the place of what was known."""


@model
class ReplayEnded:
    """What follows is live again.

    Attributes:
        failed: the session was not opened: what was told is forgotten, and what was known before is so again.
    """

    failed: bool = False


@model
class SessionClosed:
    """The agent has let go of the session, and the host of what it ran for it."""


@model
class HealthChanged:
    """The connection's health: ``connected``, ``reconnecting``, ``lost`` or ``closed``, and why."""

    status: str
    detail: str = ""


@model
class ConnectionBroken:
    """The connection was lost, and by now it is known what has become of the session.

    Attributes:
        lost: what is missing since: ``nothing``, or ``context`` where nobody could open the session again.
        interrupted: a turn was cut off.
        summary: for the user, what is missing; may be empty.
    """

    lost: str
    interrupted: bool
    summary: str = ""
