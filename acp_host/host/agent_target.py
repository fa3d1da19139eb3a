"""An agent with all that it takes to start or reach it, as one value: :class:`AgentTarget`."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from acp_host.errors import InvalidInput
from acp_host.transports import RemoteOptions

__all__ = ["AgentTarget"]


@frozen(kw_only=True)
class AgentTarget:
    """What :func:`acp_host.connect` takes in place of a command or a URL where more than that is needed.

    Attributes:
        command: the agent's command; empty for an agent elsewhere.
        url: the URL of an agent elsewhere; ``None`` for a command.
        env: variables added to this process's environment for the command.
        remote: how to reach the URL; ``None``: as ``connect`` does by itself.

    Raises:
        InvalidInput: there is not exactly one of a command and a URL, or a member is for the other one.
    """

    command: tuple[str, ...] = ()
    url: str | None = None
    env: Mapping[str, str] = field(factory=dict, repr=False)
    remote: RemoteOptions | None = None

    def __attrs_post_init__(self) -> None:
        if bool(self.command) == (self.url is not None):
            raise InvalidInput("an AgentTarget has either a command or a URL")
        if self.env and self.url is not None:
            raise InvalidInput("AgentTarget(env=…) is for a command, and an agent elsewhere has its own environment")
        if self.remote is not None and self.url is None:
            raise InvalidInput("AgentTarget(remote=…) is for the URL of an agent elsewhere")

    def environment(self, given: Mapping[str, str] | None) -> Mapping[str, str] | None:
        """Return the variables for the command, those that were given before its own."""
        return {**self.env, **(given or {})} if self.env else given
