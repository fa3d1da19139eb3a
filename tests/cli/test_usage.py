"""What the usage of each sub-command begins with."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import pytest

from acp_host.cli.command import _COMMANDS, _make_parser


def parsers(title: str, parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    yield title, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, sub_parser in action.choices.items():
                yield from parsers(f"{title} {name}", sub_parser)


@pytest.mark.parametrize("name", _COMMANDS)
def test_it_is_the_command_itself(name: str) -> None:
    for title, parser in parsers("acp-host", _make_parser([name])):
        if title.startswith(f"acp-host {name}"):
            assert parser.format_usage().startswith(f"usage: {title} "), title
