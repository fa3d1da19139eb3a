"""What the reference agent does with prompts; the schema is watched by ``connect``."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host import ElicitationHandlers, FileService, PermissionPolicy, Permissions, TerminalService
from acp_host.testing import AgentTurn, ReferenceAgent
from acp_host.testing import _content as samples
from acp_host.wire.commands import AvailableCommandsUpdate
from acp_host.wire.compaction import CompactionSummaryChunk, CompactionUpdate
from acp_host.wire.config_options import ConfigOptionUpdate, CurrentModeUpdate
from acp_host.wire.content import EmbeddedResource, ImageContent, TextContent
from acp_host.wire.elicitation import ElicitationAcceptAction, ElicitationDeclineAction, ElicitationFormMode
from acp_host.wire.notices import Notice
from acp_host.wire.plans import Plan
from acp_host.wire.prompt import PromptRequest
from acp_host.wire.tool_calls import Diff, Terminal, ToolCall, ToolCallUpdate
from acp_host.wire.updates import AgentMessageChunk, AgentThoughtChunk, SessionInfoUpdate
from acp_host.wire.usage import UsageUpdate
from tests.interop.users import Asked, NeverAnswered

ALLOW, REJECT = PermissionPolicy.allow_once(), PermissionPolicy.reject()
PYTHON = sys.executable
UNCHANGED, UNCHECKED = "I changed nothing.", "I checked nothing."


async def run(host: acp_host.HostConnection, folder: Path, prompt: Any) -> tuple[acp_host.TurnResult, list[Any]]:
    session = await host.new_session(folder)
    turn = session.prompt(prompt)
    updates = [update async for update in turn]
    assert list(host.diagnostics) == []
    return await turn, [update for update in updates if not isinstance(update, AvailableCommandsUpdate)]


def statuses(updates: list[Any]) -> dict[str, list[str]]:
    calls: dict[str, list[str]] = {}
    for update in updates:
        if isinstance(update, ToolCall | ToolCallUpdate) and update.status:
            calls.setdefault(update.tool_call_id, []).append(update.status)
    return calls


def shown(updates: list[Any], kind: type) -> list[Any]:
    """Return the contents of one kind that tool calls end up with."""
    content = {update.tool_call_id: update.content for update in updates if getattr(update, "content", None)
               and isinstance(update, ToolCallUpdate)}  # fmt: skip
    return [item for items in content.values() for item in items if isinstance(item, kind)]


# --- the conversation -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["in process", "as a program"])
async def test_the_whole_conversation(connect, tmp_path: Path, target: str) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text("# Notes\n")
    user = Asked("allow_once")
    agent = None if target == "in process" else ReferenceAgent.command()
    async with connect(agent, files=True, terminals=True, permissions=user) as host:
        result, updates = await run(host, tmp_path, "Show me")
    assert notes.read_text() == "# Notes\n- The reference agent was here.\n"
    assert result.stop_reason == "end_turn"
    assert result.text.endswith("I added the line. The check ended with status 0.")
    assert result.usage is not None
    assert result.usage.total_tokens == result.usage.input_tokens + result.usage.output_tokens > 0
    kinds = Counter(type(update) for update in updates)
    assert kinds[AgentThoughtChunk] > 1
    assert kinds[AgentMessageChunk] > 1
    assert (kinds[Plan], kinds[ToolCall], kinds[SessionInfoUpdate], kinds[UsageUpdate]) == (4, 3, 1, 1)
    assert statuses(updates) == {
        "call-1": ["pending", "in_progress", "completed"],
        "call-2": ["pending", "in_progress", "completed"],
        "call-3": ["pending", "in_progress", "completed"],
    }
    assert shown(updates, Diff) == [
        Diff(str(notes), "# Notes\n- The reference agent was here.\n", old_text="# Notes\n")
    ]
    assert len(shown(updates, Terminal)) == 1
    assert [request.tool_call.kind for request in user.requests] == ["edit", "execute"]
    plans = [[entry.status for entry in update.entries] for update in updates if isinstance(update, Plan)]
    assert plans[0] == ["in_progress", "pending", "pending"]
    assert plans[-1] == ["completed"] * 3
    assert len({update.message_id for update in updates if isinstance(update, AgentMessageChunk)}) == 2


@pytest.mark.parametrize(("before", "after"), [("", ""), ("# Notes", "# Notes\n"), ("# Notes\n", "# Notes\n")])
async def test_a_line_begins_where_the_last_one_ends(connect, tmp_path: Path, before: str, after: str) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text(before)
    async with connect(files=True, permissions=Asked("allow_once")) as host:
        await run(host, tmp_path, "/edit notes.md")
        await run(host, tmp_path, "Show me")
    assert notes.read_text() == f"{after}Edited.\n- The reference agent was here.\n"


async def test_the_same_prompt_gets_the_same_answer(connect, tmp_path: Path) -> None:
    seen = []
    for _ in range(2):
        async with connect(permissions=ALLOW) as host:
            seen.append(await run(host, tmp_path, "Show me"))
    assert seen[0] == seen[1]


@pytest.mark.parametrize(
    ("options", "text", "calls"),
    [
        ({}, f"{UNCHANGED} {UNCHECKED}", ["failed", "failed"]),
        ({"files": FileService(write=False)}, f"{UNCHANGED} {UNCHECKED}", ["completed", "failed", "failed"]),
        ({"files": FileService(read=False)}, f"{UNCHANGED} {UNCHECKED}", ["failed", "failed"]),
        ({"files": True}, f"I added the line. {UNCHECKED}", ["completed", "completed", "failed"]),
        ({"terminals": True}, f"{UNCHANGED} The check ended with status 0.", ["failed", "completed"]),
        (
            {"files": True, "terminals": True, "permissions": REJECT},
            f"{UNCHANGED} {UNCHECKED}",
            ["completed", "failed", "failed"],
        ),
    ],
    ids=["nothing", "reads only", "writes only", "files", "terminals", "rejected"],
)
async def test_what_the_host_does_not_offer_is_left_out(
    connect, tmp_path: Path, options: dict[str, Any], text: str, calls: list[str]
) -> None:
    async with connect(**{"permissions": ALLOW, **options}) as host:
        result, updates = await run(host, tmp_path, "Show me")
    assert result.stop_reason == "end_turn"
    assert result.text.endswith(text)
    assert [states[-1] for states in statuses(updates).values()] == calls
    assert ((tmp_path / "notes.md").exists()) == text.startswith("I added")


# --- permissions ----------------------------------------------------------------------------------------------------


async def test_permission_rejected(connect, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\n")
    async with connect(files=True, permissions=REJECT) as host:
        result, updates = await run(host, tmp_path, "/edit a.txt")
    assert (tmp_path / "a.txt").read_text() == "a\n"
    assert result.text == "I left it as it is."
    assert statuses(updates)["call-2"] == ["pending", "failed"]


@pytest.mark.parametrize(("kind", "text"), [("allow_always", "a\nEdited.\nEdited.\n"), ("reject_always", "a\n")])
async def test_an_answer_for_good_is_remembered(connect, tmp_path: Path, kind: str, text: str) -> None:
    (tmp_path / "a.txt").write_text("a\n")
    user = Asked(kind)
    async with connect(files=True, permissions=user) as host:
        await run(host, tmp_path, "/edit a.txt\n/edit a.txt")
    assert (tmp_path / "a.txt").read_text() == text
    assert len(user.requests) == 1


async def test_a_permission_answered_with_cancelled_ends_the_turn(connect, tmp_path: Path) -> None:
    async with connect(files=True, permissions=PermissionPolicy("cancel")) as host:
        result, updates = await run(host, tmp_path, "/edit a.txt\n/say and on")
    assert (result.stop_reason, result.text) == ("cancelled", "")
    assert statuses(updates)["call-2"] == ["pending", "failed"]


async def test_a_mode_in_which_edits_are_not_asked_for(connect, tmp_path: Path) -> None:
    user = Asked("reject_once")
    async with connect(files=True, terminals=True, permissions=Permissions(ask=user, direct=False)) as host:
        session = await host.new_session(tmp_path)
        await session.set_mode("auto")
        assert (await session.prompt("/edit a.txt")).text == "I edited it."
        assert (await session.prompt(f"/run {PYTHON}")).text == "Nothing was run."
    assert [request.tool_call.kind for request in user.requests] == ["execute"]


# --- cancel ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["in process", "as a program"])
async def test_cancel_while_it_streams(connect, tmp_path: Path, target: str) -> None:
    agent = None if target == "in process" else ReferenceAgent.command()
    async with connect(agent) as host:
        session = await host.new_session(tmp_path)
        turn = session.prompt("/slow 1000")
        async for update in turn:
            if isinstance(update, AgentMessageChunk):
                turn.cancel()
        assert ((await turn).stop_reason, (await turn).text[:2]) == ("cancelled", "1 ")
        assert (await session.prompt("/say and on")).text == "and on"


async def test_cancel_before_it_begins(connect, taps, tmp_path: Path) -> None:
    async with connect() as host:
        session = await host.new_session(tmp_path)
        turn = session.prompt("/wait")
        turn.cancel()
        assert (await turn).stop_reason == "cancelled"
    assert taps[0].answers("session/prompt")[0]["result"]["stopReason"] == "cancelled"
    assert "$/cancel_request" not in [message.get("method") for message in taps[0].to_agent]


@pytest.mark.parametrize("end", ["returns", "raises"])
async def test_cancel_of_a_script_that_ends_in_its_own_way(connect, taps, tmp_path: Path, end: str) -> None:
    async def script(turn: AgentTurn) -> str:
        await turn.say("on")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if end == "raises":
                raise ZeroDivisionError from None
        return "max_tokens"

    async with connect(ReferenceAgent(script=script)) as host:
        turn = (await host.new_session(tmp_path)).prompt("Hi")
        async for update in turn:
            if isinstance(update, AgentMessageChunk):
                turn.cancel()
    assert taps[0].answers("session/prompt")[0]["result"]["stopReason"] == "cancelled"


async def test_cancel_while_a_permission_is_asked(connect, taps, tmp_path: Path) -> None:
    user = NeverAnswered()
    async with connect(files=True, permissions=user) as host:
        session = await host.new_session(tmp_path)
        turn = session.prompt("/edit a.txt")
        await user.asked.wait()
        turn.cancel()
        updates = [update async for update in turn]
        assert (await turn).stop_reason == "cancelled"
        await user.withdrawn.wait()
    assert statuses(updates)["call-2"] == ["pending", "failed"]
    assert not (tmp_path / "a.txt").exists()
    assert taps[0].answers("session/prompt")[0]["result"]["stopReason"] == "cancelled"
    assert "$/cancel_request" not in [message.get("method") for message in taps[0].to_host]


@pytest.mark.parametrize("target", ["in process", "as a program"])
async def test_cancel_while_a_command_runs(connect, taps, tmp_path: Path, target: str) -> None:
    terminals = TerminalService()
    agent = None if target == "in process" else ReferenceAgent.command()
    async with connect(agent, terminals=terminals, permissions=ALLOW) as host:
        session = await host.new_session(tmp_path)
        turn = session.prompt(f"/run {PYTHON} -c 'import time; time.sleep(600)'")
        updates = []
        async for update in turn:
            updates.append(update)
            if shown([update], Terminal):
                turn.cancel()
        assert (await turn).stop_reason == "cancelled"
        assert terminals.terminals(session.id) == ()
        assert list(host.diagnostics) == []
    assert statuses(updates)["call-1"] == ["pending", "in_progress", "failed"]
    assert "terminal/release" in [message.get("method") for message in taps[0].to_host]


async def test_cancel_while_a_form_is_open(connect, tmp_path: Path) -> None:
    asked = asyncio.Event()

    async def never(request: ElicitationFormMode) -> Any:
        asked.set()
        await asyncio.Event().wait()

    async with connect(elicitation=never) as host:
        session = await host.new_session(tmp_path)
        turn = session.prompt("/ask")
        await asked.wait()
        turn.cancel()
        assert (await turn).stop_reason == "cancelled"


async def test_a_prompt_that_is_withdrawn_is_answered_with_an_error(connect, taps, tmp_path: Path) -> None:
    async with connect() as host:
        session = await host.new_session(tmp_path)
        request = PromptRequest(session.id, (TextContent("/say on\n/wait"),))
        with pytest.raises(TimeoutError):
            await host.request("session/prompt", request, timeout=0.01)
        answer = await taps[0].answer("session/prompt")
        assert answer["error"]["code"] == -32800
        assert (await session.prompt("/say and on")).text == "and on"


async def test_a_cancel_without_a_turn_changes_nothing(connect, tmp_path: Path) -> None:
    async with connect() as host:
        session = await host.new_session(tmp_path)
        await host.notify("session/cancel", {"sessionId": session.id})
        await host.notify("session/cancel", {"sessionId": "none"})
        assert (await session.prompt("/say on")).stop_reason == "end_turn"


# --- the commands ---------------------------------------------------------------------------------------------------


async def test_a_program_of_several_commands(connect, tmp_path: Path) -> None:
    async with connect(files=True, permissions=ALLOW) as host:
        prompt = "/think hm\n/write a.txt\nfirst\nsecond\n/read a.txt\n/nonsense\n/stop max_tokens\n/say not this"
        result, updates = await run(host, tmp_path, prompt)
    assert (tmp_path / "a.txt").read_text() == "first\nsecond"
    assert isinstance(updates[0], AgentThoughtChunk)
    assert result.stop_reason == "max_tokens"
    assert "It has 12 characters." in result.text
    assert "I do not know /nonsense" in result.text
    assert "not this" not in result.text


@pytest.mark.parametrize("reason", ["end_turn", "max_tokens", "max_turn_requests", "refusal"])
async def test_stop_reasons(connect, tmp_path: Path, reason: str) -> None:
    async with connect() as host:
        result, _ = await run(host, tmp_path, f"/stop {reason}")
    assert result.stop_reason == reason


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("-32000 Log in", -32000, "Log in"),
        ("-32603 Broken", -32603, "Broken"),
        ("-32800", -32800, "You asked for an error"),
        ("429 Too fast", 429, "Too fast"),
        ("nonsense", -32603, "You asked for an error"),
    ],
)
async def test_errors(connect, tmp_path: Path, text: str, code: int, message: str) -> None:
    async with connect() as host:
        session = await host.new_session(tmp_path)
        with pytest.raises(acp_host.RequestFailed) as failure:
            await session.prompt(f"/error {text}")
        assert (failure.value.code, failure.value.message, failure.value.data) == (code, message, {"asked": text})
        assert (await session.prompt("/say and on")).text == "and on"


async def test_every_kind_of_content(connect, tmp_path: Path) -> None:
    async with connect() as host:
        _, updates = await run(host, tmp_path, "/content")
        assert [update.content for update in updates] == list(samples.EVERY_KIND)
        _, updates = await run(host, tmp_path, [TextContent("/echo"), *samples.EVERY_KIND])
    assert [update.content for update in updates] == [TextContent("/echo"), *samples.EVERY_KIND]


async def test_a_plan_progresses(connect, tmp_path: Path) -> None:
    async with connect() as host:
        _, updates = await run(host, tmp_path, "/plan one; two")
    assert [[(entry.content, entry.status) for entry in plan.entries] for plan in updates] == [
        [("one", "in_progress"), ("two", "pending")],
        [("one", "completed"), ("two", "in_progress")],
        [("one", "completed"), ("two", "completed")],
    ]


async def test_a_tool_call_that_does_nothing(connect, tmp_path: Path) -> None:
    async with connect() as host:
        _, updates = await run(host, tmp_path, "/tool Look around")
    assert updates[0].title == "Look around"
    assert statuses(updates) == {"call-1": ["pending", "in_progress", "completed"]}


@pytest.mark.parametrize(
    ("command", "text", "status"),
    [
        (f"{PYTHON} -c 'print(6 * 7)'", "Status 0: 42\n", "completed"),
        (f"{PYTHON} -c 'exit(3)'", "Status 3: ", "failed"),
        ("/no/such/program", "Nothing was run.", "failed"),
    ],
)
async def test_commands(connect, tmp_path: Path, command: str, text: str, status: str) -> None:
    async with connect(terminals=True, permissions=ALLOW) as host:
        result, updates = await run(host, tmp_path, f"/run {command}")
    assert result.text.replace("\r\n", "\n") == text
    assert statuses(updates)["call-1"][-1] == status


@pytest.mark.parametrize("command", ["", "'unclosed"])
async def test_no_command(connect, tmp_path: Path, command: str) -> None:
    async with connect(terminals=True) as host:
        result, updates = await run(host, tmp_path, f"/run {command}")
    assert result.text.endswith("Nothing was run.")
    assert statuses(updates) == {}


async def test_a_form(connect, tmp_path: Path) -> None:
    forms: list[ElicitationFormMode] = []

    def fill_in(form: ElicitationFormMode) -> ElicitationAcceptAction:
        forms.append(form)
        return ElicitationAcceptAction(content={"name": "Ada"})

    async with connect(elicitation=fill_in) as host:
        result, _ = await run(host, tmp_path, "/ask Who are you?")
    assert result.text == "You answered: {'name': 'Ada'}"
    assert forms[0].message == "Who are you?"
    assert set(forms[0].requested_schema.properties) == set(samples.FORM)


async def test_a_form_declined(connect, tmp_path: Path) -> None:
    async with connect(elicitation=lambda _: ElicitationDeclineAction()) as host:
        result, _ = await run(host, tmp_path, "/ask")
    assert result.text == "You answered: ElicitationDeclineAction"


@pytest.mark.parametrize(
    ("answer", "text"), [(ElicitationAcceptAction, "You agreed."), (ElicitationDeclineAction, "You did not agree.")]
)
async def test_a_web_page(connect, tmp_path: Path, answer: Any, text: str) -> None:
    completed: list[str] = []
    async with connect(elicitation=ElicitationHandlers(url=lambda _: answer())) as host:
        host.on_notification("elicitation/complete", lambda params: completed.append(params.elicitation_id))
        result, _ = await run(host, tmp_path, "/visit https://example.org/x")
    assert result.text == text
    assert completed == ["elicitation-1"]


@pytest.mark.parametrize(
    ("command", "capability"),
    [("ask", "elicitation.form"), ("visit", "elicitation.url")],
)
async def test_what_the_host_does_not_offer_is_not_asked(
    connect, taps, tmp_path: Path, command: str, capability: str
) -> None:
    async with connect() as host:
        result, _ = await run(host, tmp_path, f"/{command}")
    assert f"does not offer clientCapabilities.{capability}" in result.text
    assert {message.get("method") for message in taps[0].to_host} == {None, "session/update"}


async def test_a_notice(connect, tmp_path: Path) -> None:
    async with connect() as host:
        _, updates = await run(host, tmp_path, "/notice warning Disk almost full\n1 GB left")
    assert updates == [Notice("warning", "Disk almost full", "1 GB left")]


async def test_a_notice_for_a_host_that_shows_none_is_a_message(connect, taps, tmp_path: Path) -> None:
    async with connect(notices=False) as host:
        result, updates = await run(host, tmp_path, "/notice warning Disk almost full\n1 GB left\n/notice info On")
    assert result.text == "warning: Disk almost full\n1 GB left\ninfo: On\n"
    assert {type(update) for update in updates} == {AgentMessageChunk}


async def test_notices_of_every_severity_in_bursts_and_the_same_again(connect, tmp_path: Path) -> None:
    async with connect() as host:
        _, updates = await run(host, tmp_path, "/notices\n/notice-burst 250\n/notice-repeat 3 Disk almost full")
    assert {type(update) for update in updates} == {Notice}
    assert [update.severity for update in updates[:5]] == ["info", "warning", "error", "critical", "_reference"]
    assert len({update.title for update in updates[5:255]}) == 250
    assert [update.title for update in updates[255:]] == ["Disk almost full"] * 3


async def test_a_compaction(connect, tmp_path: Path) -> None:
    async with connect() as host:
        _, updates = await run(host, tmp_path, "/compact")
    kinds = [CompactionUpdate, CompactionSummaryChunk, CompactionSummaryChunk, CompactionUpdate]
    assert [type(update) for update in updates] == kinds


async def test_a_flood(connect, tmp_path: Path) -> None:
    async with connect() as host:
        result, updates = await run(host, tmp_path, "/flood 250")
    assert len(updates) == 250
    assert result.text == "".join(f"{number} " for number in range(250))


async def test_changes_by_the_agent_itself(connect, tmp_path: Path) -> None:
    async with connect() as host:
        _, updates = await run(host, tmp_path, "/mode auto\n/option plans off\n/title Mine\n/usage\n/plan never told")
    kinds = [CurrentModeUpdate, ConfigOptionUpdate, ConfigOptionUpdate, SessionInfoUpdate, UsageUpdate]
    assert [type(update) for update in updates] == kinds
    assert updates[0].current_mode_id == "auto"
    assert {option.id: option.current_value for option in updates[2].config_options} == {
        "mode": "auto", "model": "small", "thoughts": "shown", "plans": False
    }  # fmt: skip
    assert updates[3].title == "Mine"


async def test_an_option_that_cannot_be(connect, tmp_path: Path) -> None:
    async with connect() as host:
        session = await host.new_session(tmp_path)
        with pytest.raises(acp_host.InvalidParams, match="mode cannot be set to 'sleep'"):
            await session.prompt("/mode sleep")


async def test_the_commands_are_told_after_the_session_is_there(connect, tmp_path: Path) -> None:
    async with connect() as host:
        session = await host.new_session(tmp_path)
        update = await session.next_update_between_turns()
        assert isinstance(update, AvailableCommandsUpdate)
        turn = session.prompt("/commands")
        assert [again async for again in turn] == [update]
    assert {"say", "edit", "run", "stop"} < {command.name for command in update.available_commands}


# --- prompts that are refused ---------------------------------------------------------------------------------------


async def test_content_that_is_not_taken(connect, tmp_path: Path) -> None:
    agent = ReferenceAgent(without={"image", "embeddedContext"})
    async with connect(agent) as host:
        session = await host.new_session(tmp_path)
        for block in samples.EVERY_KIND:
            if isinstance(block, ImageContent | EmbeddedResource):
                with pytest.raises(acp_host.NotSupported):
                    session.prompt(block)
                with pytest.raises(acp_host.InvalidParams, match="takes no"):
                    await host.request("session/prompt", PromptRequest(session.id, (block,)))
            else:
                await session.prompt(block)


async def test_prompts_that_are_refused(connect, tmp_path: Path) -> None:
    async with connect() as host:
        session = await host.new_session(tmp_path)
        running = session.prompt("/wait")
        with pytest.raises(acp_host.InvalidRequest, match="a turn is running"):
            await host.request("session/prompt", PromptRequest(session.id, (TextContent("x"),)))
        with pytest.raises(acp_host.ResourceNotFound, match="not open here"):
            await host.request("session/prompt", PromptRequest("none", (TextContent("x"),)))
        running.cancel()
        await running
        with pytest.raises(acp_host.InvalidParams, match="at least one block"):
            await host.request("session/prompt", PromptRequest(session.id, ()))


# --- scripts of one's own -------------------------------------------------------------------------------------------


async def polite(turn: AgentTurn) -> str | None:
    await turn.say(f"You said: {turn.text}")
    return "refusal" if "please" not in turn.text else None


@pytest.mark.parametrize("target", ["in process", "as a program"])
async def test_a_script_of_ones_own(connect, tmp_path: Path, target: str) -> None:
    flags = ("--script", f"{__file__}:polite", "--stable")
    agent = ReferenceAgent(script=polite, unstable=False) if target == "in process" else ReferenceAgent.command(*flags)
    async with connect(agent) as host:
        session = await host.new_session(tmp_path)
        assert await session.next_update_between_turns() == AvailableCommandsUpdate(())
        result = await session.prompt("Hi")
        assert (result.text, result.stop_reason, result.usage) == ("You said: Hi", "refusal", None)
        assert (await session.prompt("Hi, please")).stop_reason == "end_turn"


async def test_a_script_that_fails(connect, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def script(turn: AgentTurn) -> None:
        async with turn.tool_call("Divide"):
            raise ZeroDivisionError("by zero")

    async with connect(ReferenceAgent(script=script)) as host:
        turn = (await host.new_session(tmp_path)).prompt("Hi")
        with pytest.raises(acp_host.InternalError, match="ZeroDivisionError: by zero"):
            await turn
    assert "session/prompt failed" in caplog.text


async def test_a_refusal_of_the_host_that_a_script_lets_pass(connect, tmp_path: Path) -> None:
    async def script(turn: AgentTurn) -> None:
        await turn.read_file("/no/such/place")

    async with connect(ReferenceAgent(script=script), files=True) as host:
        turn = (await host.new_session(tmp_path)).prompt("Hi")
        with pytest.raises(acp_host.InternalError, match="The host refused fs/read_text_file") as failure:
            await turn
    assert failure.value.data["hostCode"] in (-32602, -32002)


async def test_lines_of_a_file(connect, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("1\n2\n3\n4\n")

    async def script(turn: AgentTurn) -> None:
        await turn.say(await turn.read_file(turn.path("a.txt"), line=2, limit=2))

    async with connect(ReferenceAgent(script=script), files=True) as host:
        result, _ = await run(host, tmp_path, "Hi")
    assert result.text == "2\n3\n"


async def test_thoughts_can_be_turned_off(connect, tmp_path: Path) -> None:
    async with connect() as host:
        session = await host.new_session(tmp_path)
        await session.set_config_option("thoughts", "off")
        turn = session.prompt("/think in silence")
        assert [update async for update in turn if isinstance(update, AgentThoughtChunk)] == []


async def test_the_delay_between_chunks(connect, tmp_path: Path) -> None:
    async with connect(ReferenceAgent(delay=0.02)) as host:
        session = await host.new_session(tmp_path)
        start = asyncio.get_running_loop().time()
        await session.prompt("/say one two three four five six seven")
        assert asyncio.get_running_loop().time() - start >= 0.055
