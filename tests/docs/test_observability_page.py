"""What the page about observability shows works, and its tables are complete."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path

import attrs
import pytest

import acp_host
from acp_host import PermissionPolicy, Telemetry
from acp_host.testing import ReferenceAgent
from tests.docs.snippets import read_page, run_page
from tests.host.telemetry.telling import Told

PAGE = "docs/observability.md"


async def test_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.md").write_text("notes")
    await run_page(PAGE, folder=tmp_path)
    out = capsys.readouterr().out.splitlines()
    assert {"acp.connect", "initialize", "session/new", "fs/read_text_file"} <= set(out)
    assert "completed ('end_turn',)" in out
    assert "1" in out
    line = json.loads(next(line for line in out if line.startswith("{")))
    assert (line["logger"], line["agent"], line["api_key"]) == ("acp_host", "some-agent", "[redacted]")


def test_every_setting_is_named() -> None:
    page = read_page(PAGE)
    assert all(f"`{field.name}`" in page for field in attrs.fields(Telemetry))


async def test_every_attribute_and_every_metric_is_named(tmp_path: Path) -> None:
    told, page = Told(), read_page(PAGE)
    async with acp_host.connect(
        ReferenceAgent().transport(), telemetry=told.telemetry, files=True, permissions=PermissionPolicy.allow_once()
    ) as host:
        session = await host.new_session(tmp_path)
        await session.prompt("Look around")
        await session.remind("The tests have changed")
    names = {name for span in told.spans() for name in span.attributes or {}}
    names |= {name for points in told.metrics().values() for attributes, _ in points for name in attributes}
    names -= {"rpc.system.name"}
    ends = {f"gen_ai.usage{end}" for end in re.findall(r"`(\.[a-z_.]+)`", page)}
    assert [name for name in sorted(names | {*told.metrics()}) if f"`{name}`" not in page and name not in ends] == []


def test_every_logger_is_named() -> None:
    page = read_page(PAGE)
    loggers = {name for name in logging.root.manager.loggerDict if name.startswith("acp_host.")}
    loggers = {".".join(name.split(".")[:2]) for name in loggers} - {"acp_host.something", "acp_host.testing"}
    assert [name for name in sorted(loggers) if f"`{name}`" not in page] == []
