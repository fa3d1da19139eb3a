"""An agent in this process that can be started anew, as a launched one can."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from acp_host.testing import ReferenceAgent, ScriptedAgent
from acp_host.testing._in_process import InProcessTransport
from acp_host.transports._launch import Launch

__all__ = ["Process"]

Make = Callable[[Mapping[str, str]], ReferenceAgent | ScriptedAgent]
"""Makes the agent of one start, given the variables that were added to its environment."""


class Process(InProcessTransport):
    """Pretends to be the process of ``the-agent --acp``; each start makes another agent."""

    def __init__(self, make: Make, env: Mapping[str, str] | None = None) -> None:
        self.env = dict(env or {})
        self._make = make
        self._started_as = make(self.env)
        super().__init__(self._started_as.serve, "the agent")

    @property
    def launch(self) -> Launch:
        return Launch.of(["the-agent", "--acp"], "/", self.env, inherit_env=False)

    def again(self, env: Mapping[str, str]) -> Process:
        return Process(self._make, {**self.env, **env})
