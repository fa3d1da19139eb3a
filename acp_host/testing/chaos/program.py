"""The bad agents as a program, ``python -m acp_host.testing.chaos`` and ``acp-host chaos``: :func:`main`."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from acp_host.errors import InvalidInput
from acp_host.testing._stdio import run_on_stdio
from acp_host.testing.chaos.bad_agent import BadAgent
from acp_host.testing.chaos.catalogue import CATALOGUE, find, select
from acp_host.testing.chaos.checking import check_host
from acp_host.testing.chaos.journal import Journal
from acp_host.testing.chaos.report import Meeting, Report, lines_of

__all__ = ["main", "play"]

_DESCRIPTION = """\
Agents that misbehave, for tests of hosts.

  NAME     be the agent of that name or number, with a host at stdin and stdout
  list     list them
  check    run the command of a host against them, and report what it gets wrong
"""

_CHECK = """\
Run the command of a host against bad agents, one after the other. In the command, {agent} stands for that of the agent:

  acp-host chaos check -- my-host --prompt hello -- {agent}

The host has to connect, open a session, send one prompt and end with it; nobody sits in front of it. The exit code is 0
where it got everything right, 1 where not, 2 where it could not be run.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; return its exit code."""
    words = sys.argv[1:] if argv is None else list(argv)
    try:
        match words[:1]:
            case ["list"]:
                return _list(words[1:])
            case ["check"]:
                return _check(words[1:])
            case [name] if not name.startswith("-") and len(words) == 1:
                return play(find(name))
    except InvalidInput as error:
        print(f"chaos: {error}", file=sys.stderr)
        return 2
    print(_DESCRIPTION, end="", file=sys.stdout if words[:1] in (["-h"], ["--help"]) else sys.stderr)
    return 0 if words[:1] in (["-h"], ["--help"]) else 2


def play(agent: BadAgent) -> int:
    """Be an agent, with a host at stdin and stdout; return the exit status."""
    if agent.process:
        if sys.platform == "win32":
            raise InvalidInput(f"{agent.name} uses signals and processes of POSIX")
        program = str(Path(__file__).with_name("bad_process.py"))
        os.execv(sys.executable, [sys.executable, "-S", "-E", program, *agent.process])
    return run_on_stdio(agent.meet(Journal.of_process()).serve)


def _list(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="chaos list", description="List the bad agents.")
    parser.add_argument("--json", action="store_true", help="print them as JSON")
    parser.add_argument("agents", nargs="*", metavar="NAME", help="a name, a number, or a beginning such as noise-")
    options = parser.parse_args(words)
    chosen = select(options.agents)
    if options.json:
        members = ("name", "chapter", "does", "rule", "row")
        plain = [{"number": f"C{a.number:03d}", **{m: getattr(a, m) for m in members}} for a in chosen]
        print(json.dumps(plain, indent=2, ensure_ascii=False))
        return 0
    chapter = ""
    for agent in chosen:
        if agent.chapter != chapter:
            chapter = agent.chapter
            print(f"\n{chapter}\n")
        print(f"  {agent!s:40} {agent.does}")
    return 0


def _check(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="chaos check", description=_CHECK, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="meet this agent alone; may be given again"
    )
    parser.add_argument("--timeout", type=float, default=30.0, metavar="S", help="the host hangs after S seconds (30)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="so many meetings at the same time (1)")
    parser.add_argument("--interrupt", action="store_true", help="cancel turns by Ctrl-C (SIGINT)")
    parser.add_argument("--any-status", action="store_true", help="do not judge the exit status of the host")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("host", nargs="+", metavar="HOST", help="the command of the host, with {agent} in it")
    options = parser.parse_args(words)

    def met(meeting: Meeting) -> None:
        if not options.json:
            print("\n".join(lines_of(meeting)), flush=True)

    report = asyncio.run(
        check_host(
            options.host,
            select(options.only) if options.only else CATALOGUE,
            timeout=options.timeout,
            jobs=options.jobs,
            interrupt=options.interrupt,
            judge_status=not options.any_status,
            met=met,
        )
    )
    _sum_up(report, as_json=options.json)
    return 1 if report.failed else 0


def _sum_up(report: Report, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(report.to_json(), indent=2, ensure_ascii=False))
    else:
        print("\n".join(list(report.lines())[-2:]))
