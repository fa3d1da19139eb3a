"""``python -m tests.ui.smoothness``: how long the page's main thread is busy at a time while much happens.

A session of 10,000 entries of all kinds, 200 updates a second, and somebody who scrolls meanwhile, over a real server.
A task is measured twice: by the browser's own ``longtask`` observer, in time of the clock, and by the trace of the
thread, in time of the processor. Only the second says something on a machine that is busy with other things.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import time
from pathlib import Path
from typing import Any

from attrs import define, field
from playwright.async_api import Browser, CDPSession, async_playwright

import acp_host
from acp_host.testing import AgentTurn, ReferenceAgent
from acp_host.ui.feed import Feed
from acp_host.ui.serve import serve_feed
from acp_host.wire.content import TextContent
from acp_host.wire.tool_calls import Diff
from acp_host.wire.updates import AgentMessageChunk, AgentThoughtChunk
from tests.browsers import CHROMIUM, arguments

__all__ = ["Measured", "measure"]

UPDATES = 200
"""Updates in a second."""
ENTRIES = 10_000
_LIMIT = 50.0
"""Milliseconds from which a task is long, by the W3C's Long Tasks."""
_TEXT = """## Step {0}

The parser reads `dates.py` and finds **two** places; see [the issue](https://example.org/issues/{0}).

- the first one is easy,
- the second one needs a look at `{0}` other files.

```python
def parse_date(text: str) -> date:
    return datetime.strptime(text, "%d.%m.%Y").date()  # {0}
```
"""
_OLD = "".join(f"line {number} of a file that is read\n" for number in range(40))


@define
class Measured:
    """What was measured.

    Attributes:
        updates: how many were sent.
        seconds: how long that took.
        tasks: milliseconds of processor time of the main thread's tasks, the longest first.
        longest_at: when the longest one began, in seconds from the loading of the page.
        long_tasks: what the browser itself calls long tasks, by the clock, while all this was streamed: when each
            began, in seconds from the first update, and how many milliseconds it took.
        loading: those before, while the page was loaded.
        frames: how many frames were drawn.
    """

    updates: int = 0
    seconds: float = 0.0
    tasks: list[float] = field(factory=list)
    longest_at: float = 0.0
    long_tasks: list[tuple[float, float]] = field(factory=list)
    loading: list[tuple[float, float]] = field(factory=list)
    frames: int = 0

    @property
    def longest(self) -> float:
        """The longest task, in milliseconds of processor time."""
        return self.tasks[0] if self.tasks else 0.0

    def __str__(self) -> str:
        worst = ", ".join(f"{task:.0f}" for task in self.tasks[:5])
        rate, frames = self.updates / self.seconds, self.frames / self.seconds
        return (
            f"{self.updates:,} updates in {self.seconds:.0f} s ({rate:.0f}/s), {frames:.0f} frames/s; "
            f"longest tasks of the main thread: {worst} ms of the processor, the first at {self.longest_at:.1f} s; "
            f"long tasks by the clock: {_told(self.long_tasks)}, and while the page was loaded: {_told(self.loading)}"
        )


def _told(long_tasks: list[tuple[float, float]]) -> str:
    worst = sorted(long_tasks, key=lambda task: task[1], reverse=True)[:5]
    return ", ".join(f"{took:.0f} ms at {began:.1f} s" for began, took in worst) or "none"


