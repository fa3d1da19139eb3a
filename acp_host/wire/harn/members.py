"""Reading an extension's JSON object member by member: :class:`Members`.

The wire types have a schema and two decoders; what agents put into ``_meta`` has neither. A member that is absent or
``null`` is ``None`` or empty; so is one of the wrong type, which is told besides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from acp_host.wire._model import NO_EXTRA
from acp_host.wire._shape import LARGEST_NUMBER

__all__ = ["Members", "harn_meta"]

_MAX_PROBLEMS = 20


class Members:
    """A JSON object, or what came in the place of one.

    Attributes:
        raw: the object as sent; empty where there is none.
        problems: what had the wrong type so far, with its path; the first twenty. Shared with the objects inside.

    Args:
        value: the JSON value.
        path: where it is, for the problems.
        problems: a list to go on with.
    """

    def __init__(self, value: Any, path: str, problems: list[str] | None = None) -> None:
        self.problems: list[str] = [] if problems is None else problems
        self._path = path
        self.raw: Mapping[str, Any] = value if isinstance(value, Mapping) else NO_EXTRA
        if value is not None and not isinstance(value, Mapping):
            self._report(path, "an object", value)

    def __bool__(self) -> bool:
        return bool(self.raw)

    def text(self, name: str) -> str | None:
        """Return a string."""
        value: str | None = self._take(name, "a string", lambda value: isinstance(value, str))
        return value

    def flag(self, name: str) -> bool | None:
        """Return ``True`` or ``False``."""
        value: bool | None = self._take(name, "true or false", lambda value: isinstance(value, bool))
        return value

    def number(self, name: str) -> float | None:
        """Return a number of at least 0, whole or not."""
        value: float | None = self._take(name, "a number of at least 0", _is_amount)
        return value

    def whole(self, name: str) -> int | None:
        """Return an integer of at least 0."""
        value = self._take(name, "an integer of at least 0", lambda value: _is_amount(value) and value == int(value))
        return None if value is None else int(value)

    def texts(self, name: str) -> tuple[str, ...]:
        """Return the strings of an array; other items are left out."""
        wanted = "an array of strings"
        value = self._take(name, wanted, lambda value: isinstance(value, list | tuple)) or ()
        found = tuple([item for item in value if isinstance(item, str)])
        if len(found) < len(value):
            self._report(f"{self._path}.{name}", wanted, value)
        return found

    def member(self, name: str) -> Members:
        """Return an object, to be read in turn; an empty one where it is absent."""
        return Members(self.raw.get(name), f"{self._path}.{name}", self.problems)

    def members(self, name: str) -> tuple[Members, ...]:
        """Return the objects of an array; other items are left out."""
        value = self._take(name, "an array of objects", lambda value: isinstance(value, list | tuple)) or ()
        found = [Members(item, f"{self._path}.{name}[{at}]", self.problems) for at, item in enumerate(value)]
        return tuple([item for item, raw in zip(found, value, strict=True) if isinstance(raw, Mapping)])

    def _take(self, name: str, wanted: str, fits: Callable[[Any], bool]) -> Any:
        value = self.raw.get(name)
        if value is None or fits(value):
            return value
        self._report(f"{self._path}.{name}", wanted, value)
        return None

    def _report(self, path: str, wanted: str, value: Any) -> None:
        if len(self.problems) < _MAX_PROBLEMS:
            self.problems.append(f"expected {wanted} at {path}, got {type(value).__name__}")


def _is_amount(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= LARGEST_NUMBER


def harn_meta(meta: Any) -> Mapping[str, Any]:
    """Return what is under ``harn`` in a ``_meta``; empty where there is nothing, or no object."""
    told = meta.get("harn") if isinstance(meta, Mapping) else None
    return told if isinstance(told, Mapping) else NO_EXTRA
