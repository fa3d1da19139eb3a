"""Two lists side by side, where one of them has gaps for anything: :func:`align` and :func:`difference`."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from types import EllipsisType
from typing import Generic, TypeVar

from attrs import frozen

__all__ = ["Aligned", "align", "difference"]

E = TypeVar("E")
A = TypeVar("A")

_MISSING = 1
"""What it costs that something is missing, or too much."""
_HINTS = 160
"""Length of a line beyond which it is not said where it differs."""


@frozen
class Aligned(Generic[E, A]):
    """An expectation and what stands in its place; either may be missing.

    Attributes:
        expected: the expectation, ``...`` for a gap; ``None`` where nothing was expected.
        actual: what is there; ``None`` where something is missing, or a gap holds nothing.
        fits: whether that is as it should be.
    """

    expected: E | EllipsisType | None
    actual: A | None
    fits: bool


def align(
    expected: Sequence[E | EllipsisType],
    actual: Sequence[A],
    fits: Callable[[E, A], bool],
    alike: Callable[[E, A], bool],
) -> list[Aligned[E, A]]:
    """Return both lists in pairs, with as few differences as can be. Cost: the product of the lengths.

    Args:
        expected: what is expected; ``...`` for any number of things.
        actual: what is there.
        fits: whether something is as expected.
        alike: whether something that does not fit may be what was meant.
    """
    rows, columns = len(expected), len(actual)
    # costs[i][j]: differences between what is left of both from there on.
    costs = [[0] * (columns + 1) for _ in range(rows + 1)]

    def distance(wish: E | EllipsisType, one: A) -> int:
        if isinstance(wish, EllipsisType) or fits(wish, one):
            return 0
        return _MISSING if alike(wish, one) else 2 * _MISSING + 1

    apart = [[distance(wish, one) for one in actual] for wish in expected]
    for i in range(rows, -1, -1):
        for j in range(columns, -1, -1):
            costs[i][j] = min((cost for cost, _, _ in _steps(expected, apart, costs, i, j)), default=0)
    pairs: list[Aligned[E, A]] = []
    i = j = 0
    while (i, j) != (rows, columns):
        _, down, right = min(_steps(expected, apart, costs, i, j), key=lambda step: step[0])
        wish = expected[i] if down or (i < rows and isinstance(expected[i], EllipsisType)) else None
        one = actual[j] if right else None
        gap = isinstance(wish, EllipsisType)
        pairs.append(Aligned(wish, one, gap or (bool(down and right) and not apart[i][j])))
        i, j = i + down, j + right
    return pairs


def _steps(
    expected: Sequence[object], apart: list[list[int]], costs: list[list[int]], i: int, j: int
) -> list[tuple[int, int, int]]:
    """Return what can be done next: its cost in all, and how far it goes in both lists; the best-looking first."""
    rows, columns = len(costs) - 1, len(costs[0]) - 1
    steps = []
    gap = i < rows and isinstance(expected[i], EllipsisType)
    if gap:
        steps.append((costs[i + 1][j], 1, 0))
        if j < columns:
            steps.append((costs[i][j + 1], 0, 1))
        return steps
    if i < rows and j < columns:
        steps.append((costs[i + 1][j + 1] + apart[i][j], 1, 1))
    if i < rows:
        steps.append((costs[i + 1][j] + _MISSING, 1, 0))
    if j < columns:
        steps.append((costs[i][j + 1] + _MISSING, 0, 1))
    return steps


def difference(pairs: Sequence[tuple[bool, str | None, str | None]]) -> str:
    """Return pairs of lines as a diff: whether they fit, what was expected, and what is there."""
    lines: list[str] = []
    for fits, expected, actual in pairs:
        if fits:
            lines.append(f"  {actual}" if actual is not None else "  …")
        elif expected is not None and actual is not None:
            lines += _changed(expected, actual)
        elif expected is not None:
            lines.append(f"- {expected}")
        else:
            lines.append(f"+ {actual}")
    return "\n".join(lines)


def _changed(expected: str, actual: str) -> list[str]:
    if max(len(expected), len(actual)) > _HINTS:
        return [f"- {expected}", f"+ {actual}"]
    hinted = [line.rstrip("\n") for line in difflib.ndiff([f"{expected}\n"], [f"{actual}\n"])]
    return [line.rstrip() for line in hinted]
