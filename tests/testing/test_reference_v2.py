"""The reference agent in ACP v2, seen by a host that writes JSON by hand; every message is held against the schema."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import pytest

from acp_host.errors import InvalidInput, RequestFailed
from acp_host.testing import ReferenceAgent
from tests.testing.host_v2 import HostV2, calls, chosen, connected, kinds, merged, texts

BOTH = (1, 2)


async def refused(host: HostV2, method: str, **params: Any) -> RequestFailed:
    with pytest.raises(RequestFailed) as failure:
        await host.call(method, **params)
    return failure.value


# --- the handshake ----------------------------------------------------------------------------------------------------


async def test_what_is_agreed() -> None:
    async with connected(initialized=False) as host:
        answer = await host.initialize()
    assert answer["protocolVersion"] == 2
    assert answer["info"]["name"] == "acp-host-reference-agent"
    assert answer["authMethods"] == []
    session = answer["capabilities"]["session"]
    assert session["prompt"] == {"image": {}, "audio": {}, "embeddedContext": {}}
    assert session["mcp"] == {"stdio": {}, "http": {}, "acp": {}}
    assert session.keys() - {"prompt", "mcp"} == {
        *("delete", "additionalDirectories", "fork", "archive", "status", "title", "systemPrompt")
    }
    assert answer["capabilities"]["reminders"]["inject"] is True


async def test_what_is_left_out_is_not_agreed() -> None:
    agent = ReferenceAgent(protocol_versions=[2], unstable=False, without=["delete", "image", "list", "load"])
    async with connected(agent, initialized=False) as host:
        capabilities = (await host.initialize())["capabilities"]
        assert capabilities == {
            "auth": {},
            "session": {
                "additionalDirectories": {},
                "prompt": {"audio": {}, "embeddedContext": {}},
                "mcp": {"stdio": {}, "http": {}},
            },
        }
        session = await host.open()
        assert (await refused(host, "session/delete", sessionId=session)).code == -32601
        assert len((await host.call("session/list"))["sessions"]) == 1, "v2 leaves no choice about it"


@pytest.mark.parametrize(
    ("speaks", "asked", "answered"),
    [((2,), 2, 2), ((2,), 3, 2), (BOTH, 2, 2), (BOTH, 1, 1), (BOTH, 9, 2), ((1,), 2, 1), ((1,), 0, 1)],
)
async def test_the_newest_version_that_both_speak(speaks: tuple[int, ...], asked: int, answered: int) -> None:
    async with connected(ReferenceAgent(protocol_versions=speaks), initialized=False) as host:
        answer = await host.call("initialize", protocolVersion=asked, info={"name": "h", "version": "1"})
        assert answer["protocolVersion"] == answered
        assert ("agentInfo" in answer) == (answered == 1)


@pytest.mark.parametrize(("speaks", "asked"), [((2,), 1), (BOTH, 0)])
async def test_no_version_that_both_speak(speaks: tuple[int, ...], asked: int) -> None:
    async with connected(ReferenceAgent(protocol_versions=speaks), initialized=False) as host:
        error = await refused(host, "initialize", protocolVersion=asked, info={"name": "h", "version": "1"})
        assert (error.code, error.data) == (-32022, {"requested": asked, "supported": list(speaks)})
        assert (await host.initialize())["protocolVersion"] == 2, "it can be tried again"


async def test_a_host_of_v2_has_to_say_who_it_is() -> None:
    async with connected(initialized=False) as host:
        assert (await refused(host, "initialize", protocolVersion=2)).code == -32602
        assert (await refused(host, "session/new", cwd="/")).code == -32600


async def test_initialize_can_be_repeated_before_anything_else() -> None:
    async with connected(ReferenceAgent(protocol_versions=BOTH)) as host:
        assert (await host.initialize(capabilities={}))["protocolVersion"] == 2
        assert (await refused(host, "initialize", protocolVersion=1)).code == -32600, "the version stays"
        await host.open()
        assert (await refused(host, "initialize", protocolVersion=2, info={"name": "h", "version": "1"})).code == -32600


async def test_initialize_in_v1_is_repeated_only_where_that_is_asked_for() -> None:
    async with connected(ReferenceAgent(), initialized=False) as host:
        assert (await host.initialize())["protocolVersion"] == 1
        assert (await refused(host, "initialize", protocolVersion=1)).code == -32600
    async with connected(ReferenceAgent(also=["initialize_again"]), initialized=False) as host:
        assert (await host.initialize())["protocolVersion"] == 1
        assert (await host.call("initialize", protocolVersion=1))["protocolVersion"] == 1


def test_versions_that_there_are_not() -> None:
    for versions in ((), (1, 3)):
        with pytest.raises(InvalidInput, match="some of 1 and 2"):
            ReferenceAgent(protocol_versions=versions)


@pytest.mark.parametrize("method", ["authenticate", "logout", "session/load", "session/set_mode", "session/set_model"])
async def test_methods_of_v1_are_gone(method: str) -> None:
    async with connected() as host:
        assert (await refused(host, method)).code == -32601


# --- a conversation ---------------------------------------------------------------------------------------------------


async def test_a_whole_conversation() -> None:
    async with connected() as host:
        session = await host.open()
        updates = await host.prompt(session, "Show me")
        again = await host.prompt(session, "And again")
    assert kinds(updates) == [
        *("user_message", "running", "agent_thought_chunk", "plan_update", "agent_message_chunk"),
        *("tool_call_update", "tool_call_content_chunk", "tool_call_update", "plan_update"),
        *("tool_call_update", "tool_call_content_chunk", "requires_action", "running", "tool_call_update"),
        *("plan_update", "tool_call_update", "requires_action", "running", "tool_call_update"),
        *("terminal_update", "tool_call_content_chunk", "terminal_output_chunk", "terminal_update"),
        *("tool_call_update", "plan_update", "agent_message_chunk", "session_info_update", "usage_update", "idle"),
    ]
    assert texts(updates).endswith("I added the line. The check ended with status 0.")
    user, end = updates[0], updates[-1]
    assert user["content"] == [{"type": "text", "text": "Show me"}]
    assert (end["stopReason"], end["background"]) == ("end_turn", [])
    assert end["usage"]["totalTokens"] > 0
    _read, edit, run = [merged(updates, call_id) for call_id in calls(updates)]
    assert {call["status"] for call in (edit, run)} == {"completed"}
    (change,) = [item for item in edit["content"] if item["type"] == "diff"]
    assert change["changes"] == [{"operation": "add", "path": "/project/notes.md", "fileType": "text"}]
    assert change["patch"]["text"] == (
        "diff --git /project/notes.md /project/notes.md\nnew file mode 100644\n"
        "--- /dev/null\n+++ /project/notes.md\n@@ -0,0 +1 @@\n+- The reference agent was here.\n"
    )
    chunks = [update["content"] for update in again if update["sessionUpdate"] == "tool_call_content_chunk"]
    changed = [item for item in chunks if item["type"] == "diff"]
    assert changed[0]["changes"][0]["operation"] == "modify"
    assert changed[0]["patch"]["text"].endswith(
        "@@ -1 +1,2 @@\n - The reference agent was here.\n+- The reference agent was here.\n"
    )


async def test_a_prompt_is_answered_when_it_is_accepted_and_its_message_has_the_id_of_the_answer() -> None:
    async with connected() as host:
        session = await host.open()
        answer = await host.call("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "/wait"}])
        message = await host.until(lambda update: update["sessionUpdate"] == "user_message")
        assert message["messageId"] == answer["messageId"]
        host.notify("session/cancel", sessionId=session)
        assert (await host.until(lambda update: update.get("state") == "idle"))["stopReason"] == "cancelled"


async def test_what_permission_is_asked_for() -> None:
    async with connected() as host:
        session = await host.open()
        await host.prompt(session, "Show me")
    (edit, run) = [params for method, params in host.asked if method == "session/request_permission"]
    assert edit["title"] == "Allow this: Edit notes.md?"
    assert edit["subject"]["toolCall"]["content"][0]["type"] == "diff"
    assert run["subject"]["type"] == "command"
    assert run["subject"]["command"].endswith("print('checked', 'notes.md')")
    assert (run["subject"]["cwd"], run["subject"]["toolCallId"]) == ("/project", "call-3")
    assert [option["kind"] for option in run["options"]][:2] == ["allow_once", "allow_always"]


async def test_permission_is_not_given() -> None:
    async with connected() as host:
        host.answers["session/request_permission"] = chosen("reject")
        updates = await host.prompt(await host.open(), "Show me")
    assert [merged(updates, call)["status"] for call in calls(updates)] == ["completed", "failed", "failed"]
    assert "I changed nothing." in texts(updates)


async def test_permission_is_cancelled() -> None:
    async with connected() as host:
        host.answers["session/request_permission"] = lambda _: {"outcome": {"outcome": "cancelled"}}
        updates = await host.prompt(await host.open(), "Show me")
    assert [merged(updates, call)["status"] for call in calls(updates)] == ["completed", "cancelled"]
    assert updates[-1]["stopReason"] == "cancelled"


async def test_the_output_of_a_terminal_comes_in_pieces_that_split_characters() -> None:
    async with connected() as host:
        updates = await host.prompt(await host.open(), "/run make test")
    (announced, ended) = [update for update in updates if update["sessionUpdate"] == "terminal_update"]
    assert (announced["command"], announced["cwd"]) == ("make test", "/project")
    assert ended["exitStatus"] == {"exitCode": 0}
    pieces = [
        base64.b64decode(update["data"], validate=True)
        for update in updates
        if update["sessionUpdate"] == "terminal_output_chunk"
    ]
    assert b"".join(pieces).decode() == "\x1b[32m✓\x1b[0m make: nothing was run, all is well\r\n"
    with pytest.raises(UnicodeDecodeError):
        for piece in pieces:
            piece.decode()


async def test_files_are_made_up_and_kept() -> None:
    async with connected() as host:
        session = await host.open()
        await host.prompt(session, "/write a.txt\none\ntwo")
        updates = await host.prompt(session, "/read a.txt")
        assert texts(updates) == "It has 7 characters."
        assert texts(await host.prompt(session, "/read b.txt")) == "It has 0 characters."


async def test_a_prompt_that_fails() -> None:
    async with connected() as host:
        session = await host.open()
        (*_, end) = await host.prompt(session, "/error -32001 Out of credit")
        assert end["stopReason"] == "error"
        assert end["error"] == {
            "code": -32001,
            "message": "Out of credit",
            "data": {"asked": "-32001 Out of credit"},
        }
        (*_, end) = await host.prompt(session, "/stop refusal")
        assert end["stopReason"] == "refusal"


async def test_a_script_that_fails() -> None:
    async def script(turn: Any) -> None:
        raise ZeroDivisionError("by zero")

    async with connected(ReferenceAgent(script=script, protocol_versions=[2])) as host:
        (*_, end) = await host.prompt(await host.open(), "Hi")
    assert end["error"] == {"code": -32603, "message": "ZeroDivisionError: by zero"}


async def test_prompts_that_are_not_accepted() -> None:
    async with connected(ReferenceAgent(protocol_versions=[2], without=["image"])) as host:
        session = await host.open()
        image = {"type": "image", "data": "AA==", "mimeType": "image/png"}
        assert (await refused(host, "session/prompt", sessionId=session, prompt=[])).code == -32602
        assert (await refused(host, "session/prompt", sessionId=session, prompt=[image])).code == -32602
        assert (await refused(host, "session/prompt", sessionId="no", prompt=[image])).code == -32002
    assert host.updates == []


async def test_a_prompt_waits_for_the_work_before_it() -> None:
    async with connected() as host:
        session = await host.open()
        first = await host.call("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "/work"}])
        second = asyncio.ensure_future(
            host.call("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "/say Two"}])
        )
        call = await host.until(lambda update: bool(update.get("capabilities")))
        assert not second.done()
        await host.call("tool_call/cancel", sessionId=session, toolCallId=call["toolCallId"])
        assert (await second)["messageId"] != first["messageId"]
        await host.until(lambda update: update.get("content", {}) == {"type": "text", "text": "Two"})
    assert kinds(host.updates).count("idle") == 1


async def test_a_prompt_that_waits_is_cancelled_with_the_work() -> None:
    async with connected() as host:
        session = await host.open()
        await host.call("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "/wait"}])
        waiting = asyncio.ensure_future(
            refused(host, "session/prompt", sessionId=session, prompt=[{"type": "text", "text": "x"}])
        )
        await asyncio.sleep(0)
        host.notify("session/cancel", sessionId=session)
        assert (await waiting).code == -32800
    assert [update["content"][0]["text"] for update in host.updates if update["sessionUpdate"] == "user_message"] == [
        "/wait"
    ]


async def test_one_tool_call_is_cancelled_and_the_turn_goes_on() -> None:
    async with connected() as host:
        session = await host.open()
        await host.call("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "/work Count"}])
        call = await host.until(lambda update: bool(update.get("capabilities")))
        assert await host.call("tool_call/cancel", sessionId=session, toolCallId=call["toolCallId"]) == {}
        end = await host.until(lambda update: update.get("state") == "idle")
        again = await refused(host, "tool_call/cancel", sessionId=session, toolCallId=call["toolCallId"])
    assert end["stopReason"] == "end_turn"
    assert again.code == -32602
    now = merged(host.updates, call["toolCallId"])
    assert (now["status"], now["capabilities"]) == ("cancelled", None)
    assert texts(host.updates) == "The work was cancelled, and I go on."


async def test_the_whole_turn_is_cancelled_with_its_tool_call() -> None:
    async with connected() as host:
        session = await host.open()
        await host.call("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "/work Count"}])
        call = await host.until(lambda update: bool(update.get("capabilities")))
        host.notify("session/cancel", sessionId=session)
        end = await host.until(lambda update: update.get("state") == "idle")
    assert end["stopReason"] == "cancelled"
    assert merged(host.updates, call["toolCallId"])["status"] == "cancelled"


# --- beside the turns -------------------------------------------------------------------------------------------------


async def test_work_in_the_background() -> None:
    async with connected() as host:
        session = await host.open()
        (*_, end) = await host.prompt(session, "/background 3")
        assert end["background"] == [{"type": "terminal", "terminalId": "terminal-1"}]
        await host.until(lambda update: update.get("background") == [] and update["state"] == "idle")
    (*_, last, exited, state) = host.updates
    assert base64.b64decode(last["data"])
    assert (exited["exitStatus"], exited["capabilities"]) == ({"exitCode": 0}, None)
    assert (state["state"], "usage" in state) == ("idle", False)


async def test_work_in_the_background_is_cancelled() -> None:
    async with connected() as host:
        session = await host.open()
        await host.prompt(session, "/background 1000")
        await host.call("terminal/cancel", sessionId=session, terminalId="terminal-1")
        exited = await host.until(lambda update: bool(update.get("exitStatus")))
        assert exited["exitStatus"] == {"signal": "SIGTERM"}
        again = await refused(host, "terminal/cancel", sessionId=session, terminalId="terminal-1")
        assert again.code == -32602


async def test_closing_a_session_ends_its_work_before_the_answer() -> None:
    async with connected() as host:
        session = await host.open()
        await host.prompt(session, "/background 1000")
        await host.call("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "/work"}])
        await host.until(lambda update: bool(update.get("capabilities")) and "toolCallId" in update)
        await host.call("session/close", sessionId=session)
        told = len(host.updates)
        assert kinds(host.updates)[-1] == "idle"
        assert {update["stopReason"] for update in host.updates if update.get("state") == "idle"} == {
            *("end_turn", "cancelled")
        }
        assert any(update.get("exitStatus") for update in host.updates)
        await host.call("session/list")
        assert len(host.updates) == told, "nothing comes after the answer"


async def test_work_that_nobody_asked_for() -> None:
    async with connected() as host:
        session = await host.open()
        start = host.updates.index((await host.prompt(session, "/later I am back."))[-1]) + 1
        await host.until(lambda update: update.get("state") == "idle", start)
    assert kinds(host.updates[start:]) == ["running", "agent_message_chunk", "idle"]
    assert texts(host.updates[start:]) == "I am back."


async def test_notices_plans_and_compaction_need_no_capability() -> None:
    async with connected(initialized=False) as host:
        await host.initialize(capabilities={})
        session = await host.open()
        notices = await host.prompt(session, "/notices")
        plans = await host.prompt(session, "/plans")
        compaction = await host.prompt(session, "/compact")
    severities = [update["severity"] for update in notices if update["sessionUpdate"] == "notice"]
    assert severities == ["info", "warning", "error", "critical", "_reference"]
    assert kinds(plans) == ["user_message", "running", "plan_update", "plan_removed", "idle"]
    assert [update["plan"]["type"] for update in plans if "plan" in update] == ["items", "markdown"]
    assert "compaction_summary_chunk" in kinds(compaction)


async def test_questions_are_asked_only_where_the_host_offers_to_answer() -> None:
    async with connected() as host:
        host.answers["elicitation/create"] = lambda _: {"action": "accept", "content": {"name": "Ada"}}
        session = await host.open()
        form = await host.prompt(session, "/ask")
        page = await host.prompt(session, "/visit")
        assert texts(form) == "You answered: {'name': 'Ada'}"
        assert kinds(page)[:4] == ["user_message", "running", "requires_action", "running"]
        assert [method for method, _ in host.told] == ["elicitation/complete"]
    async with connected(initialized=False) as host:
        await host.initialize(capabilities={"elicitation": {}})
        assert "does not offer" in texts(await host.prompt(await host.open(), "/ask"))


async def test_every_kind_of_content() -> None:
    async with connected() as host:
        updates = await host.prompt(await host.open(), "/content")
    sent = [update["content"]["type"] for update in updates if update["sessionUpdate"] == "agent_message_chunk"]
    assert sent == ["text", "image", "audio", "resource_link", "resource", "resource"]


async def test_reminders_reach_the_model_and_their_life_is_told() -> None:
    async with connected() as host:
        session = await host.open()
        answer = await host.call("session/inject_reminder", sessionId=session, body="Mind the gap", ttlTurns=1)
        assert answer == {"reminderId": "reminder-1"}
        updates = await host.prompt(session, "/reminders")
    assert "Mind the gap" in texts(updates)
    assert [update["sessionUpdate"] for update in updates if "reminderId" in update] == [
        *("reminder_emitted", "reminder_expired")
    ]


# --- sessions and accounts --------------------------------------------------------------------------------------------


async def test_options_and_commands_come_with_a_session() -> None:
    async with connected() as host:
        session = await host.call("session/new", cwd="/project")
        options = {option["configId"]: option["currentValue"] for option in session["configOptions"]}
        assert options == {"mode": "ask", "model": "small", "thoughts": "shown", "plans": True}
        assert "modes" not in session
        assert {command["type"] for command in session["availableCommands"]} == {"command"}
        set_to = {"sessionId": session["sessionId"], "configId": "mode", "type": "id", "value": "auto"}
        answer = await host.call("session/set_config_option", **set_to)
        assert answer["configOptions"][0]["currentValue"] == "auto"
        switched = {**set_to, "configId": "plans", "type": "boolean", "value": False}
        assert (await host.call("session/set_config_option", **switched))["configOptions"][3]["currentValue"] is False
        assert [update["sessionUpdate"] for update in host.updates] == ["config_option_update"] * 2
        for wrong in ({"value": "no"}, {"type": "_colour"}, {"configId": "no"}):
            assert (await refused(host, "session/set_config_option", **set_to | wrong)).code == -32602
        assert "session/request_permission" not in dict(host.asked)
        await host.prompt(session["sessionId"], "/write a.txt\nx")
        assert host.asked == [], "files are changed without asking now"


async def test_a_session_is_resumed_with_and_without_its_history() -> None:
    agent = ReferenceAgent(protocol_versions=[2])
    async with connected(agent) as host:
        session = await host.open()
        await host.prompt(session, "Show me")
        await host.prompt(session, "/notice info Not kept")
    async with connected(agent) as host:
        again = await host.call("session/resume", sessionId=session, cwd="/project")
        assert again["configOptions"]
        assert [(update["state"], update["stopReason"]) for update in host.updates] == [("idle", "end_turn")]
    async with connected(agent) as host:
        start = {"type": "start"}
        await host.call("session/resume", sessionId=session, cwd="/project", replayFrom=start)
        replayed = kinds(host.updates)
        assert replayed[:4] == ["user_message", "agent_thought", "plan_update", "agent_message"]
        assert {"terminal_update", "terminal_output_chunk", "tool_call_content_chunk"} <= set(replayed)
        assert replayed[-2:] == ["user_message", "idle"]
        assert "notice" not in replayed
        for wrong in ({"type": "_elsewhere"}, "start"):
            params = {"sessionId": session, "cwd": "/project", "replayFrom": wrong}
            assert (await refused(host, "session/resume", **params)).code == -32602


async def test_a_host_that_goes_away_leaves_an_idle_session() -> None:
    agent = ReferenceAgent(protocol_versions=[2])
    async with connected(agent) as host:
        session = await host.open()
        await host.call("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "/wait"}])
        await host.until(lambda update: update.get("state") == "running")
    async with connected(agent) as host:
        await host.call("session/resume", sessionId=session, cwd="/project")
        assert [(update["state"], update["stopReason"]) for update in host.updates] == [("idle", "cancelled")]
        assert texts(await host.prompt(session, "/say And on")) == "And on"


async def test_a_session_of_v2_is_loaded_in_v1() -> None:
    agent = ReferenceAgent(protocol_versions=BOTH)
    async with connected(agent) as host:
        session = await host.open()
        await host.prompt(session, "Show me")
    async with connected(agent, initialized=False) as host:
        assert (await host.call("initialize", protocolVersion=1))["protocolVersion"] == 1
        await host.call("session/load", sessionId=session, cwd="/project", mcpServers=[])
    assert not {"terminal_update", "terminal_output_chunk", "state_update"} & set(kinds(host.updates))


async def test_the_life_of_a_session() -> None:
    async with connected() as host:
        session = await host.open(additionalDirectories=["/more"], mcpServers=[])
        fork = await host.call("session/fork", sessionId=session, cwd="/project")
        assert fork["availableCommands"]
        status = await host.call("session/status", sessionId=session)
        assert status == {"status": "open", "state": {"state": "idle", "background": []}}
        assert (await host.call("session/set_title", sessionId=session, title=" A  b ")) == {"title": "A b"}
        await host.call("session/archive", sessionId=session)
        assert (await host.call("session/status", sessionId=session)) == {"status": "saved"}
        await host.call("session/unarchive", sessionId=session)
        listed = (await host.call("session/list", cwd="/project"))["sessions"]
        assert {info["sessionId"] for info in listed} == {session, fork["sessionId"]}
        await host.call("session/delete", sessionId=session)
        assert (await refused(host, "session/resume", sessionId=session, cwd="/project")).code == -32002


async def test_login_and_logout() -> None:
    agent = ReferenceAgent(protocol_versions=[2], require_auth=True, logins=["agent", "terminal", "card"])
    async with connected(agent, initialized=False) as host:
        answer = await host.initialize()
        assert [(method["type"], method["methodId"]) for method in answer["authMethods"]] == [
            *(("agent", "reference-login"), ("terminal", "reference-terminal"), ("card", "reference-card"))
        ]
        error = await refused(host, "session/new", cwd="/project")
        assert (error.code, error.data) == (-32000, {"authMethods": answer["authMethods"]})
        assert (await host.call("auth/status"))["state"] == "unauthenticated"
        assert await host.call("auth/login", methodId="reference-login") == {}
        session = await host.open()
        assert await host.call("auth/logout") == {}
        prompt = {"sessionId": session, "prompt": [{"type": "text", "text": "Hi"}]}
        assert (await refused(host, "session/prompt", **prompt)).code == -32000
        assert [method for method, _ in host.told] == ["auth/status_update"] * 2
    async with connected(agent, initialized=False) as host:
        answer = await host.initialize(capabilities={})
        assert "terminal" not in [method["type"] for method in answer["authMethods"]]


async def test_providers() -> None:
    async with connected() as host:
        await host.call("providers/set", providerId="spare", apiType="openai", baseUrl="http://127.0.0.1:1")
        (_main, spare) = (await host.call("providers/list"))["providers"]
        assert spare["current"]["baseUrl"] == "http://127.0.0.1:1"
        await host.call("providers/disable", providerId="spare")
