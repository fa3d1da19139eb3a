"""The sessions that an agent leads by itself, below one of the host's: :class:`Subagents`. Unstable.

A session announces them; what they send comes with ids of their own. They take no prompts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import takewhile
from typing import Any

from acp_host.state import events
from acp_host.state.session_facts import MAX_SUBAGENTS
from acp_host.state.session_state import SessionState
from acp_host.translate.versions import UpdateTranslator
from acp_host.wire.chunk_runs import ChunkRun
from acp_host.wire.subagents import SubagentUpdate
from acp_host.wire.updates import SessionNotification

__all__ = ["Subagents"]


class Subagents:
    """The subagents of one session, and theirs.

    Args:
        parent: the session's state.
        make_state: makes the state of a subagent, given its id.
        report: called with an update that could not be folded, and why.
        translator: makes events of the updates.
        begins: called with the id of each that begins to send.
        problem: called with what was forgotten because there is too much.
    """

    def __init__(
        self,
        parent: SessionState,
        make_state: Callable[[str], SessionState],
        report: Callable[[Any, Exception], None],
        translator: UpdateTranslator,
        begins: Callable[[str], None],
        problem: Callable[[str], None],
    ) -> None:
        self._parent = parent
        self._make_state = make_state
        self._report = report
        self._translate = translator.translate
        self._begins = begins
        self._problem = problem
        self._states: dict[str, SessionState] = {}

    def __contains__(self, session_id: str) -> bool:
        """Tell whether a subagent with this id was announced."""
        return any(True for _ in self._said_of(session_id))

    def cwd(self, session_id: str) -> str | None:
        """Return the working directory that a subagent is said to have; ``None`` where nothing is said."""
        return next((said.cwd or None for said in self._said_of(session_id)), None)

    def parent(self, session_id: str) -> str | None:
        """Return the id of the subagent that has announced another one; ``None`` where the session itself has.

        Only one that began before the other counts, so that none is below itself, whoever announces whom.
        """
        if session_id in self._parent.subagents:
            return None
        before = takewhile(lambda one: one != session_id, self._states)
        return next((one for one in before if session_id in self._states[one].subagents), None)

    def title(self, session_id: str) -> str | None:
        """Return the title that a subagent is said to have; ``None`` where nothing is said."""
        return next((said.title or None for said in self._said_of(session_id)), None)

    def state(self, session_id: str) -> SessionState | None:
        """Return what a subagent has sent; ``None`` as long as that is nothing."""
        return self._states.get(session_id)

    def receive(self, arrival: SessionNotification | ChunkRun) -> None:
        """Take an update of a subagent, or a run of them."""
        state = self._states.get(arrival.session_id)
        if state is None:
            state = self._states[arrival.session_id] = self._make_state(arrival.session_id)
            self._begins(arrival.session_id)
            if len(self._states) > MAX_SUBAGENTS:
                self._states.pop(next(iter(self._states))).apply(events.SessionClosed())
                self._problem(f"more than {MAX_SUBAGENTS} subagents have sent something: the oldest's is forgotten")
        for update in arrival.updates() if isinstance(arrival, ChunkRun) else (arrival.update,):
            try:
                event = self._translate(update)
                if event is not None:
                    state.apply(event)
            except Exception as error:  # a fault of this library must not cost more than this update
                self._report(update, error)

    def ids(self) -> tuple[str, ...]:
        """Return the ids of those that have sent something, in the order in which they began."""
        return tuple(self._states)

    def apply(self, event: events.SessionEvent) -> None:
        """Take what happens to all of them."""
        for state in self._states.values():
            state.apply(event)

    def _said_of(self, session_id: str) -> Iterator[SubagentUpdate]:
        for state in (self._parent, *self._states.values()):
            said = state.subagents.get(session_id)
            if said is not None:
                yield said
