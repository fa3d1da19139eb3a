"""What the page about agents elsewhere shows works, and its tables say what is so."""

from __future__ import annotations

import re

import attrs
import pytest

from acp_host.transports import RemoteOptions
from acp_host.transports.streamable_http._refusals import ends_connection
from tests.docs.snippets import read_page, run_page


async def test_the_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    await run_page("docs/remote.md")
    out = capsys.readouterr().out
    assert out.startswith("Hello from elsewhere\n")
    assert "the-token" not in out
    assert "HTTP status 401" in out
    assert "401 False" in out
    assert "Hello over HTTP\n" in out


def test_every_option_is_listed() -> None:
    [table] = re.findall(r"\| option \| default \| \|\n(.*?)\n\n", read_page("docs/remote.md"), re.DOTALL)
    names = {name for line in table.splitlines() for name in re.findall(r"`(\w+)`", line.split("|")[1])}
    assert names == {field.name for field in attrs.fields(RemoteOptions)}


@pytest.mark.parametrize("row, ends", [("A message is refused", False), ("401, 403", True)])
def test_statuses_mean_what_the_table_says(row: str, ends: bool) -> None:
    [line] = [line for line in read_page("docs/remote.md").splitlines() if line.startswith(f"| {row}")]
    statuses = re.findall(r"\b[45]\d\d\b", line.split("|")[1])
    assert len(statuses) >= 4
    assert {ends_connection(int(status)) for status in statuses} == {ends}
