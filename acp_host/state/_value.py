"""How a value of the state is declared, :func:`value`, :func:`plain_json`, and compared: :func:`is_same`."""

from __future__ import annotations

from typing import Any, TypeVar, cast, dataclass_transform

import attrs

from acp_host.wire._model import by_values

__all__ = ["is_plain_json", "is_same", "plain_json", "value"]

_T = TypeVar("_T")


_PLAIN_JSON = "plain_json"


def plain_json(*, default: Any = attrs.NOTHING) -> Any:
    """Declare an attribute that holds JSON as an agent sent it: however deep it is, nobody walks through it."""
    return attrs.field(default=default, metadata={_PLAIN_JSON: True})


def is_plain_json(attribute: attrs.Attribute[Any]) -> bool:
    """Tell whether an attribute was declared with :func:`plain_json`."""
    return bool(attribute.metadata.get(_PLAIN_JSON))


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(attrs.field, plain_json))
def value(cls: type[_T]) -> type[_T]:
    """Make ``cls`` a slotted value class, compared by value, with keyword-only arguments.

    Like a wire type it is frozen to type checkers and to readers, and not checked for it at run time: entries of a
    transcript are made by the thousand, and a class that checks costs three times as much to make.
    """
    made: Any = attrs.define(cls, slots=True, kw_only=True, eq=False, repr=False, getstate_setstate=False)
    return cast(type[_T], by_values(made))


def is_same(before: object, after: object) -> bool:
    """Whether two values are equal, as far as that can be told of what an agent has nested as deep as it likes."""
    try:
        return before is after or before == after
    except RecursionError:
        return False
