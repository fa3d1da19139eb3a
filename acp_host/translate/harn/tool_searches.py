"""Updates about the agent's search for tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from acp_host.state.harn.tool_searches import ToolSearch, ToolSearchAsked, ToolSearchFound
from acp_host.translate.harn.payload import Payload

__all__ = ["tool_search_query", "tool_search_result"]

_NAMES = ("name", "toolName", "tool_name")


def tool_search_query(payload: Payload) -> tuple[ToolSearchAsked, ...]:
    """Read ``tool_search_query``."""
    search = ToolSearch(
        tool_use_id=payload.identity("toolUseId"),
        name=payload.text("name"),
        query=payload.any("query"),
        strategy=payload.text("strategy"),
        mode=payload.text("mode"),
        extra=payload.rest(),
    )
    return (ToolSearchAsked(search),)


def tool_search_result(payload: Payload) -> tuple[ToolSearchFound, ...]:
    """Read ``tool_search_result``; what is found may be told by objects that have a name."""
    tool_use_id = payload.identity("toolUseId")
    found = payload.required("promoted", payload.items)
    names = [_name(item) for item in found]
    promoted = tuple([name for name in names if name is not None])
    if len(promoted) < len(found):
        payload.problems.append("promoted has items without a name")
    search = ToolSearch(
        tool_use_id=tool_use_id,
        strategy=payload.text("strategy"),
        mode=payload.text("mode"),
        promoted=promoted,
        found=None if promoted == found else payload.any("promoted"),
        extra=payload.rest(),
    )
    return (ToolSearchFound(search),)


def _name(item: Any) -> str | None:
    if isinstance(item, Mapping):
        item = next((item[key] for key in _NAMES if key in item), None)
    return item if isinstance(item, str) else None
