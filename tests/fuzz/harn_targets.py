"""What a Harn agent asks and answers beside its updates, which have a target of their own."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from acp_host.errors import DecodeError, InvalidParams, RequestFailed
from acp_host.harn.bridge.attestation import AttestationRequest
from acp_host.harn.bridge.operations import HostCall
from acp_host.harn.bridge.skill_matching import SkillMatchRequest
from acp_host.translate.harn.external_agents import external_delegation
from acp_host.translate.harn.live_clients import live_clients_answer, live_clients_list
from acp_host.translate.harn.permissions import permission_facts
from acp_host.wire import codec
from acp_host.wire.converters import structure_tolerant
from acp_host.wire.harn.correlation import is_replayed, prompt_name
from acp_host.wire.harn.external_agents import offer_of, read_checkpoint, read_work
from acp_host.wire.harn.prompt import Terminal, prompt_failure
from acp_host.wire.harn.refusals import refusal_reason
from acp_host.wire.permission import RequestPermissionRequest
from tests.fuzz.seeds import compact, harn_messages
from tests.fuzz.target import Target


def _refusal(data: Any) -> None:
    refusal_reason(RequestFailed.from_code(-32000, "HARN-RMD-001", data))


def _permission(params: Any) -> None:
    with contextlib.suppress(DecodeError):
        permission_facts(structure_tolerant(params, RequestPermissionRequest)[0])


def _attestation(params: Any) -> None:
    AttestationRequest.read(HostCall.read(params).args)


READERS: tuple[Callable[[Any], Any], ...] = (
    Terminal.of,
    prompt_failure,
    prompt_name,
    is_replayed,
    offer_of,
    read_work,
    read_checkpoint,
    external_delegation,
    live_clients_answer,
    live_clients_list,
    HostCall.read,
    SkillMatchRequest.read,
    _attestation,
    _permission,
    _refusal,
)


def harn_words(data: bytes) -> None:
    """Whatever stands in the place of what Harn agrees on is read as far as it goes, or refused with one error."""
    try:
        value = codec.read(data, lambda _: None)
    except (codec.Noise, codec.Unreadable):
        return
    for read in READERS:
        with contextlib.suppress(InvalidParams):
            read(value)


def _word_seeds() -> Iterator[bytes]:
    for message in harn_messages():
        error = message.get("error")
        for value in (message.get("params"), message.get("result"), error and error.get("data")):
            if isinstance(value, dict):
                yield compact(value)
    terminal = {"kind": "natural", "reason": "r", "owner": "agent", "terminalClass": "timeout", "message": "m"}
    yield compact({"harn": {"terminal": terminal}})
    yield compact({"schema": "harn.acp.prompt_error.v1", "terminalClass": "timeout", "retryAfterMs": 10})
    names = (
        "authority_kind",
        "event_fingerprint",
        "plan_fingerprint",
        "hypothesis_id",
        "operation_receipt_id",
        "run_id",
    )
    yield compact({"sessionId": "s", "name": "a.b", "args": dict.fromkeys(names, "x"), "caller": {"module": "m"}})
    yield compact({"prompt": "p", "candidates": [{"name": "n", "description": "d"}], "working_files": ["f"]})
    work = {"handoff": {"a": 1}, "artifacts": [{}], "patch": "+x", "receipts": [1], "budget_used": {"usd": 1.5}}
    yield compact({**work, "checkpoint": {"checkpoint_id": "c", "plan": "p", "evidence_refs": [1], "metadata": {}}})


TARGETS = (
    Target("harn-words", harn_words, _word_seeds, code=("acp_host.wire.harn", "acp_host.translate.harn"), longest=500),
)
