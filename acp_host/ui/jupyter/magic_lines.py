"""What the lines of the magics mean: :func:`read_line`, and what can stand in them: :data:`COMMANDS`."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Mapping
from typing import Any, NoReturn

from attrs import frozen

from acp_host.errors import InvalidInput

__all__ = ["COMMANDS", "HELP", "MagicLine", "read_line", "read_prompt_options"]

HELP = """\
An agent in this notebook.

%acp connect [options] AGENT...   start an agent, by its name, command or URL, and show the conversation
     --cwd DIR                    where its session works
     --files, --terminals         let it read and write files, and run commands, through this notebook
     --permissions WORD           ask (in the widget), deny, read-only, allow-once
%acp use NAME                     go on with the AgentWidget that the variable NAME holds
%acp show                         show the conversation once more
%acp status                       how it is
%acp prompt [options] TEXT        prompt it, and wait for the result
     -b, --background             do not wait: give the turn, which can be awaited
     -i, --interpolate            replace {expressions} by their values
%%acp [options]                   likewise, with the cell as the text
%acp remind [--ttl=N] [--tag=TAG] TEXT
                                  tell its model something, without a prompt
%acp cancel                       cancel the turn
%acp mode [ID]                    show the modes, or set one
%acp model [ID]                   likewise for the models
%acp option [ID VALUE]            show what can be set, or set it
%acp usage                        how full its context is
%acp close                        end the conversation
%acp help                         this text
"""

COMMANDS: tuple[str, ...] = tuple(re.findall(r"^%acp (\w+)", HELP, re.MULTILINE))
"""The words that can stand behind ``%acp``."""


@frozen
class MagicLine:
    """A line of ``%acp``.

    Attributes:
        command: one of :data:`COMMANDS`.
        options: by name.
        words: what else stands there, as words.
        text: the same as it was typed.
    """

    command: str
    options: Mapping[str, Any]
    words: tuple[str, ...] = ()
    text: str = ""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InvalidInput(f"{self.prog}: {message}; `%acp help` tells more")


def _parser(command: str) -> _Parser:
    return _Parser(prog=f"%acp {command}", add_help=False, allow_abbrev=False, exit_on_error=False)


def _connect_parser() -> _Parser:
    parser = _parser("connect")
    parser.add_argument("--cwd", default=".")
    parser.add_argument("--files", action="store_true")
    parser.add_argument("--terminals", action="store_true")
    parser.add_argument("--permissions", default="ask")
    parser.add_argument("agent", nargs=argparse.REMAINDER)
    return parser


def _prompt_parser() -> _Parser:
    parser = _parser("prompt")
    parser.add_argument("-b", "--background", action="store_true")
    parser.add_argument("-i", "--interpolate", action="store_true")
    return parser


def _remind_parser() -> _Parser:
    parser = _parser("remind")
    parser.add_argument("--ttl", type=int)
    parser.add_argument("--tag", action="append", default=[])
    return parser


def read_line(line: str) -> MagicLine:
    """Return what a line of ``%acp`` says.

    Raises:
        InvalidInput: it says nothing that is known.
    """
    command, _, rest = line.strip().partition(" ")
    rest = rest.strip()
    if command in ("", "help", "-h", "--help"):
        return MagicLine("help", {})
    if command not in COMMANDS:
        raise InvalidInput(f"%acp has no command {command!r}; it has {', '.join(COMMANDS)}")
    if command == "connect":
        found = vars(_parsed(_connect_parser(), _words(rest)))
        return MagicLine(command, found, tuple(found.pop("agent")))
    if command in ("prompt", "remind"):
        parser = _prompt_parser() if command == "prompt" else _remind_parser()
        options, text = _leading_options(parser, rest)
        return MagicLine(command, options, text=text)
    return MagicLine(command, {}, tuple(_words(rest)), rest)


def read_prompt_options(line: str) -> Mapping[str, Any]:
    """Return what stands behind ``%%acp``; raises what :func:`read_line` raises."""
    options, text = _leading_options(_prompt_parser(), line.strip())
    if text:
        raise InvalidInput(f"%%acp takes the text below it, and options; not {text!r}")
    return options


def _leading_options(parser: _Parser, rest: str) -> tuple[Mapping[str, Any], str]:
    """Read options until a word is none; what follows is text, in which quotes mean nothing."""
    found = re.match(r"((?:-\S+\s*)*)(.*)", rest, re.DOTALL)
    assert found is not None
    return vars(_parsed(parser, found[1].split())), found[2]


def _parsed(parser: _Parser, words: list[str]) -> argparse.Namespace:
    try:
        return parser.parse_args(words)
    except argparse.ArgumentError as error:
        parser.error(str(error))


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise InvalidInput(f"the line cannot be read: {error}") from None
