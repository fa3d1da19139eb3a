"""The JSON that runs are told in, as a JSON Schema: :func:`run_schema`, :func:`problem_with`.

The schema is the file ``schemas/run-1.schema.json`` of this package. Within one version, members and kinds of events
may be added, and nothing changes its meaning; readers leave out what they do not know.
"""

from __future__ import annotations

import functools
import json
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

__all__ = ["SCHEMA_VERSION", "problem_with", "run_schema"]

SCHEMA_VERSION = 1
"""Version of the JSON of runs, which every document and the first line of every stream say."""


def run_schema() -> dict[str, Any]:
    """Return the schema of one line of ``acp-host run --json``; its definition ``result`` is that of a result."""
    schema: dict[str, Any] = json.loads(_file().read_text("utf-8"))
    return schema


def problem_with(document: Any, definition: str | None = None) -> str | None:
    """Return what is wrong with a document, with the place; ``None`` where it is valid.

    Args:
        document: plain JSON values.
        definition: the definition of the schema to hold it against; ``None``: it is a line of a stream.
    """
    from jsonschema.exceptions import best_match  # loaded by those who read JSON of runs, and not by those who write it

    error = best_match(_validator(definition).iter_errors(document))
    return None if error is None else f"{error.message[:200]} at {error.json_path}"


def _file() -> Any:
    return resources.files("acp_host.automation") / "schemas" / f"run-{SCHEMA_VERSION}.schema.json"


@functools.cache
def _validator(definition: str | None) -> Draft202012Validator:
    from jsonschema import Draft202012Validator

    schema = run_schema()
    if definition is not None:
        schema = {"$ref": f"#/$defs/{definition}", "$defs": schema["$defs"]}
    return Draft202012Validator(schema)
