"""Deltas that are made one lead to the same state."""

from __future__ import annotations

import copy
from typing import Any

import jsonpatch
from hypothesis import given
from hypothesis import strategies as st

from acp_host.ui.feed.compacting import compacted


def paths_in(value: Any, path: str = "") -> list[tuple[str, Any]]:
    """Return every place in a document, with the container that it is in."""
    found: list[tuple[str, Any]] = []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in items:
        found += [(f"{path}/{key}", value), *paths_in(member, f"{path}/{key}")]
    return found


documents = st.recursive(
    st.integers(0, 9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=12,
)


@given(st.data())
def test_a_compacted_delta_leads_to_the_same_state(data: st.DataObject) -> None:
    begin = {"text": ["x"], "more": data.draw(documents)}
    state: Any = copy.deepcopy(begin)
    operations: list[dict[str, Any]] = []
    for _ in range(data.draw(st.integers(0, 12))):
        places = paths_in(state)
        path, container = data.draw(st.sampled_from(places))
        kind = data.draw(st.sampled_from(["replace", "replace", "replace", "remove", "add", "append"]))
        value = data.draw(documents)
        operation: dict[str, Any] = {"op": kind, "path": path, "value": value}
        if kind == "remove" and len(path) > 5:
            operation = {"op": "remove", "path": path}
        elif kind == "append" and isinstance(container, list):
            operation = {"op": "add", "path": f"{path.rpartition('/')[0]}/-", "value": value}
        elif kind != "add":
            operation["op"] = "replace"
        operations.append(operation)
        state = jsonpatch.apply_patch(state, copy.deepcopy([operation]))
    fewer = compacted(operations)
    assert len(fewer) <= len(operations)
    assert jsonpatch.apply_patch(begin, copy.deepcopy(fewer)) == state


def test_of_text_that_grows_the_last_segment_is_left() -> None:
    grown = [{"op": "replace", "path": "/entries/3/parts/0/segments/0", "value": "x" * size} for size in range(50)]
    versions = [{"op": "replace", "path": "/version", "value": size} for size in range(50)]
    both = [operation for pair in zip(grown, versions, strict=True) for operation in pair]
    assert compacted(both) == both[-2:]
