"""How an agent looks for tools."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host.state.harn.tool_searches import MAX_SEARCHES, ToolSearch
from tests.harn.harness import Desk, named, read, updates

WHOLE = ToolSearch(
    tool_use_id="ts-1", name="tool_search", query={"q": "grep"}, strategy="bm25", mode="client", promoted=("grep",)
)
FRAMES = [*updates("derived_namespaced_updates.json")]
PAIR = [update for update in FRAMES if update["sessionUpdate"].startswith("tool_search")]


@pytest.mark.parametrize("told", [PAIR, PAIR[::-1], [*PAIR, *PAIR]])
def test_what_is_asked_and_what_is_found_are_one(told: list[dict[str, Any]]) -> None:
    desk = Desk().take(*told)
    assert desk.harn.tool_searches == {"ts-1": WHOLE}
    assert desk.harn.tool_searches["ts-1"].ended
    desk.assert_exact()


def test_only_what_was_found() -> None:
    desk = Desk().take(PAIR[1])
    assert desk.harn.tool_searches["ts-1"].name is None
    assert not Desk().take(PAIR[0]).harn.tool_searches["ts-1"].ended


def test_what_is_found_may_have_more_than_a_name() -> None:
    found = ["a", {"name": "b", "score": 1}, {"tool_name": "c"}, {"score": 2}, 7]
    desk = Desk().take(named("tool_search_result", toolUseId="t", promoted=found))
    search = desk.harn.tool_searches["t"]
    assert (search.promoted, search.found) == (("a", "b", "c"), found)
    assert desk.problems == ["promoted has items without a name"]


@pytest.mark.parametrize("members", [{"promoted": []}, {"toolUseId": "t"}])
def test_without_an_id_or_a_result_it_is_none(members: dict[str, Any]) -> None:
    report = read(named("tool_search_result", **members))
    assert report is not None
    assert report.events == ()


def test_they_are_bounded() -> None:
    desk = Desk().take(named("tool_search_query", toolUseId="open"))
    for number in range(MAX_SEARCHES):
        desk.take(named("tool_search_result", toolUseId=str(number), promoted=[]))
    assert len(desk.harn.tool_searches) == MAX_SEARCHES
    assert "open" in desk.harn.tool_searches
