"""What the page about agents elsewhere shows works, and its tables say what is so."""

from __future__ import annotations

import re

import attrs
import pytest

from acp_host.transports import RemoteOptions
from tests.docs.snippets import read_page, run_page


async def test_the_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    await run_page("docs/remote.md")
    out = capsys.readouterr().out
    assert out.startswith("Hello from elsewhere\n")
    assert "the-token" not in out
    assert "HTTP status 401" in out
    assert "401 False" in out


def test_every_option_is_listed() -> None:
    [table] = re.findall(r"\| option \| default \| \|\n(.*?)\n\n", read_page("docs/remote.md"), re.DOTALL)
    names = {name for line in table.splitlines() for name in re.findall(r"`(\w+)`", line.split("|")[1])}
    assert names == {field.name for field in attrs.fields(RemoteOptions)}
