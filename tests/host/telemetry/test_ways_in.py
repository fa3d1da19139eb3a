"""``telemetry=`` of everything that connects."""

from __future__ import annotations

import asyncio
from pathlib import Path

from opentelemetry.trace import get_current_span

import acp_host
from acp_host import fleet
from acp_host.fleet import Job
from acp_host.testing import ReferenceAgent
from tests.host.telemetry.telling import Told


def test_blocking(tmp_path: Path) -> None:
    told = Told()
    with (
        told.provider.get_tracer("application").start_as_current_span("job"),
        acp_host.blocking.connect(ReferenceAgent.command(), telemetry=told.telemetry) as host,
    ):
        job = get_current_span().get_span_context().span_id
        host.new_session(tmp_path).prompt("/say Hello").wait()
    turn = told.span("invoke_agent")
    assert turn.parent is not None
    assert turn.parent.span_id == job
    assert told.open == []


async def test_run_prompt(tmp_path: Path) -> None:
    told = Told()
    with told.provider.get_tracer("application").start_as_current_span("job"):
        result = await acp_host.run_prompt(
            ReferenceAgent.command(), "/say Hello", cwd=tmp_path, telemetry=told.telemetry
        )
    assert result.completed
    turn, job = told.span("invoke_agent"), told.span("job")
    assert turn.parent is not None
    assert turn.parent.span_id == job.context.span_id


async def test_a_fleet(tmp_path: Path) -> None:
    told = Told()
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
    jobs = [Job(prompt="/say Hello", cwd=folder) for folder in folders]
    async with asyncio.timeout(50):
        report = await fleet.run(jobs, agent=ReferenceAgent.command(), telemetry=told.telemetry, progress=False)
    assert report.summary.outcomes["completed"] == 2
    assert len(told.spans("invoke_agent")) == 2
    assert told.open == []
