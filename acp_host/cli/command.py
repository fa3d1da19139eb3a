"""The command line as a whole: parsing, running one sub-command, and what is printed when it fails."""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
import os
import signal
import sys
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from acp_host._version import __version__
from acp_host.cli.exits import ExitCode, code_of_error, code_of_signal, exit_code_help
from acp_host.cli.interrupts import Interrupts
from acp_host.errors import AcpError, InvalidInput, RequestFailed, StartFailed, TransportError
from acp_host.printable import printable
from acp_host.redaction import redact, redact_text

__all__ = ["run_command"]

_LONGEST_DATA = 2_000
_COMMANDS = {
    "demo": "show a whole conversation with the built-in agent, and how reminders and notices travel",
    "run": "send one prompt to an agent",
    "chat": "hold a conversation in the terminal",
    "serve": "show a conversation as a page in the browser",
    "inspect": "show what an agent offers",
    "agents": "list known agents, and what they were last seen to support",
    "replay": "show what a recording amounts to",
    "agent": "be an agent without a model, for tests: over stdio, or served over a network",
    "record": "record what an agent and its host say, for a bug report",
}
"""Sub-command, which is also its module, → what it does, in a line."""


def run_command(argv: Sequence[str]) -> int:
    """Run the command with these arguments and return its exit code; see :func:`acp_host.cli.main`."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed before we were started
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - it lasts as long as the program
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show a character ends nothing
    options = _parse(argv)
    interrupts = Interrupts()
    try:
        return asyncio.run(_run(options, interrupts))
    except AcpError as error:
        _complain(error, options)
        return code_of_error(error)
    except (asyncio.CancelledError, KeyboardInterrupt):
        return code_of_signal(interrupts.received or signal.SIGINT)
    except BrokenPipeError:
        # Whoever read the output has gone. Python would complain once more when it flushes stdout at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return code_of_signal(getattr(signal, "SIGPIPE", 13))
    except OSError as error:
        # The disk behind stdout is full, or the like; flushing at the end would fail once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print(f"acp-host: {printable(str(error))}", file=sys.stderr)
        return ExitCode.AGENT_FAILED


async def _run(options: argparse.Namespace, interrupts: Interrupts) -> int:
    with interrupts:
        code: int = await options.command(options, interrupts)
        return code


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    """Return the options; ends the program for ``--help``, ``--version`` and a wrong command line."""
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
    return parser.parse_args(argv)


def _complain(error: AcpError, options: argparse.Namespace) -> None:
    """Say on stderr what went wrong."""
    lines = [str(error).rstrip()]
    if isinstance(error, RequestFailed):
        said = f"({error.code}): {redact_text(error.message)}"
        lines = [f"the agent answered {error.method or 'a request'} with an error {said}"]
        lines += _details(error.data)
    if isinstance(error, TransportError) and error.http_status == HTTPStatus.UNAUTHORIZED:
        lines.append("The command takes a token with --bearer-env VAR.")
    if isinstance(error, InvalidInput):
        lines.append(f"Try acp-host {options.name} --help.")
    if isinstance(error, StartFailed) and getattr(options, "start_hint", None):
        lines.append(options.start_hint)
    lines += getattr(error, "__notes__", [])
    text = "\n".join(lines)
    print(f"acp-host: {printable(text)}", file=sys.stderr)


def _details(data: Any) -> list[str]:
    if data is None:
        return []
    shown = redact(data)
    text = shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False)
    return [f"details: {text[:_LONGEST_DATA]}"]
