"""What the page on serving shows works."""

from __future__ import annotations

from acp_host.testing import ReferenceAgent
from tests.docs.snippets import run_page


async def test_the_example() -> None:
    shown: list[str] = []
    await run_page("docs/serve.md", command=ReferenceAgent.command(), show=shown.append)
    assert shown[0].startswith("http://127.0.0.1:")
