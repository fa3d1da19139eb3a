"""What the page on the feed shows works, and its tables are complete."""

from __future__ import annotations

import re

import acp_host
from acp_host.testing import ReferenceAgent
from acp_host.ui.feed.command_forms import COMMANDS
from tests.docs.snippets import read_page, run_page

PAGE = "docs/feed.md"


async def test_the_example() -> None:
    async with acp_host.connect(ReferenceAgent().transport()) as host:
        session = await host.new_session()
        names = await run_page(PAGE, host=host, session=session)
    kinds = [message["type"] for message in names["received"]]
    assert kinds[0] == "hello"
    assert {"control", "sessions", "snapshot", "result"} <= set(kinds)


def test_every_command_is_on_the_page_with_its_members_and_whose_it_is() -> None:
    _, _, part = read_page(PAGE).partition("## Commands")
    rows = re.findall(r"^\| `(\w+)`(\*?) \| (.*?) \| (.*?) \|$", part, re.MULTILINE)
    commands = {name: (star, members) for name, star, members, _ in rows if name in COMMANDS}
    assert list(commands) == list(COMMANDS)
    for name, (star, members) in commands.items():
        form = COMMANDS[name]
        assert bool(star) is form.acts, name
        if name not in ("plan_reminder", "answer"):
            assert set(form.members) <= set(re.findall(r"`(\w+)`", members)), name
