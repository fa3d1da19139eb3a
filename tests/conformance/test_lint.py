"""The linter minds exactly the words that the schema does, and finds nothing in what is valid."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_host.host.linter import CLOSED, Linter
from acp_host.wire._shape import UnionShape, shape_of
from acp_host.wire._unions import TaggedUnion
from acp_host.wire.methods import Direction, Method, MethodKind
from tests.conformance.schema_reader import branches
from tests.conformance.versions import VERSIONS, Version

few = settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow])


def is_sent_one_way(method: Method) -> bool:
    return method.direction is not Direction.BOTH


def is_word_list(definition: dict[str, Any]) -> bool:
    return any("const" in branch and isinstance(branch["const"], str) for branch in branches(definition))


def union_named(hint: Any) -> bool:
    try:
        shape = shape_of(hint)
    except TypeError:
        return False
    return isinstance(shape, UnionShape) and isinstance(shape.union, TaggedUnion)


def is_closed(definition: dict[str, Any]) -> bool | None:
    """Tell whether a vocabulary or a tagged union has no other members; ``None`` for other definitions."""
    alternatives = branches(definition)
    words = [branch for branch in alternatives if "const" in branch]
    tagged = [
        branch for branch in alternatives if any("const" in part for part in branch.get("properties", {}).values())
    ]
    if not words and not tagged:
        return None
    if words:
        return len(words) == len(alternatives)
    return all("not" not in branch and "$ref" not in branch for branch in alternatives if branch not in tagged)


def test_the_closed_vocabularies_and_unions_are_the_schemas(version: Version) -> None:
    definitions = version.schemas["unstable"]["$defs"]

    assert {name for name in CLOSED[version.number] if not is_closed(definitions[name])} == set()
    closed = {name for name, definition in definitions.items() if is_closed(definition)}
    named = {name for name in closed if is_word_list(definitions[name]) or union_named(version.definitions.get(name))}
    assert named == CLOSED[version.number]


CASES = [(version, method) for version in VERSIONS for method in version.table.methods if is_sent_one_way(method)]


@pytest.mark.parametrize(
    ("version", "method"), CASES, ids=[f"{version} {method.kind.value} {method.name}" for version, method in CASES]
)
def test_what_is_valid_has_no_findings(version: Version, method: Method) -> None:
    names = [reference.rpartition(":")[2] for reference in (method.params, method.result) if reference]
    side, other = ("in", "out") if method.direction is Direction.AGENT_TO_HOST else ("out", "in")
    strategies = version.strategies

    @few
    @given(st.tuples(*[strategies.named(name) for name in names]))
    def law(values: Any) -> None:
        linter = Linter()
        linter.version = version.number
        if method.name == "initialize":
            for value in values:
                value["protocolVersion"] = version.number
        call = {"jsonrpc": "2.0", "method": method.name, "params": values[0]}
        if method.kind is MethodKind.REQUEST:
            call["id"] = 1
        assert linter.check(side, call) == []
        if method.kind is MethodKind.REQUEST:
            assert linter.check(other, {"jsonrpc": "2.0", "id": 1, "result": values[1]}) == []

    law()
