"""The registry of unions: which classes stand for which members, and what tells them apart on the wire.

A union is declared beside its alias::

    ContentBlock: TypeAlias = TextContent | ImageContent | UnknownContent
    tagged_union("ContentBlock", tag="type", variants={"text": TextContent, …}, unknown=UnknownContent)

A field annotated with the alias finds the declaration by the set of its members, because Python flattens
``ContentBlock | None | Unset`` into one union. The tag belongs to the union, not to the classes: the same class can be
used with a tag here and without one there, as ``ToolCallUpdate`` is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from acp_host.wire._model import Model, Unknown

__all__ = ["ShapeUnion", "TaggedUnion", "WireUnion", "find_union", "shape_union", "tagged_union"]


@attrs.frozen(eq=False)
class TaggedUnion:
    """JSON objects told apart by the value of one property.

    Attributes:
        name: the schema's name of the union.
        tag: wire name of the property.
        variants: value of the property → class.
        unknown: the class that keeps objects with another value.
        default: the class of objects without the property, or ``None`` where the property is required.
    """

    name: str
    tag: str
    variants: Mapping[str, type[Model]]
    unknown: type[Unknown]
    default: type[Model] | None = None

    def members(self) -> frozenset[Any]:
        """Return the classes that the alias consists of."""
        return frozenset({*self.variants.values(), self.unknown, *([self.default] if self.default else [])})

    def tag_of(self, variant: type[Any]) -> str | None:
        """Return the tag value that ``variant`` is written with; ``None`` for the untagged default."""
        return next((value for value, cls in self.variants.items() if cls is variant), None)


@attrs.frozen(eq=False)
class ShapeUnion:
    """JSON objects told apart by which property they have; the first listed match wins.

    Attributes:
        name: the schema's name of the union.
        by_property: wire name of the telling property → class.
        unknown: the class that keeps objects with none of them.
    """

    name: str
    by_property: Mapping[str, type[Model]]
    unknown: type[Unknown]

    def members(self) -> frozenset[Any]:
        """Return the classes that the alias consists of."""
        return frozenset({*self.by_property.values(), self.unknown})


WireUnion = TaggedUnion | ShapeUnion

_by_members: dict[frozenset[Any], WireUnion] = {}


def tagged_union(
    name: str,
    *,
    tag: str,
    variants: Mapping[str, type[Model]],
    unknown: type[Unknown],
    default: type[Model] | None = None,
) -> None:
    """Declare a union whose members are told apart by the property ``tag``; see :class:`TaggedUnion`."""
    _register(TaggedUnion(name, tag, variants, unknown, default))


def shape_union(name: str, *, by_property: Mapping[str, type[Model]], unknown: type[Unknown]) -> None:
    """Declare a union whose members are told apart by the properties they have; see :class:`ShapeUnion`."""
    _register(ShapeUnion(name, by_property, unknown))


def find_union(members: Iterable[Any]) -> WireUnion | None:
    """Return the union that was declared for exactly these classes, or ``None``."""
    return _by_members.get(frozenset(members))


def _register(union: WireUnion) -> None:
    members = union.members()
    known = _by_members.setdefault(members, union)
    if known.name != union.name:
        raise TypeError(f"{union.name} and {known.name} have the same members")
