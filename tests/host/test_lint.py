"""Messages held against the schema: what is found, what is let pass, and ``connect(lint=…)``."""

from __future__ import annotations

from typing import Any

import pytest

import acp_host
from acp_host import DecodeError, InvalidInput, OutcomeUnknown
from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.host.linter import Linter
from acp_host.testing import ReferenceAgent, ScriptedAgent
from tests.host.scripts import DONE, Script, connected, in_session

CHUNK = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "hi"}}
CALL = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Read"}


def said(update: Any, **more: Any) -> dict[str, Any]:
    params = {"sessionId": "s-1", "update": update}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params, **more}


async def whole(agent: ScriptedAgent, script: Script) -> None:
    await agent.open_session("s-1")
    await script(agent)


def found(side: Any, message: Any, linter: Linter | None = None) -> list[tuple[str, str]]:
    return [(finding.path, finding.problem) for finding in (linter or Linter()).check(side, message)]


@pytest.mark.parametrize(
    ("side", "message", "path", "problem"),
    [
        ("in", [said(CHUNK)], "$", "a batch"),
        ("in", "text", "$", "not a JSON object"),
        ("in", {"method": "session/update", "params": said(CHUNK)["params"]}, "$.jsonrpc", "jsonrpc is not"),
        ("in", {"jsonrpc": "2.0", "id": {}, "method": "x"}, "$", "id is neither"),
        ("in", said(CHUNK, id=1), "$.method", "'session/update' is a notification, sent as a request"),
        ("in", {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {}}, "$.method", "for the other side"),
        ("out", {"jsonrpc": "2.0", "method": "foo/bar"}, "$.method", "no method of ACP"),
        ("in", {"jsonrpc": "2.0", "id": 7, "result": {}}, "$.id", "which was never asked"),
        ("in", said({**CHUNK, "content": {"type": "text"}}), "$.params.update.content", "'text' is missing"),
        ("in", said({**CALL, "status": "done"}), "$.params.update.status", "'done' is none of pending"),
        ("in", said({**CALL, "locations": [{}]}), "$.params.update.locations[0]", "'path' is missing"),
        ("in", said({"sessionUpdate": "smell"}), "$.params.update.sessionUpdate", "'smell' is no SessionUpdate"),
        ("in", said({**CALL, "kind": "x" * 10_000}), "$.params.update.kind", "is none of"),
        ("out", {"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": {"prompt": []}}, "$.params", "Id"),
    ],
)
def test_what_does_not_fit_is_found(side: Any, message: Any, path: str, problem: str) -> None:
    [finding] = Linter().check(side, message)

    assert finding.path == path
    assert problem in finding.problem
    assert len(finding.problem) < 300


@pytest.mark.parametrize(
    "message",
    [
        said({**CHUNK, "_meta": {"x": 1}, "further": True}),
        said({"sessionUpdate": "_own", "anything": 1}),
        said({"sessionUpdate": "skill_activated", "name": "x"}),
        {"jsonrpc": "2.0", "method": "_vendor/thing", "params": {"a": 1}},
        {"jsonrpc": "2.0", "method": "_harn/agentEvent", "params": {}},
        {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}},
    ],
)
def test_what_is_let_pass(message: Any) -> None:
    assert found("in", message) == []


def test_answers_are_read_by_what_they_answer() -> None:
    linter = Linter()
    prompt = {"sessionId": "s", "prompt": []}
    assert found("out", {"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": prompt}, linter) == []
    again = found("out", {"jsonrpc": "2.0", "id": 1, "method": "session/cancel"}, linter)
    assert [path for path, _ in again] == ["$.id", "$.method"]
    assert found("in", {"jsonrpc": "2.0", "id": "1", "result": {}}, linter) == [
        ("$.id", "an answer to '1', which was never asked")
    ]
    linter.check("out", {"jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": prompt})
    bored = found("in", {"jsonrpc": "2.0", "id": 2, "result": {"stopReason": "bored"}}, linter)
    assert [path for path, _ in bored] == ["$.result.stopReason"]
    twice = found("in", {"jsonrpc": "2.0", "id": 2, "result": DONE}, linter)
    assert twice == [("$.id", "an answer to 2, which was answered before")]


