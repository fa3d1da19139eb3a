"""The wire types say what the upstream schemas say, no less and no more.

Of the stable schema everything has to be there; of the unstable one, which contains it, nothing else may be there.
"""

from __future__ import annotations

import copy
import enum
import functools
import typing
from collections.abc import Iterator, Mapping
from typing import Any

import attrs
import pytest

from acp_host.wire import jsonrpc
from acp_host.wire._model import Model
from acp_host.wire._shape import (
    AnyShape,
    ArrayShape,
    BoolShape,
    ChoiceShape,
    FloatShape,
    IntShape,
    MapShape,
    ModelShape,
    StrShape,
    UnionShape,
    fields_of,
    is_model,
    shape_of,
)
from acp_host.wire._unions import ShapeUnion, TaggedUnion, WireUnion
from tests.conformance.schema_reader import (
    FLAGS,
    LEFT_ASIDE,
    READ,
    Property,
    Reader,
    Shape,
    branches,
    either,
    keywords,
    reference,
    references,
)
from tests.conformance.versions import V1, V2, VERSIONS, Version

NAMES = V1.definitions.keys() | V2.definitions.keys()


def our_shape(shape: Any) -> Shape:
    """Bring the shape of one of our annotations into the reader's form."""
    match shape:
        case AnyShape():
            return "any"
        case StrShape(vocabulary=None):
            return ("string", shape.min_length)
        case StrShape(vocabulary=type() as words):
            return ("words", words.__name__ if words.__name__ in NAMES else frozenset(map(str, words)))
        case IntShape():
            return ("integer", shape.minimum)
        case FloatShape():
            return "number"
        case BoolShape():
            return "boolean"
        case ModelShape():
            return ("type", shape.cls.__name__)
        case UnionShape(union=union) if union.name in NAMES:
            return ("type", union.name)
        case UnionShape(union=union):
            return either({("type", cls.__name__) for cls in union.members() - {union.unknown}})
        case ArrayShape():
            return ("array", our_shape(shape.item))
        case MapShape():
            return ("map", our_shape(shape.value))
        case ChoiceShape():
            return either({our_shape(option) for option in shape.options})
    raise TypeError(shape)


def our_properties(cls: type[Model]) -> dict[str, Property]:
    return {
        field.wire: Property(
            our_shape(field.shape),
            field.required,
            field.nullable,
            frozenset(flag for flag in FLAGS.values() if getattr(field, flag)),
        )
        for field in fields_of(cls)
    }


def union_of(ours: Any) -> WireUnion | None:
    try:
        shape = shape_of(ours)
    except TypeError:
        return None
    return shape.union if isinstance(shape, UnionShape) else None


