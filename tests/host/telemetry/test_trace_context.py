"""The trace context in ``_meta``, in both directions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry import baggage
from opentelemetry.context import Context, attach, detach
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, get_current_span, set_span_in_context

import acp_host
from acp_host.host.telemetry.trace_context import parent_of, with_meta
from acp_host.testing import ReferenceAgent, ScriptedAgent
from acp_host.wire._model import UNSET
from acp_host.wire.prompt import PromptRequest
from tests.host.cuts import Way
from tests.host.scripts import DONE
from tests.host.telemetry.telling import HOSTILE, Told

OURS = SpanContext(0xAB, 0xCD, False, TraceFlags(0))
OWN = set_span_in_context(NonRecordingSpan(OURS), Context())


def traceparent(trace: int, span: int, flags: int = 1) -> str:
    return f"00-{trace:032x}-{span:016x}-{flags:02x}"


def spoken(way: Way) -> dict[str, Any]:
    """The parameters that the host has sent, by method; the last of each."""
    messages = [json.loads(line) for line in way.made[0].sent]
    return {message["method"]: message.get("params") for message in messages if "method" in message}


@pytest.mark.parametrize("version", [1, 2])
async def test_every_request_says_where_it_belongs(version: int) -> None:
    told = Told()
    way = Way(lambda _: ReferenceAgent(protocol_versions=(version,)))
    async with acp_host.connect(way, protocol_versions=(version,), telemetry=told.telemetry) as host:
        session = await host.new_session("/")
        await session.prompt("/say Hello", meta={"mine": 1})
        await session.remind("The tests have changed")
    sent = spoken(way)
    for method in ("initialize", "session/new", "session/prompt", "session/inject_reminder"):
        span = told.span("invoke_agent" if method == "session/prompt" else method).context
        assert sent[method]["_meta"]["traceparent"] == traceparent(span.trace_id, span.span_id, span.trace_flags), (
            method
        )
        assert "baggage" not in sent[method]["_meta"]
    assert sent["session/prompt"]["_meta"]["mine"] == 1


async def test_nothing_is_said_where_that_is_switched_off() -> None:
    told = Told(propagate=False)
    way = Way(lambda _: ReferenceAgent())
    async with acp_host.connect(way, telemetry=told.telemetry) as host:
        await (await host.new_session("/")).prompt("/say Hello")
    assert not any("traceparent" in json.dumps(params) for params in spoken(way).values())


async def test_baggage_is_sent_only_where_it_is_asked_for() -> None:
    sent = []
    for asked in (False, True):
        way = Way(lambda _: ReferenceAgent())
        token = attach(baggage.set_baggage("tenant", "7"))
        try:
            async with acp_host.connect(way, telemetry=Told(baggage=asked).telemetry) as host:
                await host.new_session("/")
        finally:
            detach(token)
        sent.append(spoken(way)["session/new"]["_meta"].get("baggage"))
    assert sent == [None, "tenant=7"]


async def test_what_the_caller_says_goes_first() -> None:
    way = Way(lambda _: ReferenceAgent())
    async with acp_host.connect(way, telemetry=Told().telemetry) as host:
        session = await host.new_session("/")
        await session.prompt("/say Hello", meta={"traceparent": traceparent(1, 2)})
    assert spoken(way)["session/prompt"]["_meta"]["traceparent"] == traceparent(1, 2)


def test_parameters_that_can_carry_nothing_stay_as_they_are() -> None:
    members = {"traceparent": "x"}
    assert with_meta(UNSET, members) is UNSET
    assert with_meta([1], members) == [1]
    assert with_meta({"_meta": 1}, members) == {"_meta": 1}
    assert with_meta({}, members) == {"_meta": members}
    given_params = PromptRequest("s", (), {"a": 1})
    assert with_meta(given_params, members).meta == {"a": 1, **members}
    assert given_params.meta == {"a": 1}


def test_a_span_of_the_agent_in_the_same_trace_is_the_parent_with_our_flags() -> None:
    context, links = parent_of({"_meta": {"traceparent": traceparent(0xAB, 0xEF), "tracestate": "evil=1"}}, OWN)
    span = get_current_span(context).get_span_context()
    assert (span.trace_id, span.span_id, span.is_remote) == (0xAB, 0xEF, True)
    assert not span.trace_flags.sampled
    assert not span.trace_state
    assert links == []


def test_another_trace_is_a_link_and_nothing_more() -> None:
    context, [link] = parent_of({"_meta": {"traceparent": traceparent(0x77, 0xEF)}}, OWN)
    assert get_current_span(context).get_span_context() == OURS
    assert link.context.trace_id == 0x77
    context, [link] = parent_of({"_meta": {"traceparent": traceparent(0x77, 0xEF)}}, Context())
    assert not get_current_span(context).get_span_context().is_valid


@pytest.mark.parametrize("value", HOSTILE, ids=repr)
def test_what_is_not_valid_is_ignored(value: Any) -> None:
    assert parent_of({"_meta": {"traceparent": value}}, OWN) == (OWN, [])


@given(st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.dictionaries(st.text(), inner)))
def test_no_meta_raises(meta: Any) -> None:
    parent_of({"_meta": meta}, OWN)
    parent_of(meta, OWN)


async def test_an_agent_that_goes_on_with_the_trace() -> None:
    told = Told()

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.open_session("s-1")
        prompt = await agent.expect("session/prompt")
        trace = prompt["params"]["_meta"]["traceparent"].split("-")[1]
        for value in [f"00-{trace}-{0xFEED:016x}-01", traceparent(5, 6), "nonsense"]:
            asked = {
                "sessionId": "s-1",
                "toolCall": {"toolCallId": "c"},
                "options": [{"optionId": "y", "name": "Yes", "kind": "allow_once"}],
                "_meta": {"traceparent": value, "baggage": "evil=1"},
            }
            await agent.call("session/request_permission", asked)
        agent.reply(DONE, to=prompt)

    agent = ScriptedAgent(script)
    async with acp_host.connect(agent.transport(), telemetry=told.telemetry) as host:
        await (await host.new_session()).prompt("go")
        await agent.finished()
    turn = told.span("invoke_agent").context
    first, second, third = told.spans("session/request_permission")
    assert first.parent is not None
    assert first.context.trace_id == second.context.trace_id == third.context.trace_id == turn.trace_id
    assert first.parent.span_id == 0xFEED
    assert [link.context.trace_id for link in second.links] == [5]
    assert not third.links
    for span in (second, third):
        assert span.parent is not None
        assert span.parent.span_id == turn.span_id
