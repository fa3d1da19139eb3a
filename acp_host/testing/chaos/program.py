"""The bad agents as a program, ``python -m acp_host.testing.chaos`` and ``acp-host chaos``: :func:`main`."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from acp_host.errors import InvalidInput
from acp_host.printable import printable_json
from acp_host.testing._stdio import run_on_stdio
from acp_host.testing.chaos.bad_agent import BadAgent
from acp_host.testing.chaos.catalogue import find, select
from acp_host.testing.chaos.checking import check_host
from acp_host.testing.chaos.journal import JOURNAL_VARIABLE, Journal
from acp_host.testing.chaos.judging import Rule
from acp_host.testing.chaos.report import Meeting, lines_of

__all__ = ["add_commands", "become", "main"]

_DESCRIPTION = """\
Agents that misbehave, for tests of hosts.

  NAME     be the agent of that name or number, with a host at stdin and stdout
  list     list them
  check    run the command of a host against them, and report what it gets wrong
"""

_CHECK = """\
Run the command of a host against bad agents, once for each. In the command, {agent} stands for that of the agent:

  acp-host chaos check -- my-host --prompt hello -- {agent}

The host has to connect, open a session, send one prompt and end with it; nobody sits in front of it. Its exit status is
held to be 0 exactly if the turn was completed, unless --any-status says that it means something else. The exit code of
the check is 0 where the host got everything right, 1 where not, 2 where it could not be run.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; return its exit code."""
    words = sys.argv[1:] if argv is None else list(argv)
    try:
        match words:
            case ["list" | "check", *_]:
                pass
            case [name, *more] if not name.startswith("-"):
                return _be(name, more)
        parser = argparse.ArgumentParser(
            prog="python -m acp_host.testing.chaos",
            description=_DESCRIPTION,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        add_commands(parser.add_subparsers(metavar="NAME|list|check", required=True))
        options = parser.parse_args(words)
        code: int = asyncio.run(options.do(options))
        return code
    except InvalidInput as error:
        print(f"chaos: {error}", file=sys.stderr)
        return 2


def _be(name: str, words: Sequence[str]) -> int:
    """Be an agent, with a host at stdin and stdout; return the exit status."""
    parser = argparse.ArgumentParser(prog=f"python -m acp_host.testing.chaos {name}")
    parser.add_argument("--journal", metavar="FILE", help="keep a journal in this file")
    options = parser.parse_args(words)
    agent = find(name)
    if options.journal is not None:
        os.environ[JOURNAL_VARIABLE] = options.journal  # for processes that it starts, too
    if agent.process:
        become(agent)
    return run_on_stdio(agent.meet(Journal.of_process()).serve)


def become(agent: BadAgent) -> NoReturn:
    """Replace this process by the program of an agent that is bad as a process."""
    if sys.platform == "win32":
        raise InvalidInput(f"{agent.name} uses signals and processes of POSIX")
    program = str(Path(__file__).with_name("bad_process.py"))
    os.execv(sys.executable, [sys.executable, "-S", "-E", program, *agent.process])


def add_commands(commands: Any) -> None:
    """Add ``list`` and ``check``; the coroutine function that does it is the option ``do``."""
    listing = commands.add_parser("list", help="list the agents", description="List the bad agents.")
    listing.add_argument("--json", action="store_true", help="print them as JSON")
    listing.add_argument("agents", nargs="*", metavar="NAME", help="a name, a number, or a beginning such as noise-")
    listing.set_defaults(do=_list)
    checking = commands.add_parser(
        "check",
        help="run a host against them",
        description=_CHECK,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = checking.add_argument
    only = "meet this agent alone: a name, a number, or a beginning up to a dash, e.g. noise-; may be given again"
    add("--only", action="append", default=[], metavar="NAME", help=only)
    add("--timeout", type=float, default=60.0, metavar="S", help="the host hangs after S seconds (default: 60)")
    add("--at-once", type=int, default=1, metavar="N", help="so many meetings at the same time (default: 1)")
    add("--interrupt", action="store_true", help="cancel turns by Ctrl-C (SIGINT)")
    add("--any-status", action="store_true", help="do not judge the exit status of the host")
    add("--json", action="store_true", help="print the report as JSON")
    add("host", nargs="+", metavar="HOST", help="the command of the host, with {agent} in it, after a --")
    checking.set_defaults(do=_check)


async def _list(options: argparse.Namespace) -> int:
    chosen = select(options.agents)
    if options.json:
        members = ("name", "chapter", "does", "rule", "row")
        plain = [{"number": agent.code, **{name: getattr(agent, name) for name in members}} for agent in chosen]
        print(printable_json(plain, indent=2))
        return 0
    chapter = ""
    for agent in chosen:
        if agent.chapter != chapter:
            chapter = agent.chapter
            print(f"\n{chapter}\n")
        print(f"  {agent!s:40} {agent.does}")
    return 0


async def _check(options: argparse.Namespace) -> int:
    def met(meeting: Meeting) -> None:
        if not options.json:
            print("\n".join(lines_of(meeting)), flush=True)

    report = await check_host(
        options.host,
        select(options.only) if options.only else None,
        timeout=options.timeout,
        at_once=options.at_once,
        interrupt=options.interrupt,
        judge_status=not options.any_status,
        met=met,
    )
    if options.json:
        print(printable_json(report.to_json(), indent=2))
    else:
        print("\n".join(list(report.lines())[-2:]))
        if any(finding.rule == Rule.STATUS for meeting in report.failed for finding in meeting.wrong):
            print("Does the exit status of this host mean something else? With --any-status it is not judged.")
    return 1 if report.failed else 0
