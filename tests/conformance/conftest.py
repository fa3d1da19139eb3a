"""The upstream schemas, from the npm package that they are published in."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.conformance.schema_strategies import Strategies

SCHEMAS = Path(__file__).parents[1] / "npm/node_modules/@agentclientprotocol/sdk/schema/v1"
FILES = {"stable": "schema.json", "unstable": "schema.unstable.json"}


@pytest.fixture(scope="session")
def schemas() -> dict[str, dict[str, Any]]:
    """Both schemas of version 1, ``stable`` and ``unstable``, as decoded; without them the test is skipped."""
    if not SCHEMAS.is_dir():
        pytest.skip("WIRE TYPES NOT COMPARED WITH THE SCHEMA: it is not installed; needs npm, then `make setup`")
    return {name: json.loads((SCHEMAS / file).read_text(encoding="utf-8")) for name, file in FILES.items()}


@pytest.fixture(scope="session", params=sorted(FILES))
def schema(request: pytest.FixtureRequest, schemas: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Each of the schemas in turn."""
    return schemas[request.param]


@pytest.fixture(scope="session")
def validator(schemas: dict[str, dict[str, Any]]) -> Callable[[str], Any]:
    """Return the jsonschema validator of a definition of the unstable schema, by name."""
    definitions = schemas["unstable"]["$defs"]
    return functools.cache(
        lambda name: jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": definitions})
    )


@pytest.fixture(scope="session")
def strategies(schemas: dict[str, dict[str, Any]]) -> Strategies:
    """Return what makes valid values for the definitions of the unstable schema."""
    return Strategies(schemas["unstable"])
