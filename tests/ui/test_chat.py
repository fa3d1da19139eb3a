"""The terminal view in conversation with agents, driven by its keys."""

from __future__ import annotations

import asyncio
from pathlib import Path

from textual.widgets import Button, TabbedContent

from acp_host.testing import AgentTurn, ReferenceAgent, ScriptedAgent
from acp_host.ui.terminal.toasts import NoticeToast
from tests.ui.chats import chat


async def test_a_whole_conversation_is_on_the_screen(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("- one\n", encoding="utf-8")
    async with chat(cwd=tmp_path, files=True, terminals=True) as talk:
        await talk.say("Show me what you can do")
        await talk.shows("Reference Agent asks for permission", "Always allow", "waits for you: F2 answers")
        assert talk.view.prompt.has_focus  # a question takes no key from who types
        await talk.press("f2", "enter")
        await talk.shows("Reference Agent asks for permission", "execute")
        await talk.press("f2", "enter")
        await talk.turn_over()
        await talk.shows("you", "Show me what you can do", "thinking", "edit: Edit notes.md", "✓ Check the result")
        assert talk.view.prompt.has_focus
        assert "completed" in talk.shown


async def test_commands_are_completed_and_what_was_said_comes_back() -> None:
    async with chat() as talk:
        await talk.press("/", "s", "a")
        await talk.shows("/say text", "Say something")
        await talk.press("tab", *"Hi", "enter")
        await talk.turn_over()
        await talk.shows("/say Hi")
        await talk.press(*"draft", "up")
        assert talk.view.prompt.text == "/say Hi"
        await talk.press("down")
        assert talk.view.prompt.text == "draft"
        await talk.press("ctrl+j", *"two")
        assert talk.view.prompt.text == "draft\ntwo"


async def test_prompts_wait_for_their_turn_and_can_be_taken_back() -> None:
    async with chat() as talk:
        await talk.say("/wait")
        await talk.until(lambda: talk.session.current_turn is not None)
        await talk.say("/say first")
        await talk.say("/say second")
        await talk.shows("waits  /say first", "waits  /say second")
        talk.view.query_one("#waiting").focus()
        await talk.press("down", "down", "delete")
        await talk.until(lambda: len(talk.session.queued_turns) == 1)
        await talk.until(lambda: "waits  /say second" not in talk.shown)
        assert "waits  /say first" in talk.shown


async def test_escape_cancels_the_turn_and_the_second_ctrl_c_leaves() -> None:
    async with chat() as talk:
        await talk.say("/wait")
        await talk.shows("works; Esc cancels")
        await talk.press("escape")
        await talk.turn_over()
        await talk.shows("cancelled")
        await talk.say("/wait")
        await talk.until(lambda: talk.session.current_turn is not None)
        await talk.press("ctrl+c")
        await talk.shows("Ctrl-C once more leaves")
        await talk.turn_over()
        assert talk.app.is_running
        await talk.press("ctrl+c")
        await talk.until(lambda: not talk.app.is_running)
        assert not talk.host.closed


async def test_two_questions_at_once_are_answered_each_for_itself() -> None:
    async def script(turn: AgentTurn) -> None:
        options = [
            {"optionId": "no", "name": "No [red]way[/red]", "kind": "reject_once"},
            {"optionId": "yes", "name": "Sure", "kind": "allow_once"},
        ]

        async def ask(title: str) -> None:
            call = {"toolCallId": title, "title": title, "kind": "execute"}
            params = {"sessionId": turn.session.id, "toolCall": call, "options": options}
            answer = await turn.request("session/request_permission", params)
            await turn.say(f"{title}: {answer}\n")

        await asyncio.gather(ask("first"), ask("second"))

    async with chat(ReferenceAgent(script=script)) as talk:
        await talk.say("go")
        await talk.shows("first", "second", "1  No [red]way[/red]  (reject_once)", "2  Sure  (allow_once)")
        await talk.until(lambda: len(talk.view.query("PermissionForm OptionList")) == 2)
        answers = talk.view.query("PermissionForm OptionList").last()
        answers.focus()
        await talk.until(lambda: answers.has_focus)
        await talk.press("2")
        await talk.until(lambda: len(talk.permissions.pending) == 1)
        await talk.shows("second:", "yes")
        await talk.until(lambda: talk.view.prompt.has_focus)  # what is typed now answers no other question
        await talk.press("f2")
        await talk.until(lambda: not talk.view.prompt.has_focus)
        await talk.press("1")
        await talk.turn_over()
        await talk.shows("first:", "no")


async def test_an_answer_is_remembered_if_the_user_wants_it(tmp_path: Path) -> None:
    async with chat(cwd=tmp_path, files=True) as talk:
        await talk.say("/edit notes.txt")
        await talk.shows("[ ] and remember the answer here")
        await talk.press("f2", "tab", "space")
        await talk.shows("[x] and remember the answer here")
        await talk.press("1")
        await talk.turn_over()
        await talk.say("/edit notes.txt")
        await talk.turn_over()
        assert (tmp_path / "notes.txt").read_text(encoding="utf-8") == "Edited.\nEdited.\n"


async def test_a_form_is_reviewed_before_it_is_sent() -> None:
    async with chat() as talk:
        await talk.say("/ask Who are you?")
        await talk.shows("Reference Agent asks you to fill this in", "Who are you?", "Name *")
        send = talk.view.query_one("Button.-primary", Button)
        review = next(button for button in talk.view.query(Button) if button.name == "review")
        review.press()
        await talk.shows("Name needs an answer")
        assert send.disabled
        await talk.press("f2", *"Ada")
        await talk.until(lambda: talk.forms.pending[0].values.get("name") == "Ada")
        review.press()
        await talk.until(lambda: send.has_focus)
        await talk.shows("This will be sent:", "Name: Ada", "E-mail: (left out)")
        await talk.press("enter")
        await talk.turn_over()
        await talk.shows("You answered: {'name': 'Ada'")


async def test_a_page_is_shown_with_its_host_and_opened_by_the_user_only() -> None:
    async with chat() as talk:
        await talk.say("/visit https://user@example.org/login")
        await talk.shows("asks you to visit a web page", "on example.org", "https://user@example.org/login")
        next(button for button in talk.view.query(Button) if button.name == "decline").press()
        await talk.turn_over()
        await talk.shows("You did not agree.")


async def test_a_reminder_is_written_with_a_look_at_its_way_then_taken_back() -> None:
    async with chat() as talk:
        await talk.press("f7", *"Tests fail")
        await talk.shows("➜ inject_reminder: the agent offers reminders.inject")
        await talk.press("tab", *"tests", "ctrl+s")
        await talk.until(lambda: talk.session.reminders.find(status="pending", tag="tests"))
        talk.view.query_one(TabbedContent).active = "tab-2"
        await talk.shows("pending  Tests fail", "by: inject_reminder", "tags: tests")
        talk.view.query_one("#reminders").focus()
        await talk.press("r")
        await talk.until(lambda: talk.session.reminders.find(status="revoked"))
        await talk.shows("revoked  Tests fail")
        talk.view.query_one("#reminder-filter").focus()
        await talk.press(*"nothing")
        await talk.shows("No reminder.")


async def test_notices_stay_as_long_as_the_state_says_and_have_a_history() -> None:
    async with chat() as talk:
        await talk.say("/notice error It [bold]broke[/bold]\nIn the cellar")
        await talk.shows("Reference Agent · error", "It [bold]broke[/bold]", "In the cellar", "stays: F9 closes")
        await talk.press("f9")
        await talk.until(lambda: not talk.view.query(NoticeToast))
        await talk.press("f4")
        await talk.shows("1 notices", "dismissed")
        await talk.press("escape")
        await talk.turn_over()


async def test_options_are_changed_beside_the_conversation() -> None:
    async with chat() as talk:
        talk.view.query_one(TabbedContent).active = "tab-3"
        await talk.shows("Mode: Ask")
        talk.view.query_one("#options").focus()
        await talk.press("down", "enter")
        await talk.until(lambda: len(talk.app.screen_stack) == 2)
        await talk.press("down", "enter")
        await talk.until(lambda: talk.session.options.snapshot().entries[0].confirmed != "ask")
        await talk.until(lambda: "Mode: Ask" not in talk.shown)


async def test_a_request_that_nobody_serves_is_shown_with_its_payload() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.open_session("s1")
        await agent.call("editor/open", {"path": "/etc/[red]passwd"})
        await agent.stall()

    async with chat(ScriptedAgent(script).transport()) as talk:
        await talk.shows("The agent asks for editor/open")
        await talk.press("f8")
        await talk.shows("unknown_method", "method: editor/open", "/etc/[red]passwd")


async def test_a_lost_connection_is_told_and_takes_no_prompt() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.open_session("s1")
        await agent.expect("session/prompt")
        agent.say("Half a sen")
        await agent.close()

    async with chat(ScriptedAgent(script).transport()) as talk:
        await talk.say("Hello")
        await talk.shows("Half a sen", "The connection is over")
        await talk.say("Anybody there?")
        await talk.shows("the connection has ended")
        assert talk.view.prompt.text == "Anybody there?"  # nothing that was typed is lost
