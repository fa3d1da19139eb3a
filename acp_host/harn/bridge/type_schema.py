"""JSON Schemas of Python types: :func:`schema_of_parameters`, and the way back: :func:`bind_arguments`.

=============================================  =====================================================
type                                           schema
=============================================  =====================================================
``str``, ``bool``, ``int``, ``float``          ``string``, ``boolean``, ``integer``, ``number``
``None``, ``Any``                              ``null``, anything
``list[T]``, ``tuple[T, ...]``                 ``array`` of ``T``
``dict[str, T]``, ``list``, ``dict``           ``object`` with values of ``T``; of anything
``Literal[...]``, an ``Enum`` of such values   ``enum``
``T | None``, scalars such as ``str | int``    ``anyOf``
dataclass, attrs class, ``TypedDict``          ``object`` with these properties and no others
``Annotated[T, "words"]``                      that of ``T``, with the words as ``description``
=============================================  =====================================================

Every other type is refused: what cannot be told to the agent cannot be asked of it.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, NotRequired, Required, Union, get_args, get_origin

import attrs
import cattrs

from acp_host.errors import InvalidInput

__all__ = ["bind_arguments", "schema_of_parameters"]

_SCALARS: Mapping[Any, str] = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def schema_of_parameters(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the schema of the one object that holds a function's arguments by name.

    Raises:
        InvalidInput: a parameter has no type, one that has no schema here, or cannot be given by name.
    """
    name, hints = getattr(function, "__name__", repr(function)), _hints(function)
    properties, required = {}, []
    for parameter in inspect.signature(function).parameters.values():
        where = f"the parameter {parameter.name} of {name}"
        if parameter.kind not in _BY_NAME:
            raise InvalidInput(f"{where} cannot be given by name")
        if parameter.name not in hints:
            raise InvalidInput(f"{where} has no type; annotate it, so that the agent can be told what it takes")
        properties[parameter.name] = _schema(hints[parameter.name], where, ())
        if parameter.default is inspect.Parameter.empty:
            required.append(parameter.name)
    return _object(properties, required)


def bind_arguments(function: Callable[..., Any]) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Return what makes of arguments that fit the schema those of the function: dataclasses of objects, and so on."""
    hints = _hints(function)
    names = [name for name in inspect.signature(function).parameters if name in hints]

    def bind(arguments: Mapping[str, Any]) -> dict[str, Any]:
        converter = _converter()
        return {name: converter.structure(arguments[name], hints[name]) for name in names if name in arguments}

    return bind


def _hints(function: Any) -> dict[str, Any]:
    # Of a callable object they are its method's.
    target = function if inspect.isroutine(function) else function.__call__
    try:
        return typing.get_type_hints(target, include_extras=True)
    except Exception as error:
        name = getattr(function, "__name__", repr(function))
        raise InvalidInput(f"the types of the parameters of {name} cannot be resolved: {error}") from error


def _schema(hint: Any, where: str, outer: tuple[Any, ...]) -> dict[str, Any]:
    """Return the schema of a type; ``outer`` are the classes that it stands in."""
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return {}
    if isinstance(hint, type) and hint in _SCALARS:
        return {"type": _SCALARS[hint]}
    if origin is Annotated:
        words = next((extra for extra in args[1:] if isinstance(extra, str)), None)
        inner = _schema(args[0], where, outer)
        return inner if words is None else {**inner, "description": words}
    if origin in (Union, types.UnionType):
        return _union(args, where, outer)
    if origin is Literal:
        return _choice(args, where)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return _choice([member.value for member in hint], where)
    found = _collection(hint, where, outer) or _class(hint, where, outer)
    if found is None:
        raise InvalidInput(f"{where} is of a type that has no JSON Schema here: {hint!r}")
    return found


def _collection(hint: Any, where: str, outer: tuple[Any, ...]) -> dict[str, Any] | None:
    origin, args = get_origin(hint), get_args(hint)
    if hint is list or origin is list or (origin is tuple and args[1:] == (...,)):
        items = {"items": _schema(args[0], where, outer)} if args else {}
        return {"type": "array", **items}
    if hint is dict or (origin is dict and args[0] is str):
        values = {"additionalProperties": _schema(args[1], where, outer)} if args else {}
        return {"type": "object", **values}
    return None


def _class(hint: Any, where: str, outer: tuple[Any, ...]) -> dict[str, Any] | None:
    members = _members(hint)
    if members is None:
        return None
    if hint in outer:
        raise InvalidInput(f"{where} is of a type that contains itself, {hint.__name__}, which has no schema here")
    properties = {name: _schema(member, where, (*outer, hint)) for name, (member, _) in members.items()}
    return _object(properties, [name for name, (_, required) in members.items() if required])


def _union(args: tuple[Any, ...], where: str, outer: tuple[Any, ...]) -> dict[str, Any]:
    others = [arg for arg in args if arg is not type(None)]
    if len(others) > 1 and not all(_is_scalar(arg) for arg in others):
        raise InvalidInput(f"{where} may be of several types that are not all scalars, which cannot be told apart")
    return {"anyOf": [_schema(arg, where, outer) for arg in args]}


def _choice(values: Any, where: str) -> dict[str, Any]:
    if not values or not all(type(value) in _SCALARS for value in values):
        raise InvalidInput(f"{where} is a choice of values that are not all plain JSON")
    return {"enum": list(values)}


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _members(hint: Any) -> dict[str, tuple[Any, bool]] | None:
    """Return the fields of a class by the name that they are given by: type, and whether they must be given."""
    if typing.is_typeddict(hint):
        # Where annotations are strings, the class itself does not know which of its keys are required.
        hints = typing.get_type_hints(hint, include_extras=True)
        return {name: _member(hints[name], name in hint.__required_keys__) for name in hints}
    if not isinstance(hint, type):
        return None
    if attrs.has(hint):
        hints = typing.get_type_hints(hint, include_extras=True)
        given = [field for field in attrs.fields(hint) if field.init]
        return {field.alias: (hints[field.name], field.default is attrs.NOTHING) for field in given}
    if dataclasses.is_dataclass(hint):
        hints, missing = typing.get_type_hints(hint, include_extras=True), dataclasses.MISSING
        return {
            field.name: (hints[field.name], field.default is missing and field.default_factory is missing)
            for field in dataclasses.fields(hint)
            if field.init
        }
    return None


def _typed_dict(value: Mapping[str, Any], kind: Any) -> dict[str, Any]:
    hints = {name: hint for name, (hint, _) in (_members(kind) or {}).items()}
    return {name: _converter().structure(member, hints[name]) for name, member in value.items()}


def _member(hint: Any, required: bool) -> tuple[Any, bool]:
    if get_origin(hint) in (Required, NotRequired):
        return get_args(hint)[0], get_origin(hint) is Required
    return hint, required


def _is_scalar(hint: Any) -> bool:
    return (isinstance(hint, type) and hint in _SCALARS) or get_origin(hint) is Literal


def _is_scalar_union(hint: Any) -> bool:
    args = [arg for arg in get_args(hint) if arg is not type(None)]
    return get_origin(hint) in (Union, types.UnionType) and all(_is_scalar(arg) for arg in args)


@functools.cache
def _converter() -> cattrs.Converter:
    converter = cattrs.Converter(use_alias=True, detailed_validation=False)
    converter.register_structure_hook(type(None), lambda value, _: value)
    converter.register_structure_hook_func(typing.is_typeddict, _typed_dict)
    converter.register_structure_hook_func(_is_scalar_union, lambda value, _: value)  # the schema has told them apart
    return converter
