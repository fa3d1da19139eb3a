"""What options take that are amounts: types for ``argparse``, whose errors name the option."""

from __future__ import annotations

import argparse
import math

__all__ = ["at_least_one", "seconds"]


def seconds(text: str) -> float:
    """Read seconds, more than 0.

    Raises:
        ArgumentTypeError: it is none.
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"takes seconds, more than 0, not {text!r}")
    return value


def at_least_one(text: str) -> int:
    """Read a whole number, 1 or more.

    Raises:
        ArgumentTypeError: it is none.
    """
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"takes a whole number, 1 or more, not {text!r}")
    return value
