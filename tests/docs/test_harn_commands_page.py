"""The page on what a host does with a Harn agent: its examples work, and its tables are whole."""

from __future__ import annotations

import re

import pytest

import acp_host
from acp_host.host.injections import InjectionResult, InjectMode
from acp_host.state.injections import InjectionStatus
from acp_host.testing.harn import HarnAgent, HarnTurn
from tests.docs.snippets import read_page, run_page
from tests.host.scripts import until

PAGE = "docs/harn/commands.md"


async def test_the_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[str] = []

    async def script(turn: HarnTurn) -> None:
        if not asked:
            asked.append(turn.text)
            await until(lambda: any(each.wish for each in session.state.injections.values()))
            turn.ask_human("question", prompt="Which branch?")
        turn.ask_model()

    async with acp_host.connect(HarnAgent(script).transport()) as host:
        session = await host.new_session()
        names = await run_page(PAGE, session=session)
        await session.prompt("go")
        assert [each.status for each in session.state.snapshot().harn.human_requests.values()] == ["answered"]
    assert names["checkpoint"].status == "ok"
    assert names["mode"].mode == "staged"
    assert names["document"].document_id == "plan-1"
    assert capsys.readouterr().out.splitlines() == [
        "pending also run the linter",
        "True",
        "already_delivered",
        "already_delivered",
        "False ['notebook-1']",
        "not_found",
    ]


def rows(heading: str) -> set[str]:
    """Return the words in code of the first column of the table that has this heading."""
    table = read_page(PAGE).split(f"| {heading} |", 1)[1].split("\n\n", 1)[0]
    return {word for row in table.splitlines()[2:] for word in re.findall(r"`([a-z_]+)`", row.split("|")[1])}


def test_the_tables_are_whole() -> None:
    assert rows("`mode`") == set(InjectMode)
    assert rows("`status`") == set(InjectionStatus)
    assert rows("result") == set(InjectionResult)
