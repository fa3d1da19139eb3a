"""The linter minds exactly the words that the schema does, and finds nothing in what is valid."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_host.host.linter import CLOSED, Linter
from acp_host.wire.definitions import DEFINITIONS
from acp_host.wire.methods import METHODS, Direction, MethodKind
from tests.conformance.schema_reader import branches
from tests.conformance.schema_strategies import Strategies

few = settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow])
SENT = [method for method in METHODS if method.direction is not Direction.BOTH]


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


def test_the_closed_vocabularies_and_unions_are_the_schemas(schemas: dict[str, Any]) -> None:
    definitions = schemas["unstable"]["$defs"]

    assert {name for name in CLOSED[1] if not is_closed(definitions[name])} == set()
    vocabularies = {
        name
        for name, definition in definitions.items()
        if is_closed(definition) and any("const" in branch for branch in branches(definition))
    }
    assert vocabularies <= CLOSED[1]
    assert CLOSED[1] <= DEFINITIONS.keys()


@pytest.mark.parametrize("method", SENT, ids=lambda method: f"{method.kind.value} {method.name}")
def test_what_is_valid_has_no_findings(method: Any, strategies: Strategies) -> None:
    names = [reference.rpartition(":")[2] for reference in (method.params, method.result) if reference]
    side, other = ("in", "out") if method.direction is Direction.AGENT_TO_HOST else ("out", "in")

    @few
    @given(st.tuples(*[strategies.named(name) for name in names]))
    def law(values: Any) -> None:
        linter = Linter()
        call = {"jsonrpc": "2.0", "method": method.name, "params": values[0]}
        if method.kind is MethodKind.REQUEST:
            call["id"] = 1
        assert linter.check(side, call) == []
        if method.kind is MethodKind.REQUEST:
            assert linter.check(other, {"jsonrpc": "2.0", "id": 1, "result": values[1]}) == []

    law()
