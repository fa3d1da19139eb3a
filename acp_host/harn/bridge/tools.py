"""Functions of the application that a Harn script can call: :class:`HostTool`, :class:`ToolTable`.

A tool is called with one object, its arguments by name, which is checked against the tool's schema first. Its result is
plain JSON.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from attrs import field, frozen

from acp_host.errors import InvalidInput, InvalidParams, MethodNotFound, RequestFailed
from acp_host.harn.bridge._work import Work
from acp_host.harn.bridge.type_schema import bind_arguments, schema_of_parameters

__all__ = ["HostTool", "ToolDenied", "ToolTable"]

_MAX_MESSAGE = 500


class ToolDenied(RequestFailed):
    """Raised by a tool to refuse a call: the script learns that it was not permitted, rather than that it failed."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code=-32001)


@frozen(kw_only=True)
class HostTool:
    """A tool that scripts can call.

    Attributes:
        name: what scripts call it by.
        function: takes the arguments as one mapping; returns the result, plain JSON, or an awaitable of it. One that
            is not a coroutine function runs in a thread. It may raise :class:`ToolDenied`, or another
            :class:`~acp_host.errors.RequestFailed`, which is the error the script gets.
        description: what it does, for the model.
        schema: JSON Schema of the arguments; ``None``: they are not checked.
        deprecated: scripts should use another one.

    Raises:
        InvalidInput: one of them is wrong.
    """

    name: str
    function: Callable[[Mapping[str, Any]], Any] = field(repr=False)
    description: str = ""
    schema: Mapping[str, Any] | None = None
    deprecated: bool = False
    _validator: Any = field(default=None, init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise InvalidInput("a tool needs a name")
        if not callable(self.function) or not isinstance(self.description, str):
            raise InvalidInput(f"the tool {self.name} needs a function, and a description that is a string")
        if self.schema is not None:
            object.__setattr__(self, "_validator", _validator(self.name, self.schema))

    @classmethod
    def of(
        cls,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        description: str | None = None,
        deprecated: bool = False,
    ) -> HostTool:
        """Make a tool of a function: its schema of the types of its parameters.

        Args:
            function: a (coroutine) function whose parameters are annotated, see
                :mod:`acp_host.harn.bridge.type_schema`.
            name: ``None`` for the function's own.
            description: ``None`` for the first paragraph of its docstring.
            deprecated: scripts should use another one.

        Raises:
            InvalidInput: it is no function, it has no name, or a parameter has no type that can be told to an agent.
        """
        if not callable(function) or isinstance(function, type):
            raise InvalidInput(f"a tool is made of a function, not of {function!r}")
        if name is None:
            name = getattr(function, "__name__", None)
        if name is None or name == "<lambda>":
            raise InvalidInput(f"{function!r} has no name; pass HostTool.of(…, name=…)")
        if description is None:
            description = " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split())
        return cls(
            name=name,
            function=_by_name(function),
            description=description,
            schema=schema_of_parameters(function),
            deprecated=deprecated,
        )

    def descriptor(self) -> dict[str, Any]:
        """Return what scripts are told of the tool."""
        schema = None if self.schema is None else dict(self.schema)
        return {
            "name": self.name,
            "description": self.description,
            "schema": schema,
            "deprecated": self.deprecated,
        }

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Check arguments against the schema.

        Raises:
            InvalidParams: they do not fit; says where.
        """
        if self._validator is None:
            return
        from jsonschema.exceptions import best_match

        error = best_match(self._validator.iter_errors(arguments))
        if error is not None:
            message = f"{self.name}: {error.message}"
            raise InvalidParams(message[:_MAX_MESSAGE], data={"path": error.json_path[:_MAX_MESSAGE]})


class ToolTable:
    """The tools that are there at the moment, by name.

    Args:
        tools: functions with annotated parameters, and tools.
        work: runs them.

    Raises:
        InvalidInput: one of them is no tool, or two have one name.
    """

    def __init__(self, tools: Iterable[HostTool | Callable[..., Any]], work: Work) -> None:
        self._work = work
        self._tools: dict[str, HostTool] = {}
        for tool in tools:
            self.add(tool)

    def add(self, tool: HostTool | Callable[..., Any]) -> HostTool:
        """Add a tool, and return it."""
        tool = tool if isinstance(tool, HostTool) else HostTool.of(tool)
        if tool.name in self._tools:
            raise InvalidInput(f"there is a tool {tool.name} already")
        self._tools[tool.name] = tool
        return tool

    def remove(self, name: str) -> None:
        """Take a tool away; harmless if there is none."""
        self._tools.pop(name, None)

    def descriptors(self) -> list[dict[str, Any]]:
        """Return what scripts are told of the tools."""
        return [tool.descriptor() for tool in tuple(self._tools.values())]

    async def call(self, name: Any, args: Any, seconds: float) -> Any:
        """Call a tool.

        Args:
            name: of the tool.
            args: its arguments as sent: an object, or an array with one in it.
            seconds: how long it may take.

        Raises:
            MethodNotFound: there is no such tool.
            InvalidParams: the arguments do not fit.
            RequestFailed: it refused, or it failed.
        """
        tool = self._tools.get(name) if isinstance(name, str) else None
        if tool is None:
            raise MethodNotFound("this host has no such tool", data={"name": name})
        arguments = _one_object(tool.name, args)

        async def checked() -> Any:
            await self._work.call(tool.check, arguments)  # in a thread: there is no end to what an agent may send
            return await self._work.call(tool.function, arguments)

        return await self._work.run(tool.name, seconds, checked)


def _by_name(function: Callable[..., Any]) -> Callable[[Mapping[str, Any]], Any]:
    """Return ``function`` as one that takes its arguments as a mapping, and is a coroutine function if it was one."""
    bind = bind_arguments(function)
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def call_async(arguments: Mapping[str, Any]) -> Any:
            return await function(**bind(arguments))

        return call_async

    @functools.wraps(function)
    def call(arguments: Mapping[str, Any]) -> Any:
        return function(**bind(arguments))

    return call


def _one_object(name: str, args: Any) -> Mapping[str, Any]:
    """Return the one object of a call, which is empty if there is none."""
    if isinstance(args, list):
        if len(args) > 1:
            raise InvalidParams(f"{name} takes one object of arguments by name, not {len(args)} arguments")
        args = args[0] if args else None
    if args is None:
        return {}
    if not isinstance(args, Mapping):
        raise InvalidParams(f"{name} takes one object of arguments by name")
    return args


def _validator(name: str, schema: Mapping[str, Any]) -> Any:
    import jsonschema  # takes longer to import than the rest of this library
    from referencing import Registry

    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        raise InvalidInput(f"the schema of the tool {name} is no JSON Schema: {error.message}") from error
    return jsonschema.Draft202012Validator(schema, registry=Registry())  # which fetches nothing
