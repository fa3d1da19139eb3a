"""Makes Hypothesis strategies from the upstream schema: :class:`Strategies`.

What comes out is valid by the schema and as varied as it allows: optional properties are there, ``null`` or not, open
vocabularies and unions have members nobody knows, and objects have properties that the schema does not name.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from tests.conformance.schema_reader import branches, is_object, reference

Strategy = st.SearchStrategy[Any]

TEXTS = st.text(max_size=6) | st.sampled_from(["", "end_turn", "é\U0001f600", "_own", "x" * 100])
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=4
)
NEW_NAMES = st.sampled_from(["x-new", "extra", "", "_own", "$", "größe"])
"""Names that no definition uses for a property."""
NEW_WORDS = st.sampled_from(["_own", "later", "", "Other"])
"""Words that are in no vocabulary."""


class Strategies:
    """Strategies for the definitions of one schema."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.definitions: Mapping[str, Any] = schema["$defs"]
        self.named = functools.cache(self._named)

    def _named(self, name: str) -> Strategy:
        return st.deferred(lambda: self._value(self.definitions[name]))

    def _value(self, node: Mapping[str, Any]) -> Strategy:
        if "$ref" in node:
            return self.named(reference(node))
        if "const" in node:
            return st.just(node["const"])
        if is_object(node, self.definitions):
            return self._object(node)
        if "not" in node:  # the member of an open vocabulary that stands for all others
            return NEW_WORDS
        if "allOf" in node:
            [part] = node["allOf"]
            return self._value(part)
        if branches(node):
            return st.one_of([self._value(branch) for branch in branches(node)])
        types = node.get("type")
        if types is None:
            return JSON
        return st.one_of([self._plain(kind, node) for kind in ([types] if isinstance(types, str) else types)])

    def _plain(self, kind: str, node: Mapping[str, Any]) -> Strategy:
        match kind:
            case "null":
                return st.none()
            case "boolean":
                return st.booleans()
            case "string":
                return st.text(min_size=1, max_size=3) if node.get("minLength") else TEXTS
            case "integer":
                return st.integers(node.get("minimum", -(2**63)), node.get("maximum", 2**70))
            case "number":
                if "minimum" in node:
                    return st.floats(node["minimum"], node["maximum"]) | st.integers(node["minimum"], node["maximum"])
                return st.floats(allow_nan=False, allow_infinity=False) | st.integers(-10, 2**64 - 1)
            case "array":
                return st.lists(self._value(node["items"]), min_size=node.get("minItems", 0), max_size=2)
            case "object":
                values = node.get("additionalProperties", True)
                return st.dictionaries(TEXTS, JSON if values is True else self._value(values), max_size=2)
        raise TypeError(kind)

    def _object(self, node: Mapping[str, Any]) -> Strategy:
        """Return objects with the properties of one alternative, of what is included, and of ``node`` itself."""
        required = node.get("required", ())
        own = {wire: self._value(part) for wire, part in node.get("properties", {}).items()}
        if "not" in node:
            own |= dict.fromkeys(required, NEW_WORDS)
        must = {wire: strategy for wire, strategy in own.items() if wire in required}
        may = {wire: strategy for wire, strategy in own.items() if wire not in required}
        parts = [st.fixed_dictionaries(must, optional=may)]
        parts += [self._value(part) for part in node.get("allOf", ())]
        if branches(node):
            parts.append(st.one_of([self._value(branch) for branch in branches(node)]))
        else:
            parts.insert(0, st.just({}) | st.dictionaries(NEW_NAMES, JSON, max_size=1))
        return st.tuples(*parts).map(lambda found: functools.reduce(lambda one, other: one | other, found, {}))
