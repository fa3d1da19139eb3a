"""Questions of the agent on a whole connection: with and without a session, until they are answered or taken back."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host import DiagnosticKind, ElicitationHandlers, ElicitationQueue
from acp_host.services.elicitation_queue import FormQuestion, PageQuestion
from acp_host.services.forms import FieldKind
from acp_host.testing import ReferenceAgent, ScriptedAgent
from tests.chaos.bad_agents import DONE, FORM, connected, open_session, reported, until

FORMS = Path(__file__).parents[2] / "fixtures" / "forms"
PAGE = {"mode": "url", "message": "Log in", "url": "https://example.org/login", "elicitationId": "e-1"}
SCOPED = {**PAGE, "sessionId": "session-1"}


async def next_question(queue: ElicitationQueue) -> Any:
    async for pending in queue.watch():
        if pending:
            return pending[0]


@pytest.mark.parametrize(
    ("given", "offered"),
    [
        (ElicitationQueue(), {"form": {}, "url": {}}),
        (ElicitationHandlers(form=ElicitationQueue()), {"form": {}}),
        (ElicitationHandlers(url=ElicitationQueue()), {"url": {}}),
        (ElicitationHandlers(), None),
        (None, None),
    ],
)
async def test_each_mode_is_offered_only_with_somebody_behind_it(given: Any, offered: Any) -> None:
    async def script(agent: ScriptedAgent) -> None:
        params = await agent.handshake()
        assert params["clientCapabilities"].get("elicitation") == offered

    async with connected(script, elicitation=given):
        pass


async def test_a_form_that_belongs_to_a_login_comes_before_there_is_any_session() -> None:
    queue = ElicitationQueue()

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(authMethods=[{"id": "form", "name": "A form"}])
        login = await agent.expect("authenticate")
        form = {key: value for key, value in FORM.items() if key != "sessionId"}
        answer = await agent.call("elicitation/create", {**form, "requestId": login["id"]})
        assert answer["result"] == {"action": "accept", "content": {"one": "code"}}
        agent.reply({}, to=login)

    async with connected(script, elicitation=queue) as host:
        login = asyncio.create_task(host.authenticate("form"))
        question = await next_question(queue)
        question.set("one", "code")
        question.accept(await question.review())
        await login
        assert list(host.diagnostics) == []


async def test_the_reference_agent_asks_for_everything() -> None:
    queue = ElicitationQueue()
    async with acp_host.connect(ReferenceAgent().transport(), elicitation=queue) as host:
        session = await host.new_session()
        turn = session.prompt("/ask Who are you?")
        question = await next_question(queue)
        assert isinstance(question, FormQuestion)
        assert question.form.message == "Who are you?"
        assert {field.kind for field in question.form.fields} >= {FieldKind.EMAIL, FieldKind.MULTI_CHOICE}
        assert [item.method for item in session.state.snapshot().questions] == ["elicitation/create"]
        question.type_in("name", "Ada")
        question.type_in("languages", ["Python", "Rust"])
        question.accept(await question.review())
        given = {"name": "Ada", "colour": "blue", "tabs": False, "languages": ("Python", "Rust")}
        assert (await turn).text == f"You answered: {given}"
        assert session.state.snapshot().questions == ()
        assert list(host.diagnostics) == []


async def test_a_visit_is_completed_by_its_id() -> None:
    opened: list[str] = []
    queue = ElicitationQueue(opener=opened.append)
    async with acp_host.connect(ReferenceAgent().transport(), elicitation=queue) as host:
        session = await host.new_session()
        turn = session.prompt("/visit https://example.org/login")
        question = await next_question(queue)
        assert isinstance(question, PageQuestion)
        await question.open()
        assert (await turn).text == "You agreed."
        assert [visit.completed for visit in queue.visits] == [True]
        assert opened == ["https://example.org/login"]
        assert list(host.diagnostics) == []


async def test_the_end_of_visits_that_nobody_makes_is_reported_and_heard() -> None:
    heard: list[str] = []

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        agent.notify("elicitation/complete", {"elicitationId": "ghost"})
        asked = agent.request("elicitation/create", SCOPED)
        await until(lambda: queue.pending)
        for _ in range(2):
            agent.notify("elicitation/complete", {"elicitationId": "e-1"})
        await until(lambda: len(heard) == 3)
        queue.pending[0].accept()
        assert (await agent.response(asked))["result"] == {"action": "accept"}
        agent.reply(DONE, to=prompt)

    queue = ElicitationQueue(opener=pytest.fail)
    async with open_session(script, elicitation=queue) as (host, session):
        host.on_notification("elicitation/complete", lambda params: heard.append(params.elicitation_id))
        await session.prompt("go")
    assert heard == ["ghost", "e-1", "e-1"]
    messages = [note.message for note in reported(host, DiagnosticKind.UNEXPECTED)]
    assert messages == [
        "the page visit ghost is over, but none of this id was under way",
        "the page visit e-1 is over, but none of this id was under way",
    ]
    assert [visit.completed for visit in queue.visits] == [True]


async def test_questions_expire_with_their_turn_and_when_they_are_withdrawn() -> None:
    queue = ElicitationQueue(opener=pytest.fail)

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        withdrawn = agent.request("elicitation/create", FORM)
        await until(lambda: queue.pending)
        agent.notify("$/cancel_request", {"requestId": withdrawn})
        assert (await agent.response(withdrawn))["error"]["code"] == -32800
        await until(lambda: not queue.pending)
        asked = [agent.request("elicitation/create", params) for params in (FORM, SCOPED)]
        for request_id in asked:
            assert (await agent.response(request_id))["result"] == {"action": "cancel"}
        await agent.expect("session/cancel")
        agent.reply({"stopReason": "cancelled"}, to=prompt)

    async with open_session(script, elicitation=queue) as (_, session):
        turn = session.prompt("go")
        await until(lambda: len(queue.pending) == 2)
        questions = queue.pending
        turn.cancel()
        assert (await turn).stop_reason == "cancelled"
        await until(lambda: not queue.pending)
        assert all(question.expired for question in questions)
        [page] = [question for question in questions if isinstance(question, PageQuestion)]
        with pytest.raises(acp_host.InvalidState, match="expired"):
            await page.open()


def recorded(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters that a real agent sent to ask with a form, and what its host answered."""
    pair = json.loads((FORMS / f"{name}.json").read_text(encoding="utf-8"))
    return pair["params"], pair["answer"]


