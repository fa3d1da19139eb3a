"""Agents that are installed on this machine: :data:`WELL_KNOWN`, and :func:`find_on_path`, which looks for them.

Looking means looking for files. No program is started to see whether it is there, so its version is not known.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping

from attrs import frozen

from acp_host.automation.known_agents.ways import Readiness, Way, WayKind

__all__ = ["WELL_KNOWN", "InstalledAgent", "find_on_path", "program_on_path"]


@frozen
class InstalledAgent:
    """An agent that people have as a program, and how that program is made to speak ACP.

    Attributes:
        name: what it is called here: the id that it has in the ACP registry, where it is there.
        title: its name for people.
        command: the program and its arguments.
    """

    name: str
    title: str
    command: tuple[str, ...]


WELL_KNOWN = tuple(
    InstalledAgent(name, title, tuple(command.split()))
    for name, title, command in (
        ("amp-acp", "Amp", "amp-acp"),
        ("auggie", "Auggie CLI", "auggie --acp"),
        ("cagent", "Docker cagent", "cagent acp"),
        ("claude-acp", "Claude Agent", "claude-agent-acp"),
        ("claude-acp", "Claude Agent", "claude-code-acp"),
        ("cline", "Cline", "cline --acp"),
        ("code-assistant", "Code Assistant", "code-assistant acp"),
        ("codebuddy-code", "CodeBuddy Code", "codebuddy --acp"),
        ("codex-acp", "Codex CLI", "codex-acp"),
        ("cortex-code", "Cortex Code", "cortex acp serve"),
        ("cursor", "Cursor", "cursor-agent acp"),
        ("deepagents", "DeepAgents", "deepagents-acp"),
        ("devin", "Devin", "devin acp"),
        ("factory-droid", "Factory Droid", "droid exec --output-format acp-daemon"),
        ("fast-agent", "fast-agent", "fast-agent acp"),
        ("gemini", "Gemini CLI", "gemini --acp"),
        ("github-copilot", "GitHub Copilot", "copilot-language-server --acp"),
        ("github-copilot-cli", "GitHub Copilot CLI", "copilot --acp"),
        ("goose", "Goose", "goose acp"),
        ("gptme", "gptme", "gptme-acp"),
        ("grok-build", "Grok Build", "grok agent stdio"),
        ("harn", "Harn", "harn serve acp"),
        ("hermes", "Hermes", "hermes-acp"),
        ("junie", "Junie", "junie --acp=true"),
        ("kilo", "Kilo Code", "kilo acp"),
        ("kimi", "Kimi CLI", "kimi acp"),
        ("mistral-vibe", "Mistral Vibe", "vibe-acp"),
        ("nova", "Nova", "nova acp"),
        ("openhands", "OpenHands", "openhands acp"),
        ("opencode", "OpenCode", "opencode acp"),
        ("pi-acp", "pi", "pi-acp"),
        ("qoder", "Qoder CLI", "qodercli --acp"),
        ("qwen-code", "Qwen Code", "qwen --acp"),
        ("stakpak", "Stakpak", "stakpak acp"),
    )
)
"""The programs that are looked for; of two with one name, the first that is there counts."""


def program_on_path(program: str, environment: Mapping[str, str]) -> str | None:
    """Return where a program is on the ``PATH`` of an environment, or ``None``."""
    return shutil.which(program, path=environment.get("PATH", ""))


def find_on_path(environment: Mapping[str, str]) -> Iterator[tuple[InstalledAgent, Way]]:
    """Yield the well-known agents that are installed, and how each is started."""
    for agent in WELL_KNOWN:
        if program_on_path(agent.command[0], environment) is not None:
            yield agent, Way(kind=WayKind.PATH, source="PATH", readiness=Readiness.READY, command=agent.command)
