"""All bad agents: :data:`CATALOGUE`, :func:`find`."""

from __future__ import annotations

from collections.abc import Sequence

from acp_host.errors import InvalidInput
from acp_host.testing.chaos.agents import (
    asking,
    cancelling,
    json_rpc,
    life,
    order,
    processes,
    services,
    shapes,
    showing,
    stdout,
    versions,
)
from acp_host.testing.chaos.bad_agent import BadAgent

__all__ = ["CATALOGUE", "find", "select"]

_CHAPTERS = (stdout, json_rpc, order, shapes, asking, cancelling, life, showing, services, versions, processes)

CATALOGUE: tuple[BadAgent, ...] = tuple(agent for module in _CHAPTERS for agent in module.CHAPTER.agents)
"""Every agent, by number."""

_BY_WORD = {word: agent for agent in CATALOGUE for word in (agent.name, agent.code)}


def find(word: str) -> BadAgent:
    """Return an agent by its name, or its number: ``C014``.

    Raises:
        InvalidInput: there is none.
    """
    if word not in _BY_WORD:
        near = [name for name in _BY_WORD if word.lower() in name.lower()][:5]
        hint = f"there are {', '.join(near)}" if near else "acp-host chaos list has them all"
        raise InvalidInput(f"there is no bad agent {word!r}; {hint}")
    return _BY_WORD[word]


def select(words: Sequence[str]) -> tuple[BadAgent, ...]:
    """Return agents by name, number or the beginning of a name that ends in a dash, in the order of the catalogue.

    Args:
        words: e.g. ``["C014", "noise-", "never-ends"]``; none for all.

    Raises:
        InvalidInput: one of them is none.
    """
    if not words:
        return CATALOGUE
    chosen = set()
    for word in words:
        found = [agent.name for agent in CATALOGUE if word.endswith("-") and agent.name.startswith(word)]
        chosen.update(found or [find(word).name])
    return tuple(agent for agent in CATALOGUE if agent.name in chosen)
