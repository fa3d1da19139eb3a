"""What a Harn script can ask the host to do: :class:`HostCall`, :class:`OperationTable`, ``host/call``.

An operation is named by its capability and its own name, ``"acme.open_issue"``. What is listed by ``host/capabilities``
is what is there at the moment, and nothing else.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from attrs import field, frozen

from acp_host.errors import InvalidInput, InvalidParams, MethodNotFound
from acp_host.harn.bridge._work import Work
from acp_host.harn.bridge.attestation import Attestor
from acp_host.harn.bridge.shell_operations import ShellOperations

__all__ = ["HostCall", "Operation", "OperationTable"]

_ATTEST = "hypothesis.attest_event"


@frozen(kw_only=True)
class HostCall:
    """A call of an operation.

    Attributes:
        session_id: the session whose script calls; ``""`` if it does not say.
        name: capability and operation, ``"acme.open_issue"``.
        args: the arguments, plain JSON, as sent: check them.
        caller: the module and function that call, for diagnostics; ``None`` if it does not say.
    """

    session_id: str
    name: str
    args: Mapping[str, Any] = field(factory=dict)
    caller: Mapping[str, Any] | None = None

    @classmethod
    def read(cls, params: Any) -> HostCall:
        """Return the call that the parameters of ``host/call`` make.

        Raises:
            InvalidParams: they make none.
        """
        params = params if isinstance(params, Mapping) else {}
        session_id, name, args = params.get("sessionId"), params.get("name"), params.get("args")
        if not isinstance(name, str):
            raise InvalidParams("name is the name of an operation")
        if args is not None and not isinstance(args, Mapping):
            raise InvalidParams("args is an object")
        session_id = session_id if isinstance(session_id, str) else ""
        return cls(session_id=session_id, name=name, args=args or {}, caller=_caller(params))


Operation: TypeAlias = Callable[[HostCall], Any | Awaitable[Any]]
"""Carries out a call; returns the result, plain JSON. One that is not a coroutine function runs in a thread. It may
raise a :class:`~acp_host.errors.RequestFailed`, which is the error the script gets."""


class OperationTable:
    """The operations that are there at the moment.

    Args:
        operations: the application's, by name.
        shells: serves ``process.list_shells`` and its companions; ``None``: they are not there.
        attestor: serves ``hypothesis.attest_event`` while it has an adapter.
        work: runs them.

    Raises:
        InvalidInput: a name is none, or is taken.
    """

    def __init__(
        self, operations: Mapping[str, Operation], shells: ShellOperations | None, attestor: Attestor, work: Work
    ) -> None:
        self._work = work
        self._attestor = attestor
        self._shells = {} if shells is None else shells.operations()
        self._own: dict[str, Operation] = {}
        for name, operation in operations.items():
            self.add(name, operation)

    def add(self, name: str, operation: Operation) -> None:
        """Add an operation; raises what the constructor raises."""
        capability, dot, own = name.partition(".") if isinstance(name, str) else ("", "", "")
        if not (capability and dot and own):
            raise InvalidInput(f"an operation is named by its capability and its own name, a.b, not {name!r}")
        if name == _ATTEST:
            raise InvalidInput(f"{name} is served by an attestation adapter only: pass attestation=")
        if name in self._own or name in self._shells:
            raise InvalidInput(f"there is an operation {name} already")
        if not callable(operation):
            raise InvalidInput(f"the operation {name} is not a function")
        self._own[name] = operation

    def remove(self, name: str) -> None:
        """Take an operation away; harmless if there is none."""
        self._own.pop(name, None)

    def capabilities(self) -> dict[str, dict[str, list[str]]]:
        """Return capability → its operations, in the form that every part of Harn reads."""
        names = [*self._shells, *self._own, *([_ATTEST] if self._attestor.is_installed else [])]
        found: dict[str, dict[str, list[str]]] = {}
        for name in names:
            capability, _, own = name.partition(".")
            found.setdefault(capability, {"ops": []})["ops"].append(own)
        return found

    async def call(self, call: HostCall, seconds: float) -> Any:
        """Carry out a call.

        Raises:
            MethodNotFound: there is no such operation.
            RequestFailed: it refused, or it failed.
        """
        if call.name == _ATTEST:
            return await self._attestor.attest(call.args, seconds)
        if (shell := self._shells.get(call.name)) is not None:
            return await self._work.run(call.name, seconds, shell, call.session_id, call.args)
        if (own := self._own.get(call.name)) is not None:
            return await self._work.run(call.name, seconds, own, call)
        raise MethodNotFound("this host has no such operation", data={"name": call.name})


def _caller(params: Mapping[str, Any]) -> Mapping[str, Any] | None:
    value: Any = params
    for name in ("_meta", "harn", "requestTrace", "caller"):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else None
