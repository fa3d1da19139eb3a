"""Which agent a script means: :func:`resolve_target`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from attrs import evolve, frozen

from acp_host.host.agent_target import AgentTarget
from acp_host.host.connect_arguments import target_of
from acp_host.recording.redaction import command_without_secrets
from acp_host.transports import Transport
from acp_host.transports.remote_address import RemoteAddress

__all__ = ["ResolvedTarget", "resolve_target"]


@frozen(kw_only=True)
class ResolvedTarget:
    """An agent that somebody named, as :func:`acp_host.connect` takes it.

    Attributes:
        target: its command, its URL, or the way to it.
        shown: what to call it, for people and journals: its command or its URL, without secrets.
        remote: whether it is elsewhere: then nothing of this machine is looked at for it.
    """

    target: Sequence[str] | str | Transport | AgentTarget
    shown: str
    remote: bool = False


def resolve_target(agent: Sequence[str] | str | Transport | AgentTarget) -> ResolvedTarget:
    """Return how an agent is started or reached.

    Args:
        agent: as for :func:`acp_host.connect`: its command, its URL, a :class:`~acp_host.transports.Transport`, or what
            :func:`acp_host.known` returns.

    Raises:
        InvalidInput: it is none of these.
    """
    if isinstance(agent, AgentTarget):
        return evolve(resolve_target(agent.url or agent.command), target=agent)
    target = target_of(agent, {}, None)
    if isinstance(target, Transport):
        return ResolvedTarget(target=target, shown=target.peer, remote=target.remote)
    if isinstance(target, str):
        return ResolvedTarget(target=target, shown=RemoteAddress.of(target).shown, remote=True)
    return ResolvedTarget(target=target, shown=shlex.join(command_without_secrets(target)))
