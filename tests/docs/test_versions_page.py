"""What the page about the versions of the protocol shows works."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host.testing import ReferenceAgent
from tests.docs.snippets import read_page, run_snippet, snippets_of


async def test_the_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    printed = []
    for snippet in snippets_of(read_page("docs/protocol-versions.md")):
        agent = ReferenceAgent(protocol_versions=[2]).transport()
        names: dict[str, Any] = await run_snippet(snippet, agent=agent)
        assert list(names["host"].diagnostics) == []
        printed.append(capsys.readouterr().out)
    assert printed == ["2 Hello completed\n", "2 Good morning\n", "count agent True\n"]
