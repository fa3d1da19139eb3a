"""What a soak has found, in Markdown, and where it is kept: :func:`lines`, :func:`keep`."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.soak.samples import Sample, Verdict

BEGIN, END = "<!-- measured -->", "<!-- /measured -->"
"""Between these lines of a page stands what was found last."""


def lines(
    samples: Sequence[Sample],
    found: Sequence[Verdict],
    counts: Mapping[str, int],
    surprises: Mapping[str, int],
    left: Sequence[str],
) -> list[str]:
    """Return the report.

    Args:
        samples: in order.
        found: about the samples.
        counts: what has happened, and how often.
        surprises: the same, of what must not happen.
        left: what was left behind in the end.
    """
    loads = [each.load for each in samples]
    return [
        f"{samples[-1].minute:.0f} minutes on {os.cpu_count()} cores, Python {platform.python_version()}; the load of "
        f"the machine, its other work included, was {min(loads):.1f} to {max(loads):.1f}.",
        "",
        "| figure | first quarter | last quarter | change | flat |",
        "|---|---|---|---|---|",
        *map(_row, found),
        "",
        "| what happened | times |",
        "|---|---|",
        *(f"| {what} | {times:,} |" for what, times in sorted(counts.items())),
        "",
        *(f"- **Left behind**: {what}." for what in left),
        *(f"- **Must not happen**: {what}, {times} times." for what, times in sorted(surprises.items())),
        *([] if left or surprises else ["Nothing was left behind, and no turn took longer than a minute."]),
    ]


def _row(each: Verdict) -> str:
    change = each.late / each.early - 1 if each.early else 0.0
    return (
        f"| {each.what} | {each.early:,.1f} | {each.late:,.1f} | {change:+.1%} | {'yes' if each.flat else '**no**'} |"
    )


def keep(report: Sequence[str], page: Path) -> None:
    """Put the report into a page, in place of the one before."""
    before, _, rest = page.read_text("utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    assert end, f"{page} has no lines {BEGIN} and {END}"
    page.write_text("\n".join([before + BEGIN, "", *report, "", END + after]), encoding="utf-8")
