"""``make soak``: many agents and sessions for a long time, and whether anything grows.

Of ten agents, six are left alone, two have their process killed now and then, and two are behind a WebSocket that is
cut now and then. Every session streams, edits files with permission, runs commands, reminds and is told notices.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import os
import secrets
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
from attrs import frozen

from tests.soak.load import Load
from tests.soak.plot import plot
from tests.soak.report import keep, lines
from tests.soak.samples import Sample, sample, verdicts

TOKEN = "ACP_HOST_SOAK_TOKEN"
DOCS = Path(__file__).parents[2] / "docs"


@frozen
class Plan:
    """How a soak is run.

    Attributes:
        minutes: how long it is measured.
        warm_up: minutes before that, in which what is kept up to a limit reaches it.
        agents: how many.
        sessions: of all agents together.
        rate: turns per second, of all sessions together.
    """

    minutes: float
    warm_up: float
    agents: int
    sessions: int
    rate: float


async def soak(plan: Plan) -> tuple[list[Sample], Load, list[str]]:
    """Run the load; return the samples, the load, and what was left behind."""
    load = Load(max(1, plan.sessions // plan.agents), rest=plan.sessions / plan.rate, seed=1)
    async with _served_agent() as (url, token):
        before = _held()
        async with asyncio.TaskGroup() as tasks:
            for number in range(plan.agents):
                match number % 10:
                    case 3 | 7:
                        tasks.create_task(load.killed())
                    case 4 | 8:
                        tasks.create_task(load.cut(url, token))
                    case _:
                        tasks.create_task(load.steady())
            await _sampled(load, plan.warm_up, "warming up")
            samples = await _sampled(load, plan.minutes)
            load.stop()
        left = await _left_behind(before)
    return samples, load, left


async def _sampled(load: Load, minutes: float, note: str = "") -> list[Sample]:
    """Look at this process time and again."""
    samples: list[Sample] = []
    started, looks = time.monotonic(), max(16, round(minutes * 4))
    load.waits = []
    for look in range(1, looks + 1):
        await asyncio.sleep(started + minutes * 60 * look / looks - time.monotonic())
        waits, load.waits = load.waits, []
        samples.append(sample((time.monotonic() - started) / 60, waits, load.counts["turns"]))
        print(_line(samples[-1]), note, flush=True)
    return samples


@asynccontextmanager
async def _served_agent() -> AsyncIterator[tuple[str, str]]:
    """Start an agent of its own process that is reached over WebSocket."""
    token = secrets.token_urlsafe(32)
    command = [sys.executable, "-m", "acp_host", "agent", "--ws", "--token-env", TOKEN]
    process = await asyncio.create_subprocess_exec(
        *command, env={**os.environ, TOKEN: token}, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(30):
            while not (line := (await process.stdout.readline()).decode().strip()).startswith("ws://"):
                assert line or not process.stdout.at_eof(), "the served agent has ended"
        yield line, token
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


def _held() -> tuple[int, int, int]:
    process = psutil.Process()
    return process.num_fds(), len(asyncio.all_tasks()), len(process.children(recursive=True))


async def _left_behind(before: tuple[int, int, int]) -> list[str]:
    """Return what is still there after everything was closed, and was not there before."""
    for _ in range(50):  # what ends does so within moments
        gc.collect()
        now = _held()
        if all(new <= old for new, old in zip(now, before, strict=True)):
            return []
        await asyncio.sleep(0.1)
    names = ("descriptors", "tasks", "processes")
    return [
        f"{name}: {old} before, {new} after" for name, old, new in zip(names, before, now, strict=True) if new > old
    ]


def _line(each: Sample) -> str:
    return (
        f"{each.minute:6.1f} min  {each.memory:7.1f} MiB, agents {each.agents:7.1f} MiB  "
        f"{each.descriptors:5} descriptors  {each.tasks:5} tasks  "
        f"{each.wait * 1_000:7.1f} ms, 99 of 100 {each.slowest * 1_000:7.1f} ms  "
        f"load {each.load:4.1f}  {each.turns:8,} turns"
    )


def main() -> int:
    """Run the command; the status is 1 where something has grown, hung or was left behind."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=str(__doc__).split("\n", 1)[0])
    parser.add_argument("--minutes", type=float, default=30.0, metavar="N", help="how long it is measured")
    parser.add_argument("--warm-up", type=float, default=6.0, metavar="N", help="minutes before that")
    parser.add_argument("--agents", type=int, default=50, metavar="N")
    parser.add_argument("--sessions", type=int, default=500, metavar="N", help="of all agents together")
    parser.add_argument("--rate", type=float, default=15.0, metavar="N", help="turns per second, of all sessions")
    parser.add_argument(
        "--report", action="store_true", help="keep table and plot (docs/soak.md, docs/images/soak.svg)"
    )
    options = parser.parse_args()
    plan = Plan(options.minutes, options.warm_up, options.agents, options.sessions, options.rate)
    samples, load, left = asyncio.run(soak(plan))
    found = verdicts(samples)
    report = lines(samples, found, load.counts, load.surprises, left)
    print("", *report, sep="\n")
    if options.report:
        keep(report, DOCS / "soak.md")
        (DOCS / "images" / "soak.svg").write_text(plot(samples), encoding="utf-8")
    return int(bool(left or load.surprises or not all(each.flat for each in found)))


if __name__ == "__main__":
    sys.exit(main())
