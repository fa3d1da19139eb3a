"""Reads the upstream schema into a form in which it can be compared with the wire types: :class:`Reader`.

The form allows for the ways in which a class differs from its definition on purpose: alternatives inside one object are
merged into one class, and a list of one kind or of another is a list of both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

FLAGS = {
    "x-deserialize-default-on-error": "default_on_error",
    "x-deserialize-skip-invalid-items": "skip_invalid_items",
    "x-deserialize-default-on-null": "default_on_null",
}
"""Tolerance annotation → the name that it has in our declarations."""

READ = {
    *("$defs", "$ref", "allOf", "anyOf", "oneOf", "type", "properties", "required", "items", "additionalProperties"),
    *("const", "minimum", "minLength", "default", "title", "x-method", "x-side", "x-docs-ignore", *FLAGS),
}
"""Keywords that the conformance tests look at."""

LEFT_ASIDE = {
    *("$schema", "description", "discriminator", "not", "unevaluatedProperties"),
    "enum",  # only the envelope's `jsonrpc`
    "format",  # the width of integers, and what a string looks like
    "contentEncoding",  # likewise
    "minItems",  # a list that is empty against the rules is read like any other
    "maximum",  # only the protocol version's
}
"""Keywords that say nothing about a wire type."""

Shape = Any
"""The form of a value, ``null`` left aside: a word or a tuple of a word and what it takes to tell it from others."""


@attrs.frozen
class Property:
    """What there is to compare about one property."""

    shape: Shape
    required: bool
    nullable: bool
    flags: frozenset[str] = frozenset()


class Reader:
    """Answers for one schema."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.definitions: Mapping[str, Any] = schema["$defs"]

    def words(self, name: str) -> set[Any] | None:
        """Return the values of a vocabulary; ``None`` for another definition."""
        return {branch["const"] for branch in branches(self.definitions[name]) if "const" in branch} or None

    def shape(self, node: Mapping[str, Any]) -> tuple[Shape, bool]:
        """Return the shape of a value, and whether it may be ``null``."""
        if "$ref" in node:
            return self.named(reference(node))
        if "allOf" in node:
            return self.shape(node["allOf"][0])
        if branches(node):
            return self._alternatives(branches(node))
        if "type" not in node:
            return "any", True
        types = node["type"] if isinstance(node["type"], list) else [node["type"]]
        [kind] = [name for name in types if name != "null"] or ["null"]
        return self._plain(kind, node), "null" in types

    def named(self, name: str) -> tuple[Shape, bool]:
        """Return the shape of a definition, and whether it may be ``null``."""
        words = self.words(name)
        if words is not None:
            return (("words", name) if all(isinstance(word, str) for word in words) else ("integer", None)), False
        definition = self.definitions[name]
        only_one = len(branches(definition)) == 1 and not definition.get("properties")
        if is_object(definition, self.definitions) and not only_one:
            return ("type", name), False
        return self.shape(definition)

    def properties(self, node: Mapping[str, Any]) -> dict[str, Property]:
        """Return the properties of an object, with those it takes from others and from its alternatives."""
        taken: dict[str, Property] = {}
        for part in node.get("allOf", ()):
            taken |= self.properties(self.definitions[reference(part)])
        alternatives = [self.properties(branch) for branch in branches(node)]
        merged = {wire: _merge(wire, alternatives) for branch in alternatives for wire in branch}
        own = self.own_properties(node)
        for wire in own.keys() & merged.keys():  # alternatives only narrow such a property: to the words they name
            own[wire] = attrs.evolve(own[wire], shape=merged[wire].shape)
        return taken | merged | own

    def own_properties(self, node: Mapping[str, Any]) -> dict[str, Property]:
        """Return the properties that an object names itself."""
        required = node.get("required", ())
        return {wire: self._property(part, wire in required) for wire, part in node.get("properties", {}).items()}

    def _property(self, node: Mapping[str, Any], required: bool) -> Property:
        shape, nullable = (("const", node["const"]), False) if "const" in node else self.shape(node)
        return Property(shape, required, nullable, frozenset(flag for key, flag in FLAGS.items() if node.get(key)))

    def _alternatives(self, nodes: list[Mapping[str, Any]]) -> tuple[Shape, bool]:
        pairs = [self.shape(node) for node in nodes]
        shapes = {shape for shape, _ in pairs if shape != "null"}
        return either(shapes), any(nullable or shape == "null" for shape, nullable in pairs)

    def _plain(self, kind: str, node: Mapping[str, Any]) -> Shape:
        if kind == "string":
            return ("string", node.get("minLength"))
        if kind == "integer":
            return ("integer", node.get("minimum"))
        if kind == "array":
            return ("array", self._inside(node["items"]))
        if kind == "object":
            values = node["additionalProperties"]
            return ("map", "any" if values is True else self._inside(values))
        return kind

    def _inside(self, node: Mapping[str, Any]) -> Shape:
        shape, nullable = self.shape(node)
        return ("nullable", shape) if nullable and shape != "any" else shape


def is_object(node: Mapping[str, Any], definitions: Mapping[str, Any]) -> bool:
    """Tell whether a value is an object with named properties, or one of several such objects."""
    if "$ref" in node:
        return is_object(definitions[reference(node)], definitions)
    inner = [*node.get("allOf", ()), *branches(node)]
    empty = node.get("type") == "object" and "additionalProperties" not in node
    return "properties" in node or empty or (bool(inner) and all(is_object(part, definitions) for part in inner))


def branches(node: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the alternatives of a schema."""
    return [*node.get("anyOf", ()), *node.get("oneOf", ())]


def reference(node: Mapping[str, Any]) -> str:
    """Return the name of the definition that a schema refers to."""
    return str(node["$ref"]).rpartition("/")[2]


def references(node: Any) -> set[str]:
    """Return the names of all definitions that a schema refers to, at any depth."""
    if isinstance(node, list):
        return set().union(*map(references, node))
    if isinstance(node, dict):
        return {reference(node)} if "$ref" in node else set().union(*map(references, node.values()))
    return set()


def either(shapes: set[Shape]) -> Shape:
    """Join the shapes of alternatives; where one of them is anything, the others say nothing."""
    if "any" in shapes:
        return "any"
    if len(shapes) == 1:
        return next(iter(shapes))
    if all(shape[0] == "array" for shape in shapes):
        return ("array", either({shape[1] for shape in shapes}))
    return ("choice", frozenset(shapes))


def keywords(node: Any, *, names: bool = False) -> Iterator[str]:
    """Yield the keywords that a schema uses; with ``names`` the keys of ``node`` itself are names, not keywords."""
    if isinstance(node, list):
        for item in node:
            yield from keywords(item)
    elif isinstance(node, dict):
        for key, value in node.items():
            if not names:
                yield key
            if names or key not in ("default", "const", "enum", "discriminator", "required"):
                yield from keywords(value, names=not names and key in ("properties", "$defs"))


def _merge(wire: str, alternatives: list[dict[str, Property]]) -> Property:
    """Merge what the alternatives of an object say about one property."""
    found = [branch[wire] for branch in alternatives if wire in branch]
    shapes = {prop.shape for prop in found if prop.shape != "null"}
    words = {shape[1] for shape in shapes if shape[0] == "const"}
    if words:
        shape: Shape = ("words", frozenset(words)) if len(words) > 1 else ("string", None)
    else:
        shape = either(shapes)
    [flags] = {prop.flags for prop in found}
    return Property(
        shape,
        required=len(found) == len(alternatives) and all(prop.required for prop in found),
        nullable=any(prop.nullable or prop.shape == "null" for prop in found),
        flags=flags,
    )
