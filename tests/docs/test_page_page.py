"""The examples of ``docs/page.md`` run in a browser."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import Browser, Route, expect

from tests.docs.snippets import read_page
from tests.ui.exhibit import Exhibition
from tests.ui.watched import ORIGIN, POLICY, Watched, fed, opened, seen

pytestmark = pytest.mark.asyncio(loop_scope="session")

PAGE = read_page("docs/page.md")


def example(name: str) -> str:
    found = re.search(rf"^```\w+ example={name}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


async def put_in(page: Watched, script: str) -> None:
    """Let the page load another script in place of its own."""

    async def answer(route: Route) -> None:
        headers = {"content-type": "text/javascript", "content-security-policy": POLICY}
        await route.fulfill(body=script, headers=headers)

    await page.page.route(f"{ORIGIN}/page.js", answer)
    await page.page.reload()


async def test_the_view_is_mounted_on_a_socket(browser: Browser) -> None:
    async with fed() as (_, __, feed), seen(browser, feed) as page:
        await put_in(page, example("socket"))
        await page.say("/say Hello")
        await expect(page.transcript).to_contain_text("Hello")


async def test_the_view_is_mounted_on_a_transport_of_ones_own(browser: Browser) -> None:
    async with opened(browser, Exhibition().connected) as page:
        await put_in(page, example("port"))
        await page.page.evaluate(
            """() => {
              const { port1, port2 } = new MessageChannel();
              window.end = window.show(document.getElementById("view"), port1);
              port2.postMessage({ type: "hello", feed: 1, agent: { name: "Ada" }, viewer: 1, sessions: [] });
            }"""
        )
        await expect(page.page.get_by_role("heading", name="Ada")).to_be_visible()
        await page.page.evaluate("window.end()")
        await expect(page.page.locator("#view > *")).to_have_count(0)


async def test_the_view_takes_the_look_of_what_is_around_it(browser: Browser) -> None:
    async with opened(browser, Exhibition().connected, color_scheme="light") as page:
        await put_in(page, EMBEDDED)
        await page.page.evaluate("theme => window.embed(theme)", example("theme"))
        view = page.page.locator(".acp-view")
        await expect(view.get_by_role("button", name="Panels")).to_have_attribute("aria-expanded", "false")
        await view.get_by_role("button", name="Panels").click()
        await expect(view.get_by_role("tabpanel")).to_be_visible()
        await view.get_by_role("tab", name="Reminders").focus()
        await page.page.keyboard.press("F6")
        await expect(view.get_by_label("Session", exact=True)).to_be_focused()
        look = "e => [getComputedStyle(e).backgroundColor, getComputedStyle(e).color, e.clientHeight]"
        assert await view.evaluate(look) == ["rgb(250, 240, 230)", "rgb(28, 33, 40)", 480]
        await page.page.evaluate("document.body.dataset.jpThemeLight = 'false'")
        assert await view.evaluate(look) == ["rgb(250, 240, 230)", "rgb(228, 231, 236)", 480]


EMBEDDED = """
import { mount } from "./view.js";

const state = {
  format: 1, sessionId: "s", version: 1, transcript: { first: 0, entries: [] }, plans: [], commands: [],
  options: { entries: [] }, info: { title: null }, usage: { used: null, size: null, cost: null }, subagents: {},
  terminals: {}, turn: { status: "idle", queued: [], outcome: null }, health: { status: "idle", detail: "" },
  reminders: { entries: [] }, notices: { toasts: [], history: [], total: 0 }, injections: {}, harn: null,
};
const transport = {
  open(receive, connected) {
    connected("open");
    receive({ type: "hello", feed: 1, agent: { name: "Ada" }, viewer: 1, sessions: [{ id: "s", title: null }] });
    receive({ type: "snapshot", session: "s", version: 1, state });
  },
  send() {},
  close() {},
};
window.embed = async (theme) => {
  const style = new CSSStyleSheet();
  style.replaceSync(`${theme} .in-jupyterlab { --jp-layout-color1: linen; display: block; width: 600px }`);
  document.adoptedStyleSheets = [style];
  const place = document.createElement("div");
  place.className = "in-jupyterlab";
  document.body.replaceChildren(place);
  const shadow = place.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(await (await fetch("view-style.css")).text());
  shadow.adoptedStyleSheets = [sheet];
  mount(shadow, transport);
};
"""
"""A page of JupyterLab's kind, with the view in a shadow root."""
