"""Checks of the numbers that an application sets, for attrs: :func:`number`. A leaf module: every layer may use it."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

from attrs import Attribute

from acp_host.errors import InvalidInput

__all__ = ["number"]


def number(
    unit: str = "a number",
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    whole: bool = False,
    endless: bool = False,
    optional: bool = False,
) -> Callable[[Any, Attribute[Any], Any], None]:
    """Return a validator that raises :class:`~acp_host.errors.InvalidInput` for everything but such a number.

    Args:
        unit: what it counts, for the message.
        least: it is this or more.
        above: it is more than this.
        most: it is this or less.
        whole: it is an integer.
        endless: it may be infinite.
        optional: it may be ``None``.
    """
    wanted = [unit]
    if above is not None:
        wanted.append(f"more than {above}")
    if least is not None:
        wanted.append(f"{least} or more" if most is None else f"from {least} to {most}")

    def fits(value: Any) -> bool:
        if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
            return False
        if above is not None and not value > above:
            return False
        if not (-math.inf if least is None else least) <= value <= (math.inf if most is None else most):
            return False
        return endless or abs(value) <= sys.float_info.max

    def check(instance: Any, attribute: Attribute[Any], value: Any) -> None:
        if not (fits(value) or (optional and value is None)):
            or_none = ", or None" if optional else ""
            what = f"{type(instance).__name__}({attribute.name}=…)"
            raise InvalidInput(f"{what} takes {', '.join(wanted)}{or_none}, not {value!r}")

    return check
