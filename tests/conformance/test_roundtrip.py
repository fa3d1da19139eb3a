"""Laws of reading and writing that hold for every definition of the schema."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_host.errors import DecodeError
from acp_host.wire._encode import encoder_of
from acp_host.wire._model import UNSET, Unknown
from acp_host.wire._shape import ModelShape, StrShape, UnionShape, fields_of, shape_of
from acp_host.wire._unions import TaggedUnion
from acp_host.wire.converters import decoder, structure_tolerant
from tests.conformance.schema_strategies import JSON, NEW_WORDS
from tests.conformance.versions import V1, V2, VERSIONS, Version

PARTS = {"ElicitationFormMode", "ElicitationUrlMode", "SessionConfigBoolean", "SessionConfigSelect"}
"""Definitions that a union adds properties to; their classes have these too. They are met as members of the union."""


def has_shape(hint: Any) -> bool:
    try:
        shape_of(hint)
    except TypeError:
        return False
    return True


def names_of(version: Version) -> list[str]:
    return sorted(name for name, hint in version.definitions.items() if has_shape(hint) and name not in PARTS)


def objects_of(version: Version) -> list[str]:
    hints = version.definitions
    return [name for name in names_of(version) if isinstance(shape_of(hints[name]), ModelShape | UnionShape)]


NAMES = [(version, name) for version in VERSIONS for name in names_of(version)]
OBJECTS = [(version, name) for version in VERSIONS for name in objects_of(version)]

few = settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow])


def encode(value: Any, hint: Any) -> Any:
    encoder = encoder_of(shape_of(hint))
    return value if encoder is None else encoder(value)


def text(value: Any) -> str:
    """Return JSON in which the same is written the same way: to Python, 1, 1.0 and True are equal."""
    return json.dumps(value, sort_keys=True)


def test_no_definition_is_left_out(version: Version) -> None:
    defined = version.schemas["unstable"]["$defs"]
    envelopes = {name for name, definition in defined.items() if definition.get("x-docs-ignore")}
    hints, objects = version.definitions, objects_of(version)

    assert hints.keys() - set(names_of(version)) == envelopes | PARTS | {"ErrorCode"}
    assert {hints[name] for name in PARTS} <= {cls for name in objects for cls in classes_of(hints[name])}
    assert len(objects) > 150


@pytest.mark.parametrize(("version", "name"), NAMES, ids=str)
def test_what_is_valid_is_read_without_repairs_and_written_back_equal(version: Version, name: str) -> None:
    hint = version.definitions[name]

    @few
    @given(version.strategies.named(name))
    def law(data: Any) -> None:
        before = text(data)
        assert version.validator(name).is_valid(data)
        typed = decoder(hint)(data)
        assert structure_tolerant(data, hint) == (typed, [])
        assert text(encode(typed, hint)) == before
        assert text(data) == before

    law()


@pytest.mark.parametrize("name", ["Annotations", "ClientCapabilities", "ContentBlock", "StringPropertySchema"])
def test_the_values_that_the_laws_are_held_against_leave_nothing_out(version: Version, name: str) -> None:
    hint = version.definitions[name]
    met: set[tuple[type, str, Any]] = set()

    @settings(few, max_examples=120 * len(list(classes_of(hint))))
    @given(version.strategies.named(name))
    def collect(data: Any) -> None:
        typed = decoder(hint)(data)
        values = {field.name: getattr(typed, field.name) for field in fields_of(type(typed))}
        met.update(
            (type(typed), name, value if value in (None, UNSET) else "a value") for name, value in values.items()
        )

    collect()
    assert sorted(f"{cls.__name__}.{name}: {state}" for cls, name, state in possible_states(hint) - met) == []


def possible_states(hint: Any) -> set[tuple[type, str, Any]]:
    """Return what each attribute of each class can be: a value, and where that is allowed absent or null."""
    return {
        (cls, field.name, state)
        for cls in classes_of(hint)
        for field in fields_of(cls)
        for state in ["a value", *([] if field.required else [UNSET]), *([None] if field.nullable else [])]
    }


def classes_of(hint: Any) -> Iterator[Any]:
    match shape_of(hint):
        case ModelShape(cls):
            yield cls
        case UnionShape(union):
            yield from union.members() - {union.unknown}


# ---- input that is wrong ----


@st.composite
def mutated(draw: st.DrawFn, valid: st.SearchStrategy[Any]) -> Any:
    """Return a valid value in which one thing has been replaced, removed or renamed."""
    root = [copy.deepcopy(draw(valid))]
    places = list(places_in(root))
    holder, key = draw(st.sampled_from(places))
    match draw(st.sampled_from(["replace", "replace", "word", "remove", "rename"])):
        case "remove" if holder is not root:
            del holder[key]
        case "rename" if isinstance(holder, dict):
            holder[draw(st.sampled_from([f"{key}2", key.title()]))] = holder.pop(key)
        case "word":
            holder[key] = draw(NEW_WORDS)
        case _:
            holder[key] = draw(JSON)
    return root[0]


def places_in(holder: Any) -> Iterator[tuple[Any, Any]]:
    for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
        yield holder, key
        if isinstance(holder[key], dict | list):
            yield from places_in(holder[key])


@pytest.mark.parametrize(("version", "name"), OBJECTS, ids=str)
def test_what_is_wrong_is_repaired_or_refused_and_nothing_else_happens(version: Version, name: str) -> None:
    hint = version.definitions[name]

    @few
    @given(mutated(version.strategies.named(name)))
    def law(data: Any) -> None:
        before = text(data)
        found = read_carefully(data, hint)
        assert text(data) == before
        strict = read_strictly(data, hint)
        if strict is not None:
            assert found == (strict, [])
            assert text(encode(strict, hint)) == before
        elif isinstance(found, DecodeError):
            assert found.path.startswith("$")
        else:
            # What was repaired is as valid as if it had come so.
            typed, repairs = found
            assert structure_tolerant(encode(typed, hint), hint) == (typed, [])
            assert all(repair.path and repair.path.startswith("$") for repair in repairs)

    law()


def read_strictly(data: Any, hint: Any) -> Any:
    try:
        return decoder(hint)(data)
    except Exception:  # of which type is not promised
        return None


def read_carefully(data: Any, hint: Any) -> Any:
    try:
        return structure_tolerant(data, hint)
    except DecodeError as error:
        return error


@pytest.mark.parametrize("name", ["SessionUpdate", "InitializeResponse", "CreateElicitationRequest", "McpServer"])
def test_anything_at_all_is_read_or_refused(version: Version, name: str) -> None:
    hint = version.definitions[name]

    @settings(few, max_examples=100)
    @given(JSON)
    def law(data: Any) -> None:
        strict = read_strictly(data, hint)
        found = read_carefully(data, hint)
        assert isinstance(found, DecodeError) if strict is None else found == (strict, [])

    law()


# ---- what this version does not know ----

TAGGED = [(version, name) for version, name in OBJECTS if isinstance(shape_of(version.definitions[name]), UnionShape)]


@pytest.mark.parametrize(("version", "name"), TAGGED, ids=str)
def test_members_that_this_version_does_not_know_are_kept(version: Version, name: str) -> None:
    hint = version.definitions[name]
    shape = shape_of(hint)
    assert isinstance(shape, UnionShape)
    tag = shape.union.tag if isinstance(shape.union, TaggedUnion) else "nothing-known"
    data = {tag: "a new one", "_meta": None, "sub": [{tag: "text"}]}

    typed = decoder(hint)(data)
    assert type(typed) is shape.union.unknown
    assert isinstance(typed, Unknown)
    assert structure_tolerant(data, hint) == (typed, [])
    assert text(encode(typed, hint)) == text(data)


def words_of(version: Version) -> Iterator[tuple[Version, str, str]]:
    """Yield the attributes with a vocabulary, each with its class."""
    classes = {cls for name in objects_of(version) for cls in classes_of(version.definitions[name])}
    found = [(cls.__name__, field) for cls in classes for field in fields_of(cls)]
    for name, field in sorted(found, key=lambda pair: (pair[0], pair[1].name)):
        if isinstance(field.shape, StrShape) and field.shape.vocabulary:
            yield version, name, field.name


@pytest.mark.parametrize(("version", "name", "attribute"), [*words_of(V1), *words_of(V2)], ids=str)
def test_words_that_this_version_does_not_know_are_kept(version: Version, name: str, attribute: str) -> None:
    hints, objects = version.definitions, objects_of(version)
    cls = next(cls for each in objects for cls in classes_of(hints[each]) if cls.__name__ == name)
    field = next(field for field in fields_of(cls) if field.name == attribute)
    is_home = name in objects and cls in classes_of(hints[name])
    hint = hints[name if is_home else next(each for each in objects if cls in classes_of(hints[each]))]
    home = next(each for each in objects if hints[each] is hint)
    values = version.strategies.named(home)
    if name == "SessionStateUpdate":  # one class for all states, which are definitions of their own
        values = version.strategies.named("StateUpdate").map(lambda data: data | {"sessionUpdate": "state_update"})

    @settings(few, max_examples=3, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
    @given(values.filter(lambda data: type(decoder(hint)(data)) is cls))
    def law(data: Any) -> None:
        data = data | {field.wire: "a new word"}
        typed = decoder(hint)(data)
        assert getattr(typed, attribute) == "a new word"
        assert structure_tolerant(data, hint) == (typed, [])
        assert text(encode(typed, hint)) == text(data)

    law()
