"""What can stand in places of a command line that only this program knows, for shells that complete it."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from acp_host.automation.known_agents.all_agents import KnownAgents
from acp_host.automation.known_agents.locations import Locations
from acp_host.automation.known_agents.own_entries import read_own
from acp_host.automation.known_agents.registries import kept_registries
from acp_host.errors import AcpError
from acp_host.printable import one_line
from acp_host.services.policy_words import POLICY_WORDS

__all__ = ["agent_or_file", "known_agents", "own_agents", "permission_words", "sources"]

_LONGEST = 60


def known_agents(prefix: str, **_: object) -> Mapping[str, str]:
    """Return the names of known agents, and what they are."""
    with suppress(AcpError):
        return {name: one_line(agent.title, _LONGEST) for name, agent in KnownAgents.load().items()}
    return {}


def agent_or_file(prefix: str, parsed_args: argparse.Namespace, **_: object) -> Iterable[str] | Mapping[str, str]:
    """Return the names of known agents in the place of an agent, and files behind that."""
    words = getattr(parsed_args, "agent", None) or getattr(parsed_args, "rest", None) or []
    return known_agents(prefix) if words in ([], ["--"]) and "/" not in prefix else _files(prefix)


def own_agents(prefix: str, **_: object) -> Iterable[str]:
    """Return the names in the user's own file."""
    with suppress(AcpError):
        return list(read_own(Locations.for_user().own))
    return ()


def sources(prefix: str, **_: object) -> Iterable[str]:
    """Return the registries of which copies are kept."""
    return [registry.source for registry in kept_registries(Locations.for_user().registries)]


def permission_words(prefix: str, **_: object) -> Iterable[str]:
    """Return what ``--permissions`` takes: words, and files."""
    return [*POLICY_WORDS, *_files(prefix)]


def _files(prefix: str) -> list[str]:
    folder, slash, name = prefix.rpartition("/")
    with suppress(OSError):
        inside = Path(folder + slash).expanduser().iterdir()
        found = [entry for entry in inside if entry.name.startswith(name)]
        shown = [f"{folder}{slash}{entry.name}{'/' if entry.is_dir() else ''}" for entry in found]
        return sorted(path for path in shown if path.isprintable() and (name or not path.startswith(".")))
    return []
