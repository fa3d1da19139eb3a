"""``acp-host replay``: what a recording amounts to, how two differ, and what in one does not fit the schema."""

from __future__ import annotations

import argparse
import asyncio
import sys
import threading
from collections.abc import Callable, Iterator
from typing import IO, Any, TypeVar, cast

from acp_host.cli.exits import ExitCode
from acp_host.cli.interrupts import Interrupts
from acp_host.cli.listening import add_listening_options
from acp_host.cli.printer import Printer, clean, make_console
from acp_host.cli.replay_view import ReplayView, WatchedOutput
from acp_host.errors import InvalidInput
from acp_host.host.linter import Finding, Linter
from acp_host.printable import json_text, printable_json
from acp_host.recording.format import RecordedDirection, RecordedLine, read_recording
from acp_host.replay import Difference, compare_states, fold_recording
from acp_host.replay.pace import Pace
from acp_host.replay.player import RecordingPlayer
from acp_host.replay.virtual_time import run_in_virtual_time

__all__ = ["add_parser"]

_DESCRIPTION = """\
Play a recording to a host of its own, and show the conversation as its host saw it. Nothing of what it tells is done
again outside of that: no program is started, no file is read or written, no connection is made.

With --json one JSON document goes to stdout: "agreement" holds what host and agent agreed on, "sessions" the state of
each session after the last line, "diagnostics" what was out of the ordinary. Its keys are sorted, and two runs print
the same bytes.

With --ui the conversation is a page in the browser, whose address is printed; nobody can act in it. Ctrl-C ends it.

--diff A B compares the states that two recordings end in: sessions in the order in which they appear, times left aside.
--lint holds every message of both sides against the schema of the version that was agreed; extensions may pass.
Both exit with 0 if there is nothing to say, and else with 1.
"""
_LONGEST_VALUE = 200

_T = TypeVar("_T")


def add_parser(commands: Any) -> None:
    """Add the sub-command to the command line."""
    parser = commands.add_parser(
        "replay",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="acp-host replay [--json | --ui | --lint] [--speed X] RECORDING\n       acp-host replay --diff A B",
        allow_abbrev=False,
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="print one JSON document")
    how.add_argument("--diff", action="store_true", help="compare the final states of two recordings")
    how.add_argument("--lint", action="store_true", help="list what does not fit the schema, with its line")
    how.add_argument("--ui", action="store_true", help="show it as a page in the browser, as acp-host serve does")
    parser.add_argument("--speed", type=float, metavar="X", help="with the pauses that there were, X times as fast")
    parser.add_argument("-v", "--verbose", action="store_true", help="show also minor updates")
    add_listening_options(parser.add_argument_group("with --ui"))
    parser.add_argument(
        "recordings", nargs="+", metavar="RECORDING", help="a recording; its earlier parts come with it"
    )
    parser.set_defaults(command=replay)


async def replay(options: argparse.Namespace, interrupts: Interrupts) -> int:
    """Run the sub-command and return its exit code.

    Raises:
        InvalidInput: the command line is wrong, or a file is no recording.
    """
    wanted = 2 if options.diff else 1
    if len(options.recordings) != wanted:
        named = len(options.recordings)
        raise InvalidInput(
            f"--diff compares two recordings, not {named}" if options.diff else f"one at a time, not {named}"
        )
    if options.speed is not None and (options.json or options.diff or options.lint):
        raise InvalidInput("--speed is for showing a recording")
    path = options.recordings[0]
    if options.diff:
        return await _compare(*options.recordings)
    if options.lint:
        return await _in_thread(path, lambda lines: _lint(path, lines))
    if options.ui:
        from acp_host.cli.replay_page import serve_recording  # loaded where it is used only

        await serve_recording(_lines(path, threading.Event()), options, interrupts)
    elif options.json:
        print(await _in_thread(path, _document))
    elif options.speed is None:
        await _in_thread(path, lambda lines: run_in_virtual_time(_show(lines, Pace(), options.verbose)))
    else:
        await _show(_lines(path, threading.Event()), Pace(options.speed), options.verbose)
    return ExitCode.COMPLETED


async def _in_thread(path: str, work: Callable[[Iterator[RecordedLine]], _T]) -> _T:
    """Do something with the lines of a recording while this thread waits for it, and for Ctrl-C."""
    stop = threading.Event()
    try:
        return await asyncio.to_thread(lambda: work(_lines(path, stop)))
    finally:
        stop.set()


def _lines(path: str, stop: threading.Event) -> Iterator[RecordedLine]:
    """Yield the lines of a recording until there is no more of it, or nobody waits for it.

    Raises:
        InvalidInput: it cannot be read, or none of its lines is one of a recording.
    """
    readable = False
    for line in read_recording(path):
        if stop.is_set():
            return
        readable = readable or line.problem is None
        yield line
    if not readable:
        raise InvalidInput(f"{path} holds no line of a recording")


# --- showing ----------------------------------------------------------------------------------------------------------


async def _show(lines: Iterator[RecordedLine], pace: Pace, verbose: bool) -> None:
    output = WatchedOutput(sys.stdout)
    printer = Printer(make_console(cast(IO[str], output)))
    view = ReplayView(printer, verbose=verbose)
    player = RecordingPlayer(view.hearing_answers(output.while_it_works(lines)), pace=pace, opened=view.watch)
    try:
        await player.play()
        view.conclude(player.diagnostics)
    finally:
        await player.close()


def _document(lines: Iterator[RecordedLine]) -> str:
    return printable_json(fold_recording(list(lines)).to_json(), indent=2, sort_keys=True)


# --- comparing --------------------------------------------------------------------------------------------------------


async def _compare(one: str, other: str) -> int:
    first = await _in_thread(one, lambda lines: fold_recording(list(lines)).to_json())
    second = await _in_thread(other, lambda lines: fold_recording(list(lines)).to_json())
    differences = compare_states(first, second)
    for difference in differences:
        print(clean(_told(difference)))
    return ExitCode.AGENT_FAILED if differences else ExitCode.COMPLETED


def _told(difference: Difference) -> str:
    match difference.kind:
        case "added":
            return f"+ {difference.path}: {_value(difference.after)}"
        case "removed":
            return f"- {difference.path}: {_value(difference.before)}"
        case _:
            return f"~ {difference.path}: {_value(difference.before)} -> {_value(difference.after)}"


def _value(value: Any) -> str:
    text = json_text(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."


# --- linting ----------------------------------------------------------------------------------------------------------


def _lint(path: str, lines: Iterator[RecordedLine]) -> int:
    linter = Linter()
    count = 0
    for line in lines:
        for problem in _findings(linter, line):
            count += 1
            print(clean(f"{path}:{line.number}: {problem}"))
    print(f"{count} findings" if count != 1 else "1 finding", file=sys.stderr)
    return ExitCode.AGENT_FAILED if count else ExitCode.COMPLETED


def _findings(linter: Linter, line: RecordedLine) -> Iterator[str]:
    if line.problem is not None:
        yield f"no line of a recording: {line.problem}"
    elif line.begins_connection:
        linter.reset()
    elif line.direction in (RecordedDirection.IN, RecordedDirection.OUT):
        side: Any = line.direction.value if isinstance(line.direction, RecordedDirection) else line.direction
        if line.message is None and not (line.raw or "").strip():
            return
        for finding in linter.check(side, line.raw if line.message is None else line.message):
            yield _finding_text(finding)


def _finding_text(finding: Finding) -> str:
    return f"{finding.side} {finding.method or '-'}: {finding.problem} at {finding.path}"
