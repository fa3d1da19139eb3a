"""The samples as a picture: :func:`plot`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.soak.samples import Sample

WIDTH, ROW, LEFT, GAP = 760, 120, 150, 30

ROWS: tuple[tuple[str, Callable[[Sample], float]], ...] = (
    ("memory, MiB", lambda each: each.memory),
    ("agents, MiB", lambda each: each.agents),
    ("descriptors", lambda each: each.descriptors),
    ("tasks", lambda each: each.tasks),
    ("a short turn, ms", lambda each: each.wait * 1_000),
    ("load", lambda each: each.load),
)


def plot(samples: Sequence[Sample]) -> str:
    """Return an SVG with one curve below the other, each from zero, over the minutes."""
    height = len(ROWS) * (ROW + GAP) + GAP
    rows = "".join(_row(number, name, figure, samples) for number, (name, figure) in enumerate(ROWS))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" '
        f'font-size="12"><rect width="{WIDTH}" height="{height}" fill="white"/>{rows}'
        f'<text x="{LEFT}" y="{height - 8}">0 min</text>'
        f'<text x="{WIDTH - 10}" y="{height - 8}" text-anchor="end">{samples[-1].minute:.0f} min</text></svg>\n'
    )


def _row(number: int, name: str, figure: Callable[[Sample], float], samples: Sequence[Sample]) -> str:
    top = GAP + number * (ROW + GAP)
    values = [figure(each) for each in samples]
    highest, end = max(*values, 1e-9), max(samples[-1].minute, 1e-9)
    points = " ".join(
        f"{LEFT + each.minute / end * (WIDTH - LEFT - 10):.1f},{top + ROW - value / highest * ROW:.1f}"
        for each, value in zip(samples, values, strict=True)
    )
    return (
        f'<text x="8" y="{top + 14}">{name}</text><text x="{LEFT - 6}" y="{top + 10}" text-anchor="end">{highest:,.0f}'
        f'</text><text x="{LEFT - 6}" y="{top + ROW}" text-anchor="end">0</text>'
        f'<path d="M{LEFT} {top}V{top + ROW}H{WIDTH - 10}" fill="none" stroke="#999"/>'
        f'<polyline points="{points}" fill="none" stroke="#0b5fad" stroke-width="1.5"/>'
    )