async def _many(turn: AgentTurn, entries: int, weight: int) -> None:
    """Make a long session: messages, thoughts, and tool calls with changes, in turn."""
    for number in range(entries // 4):
        turn.send(AgentMessageChunk(TextContent(_TEXT.format(number) * weight), message_id=f"m{number}"))
        turn.send(AgentThoughtChunk(TextContent(f"Is it so? {number}"), message_id=f"t{number}"))
        async with turn.tool_call(f"Read file {number}", kind="read") as call:
            call.start()
        async with turn.tool_call(f"Edit file {number}", kind="edit") as call:
            call.start()
            call.show(Diff(path="dates.py", old_text=_OLD * weight, new_text=f"{_OLD}one more\n" * weight))
        await asyncio.sleep(0)


class _Script:
    """The agent's part: a long past, and then as many updates as wanted."""

    def __init__(self, seconds: float, entries: int, weight: int) -> None:
        self.measured = Measured()
        self._seconds = seconds
        self._entries = entries
        self._weight = weight

    async def __call__(self, turn: AgentTurn) -> None:
        if turn.text == "past":
            await _many(turn, self._entries, self._weight)
        else:
            await self._stream(turn)

    async def _stream(self, turn: AgentTurn) -> None:
        began = time.monotonic()
        words = _TEXT.format(1).split(" ")
        while (now := time.monotonic()) - began < self._seconds:
            while self.measured.updates < (now - began) * UPDATES:
                await self._one(turn, words)
            await asyncio.sleep(0.005)
        self.measured.seconds = time.monotonic() - began

    async def _one(self, turn: AgentTurn, words: list[str]) -> None:
        number = self.measured.updates
        self.measured.updates += 1
        if number % 400 == 399:
            async with turn.tool_call(f"Check {number}", kind="execute") as call:
                call.start()
        else:
            turn.send(AgentMessageChunk(TextContent(words[number % len(words)] + " ")), keep=False)


async def measure(
    browser: Browser, *, seconds: float, entries: int = ENTRIES, weight: int = 1, profile: Path | None = None
) -> Measured:
    """Measure.

    Args:
        browser: shows the page.
        seconds: how long.
        entries: how many there are before.
        weight: how large each is.
        profile: the file for a profile of the processor, as DevTools reads it.
    """
    script = _Script(seconds, entries, weight)
    async with (
        acp_host.connect(ReferenceAgent(script=script).transport()) as host,
        Feed(host) as feed,
        serve_feed(feed) as served,
    ):
        session = await host.new_session()
        await session.prompt("past")
        context = await browser.new_context(viewport={"width": 1200, "height": 800})
        page = await context.new_page()
        await page.add_init_script(_WATCH)
        devtools = await context.new_cdp_session(page)
        trace = _Trace(devtools)
        await trace.begin()
        if profile is not None:
            await devtools.send("Profiler.enable")
            await devtools.send("Profiler.setSamplingInterval", {"interval": 200})
            await devtools.send("Profiler.start")
        await page.goto(served.url)
        await page.evaluate(_DRAWN)
        turn = session.prompt("stream")
        await page.evaluate(_SCROLL, seconds)
        await turn
        if profile is not None:
            told = await devtools.send("Profiler.stop")
            await asyncio.to_thread(profile.write_text, json.dumps(told["profile"]))
        measured = script.measured
        await trace.end(measured)
        began = await page.evaluate("window.scrollBegan")
        for start, took in await page.evaluate("window.longTasks"):
            (measured.loading if start < began else measured.long_tasks).append(((start - began) / 1000, took))
        measured.frames = await page.evaluate("window.frameCount")
        await context.close()
    return measured


class _Trace:
    """The tasks of the page's main thread."""

    def __init__(self, devtools: CDPSession) -> None:
        self._devtools = devtools
        self._events: list[dict[str, Any]] = []
        self._complete = asyncio.Event()
        devtools.on("Tracing.dataCollected", lambda told: self._events.extend(told["value"]))
        devtools.on("Tracing.tracingComplete", lambda _: self._complete.set())

    async def begin(self) -> None:
        config = {"includedCategories": ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline"]}
        await self._devtools.send("Tracing.start", {"traceConfig": config, "transferMode": "ReportEvents"})

    async def end(self, measured: Measured) -> None:
        """Stop, and fill in what was seen."""
        await self._devtools.send("Tracing.end")
        await self._complete.wait()
        mains = {
            (event["pid"], event["tid"])
            for event in self._events
            if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
        }
        tasks = [
            event
            for event in self._events
            if event["name"] == "RunTask" and "tdur" in event and (event["pid"], event["tid"]) in mains
        ]
        tasks.sort(key=lambda event: event["ts"])
        began = tasks[0]["ts"]
        # One that holds others is no task of the page: it is how DevTools make the page wait.
        inner = [task for task, after in itertools.pairwise(tasks) if after["ts"] >= task["ts"] + task["dur"]]
        inner.sort(key=lambda event: event["tdur"], reverse=True)
        measured.tasks = [event["tdur"] / 1000 for event in inner]
        measured.longest_at = (inner[0]["ts"] - began) / 1e6


# A locator would bring a large script of its own into the page, whose reading is a task like any other.
_DRAWN = """() => new Promise((done) => {
  const look = () => (document.querySelector("article") ? done() : setTimeout(look, 20));
  look();
})"""
_WATCH = """
window.longTasks = [];
window.frameCount = 0;
new PerformanceObserver((list) => {
  for (const task of list.getEntries()) window.longTasks.push([task.startTime, task.duration]);
}).observe({ type: "longtask", buffered: true });
"""
_SCROLL = """(seconds) => new Promise((done) => {
  const began = window.scrollBegan = performance.now();
  const scroller = document.querySelector(".transcript");
  const step = () => {
    const passed = (performance.now() - began) / 1000;
    window.frameCount++;
    if (passed > seconds) return done();
    // Six seconds: up slowly, up fast, somewhere else, and at the end again.
    const phase = passed % 6;
    if (phase < 2) scroller.scrollTop -= 40;
    else if (phase < 3) scroller.scrollTop -= 900;
    else if (phase < 4) scroller.scrollTop += 300;
    else if (phase < 4.1) document.querySelector(".to-end")?.click();
    requestAnimationFrame(step);
  };
  step();
})"""


async def _main() -> None:
    parser = argparse.ArgumentParser(description="Measure how smooth the page stays.")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--profile", type=Path, help="write a profile of the processor there, as DevTools reads it")
    options = parser.parse_args()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=arguments())
        measured = await measure(browser, seconds=options.seconds, profile=options.profile)
        await browser.close()
    print(measured)
    late = sum(task > _LIMIT for task in measured.tasks)
    raise SystemExit(f"{late} tasks took longer than {_LIMIT:.0f} ms" if late else 0)


if __name__ == "__main__":
    asyncio.run(_main())
