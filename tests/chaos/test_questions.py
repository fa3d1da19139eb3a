"""What agents ask the user: forms that are odd, hostile or huge, and web pages that are not what they seem."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import acp_host
from acp_host import DiagnosticKind, ElicitationHandlers, ElicitationQueue
from acp_host.services.elicitation_queue import FormQuestion, PageQuestion
from acp_host.services.forms import FieldKind
from acp_host.testing import ScriptedAgent
from acp_host.testing.chaos.agents.services import FORMS, URLS, form, page
from acp_host.wire.elicitation import ElicitationAcceptAction
from tests.chaos.bad_agents import DONE, EDIT, open_session, reported, until

QUESTION = {"question": "Which one?", "options": ["this", "that"]}


async def answers(*asked: Any, **arguments: Any) -> tuple[list[Any], acp_host.HostConnection]:
    """Ask one question after the other; return what the agent was told, results and error codes."""
    told: list[Any] = []

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        for params in asked:
            response = await agent.call("elicitation/create", params)
            told.append(response.get("result") or response["error"]["code"])
        agent.reply(DONE, to=prompt)

    async with open_session(script, **arguments) as (host, session):
        await session.prompt("question")
    return told, host


async def fill_in(queue: ElicitationQueue, **values: Any) -> FormQuestion:
    """Wait for the next form and send it with these values beside its defaults."""
    await until(lambda: queue.pending)
    [question] = queue.pending
    assert isinstance(question, FormQuestion)
    for name, value in values.items():
        question.set(name, value)
    question.accept(await question.review())
    return question


async def next_page(queue: ElicitationQueue) -> PageQuestion:
    """Wait for the next page."""
    await until(lambda: queue.pending)
    [question] = queue.pending
    assert isinstance(question, PageQuestion)
    return question


async def test_r160_a_question_that_stands_in_a_tool_call_can_be_read() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        agent.update({"sessionUpdate": "tool_call", **EDIT, "title": "AskUser", "rawInput": QUESTION})
        assert (await agent.call("elicitation/create", form({})))["error"]["code"] == -32601
        agent.reply(DONE, to=prompt)

    async with open_session(script) as (host, session):
        await session.prompt("question")
    [call] = session.state.snapshot().tool_calls
    assert call.raw_input == QUESTION
    [note] = reported(host, DiagnosticKind.UNKNOWN_METHOD)
    assert note.method == "elicitation/create"
    assert "elicitation/create" in note.message


async def test_r161_forms_as_real_agents_send_them() -> None:
    queue = ElicitationQueue()
    options = [{"const": "yes", "title": "Yes", "_meta": {"v": 1}}, {"const": "other", "title": "None of these"}]
    odd = form(
        {
            "1": {"type": "string", "oneOf": options, "_meta": {"codex": {"isOther": True}}},
            "1_note": {"type": "string", "title": "Or in your own words"},
        },
        title=None,
    )
    asking = asyncio.create_task(answers({**odd, "toolCallId": "call-1", "_meta": {"codex": {}}}, elicitation=queue))
    question = await fill_in(queue, **{"1": "other", "1_note": "neither"})
    told, host = await asking
    assert told == [{"action": "accept", "content": {"1": "other", "1_note": "neither"}}]
    assert question.request.tool_call_id == "call-1"
    assert list(host.diagnostics) == []


@pytest.mark.parametrize("where", ["field", "form"])
async def test_r162_references_lead_nowhere(where: str) -> None:
    connections: list[Any] = []
    server = await asyncio.start_server(lambda *streams: connections.append(streams), "127.0.0.1", 0)
    address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/schema.json"
    reference = {"$ref": address, "$schema": address, "allOf": [{"$ref": address}], "$dynamicRef": address}
    asked = form({"x": {"type": "string", **(reference if where == "field" else {})}})
    if where == "form":
        asked["requestedSchema"] |= reference
    told, host = await answers(asked, elicitation=lambda _: ElicitationAcceptAction({"x": "1"}))
    server.close()
    assert told == [{"action": "accept", "content": {"x": "1"}}]
    [note] = reported(host, DiagnosticKind.UNEXPECTED)
    assert "$ref" in note.message
    assert connections == []


def nested(depth: int) -> Any:
    schema: Any = {"type": "string"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"x": schema}}
    return schema


@pytest.mark.parametrize("asked", FORMS.values(), ids=FORMS)
async def test_r163_forms_that_nobody_can_be_shown(asked: Any) -> None:
    told, host = await answers(asked, elicitation=pytest.fail)
    assert told == [-32602]
    assert reported(host, DiagnosticKind.MALFORMED)


async def test_r163_deep_forms_and_large_texts_are_shown_in_part() -> None:
    queue = ElicitationQueue()
    asked = form({"deep": nested(200), "long" * 10_000: {"type": "boolean", "description": "long " * 100_000}})
    asking = asyncio.create_task(answers(asked, elicitation=queue))
    question = await fill_in(queue)
    assert [field.kind for field in question.form.fields] == [FieldKind.UNKNOWN, FieldKind.BOOLEAN]
    assert all(len(field.label) + len(field.description) < 5_000 for field in question.form.fields)
    assert (await asking)[0] == [{"action": "accept", "content": {}}]


@pytest.mark.parametrize(
    ("pattern", "runs_away"), [("^(a|a)*$", True), ("^(a+)+$", True), ("(", False), ("(?P<x>a)", False)]
)
async def test_r164_patterns_that_run_away_or_are_none(pattern: str, runs_away: bool) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    ticking = asyncio.create_task(tick())
    text = "a" * 50 + "!"
    asked = form({"x": {"type": "string", "pattern": pattern}})
    told, host = await answers(asked, elicitation=lambda _: ElicitationAcceptAction({"x": text}))
    ticking.cancel()
    assert told == [{"action": "accept", "content": {"x": text}}]
    [note] = reported(host, DiagnosticKind.UNEXPECTED)
    assert "not enforced" in note.message
    assert ticks > 10 or not runs_away, "the event loop goes on meanwhile"


async def test_r165_forms_that_contradict_themselves() -> None:
    queue = ElicitationQueue()
    asked = form(
        {
            "a": {"type": "string", "enum": ["x", "x"], "default": "y"},
            "b": {"type": "integer", "minimum": 5, "default": 1},
            "c": {"type": "string", "enum": []},
            "d": {"type": "string", "default": 5},
        },
        required=["ghost", "a", "a"],
    )
    asking = asyncio.create_task(answers(asked, elicitation=queue))
    question = await fill_in(queue, a="x")
    told, host = await asking
    assert told == [{"action": "accept", "content": {"a": "x"}}]
    assert len(question.form["a"].choices) == 1
    [note] = reported(host, DiagnosticKind.UNEXPECTED)
    for part in ("twice", "own default", "nothing to choose", "'ghost'"):
        assert part in note.message
    assert reported(host, DiagnosticKind.REPAIRED)


@pytest.mark.parametrize("url", URLS)
async def test_r166_addresses_that_are_not_opened(url: str) -> None:
    queue = ElicitationQueue(opener=pytest.fail)
    told, host = await answers(page(url), elicitation=queue)
    assert told == [-32602]
    assert queue.visits == ()
    [note] = reported(host, DiagnosticKind.MALFORMED)
    assert "address" in note.message


async def test_r166_addresses_that_look_like_others_say_so_and_wait_for_consent() -> None:
    opened: list[str] = []
    queue = ElicitationQueue(opener=opened.append)
    asking = asyncio.create_task(answers(page("http://paypal.com@pаypal.com/"), elicitation=queue))
    question = await next_page(queue)
    assert question.address.host == "xn--pypal-4ve.com"
    assert len(question.address.warnings) == 3
    assert opened == []
    question.decline()
    assert (await asking)[0] == [{"action": "decline"}]
    assert opened == []


async def test_r167_visits_that_end_early_twice_or_never_began() -> None:
    queue = ElicitationQueue(opener=lambda _: None)

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        agent.notify("elicitation/complete", {"elicitationId": "e-0"})
        asked = agent.request("elicitation/create", page("https://example.org"))
        question = await next_page(queue)
        for _ in range(2):
            agent.notify("elicitation/complete", {"elicitationId": "e-1"})
        await until(lambda: question.completed)
        question.accept()
        assert (await agent.response(asked))["result"] == {"action": "accept"}
        agent.notify("elicitation/complete", {"elicitationId": "e-1"})
        agent.reply(DONE, to=prompt)

    async with open_session(script, elicitation=queue) as (host, session):
        await session.prompt("question")
    assert [(visit.elicitation_id, visit.completed) for visit in queue.visits] == [("e-1", True)]
    assert len(reported(host, DiagnosticKind.UNEXPECTED)) == 3


async def test_r168_texts_that_would_steer_a_terminal_or_hide() -> None:
    queue = ElicitationQueue()
    evil = "\x1b]52;c;x\x07\u202e\r"
    asked = form(
        {evil: {"type": "string", "title": evil, "description": evil, "oneOf": [{"const": evil, "title": evil}]}},
        title=evil,
        description=evil,
    )
    asking = asyncio.create_task(answers({**asked, "message": evil}, elicitation=queue))
    question = await fill_in(queue, **{evil: evil})
    assert (await asking)[0] == [{"action": "accept", "content": {evil: evil}}]
    [field] = question.form.fields
    [choice] = field.choices
    review = await question.review()
    shown = [question.form.message, question.form.title, question.form.description, field.label, field.description]
    shown += [choice.label, review.lines[0].text, review.lines[0].label]
    assert all(text and not set(text) & set("\x1b\x07\u202e\r") for text in shown)


@pytest.mark.parametrize("content", [{"x": 1}, {"y": "1"}, {}, {"x": "too long"}, {"x": None}, None, "x"])
async def test_r169_an_answer_that_does_not_fit_is_not_sent(content: Any) -> None:
    asked = form({"x": {"type": "string", "maxLength": 3}}, required=["x"])
    handlers = ElicitationHandlers(form=lambda _: ElicitationAcceptAction(content))
    told, host = await answers(asked, elicitation=handlers)
    assert told == [{"action": "decline"}]
    [note] = reported(host, DiagnosticKind.HANDLER_FAILED)
    assert note.session_id == "session-1"
