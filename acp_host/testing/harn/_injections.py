"""The user messages that a host has put before the running prompt, without any wire form: :class:`Injections`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from attrs import define, field

from acp_host.errors import InvalidParams

__all__ = ["ACTOR_OF_OLD", "Inject", "InjectMode", "Injections"]

ACTOR_OF_OLD: Mapping[str, Any] = {"clientId": "legacy-acp-client", "role": "host_owner", "source": "acp"}
"""Whose an inject is that does not say so."""


class InjectMode(StrEnum):
    """When an inject is delivered."""

    INTERRUPT_IMMEDIATE = "interrupt_immediate"
    FINISH_STEP = "finish_step"
    AUDIT_ONLY = "audit_only"


@define(eq=False, kw_only=True)
class Inject:
    """A user message that waits.

    Attributes:
        id: its id.
        mode: when it is delivered.
        content: its content blocks, as JSON.
        actor: whose it is.
    """

    id: str
    mode: InjectMode
    content: Sequence[Mapping[str, Any]]
    actor: Mapping[str, Any] = field(factory=lambda: dict(ACTOR_OF_OLD))


@define(eq=False)
class Injections:
    """The injects of one session.

    Attributes:
        waiting: those that are not delivered yet, in the order in which they came.
    """

    waiting: list[Inject] = field(factory=list)
    _revoked: set[str] = field(factory=set)
    _delivered: set[str] = field(factory=set)

    @property
    def wants_interrupt(self) -> bool:
        """Whether one of them is to be delivered before the next tool runs."""
        return any(inject.mode is InjectMode.INTERRUPT_IMMEDIATE for inject in self.waiting)

    def take(self, *, at_exit: bool = False) -> list[Inject]:
        """Return what is delivered now; ``at_exit``: the loop is about to end, and delivers everything."""
        taken = [inject for inject in self.waiting if at_exit or inject.mode is not InjectMode.AUDIT_ONLY]
        self.waiting = [inject for inject in self.waiting if inject not in taken]
        self._delivered.update(inject.id for inject in taken)
        return taken

    def revoke(self, id: str, actor: Mapping[str, Any]) -> str:
        """Take one back; return its status.

        Raises:
            InvalidParams: it is too late, it never was, or it is somebody else's; ``data.reason`` says which.
        """
        if id in self._revoked:
            return "already_revoked"
        self.waiting.remove(self._find(id, actor))
        self._revoked.add(id)
        return "revoked"

    def replace(self, id: str, content: Sequence[Mapping[str, Any]], actor: Mapping[str, Any]) -> None:
        """Give one another content.

        Raises:
            InvalidParams: as for :meth:`revoke`; or it was taken back.
        """
        if id in self._revoked:
            raise _lost("already_revoked", id)
        self._find(id, actor).content = content

    def _find(self, id: str, actor: Mapping[str, Any]) -> Inject:
        found = next((inject for inject in self.waiting if inject.id == id), None)
        if found is None:
            raise _lost("already_delivered" if id in self._delivered else "unknown_message_id", id)
        if actor.get("role") != "host_owner" and actor.get("clientId") != found.actor.get("clientId"):
            raise _lost("not_owner_or_not_authorized", id, actor=dict(actor), owner=dict(found.actor))
        return found


def _lost(reason: str, id: str, **more: Any) -> InvalidParams:
    text = f"pending inject: {reason.replace('_', ' ')}"
    return InvalidParams(text, data={"reason": reason, "messageId": id, **more})
