"""Figures, goals and tables of the benchmark, as text for a terminal or as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

__all__ = ["Figures", "Goal", "Report", "Row", "at_least", "at_most"]


@dataclass(frozen=True)
class Figures:
    """What was measured of one contender, one figure for each round."""

    values: Sequence[float]

    @property
    def median(self) -> float:
        return median(self.values)

    def over(self, other: Figures) -> float:
        """Return how many times the other this is: the median of the ratios within a round."""
        return median(mine / theirs for mine, theirs in zip(self.values, other.values, strict=True))

    def show(self, digits: int = 2) -> str:
        lowest, highest = min(self.values), max(self.values)
        return f"{self.median:.{digits}f} ({lowest:.{digits}f} to {highest:.{digits}f})"


@dataclass(frozen=True)
class Goal:
    """A bound that a figure should keep. Nothing fails if it does not: people judge."""

    sign: str
    limit: float

    def judge(self, value: float) -> str:
        kept = value >= self.limit if self.sign == "≥" else value <= self.limit
        return f"{self.sign} {self.limit:,g}: {'kept' if kept else 'MISSED'}"


def at_least(limit: float) -> Goal:
    return Goal("≥", limit)


def at_most(limit: float) -> Goal:
    return Goal("≤", limit)


@dataclass(frozen=True)
class Row:
    """A figure and its goal, if it has one."""

    what: str
    value: float
    unit: str = ""
    goal: Goal | None = None

    @property
    def measured(self) -> str:
        number = f"{self.value:.2f}" if isinstance(self.value, float) else f"{self.value:,}"
        return f"{number} {self.unit}".rstrip()

    @property
    def judged(self) -> str:
        return "" if self.goal is None else self.goal.judge(self.value)


class Report:
    """Prints tables as they come."""

    def __init__(self, *, markdown: bool) -> None:
        self.markdown = markdown

    def table(self, title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        print(f"\n**{title}**\n" if self.markdown else f"\n{title}")
        lines = [header, *rows]
        widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
        for number, line in enumerate(lines):
            cells = [cell.ljust(width) for cell, width in zip(line, widths, strict=True)]
            print(f"| {' | '.join(cells)} |" if self.markdown else f"  {'   '.join(cells).rstrip()}", flush=True)
            if number == 0 and self.markdown:
                print(f"|{'|'.join('-' * (width + 2) for width in widths)}|")

    def rows(self, title: str, rows: Sequence[Row]) -> None:
        """Print figures of different kinds."""
        self.table(title, ["", "measured", "goal"], [[row.what, row.measured, row.judged] for row in rows])
