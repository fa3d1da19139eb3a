"""``acp-host record``: stand between any host and an agent and record what they say; and make recordings anonymous."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import platformdirs

from acp_host.cli.chosen_agent import chosen_agent
from acp_host.cli.completers import agent_or_file
from acp_host.cli.exits import ExitCode, exit_code_help
from acp_host.cli.interrupts import Interrupts
from acp_host.cli.named import add_install_option
from acp_host.cli.proxy import end_like, run_proxy
from acp_host.errors import InvalidInput
from acp_host.recording import RecordedLine, Recording, Redaction, encode_line, read_recording
from acp_host.recording.anonymise import anonymise

__all__ = ["add_parser", "add_recording_options", "redaction_of"]

_DESCRIPTION = """\
Start an agent, pass on all that it and its host say to each other, and record it. Put this in place of the agent's
command into the configuration of any editor; AGENT may be the name of a known agent, too. Secrets are left out of the
recording.

With the word anonymise, take everybody's words out of a recording, so that it can be attached to a bug report: texts,
paths, names and ids are replaced by others of the same length, and the structure stays.
"""

_EXAMPLES = """\
examples:
  acp-host record --output talk.jsonl some-agent --acp
  acp-host record anonymise talk.jsonl --output report.jsonl
"""


def add_parser(commands: Any) -> None:
    """Add the sub-command to the command line."""
    parser = commands.add_parser(
        "record",
        description=_DESCRIPTION,
        epilog=f"{_EXAMPLES}\n{exit_code_help()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="acp-host record [options] AGENT...\n       acp-host record anonymise FILE [--output FILE]",
        allow_abbrev=False,
    )
    add_recording_options(parser)
    add_install_option(parser)
    parser.add_argument(
        "--output",
        "-o",
        metavar="FILE",
        help="where to write; of a folder, a new file in it (default: a new file in the folder that --where names)",
    )
    parser.add_argument("--where", action="store_true", help="print the folder in which recordings are kept, and end")
    rest = parser.add_argument(
        "rest",
        nargs=argparse.REMAINDER,
        metavar="AGENT",
        help="the agent's command, or a name that acp-host agents lists",
    )
    rest.completer = agent_or_file
    parser.set_defaults(command=run, header=[], bearer_env=None)


def add_recording_options(parser: Any) -> None:
    """Add the options that say what a recording leaves out."""
    parser.add_argument(
        "--hide-field", action="append", default=[], metavar="NAME", help="leave the texts of such a member out, too"
    )
    parser.add_argument(
        "--hide-folder", action="append", default=[], metavar="D", help="write another path instead of this one, e.g. ~"
    )


def redaction_of(options: argparse.Namespace) -> Redaction:
    """Return what the options leave out.

    Raises:
        InvalidInput: they name nothing that can be left out.
    """
    return Redaction(fields=tuple(options.hide_field), folders=tuple(options.hide_folder))


async def run(options: argparse.Namespace, interrupts: Interrupts) -> int:
    """Run the sub-command and return its exit code.

    Raises:
        InvalidInput: the command line is wrong, or a file cannot be read or written.
        AcpError: the agent cannot be started.
    """
    if options.where:
        print(_default_folder())
        return ExitCode.COMPLETED
    if options.rest[:1] == ["anonymise"]:
        await asyncio.to_thread(_anonymise, options.rest[1:], options.output)
        return ExitCode.COMPLETED
    agent = options.rest[1:] if options.rest[:1] == ["--"] else options.rest
    if not agent:
        raise InvalidInput("no agent: give its command or its name after the options")
    chosen = chosen_agent(agent, options)
    if chosen.remote is not None:
        raise InvalidInput(
            f"{chosen.shown}: this records an agent that it starts; acp-host run --record records others"
        )
    await chosen.get_ready()
    recording = Recording(options.output or _new_file(), redact=redaction_of(options))
    return end_like(await run_proxy(chosen.argv, recording, env=chosen.env))


def _anonymise(arguments: Sequence[str], output: str | None) -> None:
    parser = argparse.ArgumentParser(prog="acp-host record anonymise", allow_abbrev=False)
    parser.add_argument("file", metavar="FILE", help="the recording; its earlier parts are read with it")
    parser.add_argument("--output", "-o", metavar="FILE", default=output, help="where to write (default: stdout)")
    parser.add_argument("--hide-programs", action="store_true", help="hide names and versions of agent and host, too")
    options = parser.parse_args(list(arguments))
    if options.output is None:
        _write_anonymous(options.file, sys.stdout.buffer, hide_programs=options.hide_programs)
        return
    try:
        out = open(options.output, "xb")  # noqa: SIM115 - it is closed below
    except FileExistsError:
        raise InvalidInput(f"{options.output} exists already; choose another name") from None
    except OSError as error:
        raise InvalidInput(f"{options.output} cannot be written: {error.strerror}") from None
    try:
        with out:
            _write_anonymous(options.file, out, hide_programs=options.hide_programs)
    except BaseException:
        os.unlink(options.output)  # a part of it is of no use, and would be in the way
        raise


def _write_anonymous(source: str, out: BinaryIO, *, hide_programs: bool) -> None:
    lines = _of_a_recording(read_recording(source), source)
    for line in anonymise(lines, hide_programs=hide_programs):
        out.write(encode_line(line))


def _of_a_recording(lines: Iterable[RecordedLine], source: str) -> Iterator[RecordedLine]:
    """Yield the lines of a file; raise ``InvalidInput`` at its end if none of them is one of a recording."""
    readable = False
    for line in lines:
        readable = readable or line.problem is None
        yield line
    if not readable:
        raise InvalidInput(f"{source} holds no line of a recording")


def _default_folder() -> Path:
    return platformdirs.user_state_path("acp-host") / "recordings"


def _new_file() -> Path:
    folder = _default_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(
            f"the folder for recordings cannot be made: {error.strerror}: {error.filename}; name a file with --output"
        ) from None
    return folder / f"acp-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.jsonl"
