"""What agents send to steer, cover, flood or mislead the terminal view."""

from __future__ import annotations

import re
from typing import Any

from acp_host.state.entries import MessageEntry
from acp_host.testing import AgentTurn, ReferenceAgent, ScriptedAgent
from acp_host.testing.gallery import HOSTILE_TEXTS
from acp_host.ui.terminal import questions, transcript
from acp_host.ui.terminal.permission_form import PermissionForm
from acp_host.ui.terminal.toasts import NoticeToast
from tests.chaos.bad_agents import DONE
from tests.ui.chats import STEERS, chat, drawn_lines

MARKUP = "[red]not red[/red] [@click=app.quit]leave[/] [link=https://evil.example]bank[/link]"
REFERENCES = "&#27;[31m &#x202e; &rlm; &#x9b;2J"


def asked(number: int, text: str) -> dict[str, Any]:
    options = [{"optionId": "yes", "name": text, "kind": "allow_once"}]
    call = {"toolCallId": f"call-{number}", "title": text, "rawInput": {"text": text}, "kind": text}
    return {"sessionId": "s1", "toolCall": call, "options": options}


async def test_r340_no_text_steers_the_terminal_or_can_be_clicked() -> None:
    texts = [text for name, text in HOSTILE_TEXTS.items() if re.match("terminal|bidi|control|right|line_s|lone", name)]
    hostile = " ".join([MARKUP, REFERENCES, *texts])

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.open_session("s1")
        prompt = await agent.expect("session/prompt")
        agent.say(hostile)
        agent.update({"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": hostile}})
        agent.update({"sessionUpdate": "tool_call", "toolCallId": "1", "title": hostile, "status": hostile})
        agent.update(
            {"sessionUpdate": "plan", "entries": [{"content": hostile, "priority": "low", "status": "pending"}]}
        )
        agent.update({"sessionUpdate": "session_info_update", "title": hostile})
        agent.update({"sessionUpdate": "notice", "severity": "error", "title": hostile, "description": hostile})
        commands = [{"name": hostile, "description": hostile}]
        agent.update({"sessionUpdate": "available_commands_update", "availableCommands": commands})
        agent.request("session/request_permission", asked(1, hostile))
        agent.reply(DONE, to=prompt)
        await agent.stall()

    async with chat(ScriptedAgent(script).transport()) as talk:
        await talk.say("Hello")
        await talk.until(lambda: talk.view.query(PermissionForm) and talk.view.query(NoticeToast))
        await talk.press("ctrl+t")
        await talk.pilot.pause()
        lines = list(drawn_lines(talk.app))
        assert [line for line in lines if STEERS.search(line)] == []
        assert any("[red]not red[/red] [@click=app.quit]leave[/]" in line for line in lines)


async def test_r341_a_flood_of_notices_leaves_a_few_toasts() -> None:
    async with chat() as talk:
        await talk.say("/notice-burst 10000")
        await talk.turn_over()
        notices = talk.session.notices.snapshot()
        assert notices.total == 10_000
        await talk.until(lambda: len(talk.view.query(NoticeToast)) == len(notices.toasts))
        assert len(notices.toasts) <= 5
        await talk.press("f4")
        await talk.shows("10,000 notices, of which the newest 1,000 are kept")


async def test_r342_of_ten_thousand_entries_only_those_nearby_are_drawn() -> None:
    async def script(turn: AgentTurn) -> None:
        for number in range(5_000 if turn.text == "much" else 20):
            await turn.say(f"message {number}")
            await turn.think(f"thought {number}")

    async with chat(ReferenceAgent(script=script), before="much") as talk:
        view = talk.view.transcript
        await talk.shows("message 4999")
        assert len(talk.session.state.snapshot().transcript) == 10_001
        await talk.press("f6", "home")
        await talk.shows("you", "much", "message 0")
        assert f"{10_001 - transcript.WINDOW:,} more below" in str(view.border_subtitle)
        await talk.say("a little")  # what is new does not tear the reader away
        await talk.turn_over()
        await talk.shows("message 0")
        for _ in range(8):
            view.scroll_end(animate=False)
            await talk.pilot.pause()
        assert len(view.children) <= transcript.MOST
        await talk.press("f6", "end")
        await talk.shows("message 19")
        assert len(view.children) <= transcript.MOST


async def test_r343_a_question_takes_no_key_from_who_types() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.open_session("s1")
        await agent.expect("session/prompt")
        agent.request("session/request_permission", asked(1, "Delete everything"))
        await agent.stall()

    async with chat(ScriptedAgent(script).transport()) as talk:
        await talk.say("Hello")
        await talk.shows("asks for permission")
        await talk.press("1", "y", "space")
        assert len(talk.permissions.pending) == 1
        assert talk.view.prompt.text == "1y "


async def test_r344_of_a_flood_of_questions_the_oldest_are_drawn() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.open_session("s1")
        await agent.expect("session/prompt")
        for number in range(40):
            agent.request("session/request_permission", asked(number, f"Deed {number}"))
        await agent.stall()

    async with chat(ScriptedAgent(script).transport()) as talk:
        await talk.say("Hello")
        await talk.until(lambda: len(talk.permissions.pending) == 40)
        await talk.until(lambda: len(talk.view.query(PermissionForm)) == questions.MOST)
        await talk.press("f2", "1")
        await talk.until(lambda: len(talk.permissions.pending) == 39)
        await talk.until(lambda: len(talk.view.query(PermissionForm)) == questions.MOST)


async def test_r345_a_huge_message_is_shown_in_bounded_pages() -> None:
    async def script(turn: AgentTurn) -> None:
        for _ in range(50):
            await turn.say("- a point\n\n" * 2_000, message_id="m")
        await turn.say("The end.", message_id="m")

    async with chat(ReferenceAgent(script=script), before="go") as talk:
        await talk.shows("The end.")
        [_, message] = talk.session.state.snapshot().transcript
        assert isinstance(message, MessageEntry)
        assert len(message.text) > 1_000_000
        assert len(list(talk.view.transcript.walk_children())) < 20


async def test_r346_no_toast_covers_a_question() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.open_session("s1")
        await agent.expect("session/prompt")
        agent.request("session/request_permission", asked(1, "Delete everything\n" * 50))
        for number in range(5):
            notice = {
                "sessionUpdate": "notice",
                "severity": "error",
                "title": f"{number}",
                "description": "line\n" * 20,
            }
            agent.update(notice)
        await agent.stall()

    for size in ((140, 44), (80, 24)):
        async with chat(ScriptedAgent(script).transport(), size=size) as talk:
            await talk.say("Hello")
            await talk.until(lambda: talk.view.query(PermissionForm) and len(talk.view.query(NoticeToast)) == 5)
            await talk.pilot.pause()
            covered = talk.view.query_one("#notices").region.intersection(talk.view.questions.region)
            assert not covered.area