class Comparison:
    """Finds how our definitions differ from a schema's."""

    def __init__(self, schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> None:
        self.definitions = definitions
        self.reader = Reader(schema)
        self.exact = "ProxyRequest" in self.reader.definitions
        self.around = dict(self._properties_around_unions())

    def problems(self) -> Iterator[str]:
        for name, definition in self.reader.definitions.items():
            if name not in self.definitions:
                yield f"{name} is missing"
            elif not definition.get("x-docs-ignore"):
                yield from self._definition(name, definition, self.definitions[name])

    def _properties_around_unions(self) -> Iterator[tuple[str, dict[str, Property]]]:
        """Yield what every class of a union has on top of its definition."""
        for name, definition in self.reader.definitions.items():
            if union_of(self.definitions.get(name)) is not None:
                for branch in references([node.get("allOf", []) for node in branches(definition)]):
                    yield branch, self.reader.own_properties(definition)

    def _definition(self, name: str, definition: Mapping[str, Any], ours: Any) -> Iterator[str]:
        words, union = self.reader.words(name), union_of(ours)
        if words is not None:
            yield from self._compare(name, {word.value: True for word in ours}, dict.fromkeys(words, True))
        elif is_model(ours):
            properties = self.reader.properties(definition) | self.around.get(name, {})
            yield from self._name(name, ours.__name__)
            yield from self._compare(name, our_properties(ours), properties)
        elif union is not None:
            members = self._tagged if isinstance(union, TaggedUnion) else self._shapes
            yield from self._name(name, union.name)
            yield from members(name, definition, typing.cast(Any, union))
        else:
            found = our_shape(shape_of(ours)), ours is Any or type(None) in typing.get_args(ours)
            if found != self.reader.shape(definition):
                yield f"{name} is {found}, the schema has {self.reader.shape(definition)}"

    def _compare(self, name: str, ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Iterator[str]:
        for key in theirs:
            if key not in ours:
                yield f"{name}: {key} is missing"
            elif ours[key] != theirs[key] and (self.exact or not _only_more_words(ours[key], theirs[key])):
                yield f"{name}: {key} is {ours[key]}, the schema has {theirs[key]}"
        if self.exact:
            yield from (f"{name}: {key} is not in the schema" for key in ours if key not in theirs)

    def _name(self, name: str, ours: str) -> Iterator[str]:
        # A definition with one alternative is that alternative; it has no class of its own.
        if ours != name and self.reader.named(name) != (("type", ours), False):
            yield f"{name} is called {ours}"

    def _tagged(self, name: str, definition: Mapping[str, Any], union: TaggedUnion) -> Iterator[str]:
        tags: dict[str, bool] = {}
        default = None
        for branch in branches(definition):
            tag = self.reader.own_properties(branch).get(union.tag)
            if tag is None:
                default = reference(branch["allOf"][0])
            elif tag.shape[0] == "const":
                tags[tag.shape[1]] = True
                yield from self._variant(name, definition, branch, union, tag.shape[1])
        yield from self._compare(name, dict.fromkeys(union.variants, True), tags)
        if (union.default.__name__ if union.default else None) != default:
            yield f"{name}: without {union.tag} it is {union.default}, the schema has {default}"

    def _variant(
        self, name: str, definition: Mapping[str, Any], branch: Mapping[str, Any], union: TaggedUnion, tag: str
    ) -> Iterator[str]:
        cls = union.variants.get(tag)
        if cls is None:
            return  # the comparison of the tags says so
        properties = self.reader.properties(branch) | self.reader.own_properties(definition)
        del properties[union.tag]
        yield from self._compare(f"{name} {tag}", our_properties(cls), properties)
        for part in references(branch.get("allOf", [])):
            if is_model(self.definitions[part]) and not issubclass(cls, self.definitions[part]):
                yield f"{name} {tag} is {cls.__name__}, the schema has {part}"

    def _shapes(self, name: str, definition: Mapping[str, Any], union: ShapeUnion) -> Iterator[str]:
        ours = {cls.__name__: True for cls in union.by_property.values()}
        yield from self._compare(name, ours, dict.fromkeys(references(branches(definition)), True))
        for wire, cls in union.by_property.items():
            if not our_properties(cls)[wire].required:
                yield f"{name}: a {cls.__name__} need not have {wire}"


def _only_more_words(ours: Any, theirs: Any) -> bool:
    """Tell whether a property is as in the stable schema, but for words that are drafts."""
    if not isinstance(ours, Property) or ours.shape[0] != "words" or theirs.shape[0] != "words":
        return False
    more = isinstance(theirs.shape[1], frozenset) and theirs.shape[1] < ours.shape[1]
    return more and attrs.evolve(theirs, shape=ours.shape) == ours


def test_every_definition_is_as_in_the_schema(version: Version, schema: dict[str, Any]) -> None:
    assert list(Comparison(schema, version.definitions).problems()) == []


EDITS: list[tuple[str, Any]] = [
    ("Newcomer", {"type": "string"}),
    ("SessionInfo.properties.zoom", {"type": "string"}),
    ("SessionInfo.properties.title", None),
    ("SessionInfo.properties.title.type", "string"),
    ("SessionInfo.required", ["sessionId", "cwd", "title"]),
    ("SessionInfo.required", ["sessionId"]),
    ("SessionInfo.properties.cwd.type", ["string", "null"]),
    ("SessionInfo.properties.cwd.type", "boolean"),
    ("SessionInfo.properties.cwd.minLength", 1),
    ("SessionInfo.properties.additionalDirectories.items.type", ["string", "null"]),
    ("SessionInfo.properties.additionalDirectories.x-deserialize-skip-invalid-items", None),
    ("SessionInfo.properties.title.x-deserialize-default-on-error", None),
    ("SessionInfo.properties.title.x-deserialize-default-on-null", True),
    ("SessionNotification.properties.update.allOf.0.$ref", "#/$defs/Cost"),
    ("Usage.properties.totalTokens.minimum", 1),
    ("Notice.properties.title.minLength", None),
    ("StopReason.oneOf.0.const", "bored"),
    ("ContentBlock.oneOf.0.properties.type.const", "smell"),
    ("ContentBlock.oneOf.0.allOf.0.$ref", "#/$defs/ImageContent"),
    ("McpServer.anyOf.3", None),
    ("SessionConfigOption.properties.zoom", {"type": "string"}),
    ("SessionConfigSelectOptions.anyOf.1.items.$ref", "#/$defs/Cost"),
    ("EmbeddedResourceResource.anyOf.0.allOf.0.$ref", "#/$defs/Cost"),
    ("SessionId.type", "integer"),
    ("ErrorStopReason.properties.error", None),
]


SECOND_EDITS: list[tuple[str, Any]] = [
    ("Newcomer", {"type": "string"}),
    ("SessionCapabilities.properties.zoom", {"type": "string"}),
    ("PromptResponse.required", []),
    ("ErrorCode.anyOf.8", None),
    ("ToolCallLocation.properties.line.minimum", 0),
    ("DiffChange.anyOf.0.properties.operation.const", "invent"),
    ("ReplayFrom.anyOf.0.allOf.0.$ref", "#/$defs/Cost"),
    ("SetSessionConfigOptionRequest.anyOf.0.properties.type.const", "other"),
    ("RunningStateUpdate.properties.background.type", "string"),
    ("CommandPermissionSubject.properties.cwd", None),
]


@pytest.mark.parametrize(
    ("version", "where", "value"),
    [(V1, *edit) for edit in EDITS] + [(V2, *edit) for edit in SECOND_EDITS],
    ids=lambda part: f"{part}",
)
def test_a_change_of_the_schema_does_not_go_unnoticed(version: Version, where: str, value: Any) -> None:
    changed = copy.deepcopy(version.schemas["unstable"])
    *path, last = (int(step) if step.isdigit() else step for step in where.split("."))
    node = functools.reduce(lambda inner, step: inner[step], path, changed["$defs"])
    if value is None:
        del node[last]
    else:
        node[last] = value

    assert list(Comparison(changed, version.definitions).problems()) != []


def test_there_are_no_definitions_that_the_schema_lacks(version: Version) -> None:
    assert version.definitions.keys() == version.schemas["unstable"]["$defs"].keys()


def test_the_unions_of_all_messages_are_the_envelopes(version: Version, schema: dict[str, Any]) -> None:
    unions = {name: definition for name, definition in schema["$defs"].items() if definition.get("x-docs-ignore")}
    assert unions
    for name, definition in unions.items():
        classes = typing.get_args(version.definitions[name]) or (version.definitions[name],)
        alternatives = branches(definition) or [definition]
        assert {cls.__module__ for cls in classes} == {jsonrpc.__name__}
        assert len(classes) == len(alternatives)
        for cls, alternative in zip(classes, alternatives, strict=True):
            assert {field.name for field in attrs.fields(cls)} >= alternative["properties"].keys(), name


def test_the_schema_uses_no_keyword_that_is_overlooked(schema: dict[str, Any]) -> None:
    assert set(keywords(schema)) <= READ | LEFT_ASIDE


def test_what_an_absent_property_means_is_falsy_as_unset_is(version: Version, schema: dict[str, Any]) -> None:
    defaults = {
        (name, wire): part["default"]
        for name, definition in schema["$defs"].items()
        for wire, part in definition.get("properties", {}).items()
        if "default" in part
    }
    assert defaults
    # The one that is not: the type of a form, of which there is one.
    expected = {("ElicitationSchema", "type")} if version is V1 else set()
    assert {key for key, value in defaults.items() if not says_nothing(value)} == expected


def says_nothing(default: Any) -> bool:
    return all(map(says_nothing, default.values())) if isinstance(default, dict) else not default


def test_what_only_the_unstable_schema_has_is_marked(version: Version, schemas: dict[str, Any]) -> None:
    drafts = schemas["unstable"]["$defs"].keys() - schemas["stable"]["$defs"].keys()
    types = {name: hint for name in drafts if isinstance(hint := version.definitions[name], type)}
    own = {name: cls for name, cls in types.items() if is_model(cls) or issubclass(cls, enum.Enum)}
    assert own
    assert [name for name, cls in own.items() if "nstable" not in (cls.__doc__ or "")] == []


# ---- which class is whose ----


def inside(hint: Any) -> Iterator[Any]:
    """Yield the classes and unions that an annotation of ours refers to, at any depth."""
    seen: list[Any] = []
    waiting = [shape_of(hint)]
    while waiting:
        shape = waiting.pop()
        if shape in seen:
            continue
        seen.append(shape)
        match shape:
            case ModelShape(cls):
                yield cls
                waiting += [field.shape for field in fields_of(cls)]
            case UnionShape(union):
                yield union
                waiting += [ModelShape(cls) for cls in union.members() - {union.unknown}]
            case ArrayShape(item) | MapShape(item):
                waiting.append(item)
            case ChoiceShape(options):
                waiting += options


@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_what_a_definition_refers_to_is_of_the_same_version(version: Version) -> None:
    strangers = set()
    for name, hint in version.definitions.items():
        if union_of(hint) is None and not is_model(hint):
            continue
        for part in inside(hint):
            own_name = part.__name__ if is_model(part) else part.name
            own = version.definitions.get(own_name, part)
            if (own if is_model(own) else union_of(own)) not in (part, None):
                strangers.add((name, own_name))
    assert strangers == set()


def test_a_definition_that_is_the_same_in_both_versions_is_one_class() -> None:
    both = V1.definitions.keys() & V2.definitions.keys()
    twice = [name for name in both if is_model(V2.definitions[name]) and V1.definitions[name] != V2.definitions[name]]
    assert twice
    for name in set(twice) - {"SessionInfoUpdate"}:  # in version 2 its `_meta` changes only the members that it names
        hint = V2.definitions[name]
        own = {part for part in inside(hint) if part is not hint} - set(inside(V1.definitions[name]))
        assert own or our_properties(hint) != our_properties(V1.definitions[name]), name
