"""What the page about the versions of the protocol shows works, and its tables are complete."""

from __future__ import annotations

import re
from typing import Any

import pytest

import acp_host
from acp_host.errors import UnsupportedVersion
from acp_host.testing import ReferenceAgent
from acp_host.wire.methods import METHODS
from acp_host.wire.v2.methods import METHODS as SECOND_METHODS
from tests.docs.snippets import read_page, run_snippet, snippets_of

PAGE = "docs/protocol-versions.md"
AGENTS = ((1,), (2,), (1, 2))
"""The versions of the agents in the columns of the table."""


async def test_the_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    printed = []
    for snippet in snippets_of(read_page(PAGE)):
        agent = ReferenceAgent(protocol_versions=[2]).transport()
        names: dict[str, Any] = await run_snippet(snippet, agent=agent)
        assert list(names["host"].diagnostics) == []
        printed.append(capsys.readouterr().out)
    assert printed == ["2\nHello completed\n", "False False\nTrue True\n", "2 Good morning\n", "count agent True\n"]


def rows(after: str) -> list[list[str]]:
    """Return the cells of the first table after a heading or a word."""
    page = read_page(PAGE)
    table = re.search(r"(?:^\|.*\n)+", page[page.index(after) :], re.MULTILINE)
    assert table is not None
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table[0].splitlines()][2:]


@pytest.mark.parametrize("row", rows("`protocol_versions` are"), ids=lambda row: row[0])
async def test_what_is_agreed(row: list[str]) -> None:
    asked = tuple(int(number) for number in re.findall(r"\d", row[0]))
    for versions, cell in zip(AGENTS, row[1:], strict=True):
        transport = ReferenceAgent(protocol_versions=versions).transport()
        connection = acp_host.connect(transport, protocol_versions=asked)
        if cell.startswith("`"):
            with pytest.raises(UnsupportedVersion):
                await connection
        else:
            async with connection as host:
                assert str(host.agreement.protocol_version) == cell.rstrip("|").strip()


def test_every_method_that_is_in_one_version_alone_is_in_the_table() -> None:
    cells: list[Any] = [set(re.findall(r"`([a-z_]+(?:/[a-z_]+)?)`", cell)) for row in rows("## Names") for cell in row]
    first, second = {m.name for m in METHODS}, {m.name for m in SECOND_METHODS}

    assert first - second <= set().union(*cells[::2])
    assert second - first <= set().union(*cells[1::2])
