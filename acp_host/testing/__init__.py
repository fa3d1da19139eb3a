"""Agents for tests, of this library and of programs that use it.

* :class:`ReferenceAgent` is a complete agent without a model; :class:`AgentTurn` is what its scripts work with.
* :class:`HarnAgent` behaves as Harn does on the wire; :class:`HarnTurn` is what its scripts work with.
* :class:`ScriptedAgent` does exactly what a test says, right or wrong.
* :class:`AgentSide` is the base for an agent of your own.
* :class:`ReplayTransport` plays the agent's part of a recording.
* :func:`memory_pair` connects two ends inside one process.
* :mod:`~acp_host.testing.chaos` has agents that misbehave, and checks hosts with them.
* :mod:`~acp_host.testing.gallery` has a state of a session for everything that a front-end has to be able to show.
* :func:`assert_transcript` holds the transcript of a session against what :func:`user_said`, :func:`agent_said`,
  :func:`thought`, :func:`tool_call` and :func:`entry` say.
* :mod:`~acp_host.testing.pytest_plugin` has fixtures for pytest.
* :func:`serve_websocket` and :func:`serve_http` serve an agent over a network; :class:`Access` says to whom.

Names are loaded when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from acp_host.recording.replay_transport import ReplayDiverged, ReplayTransport
    from acp_host.testing import chaos, gallery
    from acp_host.testing.access import Access
    from acp_host.testing.agent_session import AgentSession
    from acp_host.testing.agent_side import AgentSide
    from acp_host.testing.agent_turn import AgentReminder, AgentTurn, CommandResult, ToolCallSkipped, TurnCancelled
    from acp_host.testing.harn import HarnAgent, HarnTurn
    from acp_host.testing.http_serving import serve_http
    from acp_host.testing.reference import ReferenceAgent
    from acp_host.testing.script_language import builtin_script
    from acp_host.testing.scripted import ScriptedAgent
    from acp_host.testing.served_agent import ServedAgent
    from acp_host.testing.transcripts import (
        ExpectedEntry,
        agent_said,
        assert_transcript,
        entry,
        thought,
        tool_call,
        user_said,
    )
    from acp_host.testing.websocket_serving import serve_websocket
    from acp_host.transports import memory_pair

__all__ = [
    "Access",
    "AgentReminder",
    "AgentSession",
    "AgentSide",
    "AgentTurn",
    "CommandResult",
    "ExpectedEntry",
    "HarnAgent",
    "HarnTurn",
    "ReferenceAgent",
    "ReplayDiverged",
    "ReplayTransport",
    "ScriptedAgent",
    "ServedAgent",
    "ToolCallSkipped",
    "TurnCancelled",
    "agent_said",
    "assert_transcript",
    "builtin_script",
    "chaos",
    "entry",
    "gallery",
    "memory_pair",
    "serve_http",
    "serve_websocket",
    "thought",
    "tool_call",
    "user_said",
]

_HOME_OF = {
    "Access": "acp_host.testing.access",
    "AgentReminder": "acp_host.testing.agent_turn",
    "AgentSession": "acp_host.testing.agent_session",
    "AgentSide": "acp_host.testing.agent_side",
    "AgentTurn": "acp_host.testing.agent_turn",
    "CommandResult": "acp_host.testing.agent_turn",
    "ExpectedEntry": "acp_host.testing.transcripts",
    "HarnAgent": "acp_host.testing.harn",
    "HarnTurn": "acp_host.testing.harn",
    "ReferenceAgent": "acp_host.testing.reference",
    "ReplayDiverged": "acp_host.recording.replay_transport",
    "ReplayTransport": "acp_host.recording.replay_transport",
    "ScriptedAgent": "acp_host.testing.scripted",
    "ServedAgent": "acp_host.testing.served_agent",
    "ToolCallSkipped": "acp_host.testing.agent_turn",
    "TurnCancelled": "acp_host.testing.agent_turn",
    "agent_said": "acp_host.testing.transcripts",
    "assert_transcript": "acp_host.testing.transcripts",
    "builtin_script": "acp_host.testing.script_language",
    "entry": "acp_host.testing.transcripts",
    "memory_pair": "acp_host.transports",
    "serve_http": "acp_host.testing.http_serving",
    "serve_websocket": "acp_host.testing.websocket_serving",
    "thought": "acp_host.testing.transcripts",
    "tool_call": "acp_host.testing.transcripts",
    "user_said": "acp_host.testing.transcripts",
}


def __getattr__(name: str) -> Any:
    if name in ("chaos", "gallery"):
        return importlib.import_module(f"acp_host.testing.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'acp_host.testing' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
