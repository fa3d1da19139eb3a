"""An agent that behaves as Harn does on the wire: :class:`HarnAgent`; its scripts work with :class:`HarnTurn`.

It has no model and runs no pipeline. What it has are the ways of Harn that a host must cope with: it reads everything
and does most of it only after the prompt that runs, tells much beside the conversation, and asks its host for tools,
skills, shells and answers.
"""

from __future__ import annotations

from acp_host.testing.harn.agent import HarnAgent
from acp_host.testing.harn.turn import HarnTurn

__all__ = ["HarnAgent", "HarnTurn"]
