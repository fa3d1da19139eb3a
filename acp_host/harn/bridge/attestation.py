"""Attests for Harn that an operation was really carried out: :class:`Attestor`, ``hypothesis.attest_event``.

Only the part of an application that carries out operations itself, and keeps the receipts of them, can say so: an
:data:`AttestationAdapter`. Without one the operation does not exist, and nothing here ever answers by itself: a
permission that somebody has given, or something that was observed, is no receipt.

A receipt is bound to the first request that it has attested, with everything that stands in it. The same request gets
the same answer again; another one with that receipt is refused, whatever the adapter thinks of it. Bindings are kept as
long as the bridge is, and when there is no room for another nothing more is attested: what is forgotten could be used
again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from attrs import define, fields, frozen

from acp_host.errors import InvalidInput, InvalidParams, MethodNotFound, RequestFailed
from acp_host.harn.bridge._work import Work

__all__ = ["MAX_RECEIPTS", "AttestationAdapter", "AttestationRequest", "Attestor"]

MAX_RECEIPTS = 100_000
"""Most receipts that are bound."""

_MAX_LENGTH = 4_096
_ATTESTED = {"schema": "harn.host-result.v1", "kind": "hypothesis_native_attestation"}
_REFUSED = -32000


@frozen(kw_only=True)
class AttestationRequest:
    """What is to be attested; every member counts.

    Attributes:
        authority_kind: what kind of authority is asked.
        event_fingerprint: the event.
        plan_fingerprint: the plan that it belongs to.
        hypothesis_id: the hypothesis.
        operation_receipt_id: the receipt of the operation.
        run_id: the run; ``None`` outside of one.
    """

    authority_kind: str
    event_fingerprint: str
    plan_fingerprint: str
    hypothesis_id: str
    operation_receipt_id: str
    run_id: str | None

    @classmethod
    def read(cls, args: Mapping[str, Any]) -> AttestationRequest:
        """Return the request that arguments make.

        Raises:
            InvalidParams: a member is missing, is not of its type, or is none of a request.
        """
        names = {attribute.name for attribute in fields(cls)}
        if set(args) != names:
            raise InvalidParams(f"an attestation is asked for with exactly {', '.join(sorted(names))}")
        for name, value in args.items():
            if value is None and name == "run_id":
                continue
            if not isinstance(value, str) or not value or len(value) > _MAX_LENGTH:
                raise InvalidParams(f"{name} is a string of 1 to {_MAX_LENGTH:,} characters", data={"field": name})
        return cls(**args)


AttestationAdapter: TypeAlias = Callable[[AttestationRequest], bool | Awaitable[bool]]
"""Tells whether the receipt is of the operation that the request is about, completed and not stale. ``True`` attests;
everything else, an exception included, refuses. One that is not a coroutine function runs in a thread."""


@define
class _Binding:
    """What a receipt is bound to.

    Attributes:
        request: the request.
        attested: the adapter has said yes.
        asking: how many times the adapter is being asked about it.
    """

    request: AttestationRequest
    attested: bool = False
    asking: int = 0


class Attestor:
    """Asks the adapter, and keeps what the receipts are bound to.

    Args:
        adapter: ``None``: there is none.
        work: runs it.

    Raises:
        InvalidInput: the adapter cannot be called.
    """

    def __init__(self, adapter: AttestationAdapter | None, work: Work) -> None:
        self._work = work
        self._bindings: dict[str, _Binding] = {}
        self._adapter: AttestationAdapter | None = None
        self.install(adapter)

    @property
    def is_installed(self) -> bool:
        """Whether there is an adapter."""
        return self._adapter is not None

    def install(self, adapter: AttestationAdapter | None) -> None:
        """Put an adapter in place of the one before; what receipts are bound to stays."""
        if adapter is not None and not callable(adapter):
            raise InvalidInput(f"an attestation adapter is a (coroutine) function, not {adapter!r}")
        self._adapter = adapter

    async def attest(self, args: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Return the document that attests a request.

        Raises:
            MethodNotFound: there is no adapter.
            InvalidParams: the request is not complete, or has more in it.
            RequestFailed: it is not attested.
        """
        if self._adapter is None:
            raise MethodNotFound("this host attests nothing")
        request = AttestationRequest.read(args)
        binding = self._bind(request)
        if not binding.attested:
            await self._ask(self._adapter, binding, seconds)
        return {"_meta": {"harn": {"hostResult": dict(_ATTESTED)}}}

    def _bind(self, request: AttestationRequest) -> _Binding:
        """Bind the receipt before anybody is asked, so that two requests at once cannot both have it."""
        binding = self._bindings.get(request.operation_receipt_id)
        if binding is None:
            if len(self._bindings) >= MAX_RECEIPTS:
                raise _refusal("this host can attest no more")
            binding = self._bindings[request.operation_receipt_id] = _Binding(request)
        if binding.request != request:
            raise _refusal("the receipt belongs to another request")
        return binding

    async def _ask(self, adapter: AttestationAdapter, binding: _Binding, seconds: float) -> None:
        binding.asking += 1
        try:
            verified = await self._work.run("the attestation", seconds, adapter, binding.request)
            binding.attested = binding.attested or verified is True
        finally:
            binding.asking -= 1
            if not binding.attested and not binding.asking:
                del self._bindings[binding.request.operation_receipt_id]
        if verified is not True:
            raise _refusal("the receipt does not attest this")


def _refusal(message: str) -> RequestFailed:
    return RequestFailed(message, code=_REFUSED)
