"""Agents that misbehave, for tests of hosts: the catalogue, and what judges a host that meets them.

* :data:`CATALOGUE` has every :class:`BadAgent`; :func:`find` returns one by its name or number.
* ``agent.transport()`` runs one in this process, ``agent.command()`` is the command of one of its own, and
  ``serve_websocket(agent.serve)`` serves one over a network.
* :func:`check_host` runs the command of a host against them, and returns a :class:`Report`.

As a program: ``python -m acp_host.testing.chaos NAME`` is the agent of that name with a host at stdin and stdout,
``… list`` lists them, ``… check -- HOST COMMAND {agent}`` checks a host.
"""

from __future__ import annotations

from acp_host.testing.chaos.bad_agent import BadAgent, Ends
from acp_host.testing.chaos.catalogue import CATALOGUE, find, select
from acp_host.testing.chaos.checking import check_host
from acp_host.testing.chaos.encounter import Encounter
from acp_host.testing.chaos.journal import Journal
from acp_host.testing.chaos.judging import Finding, Rule, judge
from acp_host.testing.chaos.report import Meeting, Report

__all__ = [
    "CATALOGUE",
    "BadAgent",
    "Encounter",
    "Ends",
    "Finding",
    "Journal",
    "Meeting",
    "Report",
    "Rule",
    "check_host",
    "find",
    "judge",
    "select",
]