def test_a_new_connection_forgets_what_was_asked() -> None:
    linter = Linter()
    linter.check("out", {"jsonrpc": "2.0", "id": 1, "method": "session/list", "params": {}})
    linter.reset()

    assert found("out", {"jsonrpc": "2.0", "id": 1, "method": "session/list", "params": {}}, linter) == []


def test_it_remembers_no_more_than_ten_thousand_requests() -> None:
    linter = Linter()
    for number in range(20_000):
        linter.check("in", {"jsonrpc": "2.0", "id": number, "method": "_x"})

    assert len(linter._pending["in"]) == 10_000


def test_nesting_without_end_is_a_finding() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]

    assert Linter().check("in", said({**CALL, "content": deep}))


class TestConnect:
    """``connect(lint=…)``."""

    @staticmethod
    def schema(diagnostics: Any) -> list[Diagnostic]:
        return [each for each in diagnostics if each.kind is DiagnosticKind.SCHEMA]

    async def test_nobody_looks_unless_asked(self) -> None:
        async def script(agent: ScriptedAgent) -> None:
            await agent.expect("session/prompt")
            agent.notify("session/update", {"sessionId": "s-1", "update": {**CALL, "status": "done"}})
            agent.reply(DONE)

        async with in_session(script) as session:
            await session.prompt("go")
            transport = type(session._driver.transport).__name__
        assert transport != "LintTransport"

    async def test_warn_says_each_once_and_changes_nothing(self) -> None:
        async def script(agent: ScriptedAgent) -> None:
            await agent.expect("session/prompt")
            for _ in range(50):
                agent.notify("session/update", {"sessionId": "s-1", "update": {**CALL, "status": "done"}})
            agent.notify("session/update", {"sessionId": "s-1", "update": CHUNK})
            agent.reply(DONE)

        async with connected(lambda agent: whole(agent, script), lint="warn") as host:
            session = await host.new_session()
            result = await session.prompt("go")
            [finding] = self.schema(host.diagnostics)
        assert result.text == "hi"
        assert finding.path == "$.params.update.status"
        assert finding.method == "session/update"
        assert "the agent sent" in finding.message

    async def test_what_this_host_sends_is_looked_at_too(self) -> None:
        async with acp_host.connect(ReferenceAgent().transport(), lint="warn") as host:
            await host.notify("foo/bar", {})
            [finding] = self.schema(host.diagnostics)
        assert (
            finding.message
            == "this host sent what does not fit the schema: no method of ACP; those of extensions begin with _"
        )

    async def test_strict_ends_the_connection_at_the_first_deviation(self) -> None:
        async def script(agent: ScriptedAgent) -> None:
            await agent.expect("session/prompt")
            agent.notify("session/update", {"sessionId": "s-1", "update": CHUNK})
            agent.notify("session/update", {"sessionId": "s-1", "update": {**CALL, "status": "done"}})
            agent.reply(DONE)

        async with in_session(script, lint="strict") as session:
            turn = session.prompt("go")
            with pytest.raises(OutcomeUnknown, match="'done' is none of") as caught:
                await turn
        assert isinstance(caught.value.cause, DecodeError)
        assert caught.value.cause.path == "$.params.update.status"
        entries = session.state.snapshot().transcript
        assert [entry.type for entry in entries] == ["message", "message"]

    async def test_strict_refuses_an_agent_that_cannot_shake_hands(self) -> None:
        async def script(agent: ScriptedAgent) -> None:
            await agent.expect("initialize")
            agent.reply({"protocolVersion": 1, "agentCapabilities": {"loadSession": "yes"}})

        with pytest.raises(DecodeError, match="loadSession"):
            await acp_host.connect(ScriptedAgent(script).transport(), lint="strict")

    async def test_a_whole_conversation_with_the_reference_agent_is_clean(self) -> None:
        async with acp_host.connect(ReferenceAgent().transport(), lint="strict", terminals=True, files=True) as host:
            session = await host.new_session()
            result = await session.prompt("hello")
            assert result.stop_reason == "end_turn"
            assert self.schema(host.diagnostics) == []

    def test_there_are_three_modes(self) -> None:
        with pytest.raises(InvalidInput, match=r"lint=…\) takes off, warn, strict, not 'loud'"):
            acp_host.connect(["agent"], lint="loud")
