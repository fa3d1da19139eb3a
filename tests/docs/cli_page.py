"""Writes ``docs/reference/cli.md`` from the parsers of the command: ``python -m tests.docs.cli_page``."""

from __future__ import annotations

import argparse
import inspect
import os
import re
from collections.abc import Iterator

from acp_host.cli.command import _COMMANDS, _make_parser
from acp_host.cli.exits import exit_code_help
from tests.docs.snippets import ROOT

__all__ = ["PAGE", "make_page"]

PAGE = ROOT / "docs/reference/cli.md"

_HEAD = """\
# The command

What `acp-host COMMAND --help` says, made from the same source. `pip install 'acp-host[cli]'` brings the command;
[completion](../agents.md#completion) for bash, zsh and fish comes with it.
"""


def make_page() -> str:
    """Return the page for the command as it is."""
    lines = [_HEAD, "| command | |", "|---|---|"]
    lines += [f"| [`{name}`](#acp-host-{name}) | {_cell(purpose)} |" for name, purpose in _COMMANDS.items()]
    for name in _COMMANDS:
        lines += ["", *_command(f"acp-host {name}", _sub_parsers(_make_parser([name]))[name], 2)]
    return "\n".join([*lines, "", *_exit_codes(), ""])


def _command(title: str, parser: argparse.ArgumentParser, level: int) -> Iterator[str]:
    yield f"{'#' * level} `{title}`"
    yield ""
    yield from _block("text", _usage(parser))
    yield from _prose(parser.description or "")
    for group in parser._action_groups:
        rows = [row for action in group._group_actions if (row := _row(action))]
        if rows:
            name = {"options": "option", "positional arguments": "argument"}.get(group.title or "", group.title)
            yield from [f"| {name} | |", "|---|---|", *rows, ""]
    yield from _prose((parser.epilog or "").partition("exit codes:")[0])
    for name, sub_parser in _sub_parsers(parser).items():
        yield from _command(f"{title} {name}", sub_parser, level + 1)


def _usage(parser: argparse.ArgumentParser) -> str:
    # The first line of a parser that has none of its own is broken differently from one version of Python to the next.
    return re.sub(r"\s+", " ", parser.format_usage()).strip() if parser.usage is None else parser.format_usage()


def _row(action: argparse.Action) -> str:
    if action.help == argparse.SUPPRESS or isinstance(action, argparse._HelpAction | argparse._SubParsersAction):
        return ""
    default = action.dest.upper() if action.option_strings else action.dest
    choices = f"{{{','.join(map(str, action.choices))}}}" if action.choices else ""
    name = action.metavar or choices or default
    words = action.option_strings or [name]
    value = f" {name}" if action.option_strings and action.nargs != 0 else ""
    expanded = (action.help or "") % {**vars(action), "prog": ""}
    return f"| {', '.join(f'`{word}{value}`' for word in words)} | {_cell(expanded)} |"


def _prose(text: str) -> Iterator[str]:
    """Yield Markdown for a text whose indented paragraphs are examples."""
    for part in re.split(r"\n\s*\n", text.strip("\n")):
        first, *rest = part.splitlines() or [""]
        if rest and not first.startswith(" ") and all(line.startswith("  ") for line in rest):
            yield _cell(first)
            yield ""
            part = "\n".join(rest)
        if part.startswith("  "):
            yield from _block("sh", inspect.cleandoc(part))
        elif part:
            yield _cell(" ".join(part.split()))
            yield ""


def _block(language: str, text: str) -> list[str]:
    return [f"```{language}", text.rstrip(), "```", ""]


def _cell(text: str) -> str:
    """Return a text in which nothing is Markdown but what is code: options, and what is so in the source already."""
    pieces = re.split(r"(`[^`]+`)", " ".join(text.split()))
    for index in range(0, len(pieces), 2):
        escaped = re.sub(r"([\\|*_<\[\]])", r"\\\1", pieces[index])
        pieces[index] = re.sub(r"(?<![\w-])(--?[a-z][a-z-]*)", r"`\1`", escaped)
    return "".join(pieces)


def _exit_codes() -> Iterator[str]:
    yield from ["## Exit codes", "", "| code | |", "|---|---|"]
    for line in exit_code_help().splitlines()[1:]:
        code, meaning = re.split(r"\s{2}|:\s", line.strip(), maxsplit=1)
        yield f"| {code} | {_cell(meaning)} |"


def _sub_parsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    found = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return dict(found[0].choices) if found else {}


if __name__ == "__main__":
    os.environ["COLUMNS"] = "110"
    PAGE.write_text(make_page(), encoding="utf-8")
