"""Rows R320 to R339: what an agent can do to the page that shows it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, CDPSession, expect

from acp_host.testing import ScriptedAgent, gallery
from acp_host.testing.gallery import HOSTILE_TEXTS
from tests.chaos.bad_agents import until
from tests.ui.exhibit import SESSION, exhibition, long_session
from tests.ui.smoothness import measure
from tests.ui.watched import watched

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(120)]

MARKUP = [
    "script",
    "image_handler",
    "svg_handler",
    "markup_in_style",
    "frame",
    "form",
    "broken_out",
    "template",
    "meta_refresh",
    "math_mutation",
    "named_elements",
    "unclosed",
]
LINKS = ["script_link", "data_link", "file_link", "command_link", "lying_link"]
STEERING = [
    "terminal_colours",
    "terminal_title",
    "terminal_clipboard",
    "terminal_link",
    "terminal_report",
    "terminal_overwrite",
    "control_characters",
    "bidi_override",
    "bidi_isolates",
    "right_to_left",
    "line_separators",
    "lone_surrogates",
    "noncharacters",
]
SIZES = [
    "very_long",
    "very_long_word",
    "many_lines",
    "many_blanks",
    "deep_markdown",
    "deep_lists",
    "huge_table",
    "blank",
    "zalgo",
    "emoji",
    "invisible",
]
ACTING = {"script", "iframe", "object", "embed", "svg", "math", "style", "link", "meta", "base", "video", "audio"}
"""Elements that fetch, run or steer something."""


def places(texts: Iterable[str]) -> list[str]:
    """Return the names of the states with these texts, in every place where an agent's text is shown."""
    return [name for name in gallery.names("hostile") if any(name.startswith(f"hostile/{text}_") for text in texts)]


async def looked_at(browser: Browser, texts: Iterable[str]) -> list[dict[str, Any]]:
    """Show each of the texts everywhere; whatever it is, none of it may run, act or leave."""
    found = []
    async with exhibition(browser) as shown:
        for name in places(texts):
            in_panels = name.endswith(("_done", "_told", "_by_harn"))
            there = await shown.show(gallery.get(name), panels=in_panels)
            assert there["ran"] == [], name
            assert there["handlers"] == [], name
            assert ACTING.isdisjoint(there["elements"]), name
            for link in there["links"]:
                assert re.match(r"(https?|mailto):", link["href"]), name
                assert (link["rel"], link["target"]) == ("noopener noreferrer nofollow", "_blank"), name
            assert all(source.startswith("data:image/") for source in there["pictures"]), name
            assert shown.watched.faults == [], name
            found.append({"name": name, **there})
        assert shown.watched.foreign == []
        assert len(shown.watched.sockets) == 1  # the page was never left
    return found


async def test_r320_markup_stays_text(browser: Browser) -> None:
    for there in await looked_at(browser, MARKUP):
        if there["name"] == "hostile/script_said":
            assert there["text"].count("<script>pwned('script')</script>") > 3


async def test_r321_a_link_shows_where_it_leads_and_only_to_the_web(browser: Browser) -> None:
    for there in await looked_at(browser, LINKS):
        if there["name"] == "hostile/lying_link_said":
            assert "https://bank.example/ (evil.example)" in there["text"]


async def test_r322_no_picture_is_fetched(browser: Browser) -> None:
    for there in await looked_at(browser, ["remote_image"]):
        assert there["pictures"] == []


