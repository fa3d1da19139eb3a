"""The fast decoder: one generated function per wire type, for well-formed input only.

A generated function checks every type it relies on and raises *some* exception at the first thing it does not expect:
wrong types, missing properties, and everything the schema's tolerance annotations would repair. The caller then runs
:mod:`acp_host.wire._tolerant` over the same value, which repairs, or says exactly what is wrong and where. So the
common case pays nothing for the rare one. A test holds the two equal on valid input.

Cost: an update of the stream takes about a microsecond; a type's function is generated when the type is first met, in
some 0.2 ms, or by :func:`generate_all`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from acp_host.wire._model import UNSET
from acp_host.wire._shape import (
    LARGEST_NUMBER,
    AnyShape,
    ArrayShape,
    BoolShape,
    ChoiceShape,
    Field,
    FloatShape,
    IntShape,
    MapShape,
    ModelShape,
    Shape,
    StrShape,
    UnionShape,
    fields_of,
)
from acp_host.wire._unions import ShapeUnion, TaggedUnion

__all__ = ["Mismatch", "generate_all", "strict_decoder"]

Decoder = Callable[[Any], Any]


class Mismatch(Exception):
    """The value is not what the fast path expects; never leaves the wire layer."""


@functools.cache
def strict_decoder(shape: Shape) -> Decoder:
    """Return a function from a decoded JSON value to its typed form; it raises on anything out of the ordinary."""
    match shape:
        case AnyShape():
            return _identity
        case ModelShape(cls):
            return _model_decoder(cls, None)
        case UnionShape(TaggedUnion() as union):
            return _tagged_decoder(union)
        case UnionShape(ShapeUnion() as union):
            return _shape_decoder(union)
        case ChoiceShape(options, nullable):
            return _choice_decoder(options, nullable)
        case _:
            names = _Names()
            return _compile("value", _check_lines("value", shape, names), names)


@functools.cache
def generate_all(shape: Shape) -> None:
    """Generate now what decodes any value of a shape, and not when the first value comes."""
    _generate(shape, set())


def _generate(shape: Shape, seen: set[Shape]) -> None:
    if shape in seen:
        return
    seen.add(shape)
    strict_decoder(shape)
    for part in _parts_of(shape):
        _generate(part, seen)


def _parts_of(shape: Shape) -> Iterator[Shape]:
    match shape:
        case ModelShape(cls):
            yield from (field.shape for field in fields_of(cls))
        case ArrayShape(part) | MapShape(part):
            yield part
        case ChoiceShape(options):
            yield from options
        case UnionShape(TaggedUnion() as union):
            members: Iterable[Any] = union.variants.values()
            for cls in members:
                _model_decoder(cls, union.tag)
                yield from (field.shape for field in fields_of(cls))
            if union.default is not None:
                yield ModelShape(union.default)
        case UnionShape(ShapeUnion() as union):
            yield from map(ModelShape, union.by_property.values())


def _identity(value: Any) -> Any:
    return value


def _tagged_decoder(union: TaggedUnion) -> Decoder:
    variants: Mapping[str, Any] = union.variants
    table: dict[str, Decoder] = {}  # of the variants that were met; an agent uses few of them
    default: Any = union.default
    tag, unknown = union.tag, union.unknown

    def decode(value: Any) -> Any:
        kind = value.get(tag)
        decoder = table.get(kind)
        if decoder is not None:
            return decoder(value)
        if kind in variants:
            decoder = table[kind] = _model_decoder(variants[kind], tag)
            return decoder(value)
        if kind.__class__ is str:
            return unknown(kind, value)
        if default is not None and tag not in value:
            return _model_decoder(default, None)(value)
        raise Mismatch

    return decode


def _shape_decoder(union: ShapeUnion) -> Decoder:
    by_property: Mapping[str, Any] = union.by_property
    table = [(name, _model_decoder(cls, None)) for name, cls in by_property.items()]
    unknown = union.unknown

    def decode(value: Any) -> Any:
        if value.__class__ is not dict:
            raise Mismatch
        for name, decoder in table:
            if value.get(name) is not None:
                return decoder(value)
        return unknown("", value)

    return decode


def _choice_decoder(options: tuple[Shape, ...], nullable: bool) -> Decoder:
    decoders = [strict_decoder(option) for option in options]

    def decode(value: Any) -> Any:
        if nullable and value is None:
            return None
        for decoder in decoders:
            try:
                return decoder(value)
            except Exception:
                continue
        raise Mismatch

    return decode


class _Names:
    """The objects that generated code refers to, under names it can use."""

    def __init__(self) -> None:
        self.namespace: dict[str, Any] = {"Mismatch": Mismatch, "UNSET": UNSET}

    def add(self, value: Any) -> str:
        name = f"_{len(self.namespace)}"
        self.namespace[name] = value
        return name


@functools.cache
def _model_decoder(cls: Any, tag: str | None) -> Decoder:
    """Generate ``decode(d)`` for one wire type; ``tag`` is a property that belongs to the union around it.

    The code reads the required properties and returns at once if there are no others, or only the first optional one
    (as with most streamed updates); then it reads the other optional ones, and looks for unknown properties last. Its
    local variables begin with ``_``, so that a property called ``list`` hides nothing.
    """
    names = _Names()
    fields = fields_of(cls)
    required = [field for field in fields if field.required]
    optional = [field for field in fields if not field.required]
    known = frozenset([field.wire for field in fields] + ([tag] if tag else []))
    construct = names.add(cls)
    # A dict is what JSON objects decode to; the check also keeps strings and lists out of the lookups below.
    lines = ["if d.__class__ is not dict: raise Mismatch"]
    for field in required:
        lines += [f"{_local(field)} = d[{field.wire!r}]", *_value_lines(field, names)]
    in_order = list(fields[: len(required)]) == required
    size = len(required) + (tag is not None)
    if in_order:
        lines.append(f"if len(d) == {size}: return {construct}({', '.join(map(_local, required))})")
    for number, field in enumerate(optional):
        lines.append(f"{_local(field)} = d.get({field.wire!r}, UNSET)")
        inner = [f"    {line}" for line in _value_lines(field, names)]
        if number == 0 and in_order:
            arguments = ", ".join(map(_local, [*required, field]))
            inner.append(f"    if len(d) == {size + 1}: return {construct}({arguments})")
        if inner:
            lines += [f"if {_local(field)} is not UNSET:", *inner]
    arguments = "".join(f"{_local(field)}, " for field in fields)
    superset, known_name = names.add(known.issuperset), names.add(known)
    lines += [
        f"if {superset}(d): return {construct}({arguments})",
        f"return {construct}({arguments}extra={{k: v for k, v in d.items() if k not in {known_name}}})",
    ]
    return _compile("d", lines, names, f"decode_{cls.__name__}")


def _local(field: Field) -> str:
    return f"_{field.name}"


def _value_lines(field: Field, names: _Names) -> list[str]:
    """Return the lines that check, and where needed convert, the value in the local variable of ``field``."""
    name = _local(field)
    check = _check_lines(name, field.shape, names)
    if not check or not field.nullable:
        return check
    if isinstance(field.shape, StrShape) and len(check) == 1:
        return [f"if {name}.__class__ is not str and {name} is not None: raise Mismatch"]
    return [f"if {name} is not None:", *(f"    {line}" for line in check)]


def _check_lines(name: str, shape: Shape, names: _Names) -> list[str]:
    match shape:
        case AnyShape():
            return []
        case StrShape(min_length):
            length = [f"if len({name}) < {min_length}: raise Mismatch"] if min_length else []
            return [f"if {name}.__class__ is not str: raise Mismatch", *length]
        case IntShape(minimum):
            bound = "" if minimum is None else f" or {name} < {minimum}"
            return [f"if {name}.__class__ is not int{bound}: raise Mismatch"]
        case FloatShape():
            bounds = f"if not {-LARGEST_NUMBER!r} <= {name} <= {LARGEST_NUMBER!r}: raise Mismatch"
            return [f"if {name}.__class__ is not float and {name}.__class__ is not int: raise Mismatch", bounds]
        case BoolShape():
            return [f"if {name}.__class__ is not bool: raise Mismatch"]
        case ArrayShape(item):
            return [f"if {name}.__class__ is not list: raise Mismatch", *_item_lines(name, item, names)]
        case MapShape(AnyShape()):
            return [f"if {name}.__class__ is not dict: raise Mismatch"]
        case MapShape(value):
            convert = names.add(strict_decoder(value))
            return [
                f"if {name}.__class__ is not dict: raise Mismatch",
                f"{name} = {{k: {convert}(v) for k, v in {name}.items()}}",
            ]
        case UnionShape(TaggedUnion() as union):
            return _tagged_lines(name, union, names)
        case _:
            return [f"{name} = {names.add(strict_decoder(shape))}({name})"]


def _tagged_lines(name: str, union: TaggedUnion, names: _Names) -> list[str]:
    """Return the lines for a member of a tagged union; a plain first variant, such as text, is made in place.

    Plain is one that holds nothing but its tag and a string. Three of four streamed updates carry such a one, and two
    calls each are saved.
    """
    general = f"{name} = {names.add(strict_decoder(UnionShape(union)))}({name})"
    variants: Mapping[str, Any] = union.variants
    value, cls = next(iter(variants.items()))
    required = [field for field in fields_of(cls) if field.required]
    if len(required) != 1 or not isinstance(required[0].shape, StrShape) or required[0].shape.min_length:
        return [general]
    text = f"{name}.get({required[0].wire!r})"
    tagged = f"{name}.__class__ is dict and len({name}) == 2 and {name}.get({union.tag!r}) == {value!r}"
    plain = f"{name} = {names.add(cls)}({name}[{required[0].wire!r}])"
    return [f"if {tagged} and {text}.__class__ is str: {plain}", f"else: {general}"]


def _item_lines(name: str, item: Shape, names: _Names) -> list[str]:
    if isinstance(item, AnyShape):
        return [f"{name} = tuple({name})"]
    return [f"{name} = tuple([{names.add(strict_decoder(item))}(item) for item in {name}])"]


def _compile(argument: str, lines: list[str], names: _Names, title: str = "decode") -> Decoder:
    namespace = names.namespace
    if lines and not lines[-1].startswith("return"):
        lines = [*lines, f"return {argument}"]
    source = "\n    ".join([f"def {title}({argument}):", *(lines or [f"return {argument}"])])
    exec(compile(source, f"<{title}>", "exec"), namespace)
    decoder: Decoder = namespace[title]
    return decoder
