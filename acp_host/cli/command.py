"""The command line as a whole: parsing, running one sub-command, and what is printed when it fails."""

from __future__ import annotations

import argparse
import asyncio
import importlib
import os
import signal
import sys
from collections.abc import Sequence

from acp_host._version import __version__
from acp_host.cli.complaints import complaint
from acp_host.cli.completion import answer_shell, is_asked_by_shell
from acp_host.cli.exits import ExitCode, code_of_error, code_of_signal, exit_code_help
from acp_host.cli.interrupts import Interrupts
from acp_host.cli.misplaced import told_at_once
from acp_host.errors import AcpError
from acp_host.printable import printable

__all__ = ["run_command"]

_COMMANDS = {
    "demo": "show a whole conversation with the built-in agent, and how reminders and notices travel",
    "run": "send one prompt to an agent",
    "fleet": "send one prompt to an agent in each of many directories",
    "chat": "hold a conversation in the terminal",
    "serve": "show a conversation as a page in the browser",
    "inspect": "show what an agent offers",
    "agents": "list known agents, and what they were last seen to support",
    "replay": "show what a recording amounts to",
    "record": "record what an agent and its host say, for a bug report",
    "agent": "be an agent without a model, for tests: over stdio, or served over a network",
    "chaos": "check a host against agents that misbehave",
    "completion": "print what a shell needs to complete this command",
}
"""Sub-command, which is also its module, → what it does, in a line."""


def run_command(argv: Sequence[str]) -> int:
    """Run the command with these arguments and return its exit code; see :func:`acp_host.cli.main`."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed before we were started
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - it lasts as long as the program
    if sys.stdin is None:
        sys.stdin = open(os.devnull)  # noqa: SIM115 - likewise
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show a character ends nothing
    if hasattr(sys.stdin, "reconfigure") and not sys.stdin.isatty():
        sys.stdin.reconfigure(encoding="utf-8", errors="strict")  # as files are read, whatever the locale
    if is_asked_by_shell():
        answer_shell(_make_parser)
    options, unknown = _make_parser(argv).parse_known_args(argv)
    if unknown:
        words = printable(" ".join(unknown))
        print(f"acp-host: unrecognized arguments: {words}\nTry acp-host {options.name} --help.", file=sys.stderr)
        return ExitCode.USAGE
    if hint := told_at_once(options):
        print(printable(f"acp-host: {hint}"), file=sys.stderr)
    interrupts = Interrupts()
    try:
        return asyncio.run(_run(options, interrupts))
    except AcpError as error:
        print(complaint(error, options), file=sys.stderr)
        return code_of_error(error)
    except asyncio.CancelledError:
        return code_of_signal(interrupts.received or signal.SIGINT)
    except KeyboardInterrupt:
        if interrupts.received is not None:  # it was not heard in time: whoever reads the output may have stopped to
            _say_no_more()
        return code_of_signal(interrupts.received or signal.SIGINT)
    except BrokenPipeError:
        # Whoever read the output has gone. Python would complain once more when it flushes stdout at the end.
        _say_no_more()
        return code_of_signal(getattr(signal, "SIGPIPE", 13))
    except OSError as error:
        # The disk behind stdout is full, or the like; flushing at the end would fail once more.
        _say_no_more()
        print(f"acp-host: {printable(str(error))}", file=sys.stderr)
        return ExitCode.AGENT_FAILED


def _say_no_more() -> None:
    """Let what is still to be written to stdout go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


async def _run(options: argparse.Namespace, interrupts: Interrupts) -> int:
    with interrupts:
        code: int = await options.command(options, interrupts)
        return code


def _make_parser(argv: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser for a command line; the help of sub-commands that are not named in it is not there."""
    parser = argparse.ArgumentParser(
        prog="acp-host",
        description="Talk to coding agents over the Agent Client Protocol (ACP).",
        epilog=exit_code_help(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"acp-host {__version__}")
    commands = parser.add_subparsers(dest="name", metavar="COMMAND", required=True)
    named = next((argument for argument in argv if not argument.startswith("-")), None)
    for name, purpose in _COMMANDS.items():
        if name == named:  # the only one whose module is loaded
            importlib.import_module(f"acp_host.cli.{name}").add_parser(commands)
        else:
            commands.add_parser(name, help=purpose)
    return parser
