"""The page in a browser, as a user sees and uses it."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Browser, Locator, expect

from acp_host import NoticePreferences, SeverityPreferences
from acp_host.testing import AgentTurn, ReferenceAgent, ScriptedAgent
from acp_host.testing.harn import HarnAgent, HarnTurn
from tests.chaos.bad_agents import until
from tests.ui.exhibit import exhibition, long_session
from tests.ui.watched import Watched, fed, seen, watched

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_conversation_appears_as_it_goes_on(browser: Browser, tmp_path: Path) -> None:
    async with watched(browser, cwd=tmp_path) as (page, _):
        await page.say("Show me what you can do")
        await page.question("asks for permission").get_by_role("button", name="(allow once)").click()
        about_the_check = page.question("asks for permission").filter(has_text="Check notes.md")
        await about_the_check.get_by_role("button", name="(allow once)").click()
        transcript = page.transcript
        await expect(transcript.get_by_role("article").last).to_contain_text("The check ended with status 0")
        await expect(transcript.locator("strong", has_text="notes.md")).to_be_visible()
        await expect(page.page.get_by_label("Changes of").locator("tr.added")).to_contain_text("The reference agent")
        await expect(page.page.locator(".terminal pre")).to_have_text("checked notes.md\n")
        await expect(page.page.get_by_text("Turn 1: completed")).to_be_visible()
        await page.page.get_by_role("button", name="Side by side").first.click()
        await expect(page.page.locator("table.two-columns")).to_be_visible()


async def test_thoughts_open_and_stay_open(browser: Browser) -> None:
    async with watched(browser) as (page, _):
        await page.say("/think Is it so?\n/say Done")
        thought = page.transcript.locator(".thought")
        await expect(thought.get_by_text("Is it so?")).to_have_count(0)
        await thought.locator("summary").click()
        await expect(thought.get_by_text("Is it so?")).to_be_visible()
        await page.say("/say More")
        await expect(thought.get_by_text("Is it so?")).to_be_visible()


async def test_what_is_open_in_one_session_is_closed_in_another(browser: Browser) -> None:
    async with fed() as (host, session, feed), seen(browser, feed) as page:
        other = await host.new_session()
        for each in (session, other):
            await each.prompt("/think Is it so?")
        thought = page.transcript.locator(".thought")
        await thought.locator("summary").click()
        await expect(thought.get_by_text("Is it so?")).to_be_visible()
        sessions = page.page.get_by_label("Session", exact=True)
        await sessions.select_option(other.id)
        await expect(thought).to_be_visible()
        await expect(thought.get_by_text("Is it so?")).to_have_count(0)
        await sessions.select_option(session.id)
        await expect(thought.get_by_text("Is it so?")).to_be_visible()


async def test_a_permission_names_the_agent_and_gives_its_options_in_their_order(
    browser: Browser, tmp_path: Path
) -> None:
    async with watched(browser, cwd=tmp_path) as (page, session):
        await page.say("/edit notes.md")
        question = page.question("Reference Agent asks for permission")
        await expect(question.get_by_role("button")).to_have_count(4)
        buttons = await question.get_by_role("button").all_inner_texts()
        assert [button.split(" (")[0] for button in buttons] == ["Allow", "Always allow", "Reject", "Never allow"]
        await expect(question).to_contain_text("notes.md")
        await question.get_by_role("button", name="(reject once)").click()
        await expect(question).to_have_count(0)
        await expect(page.page.get_by_text("Turn 1:")).to_be_visible()
    assert not (tmp_path / "notes.md").exists()
    assert session.state.snapshot().questions == ()


async def test_a_form_is_checked_before_it_is_sent(browser: Browser) -> None:
    async with watched(browser) as (page, _):
        await page.say("/ask Who are you?")
        form = page.question("asks you to fill in a form")
        await form.get_by_role("button", name="Send").click()
        await expect(form.get_by_role("alert").first).to_be_visible()
        await form.get_by_label("Name").fill("Ada")
        await form.get_by_role("button", name="Send").click()
        await expect(form).to_have_count(0)
        await expect(page.transcript).to_contain_text("Ada")


async def test_a_web_page_is_opened_by_the_user_alone(browser: Browser) -> None:
    async with watched(browser) as (page, _):
        await page.say("/visit https://example.org/login")
        question = page.question("wants to send you to a web page")
        await expect(question).to_contain_text("https://example.org/login")
        link = question.get_by_role("link")
        assert await link.get_attribute("href") == "https://example.org/login"
        assert await link.get_attribute("rel") == "noopener noreferrer nofollow"
        await question.get_by_role("button", name="Decline").click()
        await expect(question).to_have_count(0)


QUESTION = {"number": 1, "session": None, "toolCallId": None, "agent": "example-agent", "raw": None}


async def test_a_web_page_on_which_the_user_is_done_need_not_be_opened(browser: Browser) -> None:
    async with exhibition(browser) as shown:
        shown.tell_state(long_session(1))
        address = {"url": "https://example.org/", "host": "example.org", "displayHost": "example.org", "warnings": []}
        asked = {**QUESTION, "kind": "page", "message": "Log in", **address, "completed": True}
        shown.tell({"type": "questions", "items": [asked]})
        question = shown.watched.question("wants to send you to a web page")
        await expect(question).to_contain_text("you are done there")
        await expect(question.get_by_role("link")).to_have_count(0)
        await question.get_by_role("button", name="Go on").click()
        answer = {"command": "answer", "question": 1, "action": "accept"}
        await until(lambda: any(answer.items() <= command.items() for command in shown.commands))


async def test_several_choices_are_described(browser: Browser) -> None:
    async with exhibition(browser) as shown:
        shown.tell_state(long_session(1))
        choices = [{"value": "r", "label": "Red", "description": "like fire"}]
        field = {"name": "colours", "kind": "multi-choice", "label": "Colours", "description": "Those that you like"}
        told = {"title": "", "message": "Choose", "description": "", "values": {}, "problems": []}
        asked = {**QUESTION, "kind": "form", **told, "fields": [{**field, "required": False, "choices": choices}]}
        shown.tell({"type": "questions", "items": [asked]})
        group = shown.watched.question("Colours")
        await expect(group).to_have_accessible_description("Those that you like")
        await expect(group).to_have_text("Red – like fire")


@pytest.mark.parametrize(
    ("without", "sidebar", "as_message", "rung", "status"),
    [
        ([], True, False, "inject reminder", "pending"),
        (["reminders"], True, False, "sidebar", "sidebar"),
        (["reminders"], False, False, "suppressed", "suppressed"),
        (["reminders"], False, True, "prefixed user message", "queued"),
    ],
)
async def test_a_reminder_goes_the_way_that_was_shown(
    browser: Browser, without: list[str], sidebar: bool, as_message: bool, rung: str, status: str
) -> None:
    agent = ReferenceAgent(without=without).transport()
    async with watched(browser, agent, sidebar=sidebar) as (page, session):
        view = page.page
        if as_message:
            await view.get_by_label("if there is no better way").check()
        await view.get_by_label("Reminder for the model").fill("2 tests failed")
        await view.get_by_label("Tags").fill("tests, ci")
        await expect(view.locator(".ladder .taken")).to_contain_text(rung)
        await view.get_by_role("button", name="Remind", exact=True).click()
        await view.get_by_label("Status", exact=True).select_option("")
        card = view.locator("[data-reminder]")
        await expect(card).to_contain_text("2 tests failed")
        await expect(card.locator(".status")).to_have_text(status)
        await view.get_by_label("Tag", exact=True).select_option("ci")
        await expect(card).to_have_count(1)
    assert [entry.tags for entry in session.reminders.snapshot().entries] == [("tests", "ci")]


async def test_a_reminder_is_revoked_or_put_away(browser: Browser) -> None:
    agent = ReferenceAgent(without=["reminders"]).transport()
    async with watched(browser, agent) as (page, session):
        first, second = session.remind_soon("one", tags=["a"]), session.remind_soon("two", tags=["b"])
        cards = page.page.locator("[data-reminder]")
        await expect(cards).to_have_count(2)
        await cards.filter(has_text="one").get_by_role("button", name="Revoke").click()
        await cards.filter(has_text="two").get_by_role("button", name="Dismiss").click()
        await expect(cards).to_have_count(0)
        found = {entry.id: entry.status for entry in session.reminders.snapshot().entries}
    assert found == {first.id: "revoked", second.id: "dismissed"}


async def test_toasts_stay_as_long_as_the_state_says_and_are_heard(browser: Browser) -> None:
    async with watched(browser) as (page, session):
        session.notices.preferences = NoticePreferences(info=SeverityPreferences(duration=0.5))
        await page.say("/notice info Settings were reloaded")
        toast = page.page.locator(".toast")
        await expect(toast).to_contain_text("Settings were reloaded")
        await expect(toast).to_contain_text("Reference Agent")
        await expect(page.page.get_by_role("status").filter(has_text="Settings were reloaded")).to_have_count(1)
        await expect(toast).to_have_count(0)
        await page.say("/notice error The disk is full")
        await expect(page.page.get_by_role("alert").filter(has_text="The disk is full")).to_have_count(1)
        await page.page.get_by_role("button", name="Dismiss: The disk is full").click()
        await expect(toast).to_have_count(0)
        await page.page.get_by_role("tab", name="Notices").click()
        history = page.page.get_by_label("Notices so far").get_by_role("listitem")
        await expect(history.first).to_contain_text("dismissed")
        await expect(history.last).to_contain_text("timed out")


async def test_all_can_be_done_by_keyboard(browser: Browser, tmp_path: Path) -> None:
    async with watched(browser, cwd=tmp_path) as (page, _):
        keyboard, view = page.page.keyboard, page.page
        await reach(page, page.prompt)
        await keyboard.type("/ed")
        await expect(view.locator(".suggestions [aria-selected=true]")).to_contain_text("/edit")
        await keyboard.press("Enter")
        await keyboard.type("notes.md")
        await keyboard.press("Enter")
        question = page.question("asks for permission")
        await expect(question).to_be_visible()
        await reach(page, question.get_by_label("Remember"))
        await keyboard.press("Tab")
        await expect(question.get_by_role("button", name="(allow once)")).to_be_focused()
        await keyboard.press("Enter")
        await expect(page.prompt).to_be_focused()
        await expect(view.get_by_text("Turn 1: completed")).to_be_visible()
        await reach(page, view.get_by_role("tab", name="Reminders"))
        await keyboard.press("ArrowRight")
        await expect(view.get_by_role("tab", name="Plan")).to_be_focused()
        await expect(view.get_by_role("tabpanel", name="Plan")).to_be_visible()
    assert (tmp_path / "notes.md").exists()


async def reach(page: Watched, wanted: Locator) -> None:
    """Go round the areas of the page until the focus is where it should be."""
    for _ in range(8):
        await page.page.keyboard.press("F6")
        if await wanted.evaluate("element => element === document.activeElement"):
            return
    raise AssertionError("F6 never came there")


async def test_options_are_set_and_commands_listed(browser: Browser) -> None:
    async with watched(browser) as (page, session):
        await page.page.get_by_label("Model", exact=True).select_option("large")
        await page.prompt.fill("/th")
        await expect(page.page.get_by_role("listbox", name="Commands")).to_contain_text("/think")
        await expect(page.page.get_by_label("Model", exact=True)).to_have_value("large")
        assert session.options.snapshot().about("model").value == "large"


async def test_older_entries_come_when_they_are_looked_for(browser: Browser) -> None:
    async def much(turn: AgentTurn) -> None:
        for number in range(300):
            async with turn.tool_call(f"Tool {number:03}", kind="read") as call:
                call.start()

    async with fed(ReferenceAgent(script=much).transport()) as (_, session, feed):
        await session.prompt("Work")
        async with seen(browser, feed) as page:
            await expect(page.transcript).to_contain_text("Tool 299")
            await page.transcript.focus()
            await page.page.keyboard.press("Home")
            await expect(page.transcript).to_contain_text("Tool 000")
            await session.prompt("More")
            await expect(page.transcript).to_contain_text("Tool 000")  # it stays where the user looks
            await page.page.get_by_role("button", name="To the end").click()
            await expect(page.transcript).to_contain_text("Tool 299")


async def test_another_session_is_opened_and_both_are_kept(browser: Browser, tmp_path: Path) -> None:
    async with watched(browser, cwd=tmp_path) as (page, first):
        await page.say("/title First\n/say Hello first")
        await expect(page.transcript).to_contain_text("Hello first")
        await page.page.get_by_role("button", name="New session").click()
        await expect(page.transcript.locator("article")).to_have_count(0)
        await page.say("/say Hello second")
        await expect(page.transcript).to_contain_text("Hello second")
        await first.prompt("/say Meanwhile")
        await page.page.get_by_label("Session", exact=True).select_option(label="First")
        await expect(page.transcript).to_contain_text("Hello first")
        await expect(page.transcript).to_contain_text("Meanwhile")


async def test_a_prompt_that_waits_is_taken_back(browser: Browser) -> None:
    async with watched(browser) as (page, _):
        await page.say("/wait")
        await page.say("/say Never mind")
        waiting = page.page.get_by_role("list", name="Prompts that wait")
        await expect(waiting).to_contain_text("Never mind")
        await waiting.get_by_role("button", name="Take back").click()
        await expect(waiting).to_have_count(0)
        await page.page.get_by_role("button", name="Cancel").click()
        await expect(page.page.get_by_text("cancelled")).to_be_visible()


async def test_a_turn_is_cancelled(browser: Browser) -> None:
    async with watched(browser) as (page, _):
        await page.say("/wait")
        await page.page.get_by_role("button", name="Cancel").click()
        await expect(page.page.get_by_text("Turn 1: cancelled")).to_be_visible()


async def test_one_viewer_acts_and_the_other_looks_on(browser: Browser) -> None:
    async with fed() as (_, __, feed), seen(browser, feed) as one, seen(browser, feed) as other:
        await expect(one.prompt).to_be_enabled()
        await expect(other.prompt).to_be_disabled()
        await expect(other.page.get_by_text("You are looking on, 1 more viewer")).to_be_visible()
        await one.say("/say Hello to both")
        await expect(other.transcript).to_contain_text("Hello to both")
        await other.page.get_by_role("button", name="Take control").click()
        await expect(one.prompt).to_be_disabled()
        await other.say("/say Now from here")
        await expect(one.transcript).to_contain_text("Now from here")


async def test_a_lost_connection_is_told_and_made_again(browser: Browser) -> None:
    async with watched(browser) as (page, session):
        await page.say("/say Before")
        await expect(page.transcript).to_contain_text("Before")
        await page.sockets[-1].close(code=1001)
        await session.prompt("/say Meanwhile")
        await expect(page.transcript).to_contain_text("Meanwhile")
        await page.say("/say After")
        await expect(page.transcript).to_contain_text("After")
        await expect(page.page.locator(".trouble")).to_have_count(0)
        assert len(page.sockets) == 2


async def test_what_the_host_cannot_serve_is_shown_with_its_method(browser: Browser) -> None:
    async def asks(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.open_session("s1")
        agent.send({"jsonrpc": "2.0", "id": 7, "method": "_vendor/ask_question", "params": {"question": "Which one?"}})
        await agent.closed()

    async with watched(browser, ScriptedAgent(asks).transport()) as (page, _):
        await page.page.get_by_role("tab", name="Problems").click()
        problem = page.page.get_by_label("Diagnostics").get_by_role("listitem").first
        await expect(problem).to_contain_text("_vendor/ask_question")
        await expect(problem).to_contain_text("Which one?")


async def test_a_harn_agent_is_answered_by_a_person(browser: Browser) -> None:
    async def script(turn: HarnTurn) -> None:
        turn.ask_human("approval", detail="Push to main?")
        turn.ask_human("question", prompt="Which branch?")

    async with watched(browser, HarnAgent(script).transport()) as (page, session):
        await page.say("go")
        await page.page.get_by_role("tab", name="Harn").click()
        wanted = page.page.get_by_role("region", name="Wanted from a person").get_by_role("listitem")
        approval, question = wanted.filter(has_text="Push to main?"), wanted.filter(has_text="Which branch?")
        await approval.get_by_label("Reason").fill("It is tested.")
        await approval.get_by_role("button", name="Approve").click()
        await expect(approval.locator(".status")).to_have_text("answered")
        await question.get_by_label("Answer").fill("main")
        await question.get_by_role("button", name="Send").click()
        await expect(question.locator(".status")).to_have_text("answered")
        assert session.state.snapshot().harn is not None


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_it_is_light_or_dark_as_the_environment_prefers(browser: Browser, scheme: str) -> None:
    async with watched(browser, look={"color_scheme": scheme, "reduced_motion": "reduce"}) as (page, _):
        await page.say("/notices\n/say **Hello**")
        await expect(page.page.locator(".toast")).to_have_count(5)
        ratios = await page.page.evaluate(CONTRASTS)
        assert min(ratios.values()) >= 4.5, ratios
        assert await page.page.locator(".toast").first.evaluate("e => getComputedStyle(e).animationName") == "none"


CONTRASTS = """() => {
  const read = (text) => text.match(/[\\d.]+/g).map(Number);
  const linear = (c) => (c <= 0.04 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = read(getComputedStyle(e).backgroundColor);
      if (colour[3] !== 0) return colour;
    }
  };
  const found = {};
  for (const name of "h1 .markdown .note .toast-title .severity .speaker button.quiet .turn-line".split(" ")) {
    const element = document.querySelector(name);
    const [a, b] = [light(read(getComputedStyle(element).color)), light(ground(element))];
    found[name] = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  }
  return found;
}"""
"""Contrasts of text with what is behind it, as WCAG 2 computes them; 4.5 is enough."""
