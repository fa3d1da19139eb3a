"""Work given to agents elsewhere: what has to be promised, planned and approved before it is paid for."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping
from typing import Any

import httpx2
import pytest

from acp_host.errors import ExternalAgentError, InvalidInput, RequestFailed
from acp_host.harn.a2a import HttpPeer
from acp_host.harn.external_agents import Budget, Delegation, ExternalAgent
from acp_host.wire.harn.external_agents import DISPATCH, PLAN, offer_of, read_checkpoint, read_work

OFFER: dict[str, Any] = {
    "schema": "harn.external_agent.v1",
    "pre_dispatch_checkpoint": True,
    "budget_cap": True,
    "idempotency": True,
    "reviewable_handoff": True,
    "dispatch": True,
    "operations": [PLAN, DISPATCH],
}
CHECKPOINT = {"checkpoint_id": "cp-1", "plan": "Port them", "expected_scope": ["tests/"], "approved": True}
DONE = {
    "handoff": {"summary": "ported"},
    "artifacts": [{"kind": "log"}, "no artifact"],
    "patch": "--- a\n+++ b\n",
    "receipts": ["r-1"],
    "budget_used": {"usd": 1.5, "tokens": 100, "seconds": 3, "tool_calls": 2},
}


class FakePeer:
    """Answers as told; an exception among the answers is raised."""

    def __init__(self, offer: Any = OFFER, plan: Any = CHECKPOINT, work: Any = DONE) -> None:
        self.answers = {PLAN: plan, DISPATCH: work}
        self.calls: list[tuple[str, Mapping[str, Any]]] = []
        self.cards = 0
        self._card = offer if isinstance(offer, Exception) else {"capabilities": {"externalAgent": offer}}

    async def card(self) -> Any:
        self.cards += 1
        return self._given(self._card)

    async def call(self, method: str, params: Mapping[str, Any]) -> Any:
        self.calls.append((method, json.loads(json.dumps(params))))
        await asyncio.sleep(0)
        return self._given(self.answers[method])

    def _given(self, answer: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    @property
    def methods(self) -> list[str]:
        return [method for method, _ in self.calls]


def work_for(peer: FakePeer, **options: Any) -> Delegation:
    return ExternalAgent(peer).delegation("Port the tests", **{"budget": Budget(usd=2.0), **options})


# --- the sequence -----------------------------------------------------------------------------------------------------


async def test_the_plan_comes_first_and_the_key_stays() -> None:
    peer = FakePeer()
    work = work_for(peer, expected_scope=["tests/"], context={"repo": "x"})
    planned = await work.plan()
    assert (planned.status, planned.checkpoint.plan, planned.report) == ("checkpoint_required", "Port them", None)
    assert peer.methods == [PLAN]
    done = await work.dispatch(planned.checkpoint)
    assert (done.status, done.exceeded) == ("completed", ())
    assert done.report is not None
    assert [len(done.report.artifacts), len(done.report.problems)] == [1, 1]
    (_, asked), (_, sent) = peer.calls
    assert sent["checkpoint"]["approved"] is True
    assert sent["checkpoint"]["checkpoint_id"] == "cp-1"
    assert sent["budget"] == {"max_usd": 2.0}
    assert sent["schema"] == "harn.external_agent.v1"
    assert sent["idempotency_key"] == asked["idempotency_key"] == work.idempotency_key
    assert (sent["task"], sent["expected_scope"], sent["context"]) == ("Port the tests", ["tests/"], {"repo": "x"})


async def test_what_the_peer_says_of_approval_counts_for_nothing() -> None:
    peer = FakePeer(plan={**CHECKPOINT, "approved": True})
    assert (await work_for(peer).plan()).status == "checkpoint_required"
    assert peer.methods == [PLAN]


async def test_another_plan_than_the_one_that_was_approved_is_not_carried_out() -> None:
    peer = FakePeer()
    work = work_for(peer)
    approved = (await work.plan()).checkpoint
    peer.answers[PLAN] = {**CHECKPOINT, "plan": "Delete them"}
    await work.plan()
    with pytest.raises(ExternalAgentError) as refusal:
        await work.dispatch(approved)
    assert (refusal.value.kind, refusal.value.category) == ("denied", "tool_rejected")
    assert DISPATCH not in peer.methods


async def test_nothing_is_carried_out_without_a_plan() -> None:
    peer = FakePeer()
    checkpoint = read_checkpoint(CHECKPOINT)
    assert checkpoint is not None
    with pytest.raises(ExternalAgentError):
        await work_for(peer).dispatch(checkpoint)
    assert peer.methods == []


async def test_work_that_is_done_is_not_sent_again() -> None:
    peer = FakePeer()
    agent = ExternalAgent(peer)
    work = agent.delegation("x", budget=Budget(tokens=10**6), idempotency_key="k-1")
    plan = (await work.plan()).checkpoint
    first, second = await asyncio.gather(work.dispatch(plan), work.dispatch(plan))
    again = agent.delegation("x", budget=Budget(tokens=10**6), idempotency_key="k-1")
    third = await again.dispatch((await again.plan()).checkpoint)
    assert [each.status for each in (first, second, third)] == ["completed", "replayed", "replayed"]
    assert first.report == second.report == third.report
    assert peer.methods.count(DISPATCH) == 1


async def test_a_key_stands_for_one_piece_of_work() -> None:
    agent = ExternalAgent(FakePeer())
    agent.delegation("x", budget=Budget(usd=1), idempotency_key="k-1")
    for task, budget in (("y", Budget(usd=1)), ("x", Budget(usd=100))):
        with pytest.raises(InvalidInput, match="another piece of work"):
            agent.delegation(task, budget=budget, idempotency_key="k-1")


async def test_after_an_error_it_is_tried_with_the_same_key() -> None:
    peer = FakePeer(work=OSError("reset"))
    work = work_for(peer)
    plan = (await work.plan()).checkpoint
    with pytest.raises(ExternalAgentError) as failure:
        await work.dispatch(plan)
    assert (failure.value.kind, failure.value.category) == ("transport", "transient_network")
    peer.answers[DISPATCH] = {**DONE, "status": "replayed"}
    assert (await work.dispatch(plan)).status == "replayed"
    assert len({params["idempotency_key"] for _, params in peer.calls}) == 1


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("checkpoint_required", "denied"),
        ("failed", "protocol"),
        ("cancelled", "cancelled"),
        ("timed_out", "timeout"),
    ],
)
async def test_what_an_agent_says_is_not_done_is_not_completed(status: str, kind: str) -> None:
    peer = FakePeer(work={**DONE, "status": status})
    work = work_for(peer)
    plan = (await work.plan()).checkpoint
    with pytest.raises(ExternalAgentError, match=status) as failure:
        await work.dispatch(plan)
    assert (failure.value.kind, failure.value.data) == (kind, peer.answers[DISPATCH])
    peer.answers[DISPATCH] = {**DONE, "status": "completed"}
    assert (await work.dispatch(plan)).status == "completed"
    assert peer.methods == [PLAN, DISPATCH, DISPATCH]


async def test_nor_is_it_clean_if_it_cost_too_much() -> None:
    work = work_for(FakePeer(work={**DONE, "status": "failed"}), budget=Budget(usd=1.0))
    done = await work.dispatch((await work.plan()).checkpoint)
    assert (done.status, done.exceeded) == ("budget_exceeded", ("usd",))


@pytest.mark.parametrize("method", [PLAN, DISPATCH])
@pytest.mark.parametrize(
    ("told", "kind", "category", "words"),
    [
        ({"kind": "denied", "category": "quota", "message": "not today"}, "denied", "quota", "not today"),
        ({"kind": 5, "category": 5, "message": 5}, "protocol", "tool_error", "no reason given"),
    ],
)
async def test_an_error_may_be_a_result(method: str, told: Any, kind: str, category: str, words: str) -> None:
    peer = FakePeer()
    peer.answers[method] = {**peer.answers[method], **told, "error": "external_agent_error"}
    work = work_for(peer)
    with pytest.raises(ExternalAgentError, match=words) as failure:
        await work.dispatch((await work.plan()).checkpoint)
    assert (failure.value.kind, failure.value.category) == (kind, category)


@pytest.mark.parametrize(
    ("budget", "exceeded"),
    [
        (Budget(usd=1.0, tokens=100), ("usd",)),
        (Budget(tokens=99, tool_calls=1), ("tokens", "tool_calls")),
        (Budget(seconds=3), ()),
    ],
)
async def test_too_much_used_is_told(budget: Budget, exceeded: tuple[str, ...]) -> None:
    work = work_for(FakePeer(), budget=budget)
    done = await work.dispatch((await work.plan()).checkpoint)
    assert (done.status, done.exceeded) == ("budget_exceeded" if exceeded else "completed", exceeded)
    assert done.report is not None


async def test_the_envelope_has_a_handoff_and_a_diff() -> None:
    work = work_for(FakePeer())
    planned = await work.plan()
    assert planned.to_wire()["status"] == "checkpoint_required"
    told = (await work.dispatch(planned.checkpoint)).to_wire()
    assert told["schema"] == "harn.external_agent.handoff.v1"
    assert [artifact["kind"] for artifact in told["artifacts"]] == ["handoff", "log", "diff"]
    assert told["artifacts"][-1]["text"] == DONE["patch"]
    assert told["budget_used"] == DONE["budget_used"]
    assert "approved" not in told["checkpoint"]


# --- what has to be promised ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["budget_cap", "idempotency", "reviewable_handoff", "dispatch"])
async def test_what_is_not_promised_is_not_paid_for(name: str) -> None:
    for offer in ({**OFFER, name: False}, {**OFFER, name: "yes"}):
        peer = FakePeer(offer=offer)
        with pytest.raises(ExternalAgentError, match=name) as refusal:
            await work_for(peer).plan(local_plan="mine")
        assert refusal.value.kind == "discovery"
        assert peer.methods == []


async def test_operations_that_are_listed_are_all_there_are() -> None:
    peer = FakePeer(offer={**OFFER, "operations": [PLAN]})
    with pytest.raises(ExternalAgentError, match=DISPATCH):
        await work_for(peer).plan()


async def test_without_a_plan_of_the_peer_only_a_local_one_goes() -> None:
    for offer in ({**OFFER, "pre_dispatch_checkpoint": False, "operations": []}, {**OFFER, "operations": [DISPATCH]}):
        peer = FakePeer(offer=offer)
        work = work_for(peer)
        with pytest.raises(ExternalAgentError) as refusal:
            await work.plan()
        assert refusal.value.kind == "denied"
        planned = await work.plan(local_plan="Port them, touch nothing else")
        assert planned.checkpoint.is_local
        assert peer.methods == []
        assert (await work.dispatch(planned.checkpoint)).status == "completed"


@pytest.mark.parametrize(
    "card",
    [
        {"capabilities": {"externalAgent": OFFER}},
        {"capabilities": {"_meta": {"harn": {"externalAgent": OFFER}}}},
        {"_meta": {"harn": {"externalAgent": OFFER}}},
    ],
)
def test_the_promise_has_three_places(card: Any) -> None:
    offer = offer_of(card)
    assert offer is not None
    assert offer.missing == ()
    assert offer.plans
    assert offer_of({"capabilities": {"externalAgent": {**OFFER, "schema": "harn.external_agent.v2"}}}) is None
    without_schema = {name: told for name, told in OFFER.items() if name != "schema"}
    assert offer_of({"capabilities": {"externalAgent": without_schema}}) is not None


@pytest.mark.parametrize("card", [None, [], {"capabilities": []}, {"capabilities": {"externalAgent": "yes"}}])
def test_a_card_without_one_promises_nothing(card: Any) -> None:
    assert offer_of(card) is None


# --- what goes wrong --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "kind", "category"),
    [
        (RequestFailed.from_code(-32602, "bad"), "invalid_request", "invalid_request"),
        (RequestFailed("no", code=-32001, data={"kind": "denied"}), "denied", "tool_rejected"),
        (RequestFailed("no", code=-1, data={"kind": "odd", "category": "rate_limited"}), "protocol", "rate_limited"),
        (RequestFailed.from_code(-32800, "gone"), "cancelled", "cancelled"),
        (TimeoutError(), "timeout", "timeout"),
        (ConnectionError("reset"), "transport", "transient_network"),
        (ExternalAgentError("no", kind="protocol"), "protocol", "tool_error"),
    ],
)
async def test_errors_have_kinds_and_categories(error: Exception, kind: str, category: str) -> None:
    work = work_for(FakePeer(work=error))
    plan = (await work.plan()).checkpoint
    with pytest.raises(ExternalAgentError) as failure:
        await work.dispatch(plan)
    assert (failure.value.kind, failure.value.category) == (kind, category)
    told = failure.value.to_wire()
    assert (told["error"], told["kind"], told["category"]) == ("external_agent_error", kind, category)


async def test_a_peer_that_says_nothing_is_given_up_in_time() -> None:
    class Silent(FakePeer):
        async def card(self) -> Any:
            await asyncio.Event().wait()

    with pytest.raises(ExternalAgentError) as failure:
        await ExternalAgent(Silent(), timeout=0.01).offer()
    assert failure.value.kind == "timeout"


@pytest.mark.parametrize("told", [None, [], {"checkpoint_id": "x"}, {"plan": "x"}, {"checkpoint_id": 1, "plan": "x"}])
async def test_a_checkpoint_needs_an_id_and_a_plan(told: Any) -> None:
    with pytest.raises(ExternalAgentError) as failure:
        await work_for(FakePeer(plan=told)).plan()
    assert (failure.value.kind, failure.value.data) == ("protocol", told)


async def test_work_that_says_nothing_of_itself_has_a_handoff_all_the_same() -> None:
    work = work_for(FakePeer(work={"status": "completed", "diff": "--- a", "usage": {"cost_usd": 3}}))
    done = await work.dispatch((await work.plan()).checkpoint)
    assert (done.status, done.exceeded) == ("budget_exceeded", ("usd",))
    told = done.to_wire()
    assert told["handoff"]["files_or_entities_touched"] == ["tests/"]
    assert [artifact["kind"] for artifact in told["artifacts"]] == ["handoff", "diff"]


def test_a_limit_in_seconds_is_a_whole_number() -> None:
    assert Budget(seconds=90.5, tool_calls=3).caps_to_wire() == {"max_seconds": 90, "max_tool_calls": 3}
    assert Budget(seconds=0.5).caps_to_wire() == {"max_seconds": 1}


def test_a_checkpoint_may_stand_in_an_object_and_have_other_names() -> None:
    found = read_checkpoint({"checkpoint": {"id": "cp-1", "summary": "Port them"}})
    assert found is not None
    assert (found.checkpoint_id, found.plan) == ("cp-1", "Port them")


async def test_work_without_anything_cannot_be_looked_through() -> None:
    work = work_for(FakePeer(work={"artifacts": []}))
    plan = (await work.plan()).checkpoint
    with pytest.raises(ExternalAgentError) as failure:
        await work.dispatch(plan)
    assert failure.value.data == {"artifacts": []}


def test_amounts_of_the_wrong_type_are_told() -> None:
    report = read_work({"handoff": {"a": 1}, "budget_used": {"usd": "many", "tokens": -1}, "receipts": "none"})
    assert report is not None
    assert report.budget_used == Budget()
    assert len(report.problems) == 2
    assert report.receipts == ()


@pytest.mark.parametrize(
    "budget",
    [
        Budget(),
        Budget(usd=0),
        Budget(usd=1, tokens=-1),
        Budget(usd=math.inf),
        Budget(usd=math.nan, tokens=5),
        Budget(seconds=math.inf),
        Budget(usd=True),
        Budget(usd="2"),
    ],
)
async def test_a_budget_needs_a_cap(budget: Budget) -> None:
    with pytest.raises(InvalidInput, match="cap"):
        ExternalAgent(FakePeer()).delegation("x", budget=budget)


@pytest.mark.parametrize(
    "asked", [{"task": " "}, {"idempotency_key": " "}, {"context": {"what": object()}}, {"metadata": {"x": {1}}}]
)
async def test_what_is_asked_is_checked_first(asked: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        ExternalAgent(FakePeer()).delegation(**{"task": "x", "budget": Budget(usd=1), **asked})


# --- over HTTP --------------------------------------------------------------------------------------------------------

CARD = {"url": "https://agents.example/rpc", "capabilities": {"externalAgent": OFFER}}


class FakeServer:
    """An agent at ``https://agents.example``, as ``httpx2`` sees it."""

    def __init__(self, card: Any = CARD, path: str = "/.well-known/agent-card.json", answer: Any = None) -> None:
        self.requests: list[httpx2.Request] = []
        self._card, self._path, self._answer = card, path, answer

    def client(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(transport=httpx2.MockTransport(self._serve))

    def _serve(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        if request.method == "GET":
            return httpx2.Response(200, json=self._card) if request.url.path == self._path else httpx2.Response(404)
        if self._answer is not None:
            return self._answer
        asked = json.loads(request.content)
        results = {PLAN: CHECKPOINT, DISPATCH: DONE}
        return httpx2.Response(200, json={"jsonrpc": "2.0", "id": asked["id"], "result": results[asked["method"]]})


@pytest.mark.parametrize("path", ["/.well-known/agent-card.json", "/.well-known/agent.json"])
async def test_the_whole_way_over_http(path: str) -> None:
    server = FakeServer(path=path)
    async with server.client() as client, HttpPeer("https://agents.example", client=client, headers={"A": "b"}) as peer:
        work = ExternalAgent(peer).delegation("x", budget=Budget(usd=2))
        assert (await work.dispatch((await work.plan()).checkpoint)).status == "completed"
    posts = [request for request in server.requests if request.method == "POST"]
    assert [request.url.path for request in posts] == ["/rpc", "/rpc"]
    assert all(request.headers["A"] == "b" for request in server.requests)


@pytest.mark.parametrize(
    ("card", "endpoint"),
    [
        ({"url": "/rpc"}, "https://agents.example/rpc"),
        ({"url": "https://agents.example:443/x", "preferredTransport": "JSONRPC"}, "https://agents.example:443/x"),
        (
            {
                "url": "/g",
                "preferredTransport": "GRPC",
                "additionalInterfaces": [{"url": "/j", "transport": "JSONRPC"}],
            },
            "https://agents.example/j",
        ),
        ({"supportedInterfaces": ["odd", {"url": "/v1", "protocolBinding": "JSONRPC"}]}, "https://agents.example/v1"),
    ],
)
async def test_cards_of_every_version_name_the_endpoint(card: Any, endpoint: str) -> None:
    server = FakeServer(card=card)
    async with server.client() as client:
        await HttpPeer("https://agents.example", client=client).call(PLAN, {})
    assert str(server.requests[-1].url) == httpx2.URL(endpoint)


@pytest.mark.parametrize(
    "card", [{"url": "https://elsewhere.example/rpc"}, {"url": "http://agents.example/rpc"}, {}, []]
)
async def test_no_card_sends_credentials_elsewhere(card: Any) -> None:
    server = FakeServer(card=card)
    async with server.client() as client:
        with pytest.raises(ExternalAgentError) as refusal:
            await HttpPeer("https://agents.example", client=client).call(PLAN, {})
    assert refusal.value.kind == "discovery"
    assert [request.method for request in server.requests] == ["GET"]


async def test_the_names_of_this_machine_are_one_origin() -> None:
    server = FakeServer(card={"url": "http://localhost:8000/rpc"})
    async with server.client() as client:
        await HttpPeer("http://127.0.0.1:8000", client=client).call(PLAN, {})
    assert str(server.requests[-1].url) == "http://localhost:8000/rpc"


async def test_an_endpoint_of_the_applications_own_goes() -> None:
    server = FakeServer(card={"url": "https://elsewhere.example/rpc", **CARD})
    async with server.client() as client:
        peer = HttpPeer("https://agents.example", client=client, endpoint="https://elsewhere.example/rpc")
        await peer.call(PLAN, {})
    assert server.requests[-1].url.host == "elsewhere.example"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (httpx2.Response(200, text="<html>"), "protocol"),
        (httpx2.Response(200, json=[]), "protocol"),
        (httpx2.Response(200, json={"id": 99, "result": {}}), "protocol"),
        (httpx2.Response(200, json={"id": 1}), "protocol"),
        (httpx2.Response(500, text="oops"), "transport"),
        (httpx2.Response(302, headers={"Location": "https://elsewhere.example"}), "transport"),
        (httpx2.Response(401), "denied"),
        (httpx2.Response(400, json={"id": 1, "error": {"code": -32602, "message": "no"}}), "invalid_request"),
    ],
)
async def test_answers_that_are_none(answer: httpx2.Response, kind: str) -> None:
    server = FakeServer(answer=answer)
    async with server.client() as client:
        agent = ExternalAgent(HttpPeer("https://agents.example", client=client))
        with pytest.raises(ExternalAgentError) as failure:
            await agent.delegation("x", budget=Budget(usd=1)).plan()
    assert failure.value.kind == kind


async def test_a_flood_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_host.harn.a2a._LARGEST", 100)
    server = FakeServer(card={"url": "/rpc", "x": "y" * 200})
    async with server.client() as client:
        with pytest.raises(ExternalAgentError, match="more than 100 bytes"):
            await HttpPeer("https://agents.example", client=client).card()


@pytest.mark.parametrize("failure", [httpx2.ConnectTimeout("slow"), httpx2.ConnectError("refused")])
async def test_an_address_where_nobody_is(failure: Exception) -> None:
    def serve(request: httpx2.Request) -> httpx2.Response:
        raise failure

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(serve)) as client:
        with pytest.raises(ExternalAgentError) as caught:
            await ExternalAgent(HttpPeer("https://agents.example", client=client)).offer()
    assert caught.value.kind == ("timeout" if isinstance(failure, httpx2.ConnectTimeout) else "transport")


@pytest.mark.parametrize("address", ["agents.example", "ftp://agents.example", "http://agents.example", "https://"])
async def test_addresses_are_secure_or_of_this_machine(address: str) -> None:
    with pytest.raises(InvalidInput):
        HttpPeer(address)
    async with HttpPeer("http://127.0.0.1:1"):
        pass
