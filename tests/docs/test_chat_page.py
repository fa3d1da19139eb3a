"""What the page about the terminal view shows works, and its tables hold."""

from __future__ import annotations

import re
from typing import Any

import pytest

from acp_host.testing import ReferenceAgent
from acp_host.ui.terminal import ChatApp, transcript
from tests.docs.snippets import read_page, run_page

PAGE = "docs/chat.md"


async def test_the_example_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = []

    async def run_async(self: ChatApp, **options: Any) -> None:
        async with self.run_test() as pilot:
            await pilot.pause()
            shown.append(self.is_running)

    monkeypatch.setattr(ChatApp, "run_async", run_async)
    await run_page(PAGE, agent=ReferenceAgent().transport())
    assert shown == [True]


def test_every_key_is_listed() -> None:
    page = read_page(PAGE)
    listed = " ".join(re.findall(r"^\| (.*?) \|", page, re.MULTILINE)).lower().replace("esc", "escape")
    for binding in ChatApp.BINDINGS:
        assert binding.key in listed
    assert f"At most {transcript.MOST} entries" in page
