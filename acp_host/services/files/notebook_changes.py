"""What a write does to a notebook, cell by cell: :class:`NotebookChange`, :func:`cell_operations`.

A cell is an nbformat cell: a mapping with ``id``, ``cell_type``, ``source`` and the rest.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import field, frozen

__all__ = [
    "Cell",
    "CellDelete",
    "CellInsert",
    "CellMove",
    "CellOperation",
    "CellReplace",
    "NotebookChange",
    "apply_cell_operations",
    "cell_operations",
]

Cell = Mapping[str, Any]


@frozen
class CellInsert:
    """A new cell.

    Attributes:
        index: where it is inserted, counted from 0.
        cell: the cell; one of code has no outputs yet.
    """

    index: int
    cell: Cell


@frozen
class CellReplace:
    """Another content for a cell, which keeps its id.

    Attributes:
        index: where the cell is.
        cell: the whole cell. It has its outputs and execution count if its source is the same as before.
    """

    index: int
    cell: Cell


@frozen
class CellDelete:
    """The end of a cell.

    Attributes:
        index: where it was.
        cell_id: its id.
    """

    index: int
    cell_id: str


@frozen
class CellMove:
    """Another place for a cell.

    Attributes:
        index: where it was.
        to_index: where it is afterwards, among the cells without it.
        cell_id: its id.
    """

    index: int
    to_index: int
    cell_id: str


CellOperation = CellInsert | CellReplace | CellDelete | CellMove
"""One step of a change of a notebook's cells."""


@frozen(kw_only=True)
class NotebookChange:
    """What an agent's write does to an open notebook; one step for the user to undo.

    Attributes:
        session_id: whose agent writes.
        path: the real path of the notebook's file.
        operations: what happens to the cells, to be done in this order; each index counts in the list that the
            operations before it have left.
        metadata: the notebook's new metadata; ``None`` if it stays as it is.
        version: that of the :class:`~acp_host.services.files.notebooks.OpenNotebook` that the change is made for.
    """

    session_id: str
    path: str
    operations: tuple[CellOperation, ...] = field(repr=False)
    metadata: Mapping[str, Any] | None
    version: int | str | None = None


def cell_operations(old: Sequence[Cell], new: Sequence[Cell]) -> tuple[CellOperation, ...]:
    """Return what makes the cells ``new`` of the cells ``old``; in each of them, ids are unique."""
    before, wanted = {cell["id"]: cell for cell in old}, {cell["id"]: index for index, cell in enumerate(new)}
    now = [cell["id"] for cell in old]
    operations: list[CellOperation] = []
    for index in range(len(now) - 1, -1, -1):
        if now[index] not in wanted:
            operations.append(CellDelete(index, now.pop(index)))
    staying = _longest_rise([wanted[cell_id] for cell_id in now])
    for place, cell in enumerate(new):
        cell_id = cell["id"]
        if place in staying:
            continue
        at = now.index(cell_id) if cell_id in before else None
        if at is not None:
            del now[at]
        # After the cell before it. Those that are still to be moved may stand anywhere, and do not matter.
        to = now.index(new[place - 1]["id"]) + 1 if place else 0
        operations.append(CellInsert(to, cell) if at is None else CellMove(at, to, cell_id))
        now.insert(to, cell_id)
    operations += [CellReplace(index, cell) for index, cell in enumerate(new) if before.get(cell["id"], cell) != cell]
    return tuple(operations)


def apply_cell_operations(cells: Sequence[Cell], operations: Iterable[CellOperation]) -> list[Cell]:
    """Return a notebook's cells after operations as :func:`cell_operations` gives them."""
    result = list(cells)
    for operation in operations:
        match operation:
            case CellInsert(index, cell):
                result.insert(index, cell)
            case CellReplace(index, cell):
                result[index] = cell
            case CellDelete(index):
                del result[index]
            case CellMove(index, to_index):
                result.insert(to_index, result.pop(index))
    return result


def _longest_rise(numbers: Sequence[int]) -> set[int]:
    """Return as many of some different numbers as possible that stand in rising order."""
    ends: list[int] = []  # the smallest number that a rise of each length ends with
    before: dict[int, int | None] = {}
    for number in numbers:
        length = bisect_left(ends, number)
        before[number] = ends[length - 1] if length else None
        ends[length : length + 1] = [number]
    rise, number_or_none = set(), ends[-1] if ends else None
    while number_or_none is not None:
        rise.add(number_or_none)
        number_or_none = before[number_or_none]
    return rise
