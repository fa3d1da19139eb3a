"""The names of prompts, for an agent that says of everything to which prompt it belongs: :class:`PromptNames`."""

from __future__ import annotations

import uuid

__all__ = ["PromptNames"]

_MAX_NAMES = 100
"""How many turns that are over what comes late can still be told to belong to."""


class PromptNames:
    """The numbers of a session's newest turns by the names of their prompts."""

    def __init__(self) -> None:
        self._turns: dict[str, int] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._turns

    def new(self, turn: int) -> str:
        """Return a name for the prompt of a turn."""
        if len(self._turns) >= _MAX_NAMES:
            del self._turns[next(iter(self._turns))]
        name = uuid.uuid4().hex
        self._turns[name] = turn
        return name

    def turn_of(self, name: str | None) -> int | None:
        """Return the number of the turn whose prompt has this name; ``None`` for every other name."""
        return None if name is None else self._turns.get(name)
