"""Ways of agents that people use which are no faults, or small ones, and which a host has to know nevertheless."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from acp_host import PermissionPolicy
from acp_host.quirks import quirks_for
from acp_host.recording.format import read_recording
from acp_host.state.entries import MessageEntry, ToolCallEntry
from acp_host.testing import ScriptedAgent
from tests.chaos.bad_agents import DONE, connected, open_session, permission

ASK = "session/request_permission"
CANCELLED = {"stopReason": "cancelled"}
RECORDINGS = Path(__file__).parents[2] / "fixtures" / "recordings"


async def test_r491_a_refusal_that_ends_the_turn_as_cancelled() -> None:
    """As one of Codex's adapters does it, and gptme with each prompt that follows one that was cancelled."""

    async def script(agent: ScriptedAgent) -> None:
        for _ in range(2):
            prompt = await agent.expect("session/prompt")
            await agent.call(ASK, permission())
            agent.reply(CANCELLED, to=prompt)

    async with open_session(script, permissions=PermissionPolicy("reject_once")) as (_, session):
        for _ in range(2):
            result = await session.prompt("question")
            assert (result.outcome.kind, result.cancel_requested) == ("cancelled", False)


async def test_r486_chunks_without_a_text() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        for text in ("", "one", "", " two", ""):
            agent.say(text)
        agent.reply(DONE, to=prompt)

    async with open_session(script) as (host, session):
        assert (await session.prompt("question")).text == "one two"
        said = [entry.text for entry in session.state.snapshot().transcript if isinstance(entry, MessageEntry)]
        assert said == ["question", "one two"]
        assert list(host.diagnostics) == []


async def test_r487_a_question_under_an_id_that_no_call_has() -> None:
    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        agent.update({"sessionUpdate": "tool_call", "toolCallId": "tc-1", "title": "write", "kind": "edit"})
        asked = permission()
        asked["toolCall"] = {"toolCallId": "approval-1", "title": "Approve the edit", "kind": "edit"}
        await agent.call(ASK, asked)
        agent.update({"sessionUpdate": "tool_call_update", "toolCallId": "tc-1", "status": "completed"})
        agent.reply(DONE, to=prompt)

    async with open_session(script, permissions=PermissionPolicy("allow_once")) as (host, session):
        await session.prompt("question")
        calls = [entry for entry in session.state.snapshot().transcript if isinstance(entry, ToolCallEntry)]
        assert [(call.tool_call_id, call.status, call.provisional, call.unfinished) for call in calls] == [
            ("tc-1", "completed", False, False),
            ("approval-1", None, True, True),
        ]
        assert list(host.diagnostics) == []


async def test_r488_modes_whose_ids_are_addresses() -> None:
    modes = [f"https://example.org/session-modes#{name}" for name in ("agent", "plan")]
    asked: list[Any] = []

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        listed = [{"id": mode, "name": mode.rpartition("#")[2]} for mode in modes]
        await agent.open_session(modes={"currentModeId": modes[0], "availableModes": listed})
        asked.append((await agent.expect("session/set_mode"))["params"]["modeId"])
        agent.reply({})

    async with connected(script) as host:
        session = await host.new_session()
        await session.set_option("mode", modes[1])
        assert asked == [modes[1]]
        assert session.options.snapshot().get("mode").value == modes[1]


async def test_r489_errors_without_an_id_for_notifications() -> None:
    error = {"code": -32601, "message": "Method not found"}

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        agent.say("before")
        await agent.expect("session/cancel")
        agent.send({"jsonrpc": "2.0", "error": error})
        agent.send({"jsonrpc": "2.0", "id": None, "error": error})
        agent.say(" after")
        agent.reply(CANCELLED, to=prompt)

    async with open_session(script) as (host, session):
        async for _update in (turn := session.prompt("question")):
            turn.cancel()
        result = await turn
        assert (result.text, result.stop_reason) == ("before after", "cancelled")
        assert {diagnostic.kind for diagnostic in host.diagnostics} == {"unknown_response"}


def identities() -> dict[str, tuple[str, str]]:
    """How recorded agents have called themselves: name and version, by the recording."""
    found = {}
    for path in sorted([*RECORDINGS.glob("*.jsonl"), *RECORDINGS.glob("others/*.jsonl*")]):
        for line in read_recording(path):
            result = line.message.get("result") if isinstance(line.message, dict) else None
            if isinstance(result, dict) and isinstance(result.get("agentInfo"), dict):
                found[path.name.partition(".")[0]] = result["agentInfo"]["name"], result["agentInfo"]["version"]
                break
    return found


def test_r490_rows_about_single_agents_are_for_what_these_call_themselves() -> None:
    known = identities()
    kinds = {name: {str(quirk.kind) for quirk in quirks_for(*known[name])} for name in known}
    assert {name: found for name, found in kinds.items() if found} == {
        "gemini": {"missing_file_reads_empty"},
        "qwen": {"absent_though_advertised"},
        "langchain-acp": {"absent_though_advertised"},
    }
    assert quirks_for("Copilot", "1.0.102") != ()
    assert quirks_for("qwen-code", "0.24.4") == ()
