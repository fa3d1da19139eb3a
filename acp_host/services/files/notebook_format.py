"""Notebooks as text: :class:`NotebookFormat` reads, compares, merges and writes nbformat JSON.

What a user loses by a write are cells, their sources and attachments, and metadata. Outputs, execution counts and what
widgets show are made by running cells, so they are not compared, and are never taken from an agent: a cell that it
leaves as it is keeps those that it has, any other begins without. Needs the package nbformat (the extra ``notebooks``).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from acp_host.errors import InvalidInput
from acp_host.services.files.merging import Merge, MergeUnavailable, merge_texts

__all__ = ["NotebookFormat"]

_MADE_BY_RUNNING = ("outputs", "execution_count")
_TIMES_OF_RUNNING = "execution"
"""Of a cell's metadata: when it ran."""
_WIDGETS = "widgets"
"""Of a notebook's metadata: what its widgets show, which belongs to the outputs; pages draw HTML that stands there."""
_LONGEST_PROBLEM = 300
_MINOR = 5
"""The first version of nbformat 4 in which cells have ids."""

Notebook = dict[str, Any]


class NotebookFormat:
    """A :class:`~acp_host.services.files.formats.DocumentFormat` for nbformat 4 with cell ids (4.5 and later).

    Raises:
        InvalidInput: the package nbformat is missing.
    """

    def __init__(self) -> None:
        try:
            import nbformat
            import nbformat.v4
            import nbformat.validator
        except ImportError as error:
            raise InvalidInput("notebooks need the package nbformat: pip install 'acp-host[notebooks]'") from error
        self._from_dict: Any = nbformat.from_dict
        self._v4: Any = nbformat.v4
        self._validator: Any = nbformat.validator

    def write(self, notebook: Mapping[str, Any]) -> str:
        """Return a notebook as the text of a file, in the form that Jupyter gives it.

        Raises:
            InvalidInput: it is not a valid notebook of nbformat 4 whose cells have ids.
        """
        try:
            if any("id" not in cell for cell in notebook.get("cells", ())):
                raise InvalidInput("what is open has cells without ids; nbformat.v4.upgrade() gives them")
            read = self.read(orjson.dumps(notebook).decode())
        except InvalidInput:
            raise
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"what is open {error}") from None
        return str(self._v4.writes(self._from_dict(read))) + "\n"

    def read(self, text: str, live: Sequence[Notebook] = ()) -> Notebook:
        """Return a notebook from its text.

        Args:
            text: nbformat JSON. Agents leave out the ids of cells, new ones mostly: such a cell is the first of
                ``live`` with the same source that is not named otherwise, or a new one.
            live: the cells of the open notebook.

        Raises:
            ValueError: it is not a valid notebook; the message is the end of a sentence.
        """
        try:
            return self._read(text, live)
        except (RecursionError, orjson.JSONEncodeError):
            # What is not read by orjson alone has less room, and how much depends on who asks.
            raise ValueError("is a notebook, and this one is nested too deeply") from None

    def _read(self, text: str, live: Sequence[Notebook]) -> Notebook:
        try:
            notebook = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise ValueError(f"is a notebook, and this is not JSON: {error}") from None
        if not isinstance(notebook, dict) or notebook.get("nbformat") != 4:
            raise ValueError("is a notebook, and this is not one of nbformat 4")
        if isinstance(notebook.get("nbformat_minor"), int):
            notebook["nbformat_minor"] = max(notebook["nbformat_minor"], _MINOR)
        _give_ids(notebook.get("cells"), live)
        if (fault := self._fault_of(notebook)) is not None:
            raise ValueError(f"is a notebook, and this is no valid one: {fault}")
        count = Counter(cell["id"] for cell in notebook["cells"])
        for cell_id, times in count.items():
            if times > 1:
                raise ValueError(f"is a notebook, and in this one {times} cells have the id {cell_id!r}")
        # Into plain objects again, which orjson, equality and the application understand best.
        read: Notebook = orjson.loads(orjson.dumps(self._v4.reads(orjson.dumps(notebook).decode())))
        return read

    def _fault_of(self, notebook: Notebook) -> str | None:
        """Return the first thing that is wrong with a notebook, and where."""
        try:
            fault = next(self._validator.iter_validate(notebook, version=4, version_minor=_MINOR), None)
        except (AttributeError, LookupError, TypeError):
            # The validator looks closer at what it finds wrong, and stumbles if the word for its type is no string.
            return "the type of a cell or of an output is no word that is known"
        if fault is None:
            return None
        place = "$" + "".join(f"[{part!r}]" for part in fault.absolute_path)
        return f"{fault.message[:_LONGEST_PROBLEM]} at {place}"

    def essence(self, text: str, /) -> str:
        """As :meth:`DocumentFormat.essence`: the notebook without what is made by running it."""
        notebook = self.read(text)
        cells = [_written_part(cell) for cell in notebook["cells"]]
        return orjson.dumps([cells, _written_metadata(notebook)], option=orjson.OPT_SORT_KEYS).decode()

    def adopt(self, current: str, text: str, /) -> str:
        """As :meth:`DocumentFormat.adopt`: cells are the same if they have the same id. What is there may be none."""
        try:
            live = self.read(current)
        except ValueError:
            live = {"nbformat": 4, "nbformat_minor": _MINOR, "cells": [], "metadata": {}}
        notebook = self.read(text, live["cells"])
        known = {cell["id"]: cell for cell in live["cells"]}
        cells = [_with_outputs_of(known.get(cell["id"]), cell) for cell in notebook["cells"]]
        metadata = _with_widgets_of(live, _written_metadata(notebook))
        return self.write({**live, "cells": cells, "metadata": metadata})

    def merge(self, base: str, current: str, proposed: str, /) -> Merge:
        """As :meth:`DocumentFormat.merge`: cell by cell, and within a cell line by line."""
        try:
            notebooks = [self.read(text) for text in (base, current, self.adopt(current, proposed))]
        except ValueError:
            raise MergeUnavailable("one of the versions is no valid notebook") from None
        merge = _NotebookMerge(*(notebook["cells"] for notebook in notebooks))
        cells = merge.cells()
        metadata = _with_widgets_of(notebooks[1], merge.one_of(*map(_written_metadata, notebooks)))
        return Merge(self.write({**notebooks[1], "cells": cells, "metadata": metadata}), merge.clean)


