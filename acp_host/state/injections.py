"""What the user says to an agent while it works, from when it is sent until the model has it: :class:`Injections`.

A message that is put into a running turn is no part of the conversation yet: the agent takes it first, and tells later
that the model is given it now. Until then it is a chip that can be taken back or changed; then it is a message of the
transcript, in the place where the agent told of it. An agent may tell so even before it has answered that it takes it.

====================  =================================================================================================
status                means
====================  =================================================================================================
``sending``           It was written; the agent has not answered.
``pending``           The agent has it and will give it to the model.
``delivered``         The model has it; ``position`` says where it is in the transcript.
``revoked``           It was taken back.
``refused``           The agent did not take it; ``problem`` says why.
``uncertain``         Nobody knows whether the agent has it: it may still be delivered.
``gone``              The agent does not list it any more, and has not told that the model was given it.
====================  =================================================================================================

Whatever was thought of a message, that it was delivered counts more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Final, Literal

from acp_host.state._value import value
from acp_host.state.changes import Note
from acp_host.state.collections import Keyed
from acp_host.wire._model import evolve, model
from acp_host.wire.content import ContentBlock

__all__ = [
    "MAX_INJECTIONS",
    "Injection",
    "InjectionAccepted",
    "InjectionEnded",
    "InjectionEvent",
    "InjectionMade",
    "InjectionReplaced",
    "InjectionStatus",
    "InjectionWished",
    "Injections",
    "UserMessageTold",
]

MAX_INJECTIONS = 200
"""How many messages are kept; those of which nothing more is expected leave first, the oldest before the others."""

_SECTION = "injections"


class InjectionStatus(StrEnum):
    """What has become of a message; see the table of the module."""

    SENDING = "sending"
    PENDING = "pending"
    DELIVERED = "delivered"
    REVOKED = "revoked"
    REFUSED = "refused"
    UNCERTAIN = "uncertain"
    GONE = "gone"


_OPEN: Final = frozenset({InjectionStatus.SENDING, InjectionStatus.PENDING, InjectionStatus.UNCERTAIN})


@value
class Injection:
    """A message that was put into a running turn.

    Attributes:
        id: host-local id.
        mode: when the model gets it: ``interrupt_immediate``, ``steer``, ``queue``, or another word of the agent.
        content: what it says.
        status: one of :class:`InjectionStatus`.
        message_id: the agent's id of it; ``None`` until the agent has taken it.
        wish: what was asked of the agent about it and has no answer yet.
        problem: why it was refused, or is uncertain.
        position: where it is in the transcript; ``None`` if it is not there.
        own: it was sent by this session object, and not by another client or before.
    """

    id: str
    mode: str
    content: tuple[ContentBlock, ...]
    status: InjectionStatus = InjectionStatus.SENDING
    message_id: str | None = None
    wish: Literal["revoke", "replace"] | None = None
    problem: str | None = None
    position: int | None = None
    own: bool = True

    @property
    def is_open(self) -> bool:
        """Whether it may still be delivered, as far as is known."""
        return self.status in _OPEN


@model
class InjectionMade:
    """A message is about to be sent; or the agent lists one with an id of its own, that nobody here has sent."""

    id: str
    mode: str
    content: tuple[ContentBlock, ...]
    listed_as: str | None = None


@model
class InjectionAccepted:
    """The agent has taken a message, and calls it by an id of its own."""

    id: str
    message_id: str


@model
class InjectionWished:
    """The agent is asked to take a message back or to replace it; ``None``: it has answered."""

    id: str
    wish: Literal["revoke", "replace"] | None


@model
class InjectionReplaced:
    """A message says something else now."""

    id: str
    content: tuple[ContentBlock, ...]


@model
class InjectionEnded:
    """A message has come to this, without having been delivered."""

    id: str
    status: InjectionStatus
    problem: str | None = None


@model
class UserMessageTold:
    """The agent tells that the model has been given a message of the user, whole; ``None``: it does not say which."""

    message_id: str | None
    content: tuple[ContentBlock, ...]


InjectionEvent = InjectionMade | InjectionAccepted | InjectionWished | InjectionReplaced | InjectionEnded
"""What this reducer takes; :class:`UserMessageTold` is the transcript's, too, and comes by :meth:`Injections.told`."""


class Injections:
    """Folds what becomes of messages.

    Args:
        note: called with each change.
        problem: called when one is forgotten that is still open.
    """

    def __init__(self, note: Note, problem: Callable[[str], None] = lambda _: None) -> None:
        self._entries: Keyed[Injection] = Keyed(
            _SECTION, note, MAX_INJECTIONS, lambda entry: not entry.is_open, problem
        )
        self._told: dict[str, int | None] = {}
        """Where messages are in the transcript, by the agent's id: the newest that were told of."""

    def reducers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the method for each class of event that concerns messages and nothing else."""
        return {
            InjectionMade: self._made,
            InjectionAccepted: self._accepted,
            InjectionWished: lambda event: self._change(event.id, wish=event.wish),
            InjectionReplaced: lambda event: self._change(event.id, content=event.content),
            InjectionEnded: self._ended,
        }

    def freeze(self) -> Mapping[str, Injection]:
        """Return the messages by their local id, in the order in which they were made."""
        return self._entries.freeze()

    def called(self, message_id: str) -> Injection | None:
        """Return the message that the agent calls so, or ``None``."""
        return next((entry for entry in self.freeze().values() if entry.message_id == message_id), None)

    def told(self, message_id: str, position: int | None) -> None:
        """Take the agent's word that the model has been given a message, which is in the transcript now.

        ``None``: it is not there, since nobody knows what it says.
        """
        self._told.pop(message_id, None)
        self._told[message_id] = position
        if len(self._told) > MAX_INJECTIONS:
            del self._told[next(iter(self._told))]
        entry = self.called(message_id)
        if entry is not None:
            self._deliver(entry, position)

    def _made(self, event: InjectionMade) -> None:
        entry = Injection(id=event.id, mode=event.mode, content=event.content)
        if event.listed_as is not None:
            entry = evolve(entry, own=False, status=InjectionStatus.PENDING, message_id=event.listed_as)
        self._entries.put(event.id, entry)

    def _accepted(self, event: InjectionAccepted) -> None:
        self._change(event.id, status=InjectionStatus.PENDING, message_id=event.message_id, problem=None)
        entry = self._entries.get(event.id)
        if entry is not None and event.message_id in self._told:
            self._deliver(entry, self._told[event.message_id])

    def _deliver(self, entry: Injection, position: int | None) -> None:
        self._change(entry.id, status=InjectionStatus.DELIVERED, position=position, problem=None)

    def _ended(self, event: InjectionEnded) -> None:
        entry = self._entries.get(event.id)
        if entry is not None and entry.status != InjectionStatus.DELIVERED:
            self._change(event.id, status=event.status, problem=event.problem)

    def _change(self, entry_id: str, **members: Any) -> None:
        entry = self._entries.get(entry_id)
        if entry is not None:
            self._entries.put(entry_id, evolve(entry, **members))
