"""How an agent is started or reached: :class:`Way`."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from attrs import field, frozen

from acp_host.automation.known_agents.manifest import BinaryTarget
from acp_host.errors import InvalidInput
from acp_host.host.agent_target import AgentTarget
from acp_host.transports import RemoteOptions

__all__ = ["Readiness", "Way", "WayKind"]


class WayKind(StrEnum):
    """What stands behind a way; in the order in which ways that are equally ready are preferred."""

    OWN = "own"
    """An entry of the user's."""
    PATH = "path"
    """A program that is installed."""
    BINARY = "binary"
    """A program that is downloaded."""
    NPX = "npx"
    """A package of npm, run by ``npx``."""
    UVX = "uvx"
    """A package of PyPI, run by ``uvx``."""


class Readiness(StrEnum):
    """Whether a way can be gone without a download, the best first."""

    READY = "ready"
    """It is all there, as far as can be seen."""
    UNKNOWN = "unknown"
    """Only the runner knows whether it has the package."""
    NOT_INSTALLED = "not installed"
    """It has to be downloaded first."""
    UNAVAILABLE = "unavailable"
    """It cannot be had on this machine; the way's ``problem`` says why."""


@frozen(kw_only=True)
class Way:
    """One way to start or reach an agent.

    Attributes:
        kind: what stands behind it.
        source: who says so: the user's file, ``PATH``, or a registry.
        readiness: whether it can be gone without a download.
        command: the command, which downloads nothing; empty for an agent elsewhere, or if there is none.
        installing_command: the command that lets the runner download the package; empty for all else.
        url: the URL of an agent elsewhere, else ``None``.
        env: variables that are set for the agent.
        env_from: variables of the agent → the variables of this process that they are taken from.
        bearer_env: the variable with the token for ``url``; ``None``: there is none.
        version: of what is started; empty where it is not known.
        binary: what has to be downloaded, for a program; else ``None``.
        problem: why it cannot be gone; empty where it can.
    """

    kind: WayKind
    source: str
    readiness: Readiness
    command: tuple[str, ...] = ()
    installing_command: tuple[str, ...] = ()
    url: str | None = None
    env: Mapping[str, str] = field(factory=dict)
    env_from: Mapping[str, str] = field(factory=dict)
    bearer_env: str | None = None
    version: str = ""
    binary: BinaryTarget | None = None
    problem: str = ""

    @property
    def preference(self) -> tuple[int, int]:
        """Orders ways, the preferred one first."""
        return list(Readiness).index(self.readiness), list(WayKind).index(self.kind)

    def target(self, environment: Mapping[str, str], *, installing: bool = False) -> AgentTarget:
        """Return what to connect to.

        Args:
            environment: where the variables are looked up that are named in ``env_from`` and ``bearer_env``.
            installing: let a runner download the package.

        Raises:
            InvalidInput: a variable is not set, or there is no way.
        """
        if self.problem:
            raise InvalidInput(self.problem)
        if self.url is not None:
            token = None if self.bearer_env is None else _value(environment, self.bearer_env)
            return AgentTarget(url=self.url, remote=None if token is None else RemoteOptions(bearer=token))
        taken = {name: _value(environment, source) for name, source in self.env_from.items()}
        command = self.installing_command if installing and self.installing_command else self.command
        return AgentTarget(command=command, env={**self.env, **taken})


def _value(environment: Mapping[str, str], name: str) -> str:
    value = environment.get(name)
    if not value:
        raise InvalidInput(f"the environment variable {name} is not set")
    return value
