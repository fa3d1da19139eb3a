"""The catalogue in ``docs/reliability.md`` and the tests of this directory name each other, completely."""

from __future__ import annotations

import ast
import re
from pathlib import Path

HERE = Path(__file__).parent
CATALOGUE = HERE.parents[1] / "docs" / "reliability.md"
ROW = re.compile(r"\| (?P<number>R\d{2,3}) \| (?P<agents>.+) \| (?P<host>.+) \| `(?P<file>\w+)` \|")


def rows() -> list[re.Match[str]]:
    lines = CATALOGUE.read_text(encoding="utf-8").splitlines()
    return [row for line in lines if (row := ROW.fullmatch(line))]


def numbered() -> set[tuple[str, str]]:
    """The number and the file of every test."""
    found = set()
    for path in HERE.glob("test_*.py"):
        if path.name == Path(__file__).name:
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                name = re.match(r"test_(r\d{2,3})_", node.name)
                assert name, f"{path.name}: {node.name} does not say which row of the catalogue it tests"
                found.add((name[1].upper(), path.stem))
    return found


def test_every_row_has_its_tests_and_every_test_its_row() -> None:
    assert {(row["number"], row["file"]) for row in rows()} == numbered()


def test_rows_are_in_order_and_numbers_unique() -> None:
    numbers = [int(row["number"][1:]) for row in rows()]
    assert numbers == sorted(set(numbers))
    assert len(numbers) > 50


def test_no_line_of_the_tables_is_misread() -> None:
    lines = [line for line in CATALOGUE.read_text(encoding="utf-8").splitlines() if line.startswith("| R")]
    assert len(lines) == len(rows())
