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
    found = re.search(rf"^```js example={name}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
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
