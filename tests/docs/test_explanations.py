"""The pages that explain: their examples run, and what they say of the code is so."""

from __future__ import annotations

import importlib
import inspect
import re
import tomllib
from typing import Any

import pytest

import acp_host
from acp_host.testing import ReferenceAgent
from tests.docs.snippets import ROOT, read_page, run_page, snippets_of


async def test_the_page_on_sans_io() -> None:
    names = await run_page("docs/explanation/sans-io.md")
    assert [type(event).__name__ for event in names["whole"]] == ["ResponseReceived", "SessionNotification"]


async def test_the_page_on_order() -> None:
    async with acp_host.connect(ReferenceAgent().transport()) as host:
        names = await run_page("docs/explanation/order.md", session=await host.new_session())
        assert len(names["seen"]) >= 2
        assert list(host.diagnostics) == []


async def test_the_page_on_the_ladder(capsys: pytest.CaptureFixture[str]) -> None:
    await run_page("docs/explanation/ladder.md")
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("with the draft inject_reminder True")
    assert any(line.startswith("without inject_reminder False") for line in told)
    assert told[-1] == "inject_reminder uncertain"


async def test_the_first_page(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    [example] = snippets_of(read_page("docs/index.md"))
    assert len([line for line in example.splitlines() if line]) <= 10
    names: dict[str, Any] = {}
    code = example.replace("asyncio.run(main())", "").replace('["some-agent", "--acp"]', repr(ReferenceAgent.command()))
    exec(code, names)
    await names["main"]()
    assert capsys.readouterr().out.startswith("completed ")


# --- the architecture -------------------------------------------------------------------------------------------------

ARCHITECTURE = read_page("docs/architecture.md")


def test_the_layers_are_those_that_are_checked() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    [layers] = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    checked = [sorted(re.findall(r"\w+", layer)) for layer in layers]
    table = ARCHITECTURE.partition("## Layers")[2].partition("## The way of an update")[0]
    rows = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    assert [sorted(re.findall(r"`(\w+)`", row)) for row in rows] == checked


def named_code() -> list[tuple[str, str]]:
    """Return the files that the page names, each with the name in it that stands behind; empty for none."""
    return sorted(set(re.findall(r"`(acp_host/[\w/]+\.py)`(?: `([\w.]+)`)?", ARCHITECTURE)))


@pytest.mark.parametrize("file, name", named_code())
def test_what_the_ways_go_through_is_there(file: str, name: str) -> None:
    module = importlib.import_module(file.removesuffix(".py").replace("/", "."))
    value: Any = module
    for part in name.split(".") if name else ():
        value = getattr(value, part)
    if inspect.isclass(value) or inspect.isroutine(value):
        assert inspect.getsourcefile(value) == str(ROOT / file), f"{name} is not written in {file}"


def test_the_picture_has_the_layers_that_matter() -> None:
    picture = (ROOT / "docs/images/architecture.svg").read_text(encoding="utf-8")
    for layer in ("cli", "fleet", "automation", "blocking", "ui", "testing", "replay", "harn", "host", "services"):
        assert re.search(rf">[^<]*\b{layer}\b", picture), layer
    for layer in (
        "reminders",
        "protocol",
        "translate",
        "recording",
        "state",
        "wire",
        "transports",
        "sandbox",
        "quirks",
    ):
        assert re.search(rf">[^<]*\b{layer}\b", picture), layer
