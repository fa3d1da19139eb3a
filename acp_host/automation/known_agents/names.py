"""Which words that somebody writes for an agent are the name of a known one: :func:`named_agent`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from acp_host.automation.known_agents.all_agents import KnownAgent, KnownAgents
from acp_host.automation.known_agents.on_path import program_on_path
from acp_host.automation.known_agents.ways import WayKind
from acp_host.transports.remote_address import has_scheme

__all__ = ["NAME_PREFIX", "is_command_too", "named_agent"]

NAME_PREFIX = "agent:"
"""Says before a name that it is one, whatever is on the ``PATH``."""


def named_agent(words: Sequence[str], environment: Mapping[str, str]) -> KnownAgent | None:
    """Return the known agent that the words for an agent name; ``None``: they are a command or a URL.

    A name is one word. The user's own entries and well-known agents that are installed go before a program on the
    ``PATH`` that has the same name, and that goes before what a registry says; ``agent:NAME`` is always a name.

    Raises:
        InvalidInput: ``agent:NAME`` names none, or the user's file of agents cannot be used.
    """
    if len(words) != 1 or has_scheme(words[0]):
        return None
    if words[0].startswith(NAME_PREFIX):
        return KnownAgents.load(environment=environment).find(words[0].removeprefix(NAME_PREFIX))
    if os.path.basename(words[0]) != words[0]:
        return None
    agent = KnownAgents.load(environment=environment).get(words[0])
    return None if agent is None or is_command_too(agent, environment) else agent


def is_command_too(agent: KnownAgent, environment: Mapping[str, str]) -> bool:
    """Tell whether an agent's name alone means a program on the ``PATH``, and not the agent."""
    if any(way.kind in (WayKind.OWN, WayKind.PATH) for way in agent.ways):
        return False
    return program_on_path(agent.name, environment) is not None
