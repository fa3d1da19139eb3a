"""The terminal view: several sessions, what goes along, logins, what people are wanted for, and its colours."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Button, Input, OptionList, TabbedContent, TabPane

from acp_host.host.session import Session
from acp_host.state.json_form import to_json
from acp_host.testing import ReferenceAgent, ScriptedAgent
from acp_host.testing.harn import HarnAgent, HarnTurn
from acp_host.ui.terminal.human_request import HumanRequestForm
from acp_host.ui.terminal.login_form import LoginForm
from acp_host.ui.terminal.sessions import SessionsScreen
from acp_host.ui.terminal.subagents import SubagentsPane
from tests.ui.chats import chat
from tests.ui.test_feed_sessions import subagents


async def test_several_sessions_are_kept_and_switched(tmp_path: Path) -> None:
    async with chat(cwd=tmp_path) as talk:
        await talk.say("/title First\n/say Hello first")
        await talk.shows("Hello first")
        await talk.press(*"draft")
        await talk.press("ctrl+n")
        await talk.until(lambda: len(talk.host.sessions) == 2 and "Hello first" not in talk.shown)
        await talk.until(lambda: talk.view.prompt.has_focus)
        assert talk.view.prompt.text == ""
        await talk.say("/say Hello second")
        await talk.shows("Hello second")
        await talk.session.prompt("/say Meanwhile")
        assert "Meanwhile" not in talk.shown
        await talk.press("ctrl+o")
        await talk.shows("Sessions", "● First")
        await talk.press("enter")
        await talk.shows("Hello first", "Meanwhile")
        await talk.until(lambda: talk.view.prompt.text == "draft")


async def test_a_session_of_earlier_is_opened_and_one_is_deleted(tmp_path: Path) -> None:
    async with chat(cwd=tmp_path) as talk:
        earlier = await talk.host.new_session(tmp_path)
        await earlier.prompt("/title Earlier\n/say From before")
        await earlier.close()
        await talk.press("ctrl+o")
        await talk.shows("○ Earlier")
        await talk.press("down", "enter")
        await talk.shows("From before")
        await talk.press("ctrl+o")
        await talk.until(lambda: isinstance(talk.app.screen, SessionsScreen))
        talk.app.screen.query_one(OptionList).highlighted = 0  # the one of before, which is not shown
        await talk.press("delete")
        await talk.shows("Delete once more removes for good")
        await talk.press("delete")
        await talk.until(lambda: talk.session not in talk.host.sessions)


async def test_a_file_and_an_address_go_along(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("A note", encoding="utf-8")
    async with chat(cwd=tmp_path) as talk:
        for typed in ("notes.md", "https://example.org/a"):
            await talk.press("ctrl+f")
            await talk.until(lambda: talk.app.screen.query(Input))
            await talk.press(*typed, "enter")
            await talk.shows(typed)
        await talk.say("/wait")
        await talk.until(lambda: talk.session.current_turn is not None)
        assert talk.session.current_turn is not None
        blocks = [to_json(block) for block in talk.session.current_turn.prompt.blocks]
        assert [block["type"] for block in blocks] == ["text", "resource", "resource_link"]
        await talk.until(lambda: "goes along" not in talk.shown)


async def test_what_cannot_go_along_stays_with_what_was_typed(tmp_path: Path) -> None:
    async with chat(cwd=tmp_path) as talk:
        await talk.press("ctrl+f")
        await talk.until(lambda: talk.app.screen.query(Input))
        await talk.press(*"missing.md", "enter")
        await talk.say("Look")
        await talk.shows("is not a file", "goes along: missing.md")
        assert talk.view.prompt.text == "Look"
        await talk.press("ctrl+g")
        await talk.until(lambda: "goes along" not in talk.shown)


async def test_what_a_harn_agent_wants_from_a_person_is_answered() -> None:
    async def script(turn: HarnTurn) -> None:
        turn.ask_human("approval", detail="Push to main?")
        turn.ask_human("question", prompt="Which branch?")

    async with chat(HarnAgent(script).transport()) as talk:
        await talk.say("go")
        await talk.shows("wants something from you", "Push to main?", "Which branch?")
        approval, question = talk.view.query(HumanRequestForm)
        approval.query_one(Input).value = "It is tested."
        approval.query(Button).first().press()
        await talk.until(lambda: len(talk.view.query(HumanRequestForm)) == 1)
        question.query_one(Input).value = "main"
        question.query_one(Button).press()
        await talk.until(lambda: not talk.view.query(HumanRequestForm))
        await talk.until(lambda: statuses(talk.session) == {"answered"})


def statuses(session: Session) -> set[str]:
    harn = session.state.snapshot().harn
    assert harn is not None
    return {request.status for request in harn.human_requests.values()}


async def test_a_login_is_asked_for_and_taken() -> None:
    agent = ReferenceAgent()
    async with chat(agent) as talk:
        agent.require_auth, agent.logged_in = True, False
        await talk.say("/say Hello")
        await talk.shows("Reference Agent wants you to log in first")
        talk.view.query_one(LoginForm).query(Button).first().press()
        await talk.until(lambda: not talk.view.query(LoginForm))
        await talk.turn_over()
        await talk.shows("completed")


@pytest.mark.parametrize(("colours", "light"), [("0;15", True), ("15;0", False), ("", False)])
async def test_it_is_light_where_the_terminal_is(monkeypatch: pytest.MonkeyPatch, colours: str, light: bool) -> None:
    monkeypatch.setenv("COLORFGBG", colours)
    monkeypatch.delenv("TEXTUAL_THEME", raising=False)
    async with chat() as talk:
        assert talk.app.current_theme.dark is not light
        await talk.press("ctrl+l")
        assert talk.app.current_theme.dark is light


async def test_a_subagent_is_looked_into_as_it_goes_on() -> None:
    async with chat(ScriptedAgent(subagents).transport(), unstable=True) as talk:
        await talk.say("go")
        await talk.turn_over()
        await talk.until(lambda: talk.view.query(SubagentsPane))
        side = talk.view.query_one("#side", TabbedContent)
        side.active = next(pane.id for pane in side.query(TabPane) if pane.query(SubagentsPane)) or ""
        await talk.shows("Helper")
        talk.view.query_one(SubagentsPane).focus()
        await talk.press("down", "enter")
        await talk.shows("Subagent Helper", "I look around 0")
        await talk.session.prompt("again")
        await talk.shows("I look around 0I look around 1")
        await talk.press("escape")
        await talk.until(lambda: len(talk.app.screen_stack) == 1)
