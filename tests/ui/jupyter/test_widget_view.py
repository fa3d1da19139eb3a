"""The view of a widget where no notebook is around it."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, expect

from tests.ui.exhibit import exhibition

pytestmark = pytest.mark.asyncio(loop_scope="session")

SHOW = """async (words) => {
  const { default: widget } = await import("/view.js");
  const place = document.createElement("div");
  document.body.append(place);
  const told = { height: 300, agent: "", _words: words };
  const heard = {};
  const model = { get: (name) => told[name], on: (event, take) => (heard[event] = take), off() {}, send() {} };
  widget.render({ model, el: place });
  window.say = (words) => {
    told._words = words;
    heard["change:_words"]();
  };
}"""


async def test_what_goes_wrong_at_the_beginning_is_all_that_is_said(browser: Browser) -> None:
    async with exhibition(browser) as shown:
        page = shown.watched.page
        await page.evaluate(SHOW, "some-agent could not be started: there is no such program")
        widget = page.locator(".acp-widget")
        await expect(widget.get_by_role("status").filter(has_text="could not be started")).to_be_visible()
        connecting = widget.get_by_text("Connecting to the host")
        await expect(connecting).to_be_hidden()
        await page.evaluate("say('')")
        await expect(connecting).to_be_visible()
