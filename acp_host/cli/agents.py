"""``acp-host agents``: the agents that are known by name, where they are from, and how they are started."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from typing import Any

from acp_host.automation.known_agents.all_agents import KnownAgents
from acp_host.automation.known_agents.locations import Locations
from acp_host.automation.known_agents.names import NAME_PREFIX
from acp_host.automation.known_agents.own_entries import OwnEntry, add_own, remove_own
from acp_host.automation.known_agents.registries import (
    OFFICIAL_REGISTRY,
    forget_registry,
    kept_registries,
    refresh_registry,
)
from acp_host.cli.agents_view import agent_json, agents_json, agents_table, details_tables
from acp_host.cli.chosen_agent import chosen_agent
from acp_host.cli.completers import known_agents, own_agents, sources
from acp_host.cli.exits import ExitCode, code_of_error, exit_code_help
from acp_host.cli.interrupts import Interrupts
from acp_host.cli.printer import Printer, make_console, plain
from acp_host.diagnostics import Diagnostic
from acp_host.errors import AcpError, InvalidInput
from acp_host.given_files import absolute
from acp_host.host.connect import connect
from acp_host.printable import printable_json
from acp_host.transports.remote_address import has_scheme

__all__ = ["add_parser"]

_DESCRIPTION = """\
List the agents that are known by name. A name can stand wherever acp-host takes an agent's command or URL:

  acp-host run opencode -- "Explain the failing test"

Known are the entries of your own file (add and remove change it), well-known agents that are installed, and what the
registries list of which copies are kept (refresh). Your own entries go first, then what is installed. Where a program
on the PATH has the name of an agent that only a registry lists, the name alone is the program, and agent:NAME is the
agent. Listing and starting download nothing; refresh, install and --install do.
"""

_EXAMPLES = f"""\
examples:
  acp-host agents refresh                          # get a copy of the ACP project's registry
  acp-host agents install opencode
  acp-host agents add work opencode acp
  acp-host agents add --bearer-env LAB_TOKEN lab wss://agents.example/acp

