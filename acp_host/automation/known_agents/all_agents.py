"""All agents that are known here, by name: :class:`KnownAgents`, and :func:`known`, which gives what to connect to.

Where a name is in several places, the user's own entry is all that counts. Else a program that is installed goes before
what a registry says, and of two registries the one whose agents were kept first. Nothing is downloaded by looking, nor
by starting an agent that is found here; :meth:`KnownAgents.download` does that.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from attrs import evolve, frozen

from acp_host.automation.known_agents.last_seen import LastSeen, SeenAgent, seen_key
from acp_host.automation.known_agents.locations import Locations
from acp_host.automation.known_agents.machine import platform_key
from acp_host.automation.known_agents.manifest import BinaryTarget, Manifest, Package
from acp_host.automation.known_agents.on_path import find_on_path, program_on_path
from acp_host.automation.known_agents.own_entries import OwnEntry, read_own
from acp_host.automation.known_agents.programs import download_program, program_path
from acp_host.automation.known_agents.registries import Registry, kept_registries
from acp_host.automation.known_agents.ways import Readiness, Way, WayKind
from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.errors import InvalidInput
from acp_host.host.agent_target import AgentTarget

__all__ = ["KnownAgent", "KnownAgents", "known"]

_RUNNERS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "npx": (("npx", "--no", "--"), ("npx", "--yes", "--")),
    "uvx": (("uvx", "--offline"), ("uvx",)),
}
"""How each runner is told to do without a download, and that it may have one."""


@frozen(kw_only=True)
class KnownAgent:
    """An agent that is known by a name.

    Attributes:
        name: the name.
        title: its name for people.
        version: its version; empty where it is not known.
        description: what it is; empty likewise.
        website: where people find more about it; empty likewise.
        license: its licence; empty likewise.
        ways: the ways to start or reach it, the preferred one first; at least one.
        seen: what it was last seen to support by the preferred way; ``None``: it was not seen.
    """

    name: str
    title: str
    ways: tuple[Way, ...]
    version: str = ""
    description: str = ""
    website: str = ""
    license: str = ""
    seen: SeenAgent | None = None

    @property
    def way(self) -> Way:
        """The preferred way."""
        return self.ways[0]

    def target(self, environment: Mapping[str, str] | None = None, *, installing: bool = False) -> AgentTarget:
        """Return what :func:`acp_host.connect` takes for it.

        Args:
            environment: where variables are looked up; ``None``: that of this process.
            installing: let ``npx`` or ``uvx`` download the package.

        Raises:
            InvalidInput: it has to be downloaded first, cannot be had on this machine, or a variable is not set.
        """
        if self.way.readiness is Readiness.NOT_INSTALLED:
            raise InvalidInput(f"{self.name} has to be downloaded first; acp-host agents install {self.name} does that")
        try:
            return self.way.target(os.environ if environment is None else environment, installing=installing)
        except InvalidInput as error:
            raise InvalidInput(f"{self.name}: {error}") from None


class KnownAgents(Mapping[str, KnownAgent]):
    """All agents that are known here, by name, in the order of their names.

    Args:
        agents: the agents.
        registries: the registries that some of them come from.
        diagnostics: what was left out, and why.
        locations: where things about agents are kept.

    Attributes:
        registries: the registries of which copies are kept.
        diagnostics: what of all this could not be used, and why.
    """

    def __init__(
        self,
        agents: Mapping[str, KnownAgent],
        *,
        registries: Sequence[Registry] = (),
        diagnostics: Sequence[Diagnostic] = (),
        locations: Locations,
    ) -> None:
        self._agents = dict(sorted(agents.items()))
        self.registries = tuple(registries)
        self.diagnostics = tuple(diagnostics)
        self._locations = locations

    @classmethod
    def load(cls, locations: Locations | None = None, *, environment: Mapping[str, str] | None = None) -> KnownAgents:
        """Look for agents; reads some small files and starts nothing.

        Args:
            locations: where things about agents are kept; ``None``: where the platform wants them.
            environment: has the ``PATH`` that is looked through; ``None``: that of this process.

        Raises:
            InvalidInput: the user's file of agents cannot be trusted or read; says what to do.
        """
        return _load(locations or Locations.for_user(), os.environ if environment is None else environment)

    def __getitem__(self, name: str) -> KnownAgent:
        return self._agents[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._agents)

    def __len__(self) -> int:
        return len(self._agents)

    def find(self, name: str) -> KnownAgent:
        """Return the agent of a name.

        Raises:
            InvalidInput: there is none; says which names are like it.
        """
        if name in self._agents:
            return self._agents[name]
        close = difflib.get_close_matches(name, self._agents, n=3)
        hint = f"; is it {' or '.join(close)}?" if close else "; acp-host agents lists those that are"
        raise InvalidInput(f"no agent is known by the name {name!r}{hint}")

    async def download(self, name: str) -> KnownAgent:
        """Download an agent's program if it is not there, and return the agent, which can be started then.

        An agent that ``npx`` or ``uvx`` runs is downloaded by them, when it is started with
        ``target(installing=True)``.

        Raises:
            InvalidInput: no agent has that name, or its program cannot be used.
            TransportError: the download failed.
            OSError: the disk is full, or the like.
        """
        agent = self.find(name)
        binary = agent.way.binary
        if agent.way.readiness is not Readiness.NOT_INSTALLED or binary is None:
            return agent
        await download_program(self._locations.programs, name, binary)
        return evolve(agent, ways=(evolve(agent.way, readiness=Readiness.READY), *agent.ways[1:]))


def known(name: str) -> AgentTarget:
    """Return what :func:`acp_host.connect` takes for an agent that is known by a name. ::

        async with acp_host.connect(acp_host.known("opencode")) as host:
            ...

    Reads some small files, and downloads nothing.

    Raises:
        InvalidInput: no agent has that name, it has to be downloaded first, or it cannot be had on this machine.
    """
    return KnownAgents.load().find(name).target()


def _load(locations: Locations, environment: Mapping[str, str]) -> KnownAgents:
    agents: dict[str, KnownAgent] = {}
    diagnostics: list[Diagnostic] = []
    registries = kept_registries(locations.registries)
    for registry in registries:
        diagnostics += registry.diagnostics
        for manifest in registry.manifests:
            if manifest.id in agents:
                told = f"{manifest.id} of {registry.source} is not used: another registry has it, too"
                diagnostics.append(Diagnostic(DiagnosticKind.UNEXPECTED, told))
            else:
                agents[manifest.id] = _of_manifest(manifest, registry.source, locations, environment)
    for installed, way in find_on_path(environment):
        listed = agents.get(installed.name)
        if listed is None:
            agents[installed.name] = KnownAgent(name=installed.name, title=installed.title, ways=(way,))
        elif not any(other.kind is WayKind.PATH for other in listed.ways):
            agents[installed.name] = evolve(listed, ways=(way, *listed.ways))
    for name, entry in read_own(locations.own).items():
        agents[name] = _own(name, entry, locations.own)
    seen = LastSeen(locations.seen).read()
    whole = {name: _whole(agent, seen) for name, agent in agents.items()}
    return KnownAgents(whole, registries=registries, diagnostics=diagnostics, locations=locations)


def _whole(agent: KnownAgent, seen: Mapping[str, SeenAgent]) -> KnownAgent:
    """Return an agent with its ways in order, and with what it was last seen to support."""
    ways = tuple(sorted(agent.ways, key=lambda way: way.preference))
    last = seen.get(seen_key(ways[0].command, ways[0].url))
    version = ways[0].version or (last.version if last is not None else "")
    return evolve(agent, ways=ways, seen=last, version=version)


def _own(name: str, entry: OwnEntry | InvalidInput, path: Path) -> KnownAgent:
    if isinstance(entry, InvalidInput):
        way = Way(kind=WayKind.OWN, source=str(path), readiness=Readiness.UNAVAILABLE, problem=str(entry))
        return KnownAgent(name=name, title=name, ways=(way,))
    return KnownAgent(name=name, title=entry.title or name, description=entry.description, ways=(entry.way(str(path)),))


def _of_manifest(manifest: Manifest, source: str, locations: Locations, environment: Mapping[str, str]) -> KnownAgent:
    ways = [_by_package(package, manifest, source, environment) for package in manifest.packages]
    if manifest.binaries:
        ways.append(_by_program(manifest, source, locations.programs))
    return KnownAgent(
        name=manifest.id,
        title=manifest.name,
        description=manifest.description,
        website=manifest.website,
        license=manifest.license,
        ways=tuple(ways),
    )


def _by_package(package: Package, manifest: Manifest, source: str, environment: Mapping[str, str]) -> Way:
    offline, online = _RUNNERS[package.runner]
    there = program_on_path(package.runner, environment) is not None
    return Way(
        kind=WayKind(package.runner),
        source=source,
        readiness=Readiness.UNKNOWN if there else Readiness.UNAVAILABLE,
        command=(*offline, package.package, *package.args),
        installing_command=(*online, package.package, *package.args),
        env=package.env,
        version=manifest.version,
        problem="" if there else f"{package.runner} is not on the PATH",
    )


def _by_program(manifest: Manifest, source: str, folder: Path) -> Way:
    here = platform_key()
    target: BinaryTarget | None = next((each for each in manifest.binaries if each.platform == here), None)
    if target is None:
        builds = ", ".join(each.platform for each in manifest.binaries)
        problem = f"there is no build for {here}, only for {builds}"
        return Way(
            kind=WayKind.BINARY,
            source=source,
            readiness=Readiness.UNAVAILABLE,
            version=manifest.version,
            problem=problem,
        )
    program = program_path(folder, manifest.id, target)
    return Way(
        kind=WayKind.BINARY,
        source=source,
        readiness=Readiness.READY if program.is_file() else Readiness.NOT_INSTALLED,
        command=(str(program), *target.args),
        env=target.env,
        version=manifest.version,
        binary=target,
    )
