"""What an agent of version 2 says it is doing, and when a turn is over by that: :class:`Foreground`.

=================================================  ============================================================
the agent says                                     then the turn
=================================================  ============================================================
``running`` or ``requires_action``                 is at work
``idle`` while it is at work                       is over
``idle`` with a stop reason, not at work, and      is over: it was a command that needed no work
after the user message of its prompt
any other ``idle``                                 goes on: that was a repeated snapshot, or of earlier work
``unknown``, or a word nobody knows                goes on
=================================================  ============================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_host.wire.v2.state_update import StateKind

if TYPE_CHECKING:
    from acp_host.wire.v2.state_update import SessionStateUpdate

__all__ = ["Foreground"]

_AT_WORK = (StateKind.RUNNING, StateKind.REQUIRES_ACTION)
_MAX_NOTED = 1_000
"""How many user messages are noted while a prompt has no answer."""


class Foreground:
    """Knows what the agent has said since the last prompt was written.

    Attributes:
        state: its last word; ``None`` before the first.
    """

    def __init__(self) -> None:
        self.state: str | None = None
        self._is_given_up = False
        self._has_worked = False
        self._message_id: str | None = None
        self._user_messages: set[str] = set()

    @property
    def is_active(self) -> bool:
        """Whether the agent is at work, as far as this side cares."""
        return self.state in _AT_WORK and not self._is_given_up

    @property
    def requires_action(self) -> bool:
        """Whether the user has something to do before it goes on."""
        return self.state == StateKind.REQUIRES_ACTION

    def turn_begins(self, *, at_work: bool = False) -> None:
        """Learn that a prompt is written, or that the agent has begun by itself (``at_work``)."""
        self._has_worked = at_work
        self._message_id = None
        self._user_messages.clear()

    def inserted(self, message_id: str) -> None:
        """Learn which user message the prompt is."""
        self._message_id = message_id

    def user_message(self, message_id: str) -> None:
        """Learn that a user message was told."""
        if len(self._user_messages) < _MAX_NOTED:
            self._user_messages.add(message_id)

    def give_up(self) -> None:
        """Wait no more for the end of what the agent is doing: a cancelled turn is taken as over."""
        self._is_given_up = True

    def told(self, update: SessionStateUpdate) -> bool:
        """Take what the agent says; tell whether the turn, if there is one, is over by that."""
        self.state, self._is_given_up = update.state, False
        if self.is_active:
            self._has_worked = True
        if self.state != StateKind.IDLE:
            return False
        return self._has_worked or (bool(update.stop_reason) and self._has_user_message)

    @property
    def _has_user_message(self) -> bool:
        """Whether the user message of the prompt was told; before the answer to it, any may be."""
        if self._message_id is None:
            return bool(self._user_messages)
        return self._message_id in self._user_messages
