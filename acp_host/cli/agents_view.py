"""Known agents as tables and as JSON: what ``acp-host agents`` prints."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from rich.table import Table
from rich.text import Text

from acp_host.automation.known_agents.all_agents import KnownAgent, KnownAgents
from acp_host.automation.known_agents.last_seen import SeenAgent
from acp_host.automation.known_agents.names import NAME_PREFIX, is_command_too
from acp_host.automation.known_agents.ways import Readiness, Way, WayKind
from acp_host.cli.printer import plain
from acp_host.printable import one_line
from acp_host.transports.remote_address import RemoteAddress

__all__ = ["agent_json", "agents_json", "agents_table", "details_tables"]

_LONGEST = 500


def agents_table(agents: KnownAgents) -> Table:
    """Return all known agents, each with the way in which it is started."""
    table = _table("Known agents", "name", "version", "from", "started by", "last seen")
    for agent in agents.values():
        style = "dim" if agent.way.readiness is Readiness.UNAVAILABLE else ""
        table.add_row(
            plain(agent.name, style),
            _short(agent.version, style),
            _short(_origin(agent.way), style),
            _start(agent.way),
            _seen(agent.seen),
        )
    return table


def details_tables(agent: KnownAgent) -> Iterator[Table]:
    """Yield what is known of one agent: who it is, how it can be started, and what it was last seen to support."""
    table = _table("Agent", "what", "value", show_header=False)
    name = f"{NAME_PREFIX}{agent.name}" if is_command_too(agent, os.environ) else agent.name
    why = f" ({agent.name} alone is the program on the PATH)" if name != agent.name else ""
    rows = {
        "name": agent.title,
        "called": f"{name}{why}",
        "version": agent.version,
        "description": agent.description,
        "website": agent.website,
        "licence": agent.license,
    }
    for label, value in rows.items():
        if value:
            table.add_row(label, _short(value))
    yield table
    ways = _table("How it is started, the first way first", "by", "from", "ready", "command or URL")
    for way in agent.ways:
        ways.add_row(plain(way.kind), _short(way.source), plain(way.readiness), _whole_start(way))
    yield ways
    if agent.seen is not None:
        yield _seen_table(agent.seen)


def agents_json(agents: KnownAgents) -> dict[str, Any]:
    """Return all known agents as JSON, with where they are from and what of that could not be used."""
    return {
        "version": 1,
        "agents": [agent_json(agent) for agent in agents.values()],
        "registries": [
            {
                "source": registry.source,
                "fetchedAt": registry.fetched_at.isoformat(timespec="seconds"),
                "agents": len(registry.manifests),
            }
            for registry in agents.registries
        ],
        "diagnostics": [
            {"kind": str(each.kind), "message": each.message, "path": each.path} for each in agents.diagnostics
        ],
    }


def agent_json(agent: KnownAgent) -> dict[str, Any]:
    """Return one agent as JSON; of the ways to start it, the first is the one that is taken."""
    return {
        "name": agent.name,
        "title": agent.title,
        "version": agent.version or None,
        "description": agent.description or None,
        "website": agent.website or None,
        "license": agent.license or None,
        "ways": [_way_json(way) for way in agent.ways],
        "lastSeen": None if agent.seen is None else _seen_json(agent.seen),
    }


def _way_json(way: Way) -> dict[str, Any]:
    return {
        "kind": str(way.kind),
        "source": way.source,
        "readiness": str(way.readiness),
        "problem": way.problem or None,
        "version": way.version or None,
        "command": list(way.command) or None,
        "installingCommand": list(way.installing_command) or None,
        "url": way.url,
        "env": dict(way.env),
        "envFrom": dict(way.env_from),
        "bearerEnv": way.bearer_env,
        "archive": None if way.binary is None else way.binary.archive,
        "sha256": None if way.binary is None else way.binary.sha256,
    }


def _seen_json(seen: SeenAgent) -> dict[str, Any]:
    return {
        "at": seen.at.isoformat(timespec="seconds"),
        "protocolVersion": seen.protocol_version,
        "name": seen.name,
        "version": seen.version,
        "capabilities": list(seen.capabilities),
        "authMethods": list(seen.auth_methods),
    }


def _seen_table(seen: SeenAgent) -> Table:
    table = _table("What it was last seen to support", "what", "value", show_header=False)
    table.add_row("seen", plain(f"{seen.at:%Y-%m-%d %H:%M} UTC"))
    table.add_row("called itself", _short(f"{seen.name} {seen.version}".strip() or "(it did not say)"))
    table.add_row("protocol version", plain(str(seen.protocol_version)))
    table.add_row("offered", plain("\n".join(seen.capabilities) or "nothing beyond what every agent has"))
    table.add_row("ways to log in", plain(", ".join(seen.auth_methods) or "none"))
    return table


def _whole_start(way: Way) -> Text:
    """Return how a way is gone, with all that belongs to it."""
    lines = [_start(way)]
    lines += [_short(f"sets {name}={value}", "dim") for name, value in way.env.items()]
    lines += [_short(f"sets {name} to that of {source} here", "dim") for name, source in way.env_from.items()]
    if way.bearer_env is not None:
        lines.append(_short(f"with the token in {way.bearer_env}", "dim"))
    if way.binary is not None:
        lines.append(_short(f"downloaded from {way.binary.archive}", "dim"))
        lines.append(_short(f"SHA-256 {way.binary.sha256 or 'not given'}", "dim"))
    return Text("\n").join(lines)


def _start(way: Way) -> Text:
    if way.problem:
        return _short(way.problem, "dim")
    if way.url is not None:
        return plain(RemoteAddress.of(way.url).shown)
    line = subprocess.list2cmdline(way.command) if sys.platform == "win32" else shlex.join(way.command)
    shown = plain(line)
    if way.readiness is Readiness.NOT_INSTALLED:
        shown.append(" (not downloaded)", "yellow")
    return shown


def _origin(way: Way) -> str:
    if way.kind is WayKind.PATH:
        return way.source
    return "agents.toml" if way.kind is WayKind.OWN else f"{way.kind}, {_host(way.source)}"


def _host(source: str) -> str:
    return source.partition("://")[2].partition("/")[0] or source


def _seen(seen: SeenAgent | None) -> Text:
    if seen is None:
        return plain("")
    return plain(f"{seen.at:%Y-%m-%d}: version {seen.protocol_version}, {len(seen.capabilities)} capabilities")


def _short(text: str, style: str = "") -> Text:
    return Text(one_line(text, _LONGEST), style)


def _table(title: str, *columns: str, show_header: bool = True) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", show_header=show_header, header_style="dim")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
