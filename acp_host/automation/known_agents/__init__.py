"""Agents that are known by name: from the user's own file, from what is installed, and from registries of the ACP
project's format.

:func:`known` gives what :func:`acp_host.connect` takes for a name, :class:`KnownAgents` all that is known. Registries
are read, and programs downloaded, only by functions that are there for it.
"""

from acp_host.automation.known_agents.all_agents import KnownAgent, KnownAgents, known
from acp_host.automation.known_agents.last_seen import LastSeen, SeenAgent
from acp_host.automation.known_agents.locations import Locations
from acp_host.automation.known_agents.registries import OFFICIAL_REGISTRY, Registry, read_source, refresh_registry
from acp_host.automation.known_agents.ways import Readiness, Way, WayKind

__all__ = [
    "OFFICIAL_REGISTRY",
    "KnownAgent",
    "KnownAgents",
    "LastSeen",
    "Locations",
    "Readiness",
    "Registry",
    "SeenAgent",
    "Way",
    "WayKind",
    "known",
    "read_source",
    "refresh_registry",
]
