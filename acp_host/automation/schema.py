"""The JSON that runs are told in, as a JSON Schema: :func:`run_schema`, :func:`problem_with`.

The schema is the file ``schemas/run-1.schema.json`` of this package. Within one version, members and kinds of events
may be added, and nothing changes its meaning; readers leave out what they do not know.
"""

from __future__ import annotations

from typing import Any

from acp_host.automation.stored_schema import StoredSchema

__all__ = ["RUN_SCHEMA", "SCHEMA_VERSION", "problem_with", "run_schema"]

SCHEMA_VERSION = 1
"""Version of the JSON of runs, which every document and the first line of every stream say."""
RUN_SCHEMA = StoredSchema("acp_host.automation", f"run-{SCHEMA_VERSION}.schema.json")


def run_schema() -> dict[str, Any]:
    """Return the schema of one line of ``acp-host run --json``; its definition ``result`` is that of a result."""
    return RUN_SCHEMA.document()


def problem_with(document: Any, definition: str | None = None) -> str | None:
    """Return what is wrong with a document, with the place; ``None`` where it is valid.

    Args:
        document: plain JSON values.
        definition: the definition of the schema to hold it against; ``None``: it is a line of a stream.
    """
    return RUN_SCHEMA.problem_with(document, definition)