async def ask_as_recorded(name: str, fill_in: Any) -> dict[str, Any]:
    """Ask the form of a recording; return what the agent is told when ``fill_in`` has filled it in."""
    told: list[Any] = []
    queue = ElicitationQueue()

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        params, _ = recorded(name)
        told.append((await agent.call("elicitation/create", params))["result"])
        agent.reply(DONE, to=prompt)

    async with open_session(script, elicitation=queue) as (host, session):
        turn = session.prompt("go")
        question = await next_question(queue)
        fill_in(question)
        question.accept(await question.review())
        await turn
        assert list(host.diagnostics) == []
    result: dict[str, Any] = told[0]
    return result


async def test_the_form_of_claude_agent_acp() -> None:
    def fill_in(question: FormQuestion) -> None:
        choice, other = question.form.fields
        assert (choice.name, choice.kind, choice.label) == ("question_0", FieldKind.CHOICE, "fake header")
        assert [(option.value, option.label, option.description) for option in choice.choices] == [
            ("fake label", "fake label", "fake description"),
            ("fake label two", "fake label two", "fake description two"),
        ]
        assert (other.name, other.kind, other.label) == ("question_0_custom", FieldKind.TEXT, "Other")
        assert not any(field.required for field in question.form.fields)
        assert question.request.tool_call_id
        question.set("question_0", "fake label two")

    told = await ask_as_recorded("claude-agent-acp", fill_in)
    assert told == {"action": "accept", "content": {"question_0": "fake label two"}}


async def test_the_form_of_codex_acp() -> None:
    def fill_in(question: FormQuestion) -> None:
        choice, note = question.form.fields
        assert (choice.name, choice.kind, choice.required) == ("1", FieldKind.CHOICE, True)
        assert [option.value for option in choice.choices] == ["fake label", "fake label two", "None of the above"]
        assert choice.raw["_meta"] == {"codex": {"isOther": True, "isSecret": False}}
        assert (note.name, note.kind, note.required) == ("1_note", FieldKind.TEXT, False)
        assert note.label == "Additional answer or note"
        question.set("1", "None of the above")
        question.type_in("1_note", "Something else")

    told = await ask_as_recorded("codex-acp", fill_in)
    assert told == {"action": "accept", "content": {"1": "None of the above", "1_note": "Something else"}}


@pytest.mark.parametrize("name", ["claude-agent-acp", "claude-agent-acp-older", "codex-acp"])
async def test_what_recorded_hosts_answered_is_valid_here(name: str) -> None:
    _, answer = recorded(name)

    def fill_in(question: FormQuestion) -> None:
        for field, value in answer["content"].items():
            question.set(field, value)

    assert await ask_as_recorded(name, fill_in) == answer
