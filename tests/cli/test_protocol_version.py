"""``--protocol-version`` of the commands that show a conversation until somebody ends it."""

from __future__ import annotations

import io

import pytest

from acp_host.testing import ReferenceAgent
from tests.cli.conftest import Command

AGENT = ReferenceAgent.command("--protocol-version", "2", "--require-auth")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("name", ["serve", "chat"])
def test_version_2_where_it_is_asked_for(command: Command, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """An agent that wants a login first was agreed with."""
    if name == "chat":
        pytest.importorskip("textual")
    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("sys.stdout", Terminal())
    assert command(name, *AGENT).code == 1
    assert command(name, "--protocol-version", "2", *AGENT).code == 6
