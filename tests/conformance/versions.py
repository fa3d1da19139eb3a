"""The versions of the protocol that the conformance tests walk over: :data:`VERSIONS`."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
import jsonschema
import pytest

from acp_host.wire import definitions as first_definitions
from acp_host.wire import methods as first_methods
from acp_host.wire.methods import MethodTable
from acp_host.wire.v2 import definitions as second_definitions
from acp_host.wire.v2 import methods as second_methods
from tests.conformance.schema_strategies import Strategies

SCHEMAS = Path(__file__).parents[1] / "npm/node_modules/@agentclientprotocol/sdk/schema"
FILES = {"stable": "schema.json", "unstable": "schema.unstable.json"}


@attrs.frozen
class Version:
    """One version: what we have of it, and its upstream schemas.

    Attributes:
        number: of the version.
        definitions: our classes and aliases, by the schema's names.
        table: our methods.
    """

    number: int
    definitions: Mapping[str, Any]
    table: MethodTable

    def __str__(self) -> str:
        return f"v{self.number}"

    @property
    def schemas(self) -> dict[str, dict[str, Any]]:
        """Both schemas, ``stable`` and ``unstable``, as decoded; without them the test is skipped."""
        return read_schemas(self.number)

    @property
    def strategies(self) -> Strategies:
        """What makes valid values for the definitions of the unstable schema."""
        return strategies_of(self.number)

    def validator(self, name: str) -> Any:
        """Return the jsonschema validator of a definition of the unstable schema."""
        return validators_of(self.number)(name)


@functools.cache
def read_schemas(number: int) -> dict[str, dict[str, Any]]:
    folder = SCHEMAS / f"v{number}"
    if not folder.is_dir():
        pytest.skip("WIRE TYPES NOT COMPARED WITH THE SCHEMA: it is not installed; needs npm, then `make setup`")
    return {name: json.loads((folder / file).read_text(encoding="utf-8")) for name, file in FILES.items()}


@functools.cache
def strategies_of(number: int) -> Strategies:
    return Strategies(read_schemas(number)["unstable"])


@functools.cache
def validators_of(number: int) -> Callable[[str], Any]:
    definitions = read_schemas(number)["unstable"]["$defs"]
    return functools.cache(
        lambda name: jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": definitions})
    )


V1 = Version(1, first_definitions.DEFINITIONS, first_methods.TABLE)
V2 = Version(2, second_definitions.DEFINITIONS, second_methods.TABLE)
VERSIONS = (V1, V2)
