"""What the page about connections that come back shows works, and the tables on it hold."""

from __future__ import annotations

import re
from pathlib import Path

import attrs
import pytest

from acp_host import ConnectionStatus, ReconnectPolicy
from tests.docs.snippets import read_page, run_page

PAGE = "docs/reconnection.md"


async def test_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = await run_page(PAGE, folder=tmp_path)
    out = capsys.readouterr().out
    assert out.startswith("connected\n")
    assert "True; False; Let me look." in out
    assert "['Looking around'] () ()" in out
    assert "\nHere again\n" in out
    assert "connected 0\n" in out
    assert f"{names['session'].id} resume nothing \n" in out
    assert names["host"].closed


def test_every_status_and_every_part_of_a_policy_is_named() -> None:
    page = read_page(PAGE)
    assert all(f"`{status}`" in page for status in ConnectionStatus)
    assert all(f"`{field.name}`" in page for field in attrs.fields(ReconnectPolicy))


def test_the_defaults_are_as_the_page_says() -> None:
    rows = dict(re.findall(r"^\| (`[a-z_`, ]+`) \| ([^|]+) \|", read_page(PAGE), re.MULTILINE))
    policy = ReconnectPolicy()
    assert rows["`budget`, `tries`"].strip() == f"{policy.budget:g} s, {policy.tries}"
    assert rows["`calls_wait`"].strip() == f"{policy.calls_wait:g} s"
    assert rows["`session_timeout`"].strip() == f"{policy.session_timeout:g} s"
    assert rows["`stable_after`"].strip() == f"{policy.stable_after:g} s"
    assert rows["`jitter`"].strip() == f"{policy.jitter:g}"
    waits = f"{policy.first_delay:g} s, {policy.factor:g}, {policy.longest_delay:g} s"
    assert rows["`first_delay`, `factor`, `longest_delay`"].strip() == waits
