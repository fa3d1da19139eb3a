"""Which environment variables a Harn agent gives to the programs that its model starts: :class:`ChildEnvironment`.

Newer builds want to be told in ``session/new``; everything in the agent's own environment is at stake, keys included.
Where the host has started the agent itself, with an environment that it chose, that one is inherited by default. Over
any other transport nobody here knows what is in it, and the application has to choose.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from attrs import field, frozen

from acp_host.errors import InvalidInput, NotSupported
from acp_host.protocol.negotiation import Agreement
from acp_host.wire._model import NO_EXTRA

__all__ = ["ChildEnvironment", "EnvironmentKind", "environment_member"]


class EnvironmentKind(StrEnum):
    """What programs get of the agent's environment."""

    INHERITED = "inherited"
    """All of it."""
    ISOLATED = "isolated"
    """None of it."""
    GRANTED = "granted"
    """What is granted one by one."""


@frozen
class ChildEnvironment:
    """What the programs that a Harn agent's model starts get of the agent's environment.

    Attributes:
        kind: one of :class:`EnvironmentKind`.
        grants: what is granted, as Harn reads it; only for ``granted``.

    Raises:
        InvalidInput: the kind is another word, or there are grants for one that has none.
    """

    kind: str
    grants: tuple[Any, ...] = field(default=(), converter=tuple)

    def __attrs_post_init__(self) -> None:
        kinds = ", ".join(EnvironmentKind)
        if self.kind not in list(EnvironmentKind):
            raise InvalidInput(f"the environment of programs is one of {kinds}, not {self.kind!r}")
        if self.grants and self.kind != EnvironmentKind.GRANTED:
            raise InvalidInput(f"grants are for an environment that is granted, not for one that is {self.kind}")

    def to_json(self) -> dict[str, Any]:
        """Return the object as it is sent."""
        granted = {"grants": list(self.grants)} if self.kind == EnvironmentKind.GRANTED else {}
        return {"kind": str(self.kind), **granted}


def environment_member(
    environment: ChildEnvironment | None, agreement: Agreement, *, started_here: bool, force: bool
) -> Mapping[str, Any]:
    """Return the member of the request that opens a session; none for every agent but Harn.

    Args:
        environment: what the application has chosen, if it has.
        agreement: tells whether the agent is Harn.
        started_here: the host has started the agent, in an environment that it chose.
        force: send what the application has chosen to any agent.

    Raises:
        NotSupported: the application has chosen, and the agent would not keep to it.
    """
    if agreement.harn is None and environment is not None and not force:
        raise NotSupported(
            f"{agreement.agent_name} is not Harn and does not know environment={environment.kind!r}. Nothing was sent; "
            "choose what is in the agent's own environment with connect(env=…).",
            capability="agentCapabilities._meta.harn",
        )
    if environment is None and started_here and agreement.harn is not None:
        environment = ChildEnvironment(EnvironmentKind.INHERITED)
    return NO_EXTRA if environment is None else {"environmentPolicy": environment.to_json()}
