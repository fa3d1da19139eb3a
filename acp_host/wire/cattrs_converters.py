"""The two cattrs converters between JSON values and wire types, for applications.

* :data:`stream_converter` is strict and fast. It refuses everything out of the ordinary, the repairable too.
* :data:`careful_converter` applies the schema's tolerance annotations and explains what it cannot read, with the JSON
  path.

An application that defines wire types of its own (an extension's, say) gets both for every
:class:`~acp_host.wire._model.Model` without registering anything. The library itself decodes by
:mod:`acp_host.wire.converters`, so that a script does not load cattrs.
"""

from __future__ import annotations

import typing
from collections.abc import Callable
from typing import Any

import cattrs

from acp_host.wire._encode import encoder_of
from acp_host.wire._shape import UnionShape, is_model, shape_of
from acp_host.wire._strict import strict_decoder
from acp_host.wire._tolerant import TolerantDecoder

__all__ = ["careful_converter", "stream_converter"]


def _is_wire_union(hint: Any) -> bool:
    try:
        return isinstance(shape_of(hint), UnionShape)
    except TypeError:
        return False


def _unstructure_hook(hint: Any) -> Callable[[Any], Any]:
    encode = encoder_of(shape_of(hint))
    assert encode is not None
    return encode


def _careful_hook(hint: Any) -> Callable[[Any, Any], Any]:
    shape, nullable = shape_of(hint), _is_nullable(hint)
    return lambda value, _: None if nullable and value is None else TolerantDecoder().decode(value, shape, "$")


def _strict_hook(hint: Any) -> Callable[[Any, Any], Any]:
    decode, nullable = strict_decoder(shape_of(hint)), _is_nullable(hint)
    return lambda value, _: None if nullable and value is None else decode(value)


def _is_nullable(hint: Any) -> bool:
    # To cattrs, a union of several classes and null is one type: its hooks meet the nulls too.
    return type(None) in typing.get_args(hint)


def _converter(structure_hook: Callable[[Any], Callable[[Any, Any], Any]], *, detailed: bool) -> cattrs.Converter:
    converter = cattrs.Converter(detailed_validation=detailed)
    for predicate in (is_model, _is_wire_union):
        converter.register_structure_hook_factory(predicate, structure_hook)
        converter.register_unstructure_hook_factory(predicate, _unstructure_hook)
    return converter


stream_converter = _converter(_strict_hook, detailed=False)
"""Strict and fast; raises an unspecified exception on input that is not exactly as the schema has it."""
careful_converter = _converter(_careful_hook, detailed=True)
"""Tolerant and explaining; raises :class:`~acp_host.errors.DecodeError`."""
