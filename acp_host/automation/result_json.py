"""A result as JSON and back: :func:`result_to_json`, :func:`result_from_json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import cattrs
from cattrs.gen import make_dict_structure_fn, override

from acp_host.automation.result import RunResult
from acp_host.automation.schema import SCHEMA_VERSION, problem_with
from acp_host.errors import InvalidInput
from acp_host.state.json_form import to_json
from acp_host.wire._model import wire_name

__all__ = ["result_from_json", "result_to_json"]


def result_to_json(result: RunResult) -> dict[str, Any]:
    """Return a result as plain JSON values."""
    return {"version": SCHEMA_VERSION, **to_json(result)}


def result_from_json(data: Mapping[str, Any]) -> RunResult:
    """Return the result that JSON stands for.

    Raises:
        InvalidInput: it is none of this version.
    """
    problem = problem_with(data, "result")
    if problem is not None:
        raise InvalidInput(f"this is no result of a run: {problem}")
    return _converter.structure(data, RunResult)


def _by_wire_names(cls: Any) -> Any:
    attributes = attrs.fields(cls)
    renamed: dict[str, Any] = {each.name: override(rename=wire_name(each.name)) for each in attributes}
    return make_dict_structure_fn(cls, _converter, **renamed)


_converter = cattrs.Converter()
_converter.register_structure_hook_factory(attrs.has, _by_wire_names)
