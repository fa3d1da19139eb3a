"""How a turn of a Harn agent ended: only its verdict makes it a completion."""

from __future__ import annotations

from typing import Any

import pytest

import acp_host
from acp_host.diagnostics import DiagnosticKind
from acp_host.host.outcome import TurnResult
from acp_host.testing import ScriptedAgent
from acp_host.wire.harn.prompt import TerminalKind
from tests.harn.harness import frames

HARN: dict[str, Any] = {"_meta": {"harn": {"promptResultExtensionFields": ["terminal"]}}}
UNFINISHED = [kind for kind in TerminalKind if kind not in (TerminalKind.NATURAL, TerminalKind.USER_CANCELLED)]


async def ended(
    result: dict[str, Any], capabilities: dict[str, Any] = HARN
) -> tuple[TurnResult, list[acp_host.Diagnostic]]:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(capabilities)
        await agent.open_session("s1")
        await agent.expect("session/prompt")
        agent.reply(result)

    async with acp_host.connect(ScriptedAgent(script).transport()) as host:
        session = await host.new_session()
        turn_result = await session.prompt("Hi")
        assert session.state.snapshot().turn.outcome == turn_result.outcome.kind
        return turn_result, list(host.diagnostics)


def judged(terminal: Any, stop_reason: str = "end_turn", **more: Any) -> dict[str, Any]:
    return {"stopReason": stop_reason, "_meta": {"harn": {"terminal": terminal, **more}}}


async def test_natural_is_a_completion_that_is_vouched_for() -> None:
    terminal = {"kind": "natural", "reason": "done", "owner": "agent", "message": "m", "detail": "d", "x": 1}
    result, diagnostics = await ended(judged(terminal))
    assert (result.outcome.kind, result.outcome.verified, result.outcome.detail) == ("completed", True, "natural")
    verdict = result.outcome.terminal
    assert verdict is not None
    assert (verdict.reason, verdict.owner, verdict.message, verdict.detail) == ("done", "agent", "m", "d")
    assert verdict.raw == terminal
    assert diagnostics == []


@pytest.mark.parametrize("kind", [*UNFINISHED, "of_tomorrow"])
async def test_no_other_verdict_is(kind: str) -> None:
    result, diagnostics = await ended(judged({"kind": kind, "terminalClass": "timeout"}))
    assert (result.outcome.kind, result.outcome.verified, result.outcome.detail) == ("incomplete", False, kind)
    assert result.outcome.terminal is not None
    assert result.outcome.terminal.terminal_class == "timeout"
    assert result.stop_reason == "end_turn"
    assert diagnostics == []


async def test_the_wire_data() -> None:
    for frame in frames("prompt_result_terminal.json"):
        result, _ = await ended(frame["result"])
        kind = frame["result"]["_meta"]["harn"]["terminal"]["kind"]
        assert (result.outcome.kind, result.outcome.detail) == ("incomplete", kind)


@pytest.mark.parametrize("stop_reason", ["cancelled", "end_turn"])
async def test_a_turn_that_a_person_has_ended_is_cancelled(stop_reason: str) -> None:
    terminal = {"kind": "user_cancelled", "reason": "session/cancel", "owner": "user"}
    result, _ = await ended(judged(terminal, stop_reason, persistenceError="disk full"))
    assert (result.outcome.kind, result.outcome.verified) == ("cancelled", False)
    assert result.persistence_error == "disk full"


@pytest.mark.parametrize(
    ("stop_reason", "kind"), [("refusal", "refused"), ("max_tokens", "incomplete"), ("cancelled", "cancelled")]
)
async def test_a_stop_reason_that_contradicts_a_completion_counts(stop_reason: str, kind: str) -> None:
    for word in ("natural", "policy_stop"):
        result, _ = await ended(judged({"kind": word}, stop_reason))
        assert (result.outcome.kind, result.outcome.verified) == (kind, False)


async def test_without_a_verdict_nobody_knows() -> None:
    result, diagnostics = await ended({"stopReason": "end_turn"})
    assert (result.outcome.kind, result.outcome.verified, result.outcome.terminal) == ("unverified", False, None)
    assert result.persistence_error is None
    assert diagnostics == []


@pytest.mark.parametrize(
    ("stop_reason", "kind"), [("max_tokens", "incomplete"), ("refusal", "refused"), ("of_tomorrow", "incomplete")]
)
async def test_without_a_verdict_other_stop_reasons_mean_what_they_mean(stop_reason: str, kind: str) -> None:
    result, _ = await ended({"stopReason": stop_reason})
    assert result.outcome.kind == kind


@pytest.mark.parametrize("terminal", ["natural", 7, [], {}, {"kind": None}, {"kind": 7}, {"kind": ""}])
async def test_a_verdict_that_cannot_be_read_is_none_and_told(terminal: Any) -> None:
    result, diagnostics = await ended(judged(terminal))
    assert (result.outcome.kind, result.outcome.terminal) == ("unverified", None)
    assert {each.kind for each in diagnostics} == {DiagnosticKind.MALFORMED}


async def test_a_detail_that_cannot_be_read_leaves_the_verdict() -> None:
    result, diagnostics = await ended(judged({"kind": "natural", "owner": 7}))
    assert (result.outcome.kind, result.outcome.verified) == ("completed", True)
    assert [each.message for each in diagnostics] == [
        "expected a string at $.result._meta.harn.terminal.owner, got int"
    ]


async def test_another_agent_is_judged_by_its_stop_reason() -> None:
    result, _ = await ended({"stopReason": "end_turn"}, {})
    assert (result.outcome.kind, result.outcome.verified) == ("completed", False)