class _NotebookMerge:
    """A merge under way.

    Attributes:
        clean: nothing so far has been changed on both sides in different ways.
    """

    def __init__(self, base: Sequence[Notebook], current: Sequence[Notebook], proposed: Sequence[Notebook]) -> None:
        self.clean = True
        self._base, self._current, self._proposed = (
            {cell["id"]: cell for cell in cells} for cells in (base, current, proposed)
        )

    def cells(self) -> list[Notebook]:
        """Return the merged cells."""
        merged = {cell_id: self._cell(cell_id) for cell_id in {**self._current, **self._proposed}}
        kept = {cell_id: cell for cell_id, cell in merged.items() if cell is not None}
        return [kept[cell_id] for cell_id in self._order(kept)]

    def one_of(self, base: Any, current: Any, proposed: Any) -> Any:
        """Return the one that differs from ``base``; the current one, and no clean merge, if both do."""
        if base == current:
            return proposed
        self.clean &= proposed in (base, current)
        return current

    def _cell(self, cell_id: str) -> Notebook | None:
        versions = [cells.get(cell_id) for cells in (self._base, self._current, self._proposed)]
        base, current, proposed = (cell and _written_part(cell) for cell in versions)
        if base == current:
            return versions[2]
        if proposed in (base, current):
            return versions[1]
        if base is None or current is None or proposed is None:  # deleted here and changed there, or new on both sides
            self.clean = False
            return versions[1] or versions[2]
        source = merge_texts(base["source"], current["source"], proposed["source"])
        self.clean &= source.clean
        rest = self.one_of(*({**cell, "source": ""} for cell in (base, current, proposed)))
        return _with_outputs_of(versions[1], {**rest, "source": source.text})

    def _order(self, kept: Mapping[str, Notebook]) -> list[str]:
        """Return the ids of the cells that are kept, in the order of the side that has changed it."""
        shared = self._base.keys() & self._current.keys() & self._proposed.keys()
        orders = [[name for name in side if name in shared] for side in (self._base, self._current, self._proposed)]
        sides = list(self._current), list(self._proposed)
        first, second = sides if self.one_of(*orders) == orders[1] else reversed(sides)
        order = [cell_id for cell_id in first if cell_id in kept]
        for index, cell_id in enumerate(second):
            if cell_id in kept and cell_id not in order:
                before = [other for other in second[:index] if other in order]
                order.insert(order.index(before[-1]) + 1 if before else 0, cell_id)
        return order


def _give_ids(cells: Any, live: Sequence[Notebook]) -> None:
    """Give an id to each cell that has none; what is no cell is left for the validation to find."""
    cells = [cell for cell in cells if isinstance(cell, dict)] if isinstance(cells, list) else []
    taken = {cell["id"] for cell in cells if isinstance(cell.get("id"), str)}
    for index, cell in enumerate(cells):
        if "id" not in cell:
            same = (known["id"] for known in live if known["id"] not in taken and _looks(known) == _looks(cell))
            cell["id"] = next(same, None) or _new_id(index, cell)
            taken.add(cell["id"])


def _looks(cell: Mapping[str, Any]) -> tuple[Any, str]:
    source = cell.get("source")
    return cell.get("cell_type"), "".join(map(str, source)) if isinstance(source, list) else str(source)


def _new_id(index: int, cell: Mapping[str, Any]) -> str:
    """Return the same id whenever the same text is read."""
    return f"cell-{index}-{hashlib.sha256(repr(_looks(cell)).encode()).hexdigest()[:8]}"


def _written_part(cell: Notebook) -> Notebook:
    """Return what of a cell was written by somebody, and not made by running it."""
    metadata = {name: value for name, value in cell["metadata"].items() if name != _TIMES_OF_RUNNING}
    return {name: value for name, value in cell.items() if name not in _MADE_BY_RUNNING} | {"metadata": metadata}


def _written_metadata(notebook: Notebook) -> Notebook:
    """Return a notebook's metadata without what was made by running it."""
    return {name: value for name, value in notebook["metadata"].items() if name != _WIDGETS}


def _with_widgets_of(live: Notebook, metadata: Notebook) -> Notebook:
    """Return metadata with what the widgets of the live notebook show."""
    return metadata | {name: value for name, value in live["metadata"].items() if name == _WIDGETS}


def _with_outputs_of(live: Notebook | None, cell: Notebook) -> Notebook:
    """Return a cell with what running it has made, if it is the live one's source that was run; else with nothing."""
    result = _written_part(cell)
    if live is not None and _looks(live) == _looks(cell):
        result |= {name: live[name] for name in _MADE_BY_RUNNING if name in live}
        if _TIMES_OF_RUNNING in live["metadata"]:
            result["metadata"][_TIMES_OF_RUNNING] = live["metadata"][_TIMES_OF_RUNNING]
    elif cell["cell_type"] == "code":
        result |= {"outputs": [], "execution_count": None}
    return result
