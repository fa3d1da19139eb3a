"""Several deltas as one: :func:`compacted`.

Text that grows is patched by replacing its last segment, again and again. Of such replacements a viewer that is behind
needs the last one only. Pure; the result leads to the same state.
"""

from __future__ import annotations

from collections.abc import Iterable

from acp_host.state.operations import Operation

__all__ = ["compacted"]


def compacted(operations: Iterable[Operation]) -> list[Operation]:
    """Return operations that lead where ``operations`` lead, without replacements that are replaced themselves.

    Args:
        operations: JSON Patch operations, in order; only ``add``, ``replace`` and ``remove`` are known.
    """
    kept: list[Operation | None] = []
    latest: dict[str, int] = {}
    for operation in operations:
        path = operation["path"]
        if operation["op"] == "replace":
            if path in latest:
                kept[latest[path]] = None
            _used(path, latest)
            latest[path] = len(kept)
        elif operation["op"] == "add" and path.endswith("/-"):
            _used(path, latest)
        else:
            latest.clear()  # what stands behind it in an array has another path from now on
        kept.append(operation)
    return [operation for operation in kept if operation is not None]


def _used(path: str, latest: dict[str, int]) -> None:
    """Keep the replacements of what contains ``path``: this operation changes a part of what they put there."""
    parent = path.rpartition("/")[0]
    while parent:
        latest.pop(parent, None)
        parent = parent.rpartition("/")[0]
