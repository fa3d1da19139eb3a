"""The JSON that fleets are told in, as a JSON Schema: :func:`fleet_schema`, :func:`problem_with`.

The schema is the file ``schemas/fleet-1.schema.json`` of this package; what it says of a run is in the schema of runs,
:mod:`acp_host.automation.schema`. Within one version members may be added, and nothing changes its meaning; readers
leave out what they do not know.
"""

from __future__ import annotations

from typing import Any

from acp_host.automation.schema import RUN_SCHEMA
from acp_host.automation.stored_schema import StoredSchema

__all__ = ["SCHEMA_VERSION", "fleet_schema", "problem_with"]

SCHEMA_VERSION = 1
"""Version of the JSON of fleets, which every result, every summary and every report says."""
_FLEET_SCHEMA = StoredSchema("acp_host.fleet", f"fleet-{SCHEMA_VERSION}.schema.json", runs=RUN_SCHEMA)


def fleet_schema() -> dict[str, Any]:
    """Return the schema of one line of ``acp-host fleet --json``, with that of runs in it.

    Its definitions ``result``, ``summary`` and ``report`` are those of a ``JobResult``, a ``FleetSummary`` and a
    ``FleetReport``.
    """
    return _FLEET_SCHEMA.document()


def problem_with(document: Any, definition: str | None = None) -> str | None:
    """Return what is wrong with a document, with the place; ``None`` where it is valid.

    Args:
        document: plain JSON values.
        definition: the definition of the schema to hold it against; ``None``: it is a line of a stream.
    """
    return _FLEET_SCHEMA.problem_with(document, definition)
