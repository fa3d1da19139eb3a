"""What is attested, to whom, and that nothing else is."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from acp_host.errors import InvalidInput
from acp_host.harn import HarnBridge
from acp_host.harn.bridge import (
    AttestationRequest,
)
from acp_host.testing import ScriptedAgent
from tests.harn.bridge_calls import RECEIPT, Adapter, call, error, served

ATTESTED = {
    "result": {
        "_meta": {"harn": {"hostResult": {"schema": "harn.host-result.v1", "kind": "hypothesis_native_attestation"}}}
    }
}


class TestAttestation:
    async def test_what_the_adapter_attests_is_answered_with_the_exact_document(self):
        adapter = Adapter()
        assert await call(HarnBridge(attestation=adapter), "hypothesis.attest_event", RECEIPT) == ATTESTED
        assert adapter.asked == [AttestationRequest(**RECEIPT)]

    async def test_the_same_request_again_is_the_same_answer(self):
        adapter = Adapter()
        bridge = HarnBridge(attestation=adapter)
        for _ in range(2):
            assert await call(bridge, "hypothesis.attest_event", RECEIPT) == ATTESTED
        assert len(adapter.asked) == 1

    @pytest.mark.parametrize("name", sorted(set(RECEIPT) - {"operation_receipt_id"}))
    async def test_a_receipt_is_of_one_request(self, name: str):
        adapter = Adapter()
        bridge = HarnBridge(attestation=adapter)
        assert await call(bridge, "hypothesis.attest_event", RECEIPT) == ATTESTED
        answer = await call(bridge, "hypothesis.attest_event", {**RECEIPT, name: "other"})
        error(-32000, "belongs to another request", answer)
        assert len(adapter.asked) == 1
        bridge.install_attestation(Adapter())
        answer = await call(bridge, "hypothesis.attest_event", {**RECEIPT, name: "other"})
        error(-32000, "belongs to another request", answer)

    async def test_two_requests_at_once_cannot_both_have_a_receipt(self):
        let, asked = asyncio.Event(), asyncio.Event()

        async def adapter(request: AttestationRequest) -> bool:
            asked.set()
            await let.wait()
            return True

        bridge = HarnBridge(attestation=adapter)

        async def script(agent: ScriptedAgent) -> None:
            name = "hypothesis.attest_event"
            first = agent.request("host/call", {"sessionId": "s", "name": name, "args": RECEIPT})
            await asked.wait()
            again = agent.request("host/call", {"sessionId": "s", "name": name, "args": RECEIPT})
            other = {**RECEIPT, "hypothesis_id": "other"}
            error(-32000, "another", await agent.call("host/call", {"sessionId": "s", "name": name, "args": other}))
            let.set()
            for request_id in (first, again):
                assert (await agent.response(request_id))["result"] == ATTESTED["result"]

        async with served(bridge, script):
            pass

    @pytest.mark.parametrize("answer", [False, None, 1, "yes", {"denied": True}])
    async def test_anything_but_true_is_an_error(self, answer: Any):
        adapter = Adapter(answer)
        bridge = HarnBridge(attestation=adapter)
        error(-32000, "does not attest", await call(bridge, "hypothesis.attest_event", RECEIPT))
        adapter.answer = True  # the operation may have been completed meanwhile
        assert await call(bridge, "hypothesis.attest_event", RECEIPT) == ATTESTED

    async def test_an_adapter_that_fails_attests_nothing(self):
        def adapter(request: AttestationRequest) -> bool:
            raise OSError("the-secret")

        error(-32000, "(OSError)", await call(HarnBridge(attestation=adapter), "hypothesis.attest_event", RECEIPT))

    @pytest.mark.parametrize(
        "args",
        [
            {},
            {**RECEIPT, "extra": 1},
            {name: value for name, value in RECEIPT.items() if name != "run_id"},
            {**RECEIPT, "hypothesis_id": None},
            {**RECEIPT, "run_id": 3},
            {**RECEIPT, "operation_receipt_id": ""},
            {**RECEIPT, "plan_fingerprint": "x" * 5_000},
        ],
    )
    async def test_a_request_that_is_not_exact_is_refused(self, args: Any):
        adapter = Adapter()
        answer = await call(HarnBridge(attestation=adapter), "hypothesis.attest_event", args)
        assert answer["error"]["code"] == -32602
        assert adapter.asked == []

    async def test_without_room_nothing_more_is_attested(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr("acp_host.harn.bridge.attestation.MAX_RECEIPTS", 1)
        bridge = HarnBridge(attestation=Adapter())
        assert await call(bridge, "hypothesis.attest_event", RECEIPT) == ATTESTED
        other = {**RECEIPT, "operation_receipt_id": "r-2"}
        error(-32000, "no more", await call(bridge, "hypothesis.attest_event", other))
        assert await call(bridge, "hypothesis.attest_event", RECEIPT) == ATTESTED

    async def test_without_an_adapter_there_is_no_such_thing(self):
        error(-32601, "attests nothing", await call(HarnBridge(), "hypothesis.attest_event", RECEIPT))
        with pytest.raises(InvalidInput):
            HarnBridge(attestation=True)
