"""The catalogue of bad agents as the tables of ``docs/chaos.md``; run it to print them."""

from __future__ import annotations

from itertools import groupby

from acp_host.testing.chaos import CATALOGUE, BadAgent

__all__ = ["row", "tables"]


def row(agent: BadAgent) -> str:
    """Return the line of an agent."""
    does = agent.does.replace("|", "\\|")
    return f"| {agent.code} | `{agent.name}` | {does} | {agent.rule} | {agent.row} |"


def tables() -> str:
    """Return all of them."""
    parts = []
    for chapter, agents in groupby(CATALOGUE, lambda agent: agent.chapter):
        head = "| # | name | what the agent does | what a good host does | here |\n|---|---|---|---|---|"
        parts.append("\n".join([f"### {chapter}\n", head, *map(row, agents)]))
    return "\n\n".join(parts)


if __name__ == "__main__":
    print(tables())