the ACP project's registry: {OFFICIAL_REGISTRY}
"""
_FEW = 5
"""Diagnostics that are printed; the rest is counted."""


def add_parser(commands: Any) -> None:
    """Add the sub-command to the command line."""
    parser = commands.add_parser(
        "agents",
        description=_DESCRIPTION,
        epilog=f"{_EXAMPLES}\n{exit_code_help()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="acp-host agents [--json]\n       acp-host agents show|add|remove|refresh|forget|install ...",
        allow_abbrev=False,
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of a table")
    parser.set_defaults(command=_list)
    actions = parser.add_subparsers(metavar="ACTION", title="actions", prog="acp-host agents")
    show = _action(actions, "show", _show, "show all that is known of one agent")
    show.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print one JSON document")
    show.add_argument("known_agent", metavar="NAME", help="the agent").completer = known_agents
    _add_add(actions)
    remove = _action(actions, "remove", _remove, "take an agent out of your own file")
    remove.add_argument("own_agent", metavar="NAME", help="the agent").completer = own_agents
    refresh = _action(actions, "refresh", _refresh, "read registries again, and keep copies of them")
    refresh.add_argument(
        "sources",
        nargs="*",
        metavar="SOURCE",
        help="a URL, or a file or folder in the registry's format (default: those that are kept, or that of the ACP "
        "project)",
    )
    forget = _action(actions, "forget", _forget, "remove the copy of a registry")
    forget.add_argument("kept_source", metavar="SOURCE", help="the registry").completer = sources
    install = _action(actions, "install", _install, "download an agent, start it once, and see what it supports")
    install.add_argument("known_agent", metavar="NAME", help="the agent").completer = known_agents


def _add_add(actions: Any) -> None:
    parser = _action(
        actions,
        "add",
        _add,
        "write an agent into your own file",
        usage="acp-host agents add [options] NAME COMMAND...\n       acp-host agents add [options] NAME URL",
    )
    parser.add_argument("--title", default="", metavar="T", help="its name for people")
    parser.add_argument("--description", default="", metavar="T", help="what it is")
    parser.add_argument(
        "--env-from",
        action="append",
        default=[],
        metavar="NAME[=VAR]",
        help="set its variable NAME to that of VAR, or of NAME, where it is started; no value is kept",
    )
    parser.add_argument("--bearer-env", metavar="VAR", help="the variable that has the token for its URL")
    parser.add_argument("--replace", action="store_true", help="in place of an entry that is there")
    parser.add_argument("own_name", metavar="NAME", help="what to call it")
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="COMMAND", help="its command, or its URL")


def _action(actions: Any, name: str, command: Any, text: str, **more: Any) -> Any:
    parser = actions.add_parser(
        name, help=text, description=f"{text[0].upper()}{text[1:]}.", allow_abbrev=False, **more
    )
    parser.set_defaults(command=command)
    return parser


async def _list(options: argparse.Namespace, interrupts: Interrupts) -> int:
    agents = await asyncio.to_thread(KnownAgents.load)
    if options.json:
        _print_json(agents_json(agents))
        return ExitCode.COMPLETED
    _report(agents.diagnostics)
    if agents:
        Printer(make_console(sys.stdout)).show(agents_table(agents))
    if not agents.registries:
        _say("no registry is kept; acp-host agents refresh gets that of the ACP project")
    return ExitCode.COMPLETED


async def _show(options: argparse.Namespace, interrupts: Interrupts) -> int:
    agents = await asyncio.to_thread(KnownAgents.load)
    agent = agents.find(options.known_agent.removeprefix(NAME_PREFIX))
    if options.json:
        _print_json({"version": 1, "agent": agent_json(agent)})
        return ExitCode.COMPLETED
    printer = Printer(make_console(sys.stdout))
    for number, table in enumerate(details_tables(agent)):
        printer.show(table, blank_before=number > 0)
    return ExitCode.COMPLETED


async def _add(options: argparse.Namespace, interrupts: Interrupts) -> int:
    words = options.words[1:] if options.words[:1] == ["--"] else options.words
    if not words:
        raise InvalidInput("no agent: give its command or its URL after the name")
    is_url = len(words) == 1 and has_scheme(words[0])
    entry = OwnEntry(
        title=options.title,
        description=options.description,
        command=() if is_url else _from_anywhere(words),
        url=words[0] if is_url else None,
        env_from=dict(_variables(item) for item in options.env_from),
        bearer_env=options.bearer_env,
    )
    path = Locations.for_user().own
    await asyncio.to_thread(add_own, path, options.own_name, entry, replace=options.replace)
    _say(f"{options.own_name} is in {path}")
    return ExitCode.COMPLETED


def _from_anywhere(words: list[str]) -> tuple[str, ...]:
    """Return a command that means the same wherever it is started: a path in it is made absolute."""
    program = words[0] if os.path.basename(words[0]) == words[0] else absolute(words[0])
    return (program, *words[1:])


def _variables(item: str) -> tuple[str, str]:
    name, equals, source = item.partition("=")
    return name, source if equals else name


async def _remove(options: argparse.Namespace, interrupts: Interrupts) -> int:
    await asyncio.to_thread(remove_own, Locations.for_user().own, options.own_agent)
    return ExitCode.COMPLETED


async def _refresh(options: argparse.Namespace, interrupts: Interrupts) -> int:
    folder = Locations.for_user().registries
    kept = await asyncio.to_thread(kept_registries, folder)
    sources = options.sources or [registry.source for registry in kept] or [OFFICIAL_REGISTRY]
    failed = []
    for source in sources:
        try:
            registry = await refresh_registry(folder, source)
        except AcpError as error:
            if len(sources) == 1:
                raise
            failed.append(error)
            _say(f"{source}: {error}")
            continue
        _report(registry.diagnostics)
        _say(f"{registry.source}: {len(registry.manifests)} agents")
    return code_of_error(failed[0]) if failed else ExitCode.COMPLETED


async def _forget(options: argparse.Namespace, interrupts: Interrupts) -> int:
    await asyncio.to_thread(forget_registry, Locations.for_user().registries, options.kept_source)
    return ExitCode.COMPLETED


async def _install(options: argparse.Namespace, interrupts: Interrupts) -> int:
    name = options.known_agent.removeprefix(NAME_PREFIX)
    how = argparse.Namespace(install=True, header=[], bearer_env=None)
    chosen = chosen_agent([f"{NAME_PREFIX}{name}"], how)
    await chosen.get_ready()
    printer = Printer(make_console(sys.stderr))
    on_stderr = None if chosen.remote is not None else lambda line: printer.line("stderr", plain(line, "dim"))
    async with connect(chosen.argument, remote=chosen.remote, on_stderr=on_stderr) as host:
        await chosen.remember(host.agreement)
    _say(f"{name} is there, and speaks version {host.agreement.protocol_version} of ACP")
    return ExitCode.COMPLETED


def _report(diagnostics: tuple[Diagnostic, ...]) -> None:
    """Print the first of some diagnostics on stderr."""
    printer = Printer(make_console(sys.stderr))
    for diagnostic in diagnostics[:_FEW]:
        printer.line("diagnostic", plain(diagnostic.message, "yellow"))
    if len(diagnostics) > _FEW:
        printer.line("diagnostic", plain(f"and {len(diagnostics) - _FEW} more; --json has them all", "yellow"))


def _say(text: str) -> None:
    Printer(make_console(sys.stderr)).line("agents", plain(text))


def _print_json(document: Any) -> None:
    print(printable_json(document, indent=2))
