"""The page in a browser: logins, the agent's own sessions, attachments, subagents, toasts that are read."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, expect

import acp_host
from acp_host import LoginQueue, NoticePreferences, SeverityPreferences
from acp_host.state.json_form import to_json
from acp_host.testing import ReferenceAgent, ScriptedAgent
from acp_host.ui.feed import Feed
from tests.chaos.bad_agents import until
from tests.ui.exhibit import exhibition, long_session
from tests.ui.test_feed_attachments import PICTURE
from tests.ui.test_feed_sessions import subagents
from tests.ui.watched import fed, seen, watched

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_the_agent_wants_a_login_and_gets_one(browser: Browser) -> None:
    queue = LoginQueue()
    async with (
        acp_host.connect(ReferenceAgent(require_auth=True).transport(), authenticate=queue) as host,
        Feed(host, logins=queue) as feed,
        seen(browser, feed) as page,
    ):
        await page.page.get_by_role("button", name="New session").click()
        question = page.question("Reference Agent wants you to log in first")
        await expect(question).to_contain_text("session/new")
        await question.get_by_role("button", name="Log in").click()
        await page.transcript.wait_for()
        await page.page.get_by_role("tab", name="Account").click()
        account = page.page.get_by_role("tabpanel", name="Account")
        await expect(account).to_contain_text("authenticated")
        await account.get_by_role("button", name="Log out").click()
        await expect(account).to_contain_text("unauthenticated")
        await account.get_by_role("button", name="Log in").click()
        await expect(account.locator(".status")).to_have_text("authenticated")


async def test_what_a_login_asks_for_is_typed_unseen(browser: Browser) -> None:
    queue = LoginQueue()
    async with (
        acp_host.connect(ReferenceAgent.command("--login", "env_var"), authenticate=queue) as host,
        Feed(host, logins=queue) as feed,
        seen(browser, feed) as page,
    ):
        await page.page.get_by_role("button", name="New session").click()
        question = page.question("wants you to log in first")
        field = question.locator("input[data-variable]").first
        await expect(field).to_have_attribute("type", "password")
        await field.fill("a-very-secret-key")
        await question.get_by_role("button", name="Log in").click()
        await page.transcript.wait_for()
        assert "a-very-secret-key" not in await page.page.content()


async def test_sessions_of_earlier_are_opened_and_deleted(browser: Browser, tmp_path: Path) -> None:
    async with watched(browser, cwd=tmp_path) as (page, first):
        await page.say("/title First\n/say Hello first")
        await expect(page.transcript).to_contain_text("Hello first")
        await page.page.get_by_role("button", name="New session").click()
        await expect(page.transcript.locator("article")).to_have_count(0)
        await first.close()
        await page.page.get_by_role("tab", name="Sessions").click()
        kept = page.page.get_by_role("list", name="Sessions of the agent").get_by_role("listitem")
        await kept.filter(has_text="First").get_by_role("button", name="Open").click()
        await expect(page.transcript).to_contain_text("Hello first")
        await page.page.get_by_role("tab", name="Sessions").click()
        await kept.filter(has_text="First").get_by_role("button", name="Delete").click()
        await kept.filter(has_text="First").get_by_role("button", name="Delete for good").click()
        await expect(kept.filter(has_text="First")).to_have_count(0)
        await expect(page.transcript.locator("article")).to_have_count(0)  # the other session is shown then


DROP = """(field, given) => {
  const data = new DataTransfer();
  for (const { name, type, bytes } of given.files) {
    data.items.add(new File([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))], name, { type }));
  }
  if (given.address) data.setData("text/uri-list", given.address);
  const event = given.pasted
    ? new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true })
    : new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });
  field.dispatchEvent(event);
}"""


async def test_files_pictures_and_addresses_go_along(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("A note")
    async with watched(browser, cwd=tmp_path) as (page, session):

        async def given(*, address: str = "", pasted: bool = False, **files: tuple[str, bytes]) -> None:
            listed = [
                {"name": name, "type": kind, "bytes": base64.b64encode(data).decode()}
                for name, (kind, data) in files.items()
            ]
            await page.prompt.evaluate(DROP, {"files": listed, "address": address, "pasted": pasted})

        await given(picture=("image/png", PICTURE), pasted=True)
        await given(words=("text/plain", b"Words"))
        await given(address="https://example.org/a")
        attached = page.page.get_by_role("list", name="Attached").get_by_role("listitem")
        await expect(attached).to_have_count(3)
        await page.page.get_by_role("button", name="Attach", exact=True).click()
        await page.page.get_by_label("Path or address").fill("notes.md")
        await page.page.get_by_label("Path or address").press("Enter")
        await expect(attached).to_have_count(4)
        await given(junk=("application/zip", b"PK\0\xff"))
        await expect(page.page.get_by_text("is no text")).to_be_visible()
        await page.page.get_by_role("button", name="Remove words").click()
        await page.say("/wait")
        await expect(attached).to_have_count(0)
        turn = session.current_turn
        assert turn is not None
        blocks: Any = [to_json(block) for block in turn.prompt.blocks]
        assert [block["type"] for block in blocks] == ["text", "resource_link", "resource", "image"]
        assert blocks[1]["uri"] == "https://example.org/a"
        assert blocks[2]["resource"]["text"] == "A note"
        assert base64.b64decode(blocks[3]["data"]) == PICTURE


async def test_what_is_refused_stays_attached(browser: Browser, tmp_path: Path) -> None:
    async with watched(browser, cwd=tmp_path) as (page, _):
        await page.page.get_by_role("button", name="Attach", exact=True).click()
        await page.page.get_by_label("Path or address").fill("../secret.txt")
        await page.page.get_by_label("Path or address").press("Enter")
        await page.say("Look")
        await expect(page.page.get_by_text("not in the session's directory")).to_be_visible()
        await expect(page.page.get_by_role("list", name="Attached")).to_contain_text("secret.txt")
        await expect(page.prompt).to_have_value("Look")


async def test_several_files_of_the_computer_are_attached_at_once(browser: Browser) -> None:
    async with watched(browser) as (page, _):
        await page.page.get_by_role("button", name="Attach", exact=True).click()
        files: list[Any] = [{"name": f"{n}.txt", "mimeType": "text/plain", "buffer": b"Words"} for n in range(3)]
        await page.page.get_by_label("Files of this computer").set_input_files(files)
        attached = page.page.get_by_role("list", name="Attached").get_by_role("listitem")
        await expect(attached).to_have_text(["0.txt ×", "1.txt ×", "2.txt ×"])


async def test_a_prompt_that_is_too_large_is_told_of_and_not_sent(browser: Browser) -> None:
    async with watched(browser) as (page, session):
        await page.prompt.evaluate(
            """(field) => {
              const data = new DataTransfer();
              const large = new Uint8Array(900_000);
              for (let n = 0; n < 7; n++) data.items.add(new File([large], `${n}`, { type: "image/png" }));
              field.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
            }"""
        )
        attached = page.page.get_by_role("list", name="Attached").get_by_role("listitem")
        await expect(attached).to_have_count(7)
        await page.say("Look")
        await expect(page.page.get_by_text("larger than 8 MB")).to_be_visible()
        await expect(attached).to_have_count(7)
        await expect(page.prompt).to_have_value("Look")
        assert session.current_turn is None


async def test_what_was_typed_while_a_prompt_was_refused_is_kept(browser: Browser) -> None:
    async with exhibition(browser) as shown:
        shown.tell_state(long_session(1))
        shown.answers = False
        await shown.watched.say("First")
        await shown.watched.prompt.fill("Second")
        prompt = next(command for command in shown.commands if command["command"] == "prompt")
        shown.tell({"type": "result", "id": prompt["id"], "ok": False, "error": {"message": "not now"}})
        await expect(shown.watched.prompt).to_have_value("First\nSecond")


async def test_subagents_are_looked_into_and_left_again(browser: Browser) -> None:
    async with watched(browser, ScriptedAgent(subagents).transport(), unstable=True) as (page, _):
        await page.say("go")
        await page.page.get_by_role("tab", name="Subagents").click()
        helper = page.page.locator("[data-subagent=child]")
        await expect(helper).to_contain_text("Helper")
        await expect(helper.locator("[data-subagent=grandchild]")).to_be_visible()
        await helper.get_by_role("button", name="Look into it").first.click()
        await expect(page.transcript).to_contain_text("I look around 0")
        where = page.page.get_by_role("navigation", name="Subagent")
        await expect(where).to_contain_text("A subagent of scripted-agent: Helper")
        await expect(page.prompt).to_have_count(0)
        await where.get_by_role("button").click()
        await page.say("again")
        await page.page.get_by_role("tab", name="Subagents").click()
        await helper.get_by_role("button", name="Look into it").first.click()
        await expect(page.transcript).to_contain_text("I look around 1")


async def test_a_toast_stays_while_mouse_or_keyboard_is_on_it(browser: Browser) -> None:
    async with watched(browser) as (page, session):
        session.notices.preferences = NoticePreferences(info=SeverityPreferences(duration=1.0))
        toast = page.page.locator(".toast")
        for hold, let_go in (
            (toast.hover, lambda: page.prompt.hover()),
            (lambda: toast.get_by_role("button").focus(), lambda: page.prompt.focus()),
        ):
            await page.say("/notice info Read me")
            await hold()
            await page.page.wait_for_timeout(1_500)
            await expect(toast).to_have_count(1)
            await let_go()
            await expect(toast).to_have_count(0)
            assert not session.notices.timeouts_paused
            session.notices.dismiss_all()


async def test_toasts_that_are_held_are_let_go_with_their_session(browser: Browser) -> None:
    async with fed() as (host, session, feed), seen(browser, feed) as page:
        other = await host.new_session()
        await page.say("/notice info Read me")
        await page.page.locator(".toast").hover()
        await until(lambda: session.notices.timeouts_paused)
        await page.page.get_by_label("Session", exact=True).select_option(other.id)
        await until(lambda: not session.notices.timeouts_paused)


async def test_a_toast_can_be_read_in_a_small_box_while_a_question_waits(browser: Browser, tmp_path: Path) -> None:
    async with watched(browser, cwd=tmp_path) as (page, _):
        await page.page.set_viewport_size({"width": 840, "height": 480})
        await page.say("/notice warning The disk is almost full\n/edit notes.md")
        await page.question("asks for permission").wait_for()
        text = page.page.locator(".toast").get_by_text("The disk is almost full")
        await text.wait_for()
        in_sight = """words => {
            const box = words.closest('.toasts').getBoundingClientRect(), own = words.getBoundingClientRect();
            const seen = document.elementFromPoint(own.x + 5, own.y + 5);
            return own.top >= box.top && own.bottom <= box.bottom && seen === words;
        }"""
        assert await text.evaluate(in_sight)
