"""What the page about the gallery shows works, and its sections are those that there are."""

from __future__ import annotations

import re

from acp_host import SessionSnapshot
from acp_host.testing import gallery
from tests.docs.snippets import read_page, run_page

PAGE = "docs/gallery.md"


async def test_the_examples() -> None:
    drawn: list[str] = []

    def draw(agent_name: str, session: SessionSnapshot) -> None:
        drawn.append(agent_name)

    await run_page(PAGE, draw=draw)
    assert len(drawn) == len(gallery.names()) + len(gallery.names("hostile"))


def test_every_section_is_listed() -> None:
    rows = re.findall(r"^\| (`.*?) \|", read_page(PAGE), re.MULTILINE)
    listed = [section for row in rows for section in re.findall(r"`(\w+)`", row)]
    assert listed == list(dict.fromkeys(name.split("/")[0] for name in gallery.names()))
