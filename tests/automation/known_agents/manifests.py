"""Manifests for the tests, in the form of the ACP registry's."""

from __future__ import annotations

import json
from typing import Any

from acp_host.automation.known_agents.machine import platform_key

__all__ = ["by_program", "by_runner", "registry"]


def by_runner(
    agent: str = "acme", runner: str = "npx", package: str = "@acme/agent@1.2.3", **more: Any
) -> dict[str, Any]:
    """Return the manifest of an agent that a runner fetches."""
    return {
        "id": agent,
        "name": f"The {agent} agent",
        "version": "1.2.3",
        "description": "An agent for tests.",
        "distribution": {runner: {"package": package, "args": ["--acp"], **more}},
    }


def by_program(agent: str = "prog", archive: str = "https://x.example/a.tar.gz", **more: Any) -> dict[str, Any]:
    """Return the manifest of an agent that is a program for this machine."""
    target = {"archive": archive, "cmd": "./bin/agent", **more}
    return {**by_runner(agent), "distribution": {"binary": {platform_key(): target}}}


def registry(*manifests: dict[str, Any]) -> bytes:
    """Return a registry with these manifests."""
    return json.dumps({"version": "1.0.0", "agents": list(manifests)}).encode()
