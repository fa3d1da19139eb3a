"""What the page about toolkits shows works, or is part of an example that is run by a test of its own."""

from __future__ import annotations

import re

from tests.docs.snippets import ROOT, read_page, run_page

PAGE = "docs/toolkits.md"


async def test_the_example_of_a_bridge() -> None:
    names = await run_page(PAGE)
    assert [toast.title for toast in names["shown"]] == ["The disk is almost full"]


def test_the_other_examples_are_parts_of_files() -> None:
    excerpts = re.findall(r"^```python file=(\S+)\n(.*?)^```", read_page(PAGE), re.MULTILINE | re.DOTALL)
    assert [file for file, _ in excerpts] == ["docs/examples/qt_window.py", "docs/examples/threaded_plugin.py"]
    for file, excerpt in excerpts:
        assert excerpt in (ROOT / file).read_text(encoding="utf-8")
