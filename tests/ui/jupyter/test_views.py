"""The views of a widget: who comes, goes, is slow, or is gone without a word."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from acp_host.host.session import Session
from acp_host.ui.feed import Feed
from acp_host.ui.jupyter import views as views_module
from acp_host.ui.jupyter.views import Views
from tests.ui.pages import Page
from tests.ui.watched import fed


class Notebook:
    """What carries the messages between the widget and its pages.

    Attributes:
        views: the kernel's end; set when it is there.
        pages: the pages, by the names of their views.
        mute: names of pages that acknowledge nothing.
        said: what the pages were told beside the feed's messages: the kind, and for which view.
    """

    def __init__(self) -> None:
        self.views: Views
        self.pages: dict[str, Page] = {}
        self.mute: set[str] = set()
        self.said: list[tuple[str, str]] = []
        self.changed = asyncio.Event()

    def tell(self, content: dict[str, Any], buffers: Sequence[bytes]) -> None:
        name, kind, number = content["view"], content["kind"], content["number"]
        self.said.append((kind, name))
        self.changed.set()
        page = self.pages.get(name)
        if page is not None and kind == "message":
            asyncio.get_running_loop().create_task(page.take(buffers[0]))
        if page is not None and kind in ("message", "here") and name not in self.mute:
            asyncio.get_running_loop().call_soon(self.say, name, "took", number)

    def say(self, name: str, kind: str, number: int = 1, **more: Any) -> None:
        self.views.take({"view": name, "kind": kind, "number": number, **more})

    def join(self, name: str) -> Page:
        page = self.pages[name] = Page()

        async def give(command: str) -> None:
            self.say(name, "command", command=command)

        page.give = give
        self.say(name, "join")
        return page

    async def until(self, check: Callable[[], Any]) -> None:
        async with asyncio.timeout(40):
            while not check():
                self.changed.clear()
                await self.changed.wait()


@asynccontextmanager
async def shown() -> AsyncIterator[tuple[Notebook, Session, Feed]]:
    notebook = Notebook()
    async with fed() as (_, session, feed), Views(feed, notebook.tell) as notebook.views:
        yield notebook, session, feed


async def test_each_view_is_a_viewer_and_the_first_one_acts() -> None:
    async with shown() as (notebook, session, feed):
        one, other = notebook.join("one"), notebook.join("other")
        await other.do("resume", session=session.id)
        await one.do("prompt", session=session.id, text="/say Hello")
        await other.until(lambda: "Hello" in other.texts(session.id))
        assert not (await other.ask("prompt", session=session.id, text="/say no"))["ok"]
        assert len(feed.viewers) == 2


async def test_a_view_that_leaves_gives_the_seat_away() -> None:
    async with shown() as (notebook, _, feed):
        notebook.join("one")
        notebook.say("one", "leave")
        assert (feed.viewers, feed.controller, len(notebook.views)) == ((), None, 0)
        notebook.say("one", "leave")  # and nothing more is said of it
        assert ("gone", "one") not in notebook.said


async def test_a_view_that_is_not_known_is_told_so_and_may_come() -> None:
    async with shown() as (notebook, session, _):
        notebook.say("one", "here")
        assert notebook.said == [("gone", "one")]
        page = notebook.join("one")
        await page.do("resume", session=session.id)


async def test_a_view_that_comes_again_begins_anew() -> None:
    async with shown() as (notebook, session, feed):
        page = notebook.join("one")
        await page.do("resume", session=session.id)
        again = notebook.join("one")
        await again.do("resume", session=session.id)
        assert [viewer.number for viewer in feed.viewers] == [2]
        assert feed.controller is feed.viewers[0]


async def test_commands_are_done_in_order() -> None:
    async with shown() as (notebook, session, _):
        page = notebook.join("one")
        await page.do("resume", session=session.id)
        numbers = [await page.send("prompt", session=session.id, text=f"/say {n}") for n in range(20)]
        await page.until(lambda: all(number in page.results for number in numbers))
        await page.until(lambda: page.texts(session.id)[1::2][-1:] == ["19"] and len(page.texts(session.id)) == 40)
        assert page.texts(session.id)[1::2] == [str(n) for n in range(20)]


async def test_a_view_that_acknowledges_nothing_is_told_slowly_and_told_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views_module, "_SLOW", 0.05)
    async with shown() as (notebook, session, _):
        notebook.mute = {"one"}
        page = notebook.join("one")
        await page.do("resume", session=session.id)
        before = len(page.told)
        await session.prompt("/flood 5000\n/say done")
        await page.until(lambda: page.texts(session.id)[-1:] and page.texts(session.id)[-1].endswith("done"))
        assert len(page.told) - before < 40


async def test_a_page_that_was_loaded_again_gets_the_seat_of_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views_module, "_LOST", 0.1)
    async with shown() as (notebook, _, feed):
        before = notebook.join("before")
        await before.until(lambda: before.hello)
        notebook.mute = {"before"}
        after = notebook.join("after")
        await after.until(lambda: len(feed.viewers) == 1 and after.latest["control"]["controller"] == 2)
        notebook.say("before", "here")  # it was there, after all
        assert notebook.said[-1] == ("gone", "before")


async def test_where_nobody_is_heard_nobody_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views_module, "_LOST", 0.01)
    async with shown() as (notebook, session, feed):
        notebook.mute = {"one", "other"}
        one, _ = notebook.join("one"), notebook.join("other")
        await one.do("resume", session=session.id)
        await session.prompt("/slow 3")
        assert len(feed.viewers) == 2


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"view": 1, "kind": "join", "number": 1},
        {"view": "a", "kind": "join"},
        {"view": "a", "kind": 7, "number": 1},
    ],
)
async def test_what_cannot_be_read_is_ignored(content: dict[str, Any]) -> None:
    async with shown() as (notebook, _, feed):
        notebook.views.take(content)
        assert feed.viewers == ()
        notebook.join("one")
        notebook.say("one", "command", command={"id": 1})
        await notebook.join("other").until(lambda: len(feed.viewers) == 2)


async def test_there_is_a_limit_to_views() -> None:
    async with shown() as (notebook, _, feed):
        for number in range(60):
            notebook.say(f"view {number}", "join")
        assert len(feed.viewers) == len(notebook.views) == 50


async def test_the_end_lets_all_go() -> None:
    async with shown() as (notebook, session, feed):
        page = notebook.join("one")
        await page.do("resume", session=session.id)
        await notebook.views.__aexit__()
        assert feed.viewers == ()
        notebook.say("one", "join")
        assert feed.viewers == ()
        await notebook.views.__aenter__()