async def test_r323_what_steers_or_reorders_is_spelled_out(browser: Browser) -> None:
    for there in await looked_at(browser, STEERING):
        shown = there["text"] + there["panels"]
        assert not re.search("[\x00-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown), there["name"]


async def test_r324_the_frame_around_a_question_is_the_hosts(browser: Browser) -> None:
    forged = ["looks_like_chrome", "forged_name", "forged_marker", "forged_user"]
    async with exhibition(browser) as shown:
        for name in places(forged):
            state = gallery.get(name)
            await shown.show(state)
            for heading in await shown.watched.page.locator(".frame-name").all_inner_texts():
                assert heading.startswith(f"{state.agent_name} "), name
            # No button is made of words of the agent's, but for those that are its options.
            assert await shown.watched.page.locator(".question-body p button, .markdown button").count() == 0


async def test_r325_long_and_deep_texts_are_drawn_and_the_answers_stay_in_reach(browser: Browser) -> None:
    async with exhibition(browser) as shown:
        devtools = await shown.watched.page.context.new_cdp_session(shown.watched.page)
        await devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
        for name in places(SIZES):
            state = gallery.get(name)
            began = await worked(devtools)
            await shown.show(state, panels=False)
            assert await worked(devtools) - began < 10, name
            assert shown.watched.faults == [], name
            if state.session.questions:
                answers = shown.watched.page.locator(".question .answers button")
                if await answers.count():
                    await answers.first.click(trial=True)
            assert await shown.watched.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name


async def worked(devtools: CDPSession) -> float:
    """Seconds of the processor's time that the page's main thread has taken: the same on a busy machine."""
    told = await devtools.send("Performance.getMetrics")
    return float(next(metric["value"] for metric in told["metrics"] if metric["name"] == "TaskDuration"))


async def test_r326_names_of_the_language_are_names_like_any_other(browser: Browser) -> None:
    for there in await looked_at(browser, ["prototype", "json", "shell", "percent"]):
        if there["name"].startswith("hostile/prototype_"):
            assert "__proto__" in there["text"] + there["panels"], there["name"]
    assert "prototype" in HOSTILE_TEXTS


async def test_r327_of_ten_thousand_entries_few_are_in_the_document(browser: Browser) -> None:
    async with exhibition(browser) as shown:
        shown.tell_state(long_session(10_000))
        page = shown.watched.page
        await expect(page.locator("article").last).to_contain_text("message 9999")
        assert await page.locator("article").count() < 60
        streamed = "/transcript/entries/9999/parts/0/segments/0"
        version, said = 1, "message 9999"
        for place in range(400):
            said += f" word{place}"
            operations = [{"op": "replace", "path": streamed, "value": said}]
            shown.tell(
                {"type": "delta", "session": SESSION, "from": version, "version": version + 1, "ops": operations}
            )
            version += 1
            await page.wait_for_timeout(5)
        await expect(page.locator("article").last).to_contain_text("word399")
        await page.locator(".transcript").evaluate("element => { element.scrollTop = element.scrollHeight / 2; }")
        await expect(page.get_by_role("button", name="To the end")).to_be_visible()
        await page.get_by_role("button", name="To the end").click()
        await expect(page.locator("article").last).to_contain_text("word399")
        assert await page.locator("article").count() < 60


async def test_r328_a_flood_of_notices_leaves_five_toasts(browser: Browser) -> None:
    async with watched(browser) as (page, session):
        await page.say("/notice-burst 10000\n/say Done")
        await expect(page.transcript).to_contain_text("Done")
        assert 0 < await page.page.locator(".toast").count() <= 5
        await page.page.get_by_role("tab", name="Notices").click()
        await expect(page.page.get_by_role("tabpanel")).to_contain_text("of 10000")
    assert session.notices.snapshot().total == 10_000


async def test_r329_a_delta_that_does_not_fit_is_answered_with_a_request_for_all(browser: Browser) -> None:
    async with exhibition(browser) as shown:
        version = shown.tell_state(long_session(3))
        wrong = {"op": "replace", "path": "/transcript/entries/9/status", "value": "completed"}
        for operations, before in (([wrong], version), ([], 900)):
            asked = len(shown.commands)
            delta = {"type": "delta", "session": SESSION, "from": before, "version": before + 1, "ops": operations}
            shown.tell(delta)
            await shown.watched.page.wait_for_function("() => true")
            await expect(shown.watched.page.locator("article")).to_have_count(3)
            resumed = [command for command in shown.commands[asked:] if command["command"] == "resume"]
            assert [command["version"] for command in resumed] == [None]
            version = shown.tell_state(long_session(3))


async def test_r330_the_page_goes_on_after_the_connection_came_back(browser: Browser, tmp_path: Path) -> None:
    async with watched(browser, cwd=tmp_path) as (page, session):
        await page.say("/edit notes.md")
        question = page.question("asks for permission")
        await expect(question).to_be_visible()
        await page.sockets[-1].close(code=1001)
        await expect(page.page.get_by_text("The connection to the host was lost")).to_be_visible()
        await expect(page.page.get_by_text("The connection to the host was lost")).to_have_count(0)
        await question.get_by_role("button", name="(allow once)").click()
        await expect(page.page.get_by_text("Turn 1: completed")).to_be_visible()
    assert session.state.snapshot().turn.outcome == "completed"


async def test_r331_only_bytes_of_pictures_are_drawn(browser: Browser) -> None:
    names = ["messages/content_image", "messages/content_image_of_unknown_type", "hostile/script_said"]
    async with exhibition(browser) as shown:
        for name, pictures in zip(names, (1, 0, 0), strict=True):
            there = await shown.show(gallery.get(name), panels=False)
            assert len(there["pictures"]) == pictures, name


async def test_r332_what_the_host_cannot_do_is_shown_as_it_came(browser: Browser) -> None:
    async def asks(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.open_session("s1")
        agent.send({"jsonrpc": "2.0", "id": 7, "method": "_vendor/ask", "params": {"question": "<b>Which one?</b>"}})
        await agent.closed()

    async with watched(browser, ScriptedAgent(asks).transport()) as (page, _):
        tab = page.page.get_by_role("tab", name="Problems")
        await expect(tab).to_contain_text("1")
        await tab.click()
        problem = page.page.get_by_label("Diagnostics").get_by_role("listitem").first
        await expect(problem).to_contain_text("cannot do: _vendor/ask")
        await expect(problem).to_contain_text("<b>Which one?</b>")


async def test_r333_large_entries_come_into_sight_without_a_long_task(browser: Browser) -> None:
    measured = await measure(browser, seconds=4, entries=400, weight=12)
    assert measured.updates > 100, measured
    assert len(measured.tasks) > 100, measured
    # Of the processor's time, which is the same on a busy machine.
    assert sum(task > 50 for task in measured.tasks) <= 2, measured


async def test_r334_a_login_of_markup_and_lies_is_text(browser: Browser) -> None:
    async with exhibition(browser) as shown:
        shown.tell_state(long_session(1))
        for name, words in HOSTILE_TEXTS.items():
            if name not in MARKUP + LINKS + STEERING + ["prototype"]:
                continue
            way = {"id": words, "kind": words, "name": words, "description": words, "unavailable": "", "command": words}
            variable = {"name": words, "label": words, "secret": False, "optional": True}
            question = {"number": 1, "kind": "login", "session": None, "toolCallId": None, "agent": words, "raw": None}
            question |= {"message": words, "method": words}
            question["ways"] = [{**way, "variables": [variable], "link": words}]
            shown.tell({"type": "questions", "items": [question]})
            frame = shown.watched.page.locator(".question")
            await expect(frame).to_contain_text("wants you to log in first")
            await shown.watched.page.wait_for_function("() => true")
            for link in await frame.locator("a").all():
                assert (await link.get_attribute("href") or "").startswith(("http", "mailto:")), name
            assert await frame.locator("script, iframe, img, style, object").count() == 0, name
            assert await shown.watched.page.evaluate("window.ran") == []
            shown.tell({"type": "questions", "items": []})
            await expect(frame).to_have_count(0)


async def test_r335_subagents_and_kept_sessions_of_markup_are_text(browser: Browser) -> None:
    async with exhibition(browser) as shown:
        state = long_session(1)
        words = HOSTILE_TEXTS["image_handler"]
        told = {"sessionId": "__proto__", "title": words, "description": words, "state": {"state": words}}
        shown.tell_state({**state, "subagents": {"child": told}})
        items = [
            {"id": SESSION, "title": words, "open": True, "parent": None},
            {"id": "child", "title": words, "open": True, "parent": SESSION},
            {"id": "__proto__", "title": words, "open": True, "parent": "child"},
        ]
        shown.tell({"type": "sessions", "items": items})
        page = shown.watched.page
        await page.get_by_role("tab", name="Subagents").click()
        panel = page.get_by_role("tabpanel")
        await expect(panel.locator("[data-subagent]")).to_have_count(2)
        await expect(panel).to_contain_text(words[:20])
        assert await panel.locator("img, script").count() == 0
        assert await page.evaluate("window.ran") == []


async def test_r336_a_session_that_goes_makes_room_for_another_one(browser: Browser) -> None:
    async with exhibition(browser) as shown:
        shown.tell_state(long_session(1))
        page = shown.watched.page
        await expect(page.locator("article")).to_have_count(1)
        shown.tell({"type": "sessions", "items": [{"id": "other", "title": "Other", "open": True}]})
        await expect(page.locator("article")).to_have_count(0)
        shown.tell({"type": "delta", "session": SESSION, "from": 1, "version": 2, "ops": []})  # one that was on its way
        other = {**long_session(2), "sessionId": "other"}
        shown.tell({"type": "snapshot", "session": "other", "version": 9, "omitted": 0, "state": other})
        await expect(page.locator("article")).to_have_count(2)
        shown.tell({"type": "sessions", "items": []})
        await expect(page.get_by_text("No session is open.")).to_be_visible()


async def test_r337_what_is_too_large_to_go_along_is_told(browser: Browser) -> None:
    async with watched(browser) as (page, _):
        await page.prompt.evaluate(
            """(field) => {
              const data = new DataTransfer();
              data.items.add(new File(["x".repeat(300 * 1024)], "large.txt", { type: "text/plain" }));
              data.items.add(new File([new Uint8Array(100)], "no.png", { type: "image/tiff" }));
              for (let n = 0; n < 30; n++) data.items.add(new File(["x"], `${n}.txt`, { type: "text/plain" }));
              field.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
            }"""
        )
        attached = page.page.get_by_role("list", name="Attached").get_by_role("listitem")
        await expect(attached).to_have_count(20)
        await expect(page.page.get_by_text("At most 20 things can be attached.")).to_be_visible()
        await expect(attached.filter(has_text="large.txt")).to_have_count(0)


async def test_r511_entries_that_were_on_their_way_are_asked_for_again(browser: Browser) -> None:
    async with exhibition(browser) as shown:
        state = long_session(1)
        shown.tell({"type": "snapshot", "session": SESSION, "version": 1, "omitted": 300, "state": state})
        page = shown.watched.page
        await expect(page.locator("article").last).to_contain_text("of many")
        shown.answers = False
        await page.get_by_role("feed").focus()
        await page.keyboard.press("Home")
        first = {"command": "fetch", "first": 0}
        await until(lambda: any(first.items() <= command.items() for command in shown.commands))
        shown.commands.clear()
        await shown.watched.sockets[-1].close(code=1001)
        await until(lambda: any(first.items() <= command.items() for command in shown.commands))


LATE = """() => {
  const tell = () => document.querySelector(".transcript").dispatchEvent(new Event("scroll"));
  new MutationObserver(tell).observe(document.querySelector(".sizer"), { attributes: true });
}"""
"""Has the browser tell of a way to the end when the transcript has grown meanwhile."""


async def test_r512_the_end_is_followed_however_much_longer_the_transcript_has_become(browser: Browser) -> None:
    async with exhibition(browser) as shown:
        page = shown.watched.page
        shown.tell_state(long_session(30))
        await expect(page.locator("article").last).to_contain_text("message 29 of many")
        await page.evaluate(LATE)
        shown.tell_state(long_session(90))
        await expect(page.locator("article").last).to_contain_text("message 89 of many")
        await expect(page.get_by_text("message 89 of many")).to_be_in_viewport()
        await page.get_by_role("feed").hover()
        await page.mouse.wheel(0, -400)
        await expect(page.get_by_role("button", name="To the end")).to_be_visible()


def of_gallery(name: str) -> dict[str, Any]:
    session: dict[str, Any] = gallery.get(name).to_json()["session"]
    return session


def state_of_long_lists(many: int) -> dict[str, Any]:
    """Return the JSON form of a session in which everything that can be a list is a long one."""
    state, numbers = long_session(1), range(many)
    [message] = state["transcript"]["entries"]
    link = {"type": "resource_link", "name": "a", "uri": "https://example.org/a"}
    message["parts"] = [{"type": "block", "block": link} for _ in numbers]
    call = next(
        one for one in of_gallery("tool_calls/locations")["transcript"]["entries"] if one["type"] == "tool_call"
    )
    locations = [{"path": f"/work/{number}"} for number in numbers]
    content = [{"type": "content", "content": link} for _ in numbers]
    state["transcript"]["entries"].append({**call, "position": 1, "locations": locations, "content": content})
    [terminal] = of_gallery("terminals/succeeded")["terminals"].values()
    state["terminals"] = {f"term-{number}": {**terminal, "output": ["x" * 100]} for number in numbers}
    [plan] = of_gallery("plans/entries")["plans"]
    items = [{"content": f"Item {number}", "priority": "low", "status": "pending"} for number in numbers]
    state["plans"] = [{**plan, "content": {**plan["content"], "entries": items}}]
    [reminder] = of_gallery("reminders/pending")["reminders"]["entries"]
    state["reminders"]["entries"] = [{**reminder, "id": f"r-{number}", "body": f"Body {number}"} for number in numbers]
    return state


async def test_r513_of_long_lists_the_beginning_is_drawn_and_the_rest_when_it_is_asked_for(browser: Browser) -> None:
    many = 3_000
    async with exhibition(browser) as shown:
        page = shown.watched.page
        asked = {"session": None, "toolCallId": None, "agent": "example-agent", "raw": None, "kind": "another"}
        shown.tell({"type": "questions", "items": [{**asked, "number": number} for number in range(many)]})
        shown.tell_state(state_of_long_lists(many))
        await expect(page.locator(".tool-call")).to_be_visible()
        await expect(page.get_by_text(f"{many} questions")).to_be_visible()
        for panel, rest in (("Reminders", 2_800), ("Plan", 2_800), ("Terminals", 2_980)):
            await page.get_by_role("tab", name=panel).click()
            more = page.get_by_role("tabpanel").get_by_role("button", name=f"Show {rest} more")
            await expect(more).to_be_visible()
            assert await page.locator("*").count() < 6_000, panel
        await page.get_by_role("tab", name="Reminders").click()
        newest = page.get_by_role("list", name="Reminders").get_by_role("listitem").last
        await expect(newest).to_contain_text(f"Body {many - 1}")
        await page.get_by_role("tab", name="Plan").click()
        await page.get_by_role("tabpanel").get_by_role("button", name="more items").click()
        await expect(page.get_by_text(f"Item {many - 1}")).to_be_visible()
        for words in ("parts", "places", "questions"):
            await expect(
                page.locator(".conversation").get_by_role("button", name=f"more {words}").first
            ).to_be_visible()


async def test_r514_thousands_of_options_leave_room_for_the_conversation(browser: Browser) -> None:
    many = 3_000
    state = long_session(1)
    [mode] = of_gallery("options/modes")["options"]["entries"]
    choices = [{**mode["choices"][0], "value": f"v-{number}", "name": f"Value {number}"} for number in range(20 * many)]
    one = {**mode, "name": "Much", "value": "v-3", "choices": choices}
    others = [{**mode, "id": f"o-{number}", "name": f"Option {number}"} for number in range(many)]
    state["options"] = {"entries": [one, *others]}
    async with exhibition(browser) as shown:
        page = shown.watched.page
        shown.tell_state(state)
        await expect(page.get_by_label("Much")).to_have_value("v-3")
        assert await page.locator("*").count() < 3_000
        await page.get_by_role("button", name="more options").click()
        await expect(page.get_by_label(f"Option {many - 1}", exact=True)).to_be_attached()
        await expect(page.get_by_label("Message to the agent")).to_be_in_viewport(ratio=1)
        await expect(page.get_by_text("message 0 of many")).to_be_in_viewport()
