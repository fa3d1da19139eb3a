"""About how much memory a value takes."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host.wire._size import memory_of
from acp_host.wire.content import TextContent
from acp_host.wire.tool_calls import ToolCallUpdate

ALL = 2**40


def call(**members: Any) -> ToolCallUpdate:
    return ToolCallUpdate("call-1", **members)


def test_what_is_absent_weighs_nothing() -> None:
    assert memory_of(call(title=None), ALL) == memory_of(call(), ALL)


@pytest.mark.parametrize("grown", [{"raw_input": {"a": ["x" * 500]}}, {"title": "x" * 500}, {"extra": {"x" * 500: 1}}])
def test_text_weighs_wherever_it_stands(grown: dict[str, Any]) -> None:
    assert memory_of(call(**grown), ALL) >= memory_of(call(), ALL) + 500


def test_many_small_things_weigh_too() -> None:
    assert memory_of([[] for _ in range(1_000)], ALL) >= 64_000
    assert memory_of((TextContent("a"),) * 1_000, ALL) >= 64_000


def test_what_is_nested_deeply_is_weighed_like_all_else() -> None:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    assert memory_of(value, ALL) >= 64 * 100_000


def test_no_more_is_looked_at_than_is_enough() -> None:
    assert memory_of(["x" * 1_000, "y" * 1_000], 500) < 2_000
