"""How a wire type is declared: :func:`model`, :class:`Model`, :func:`wire_field`, ``UNSET`` and :class:`Unknown`.

A wire type is a slotted attrs class whose attributes are the schema's properties in snake_case. It is frozen to type
checkers and to users; at run time it is an ordinary slotted class, because a frozen one costs four times as much to
construct and these are made once per streamed update. Nothing in this library assigns to one after construction, and
nothing outside should: use :func:`evolve`.

Rules that every type follows:

* The wire name of an attribute is its name in camelCase (``tool_call_id`` → ``toolCallId``); ``meta`` is ``_meta``.
* An optional property that was absent is ``UNSET``; ``null`` is ``None``. Where the schema gives a default, absent
  means that default. ``UNSET`` is falsy.
* Arrays are tuples. Plain JSON (``rawInput``, ``_meta``) stays as it was decoded; treat it as read-only.
* Properties that the schema does not name are kept in ``extra`` and written back.
* An open or closed vocabulary is a :class:`enum.StrEnum` beside the type; attributes hold plain ``str``, which compares
  and hashes equal to the members, so that a value this version does not know is kept as it came.
"""

from __future__ import annotations

import copyreg
import enum
import operator
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal, TypeVar, cast, dataclass_transform

import attrs

__all__ = [
    "NO_EXTRA",
    "UNSET",
    "Json",
    "JsonObject",
    "Limit",
    "Model",
    "NonEmptyStr",
    "UInt",
    "Unknown",
    "Unset",
    "by_values",
    "evolve",
    "model",
    "wire_field",
    "wire_name",
]

_T = TypeVar("_T")

Json = Any
"""Any JSON value, as decoded."""
JsonObject = Mapping[str, Any]
"""A JSON object whose members the schema does not name."""


class Unset(enum.Enum):
    """The type of ``UNSET``."""

    UNSET = "UNSET"

    def __bool__(self) -> Literal[False]:
        return False

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = Unset.UNSET
"""The value of an optional attribute whose property was absent (``None`` means it was ``null``)."""


class _NoExtra(Mapping[str, Any]):
    """An empty mapping that nobody can put anything into, and of which there is one."""

    __slots__ = ()

    def __getitem__(self, key: str) -> Any:
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "{}"

    def __reduce__(self) -> str:
        return "NO_EXTRA"


NO_EXTRA: Final[Mapping[str, Any]] = _NoExtra()
"""The shared, empty value of ``extra``."""


@attrs.frozen
class Limit:
    """A bound that the schema sets on a number or on a string's length; used inside ``Annotated``."""

    minimum: int | None = None
    min_length: int | None = None


UInt = Annotated[int, Limit(minimum=0)]
"""An integer that must not be negative."""
NonEmptyStr = Annotated[str, Limit(min_length=1)]
"""A string of at least one character."""


def wire_field(
    *,
    default: Any = attrs.NOTHING,
    default_on_error: bool = False,
    skip_invalid_items: bool = False,
    default_on_null: bool = False,
    name: str | None = None,
    also: str | None = None,
    stand_in: str | None = None,
    secret: bool = False,
) -> Any:
    """Declare an attribute with the schema's tolerance annotations.

    Args:
        default: ``UNSET`` for an optional property; leave out for a required one.
        default_on_error: ``x-deserialize-default-on-error``: an invalid value means the default, which is ``UNSET``
            for an optional property and an empty tuple for a required array.
        skip_invalid_items: ``x-deserialize-skip-invalid-items``: invalid items of the array are left out.
        default_on_null: ``x-deserialize-default-on-null``: ``null`` means the default.
        name: the wire name, where it is not the camelCase form of the attribute.
        also: another name under which some agents send a required property.
        stand_in: what counts where an agent leaves a required property out.
        secret: the value may be one; it is left out of the ``repr``.
    """
    metadata = {
        "default_on_error": default_on_error,
        "skip_invalid_items": skip_invalid_items,
        "default_on_null": default_on_null,
        "name": name,
        "also": also,
        "stand_in": stand_in,
    }
    return attrs.field(default=default, metadata=metadata, repr=not secret)


@dataclass_transform(frozen_default=True, field_specifiers=(wire_field, attrs.field))
def model(cls: type[_T]) -> type[_T]:
    """Make ``cls`` a wire type: slotted, compared by value, frozen to type checkers."""
    return by_values(attrs.define(cls, slots=True, eq=False, repr=False, getstate_setstate=False))


def by_values(cls: type[_T]) -> type[_T]:
    """Let an attrs class be compared, shown and pickled by its values.

    attrs generates code for the first two, for each class anew: of several hundred classes, that is a third of the time
    in which this library is imported. And pickled it takes more than twice the time; a transcript's finished pages are
    kept pickled.
    """
    made: Any = cls
    names = tuple(attribute.name for attribute in attrs.fields(made))
    shown = tuple(attribute.name for attribute in attrs.fields(made) if attribute.repr)
    # An attrgetter of one name returns no tuple, and there is none of no name.
    values: Any = operator.attrgetter(*names) if len(names) > 1 else lambda self: tuple(getattr(self, n) for n in names)

    def _of_values(*values: Any) -> Any:
        return made(**dict(zip(names, values, strict=True)))

    _of_values.__module__ = cls.__module__
    _of_values.__qualname__ = f"{cls.__qualname__}._of_values"  # as pickle finds it
    made._of_values = staticmethod(_of_values)
    made._values = property(values)
    # In place of a __reduce__: with getters alone, no line of Python runs for an object that is pickled.
    copyreg.pickle(made, operator.attrgetter("_of_values", "_values"))

    def __eq__(self: Any, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def __repr__(self: Any) -> str:
        return f"{type(self).__qualname__.rpartition('>.')[2]}({', '.join(f'{n}={getattr(self, n)!r}' for n in shown)})"

    for method in (__eq__, __repr__):
        if method.__name__ not in cls.__dict__:
            setattr(made, method.__name__, method)
    made.__hash__ = None
    return cls


@model
class Model:
    """Base of all wire types.

    Attributes:
        extra: properties of the JSON object that the schema does not name, as decoded.
    """

    extra: Mapping[str, Any] = attrs.field(default=NO_EXTRA, kw_only=True, repr=False)


@model
class Unknown:
    """A member of a tagged union that this version does not know, or that does not fit its type; kept as it came.

    Attributes:
        tag: the value of the property that tells the members apart, e.g. the update's ``sessionUpdate``.
        data: the whole JSON object, as decoded; written back unchanged.
        problem: why a known kind could not be read (message and JSON path); ``None`` for an unknown kind.
    """

    tag: str
    data: Mapping[str, Any]
    problem: str | None = None


def evolve(value: _T, /, **changes: Any) -> _T:
    """Return a copy of a wire type with some attributes changed."""
    changed: _T = attrs.evolve(cast(Any, value), **changes)
    return changed


def wire_name(attribute: str) -> str:
    """Return the wire name of an attribute: camelCase, and ``_meta`` for ``meta``."""
    if attribute == "meta":
        return "_meta"
    head, *rest = attribute.split("_")
    return head + "".join(part.capitalize() for part in rest)
