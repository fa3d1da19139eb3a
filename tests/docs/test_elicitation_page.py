"""What the page about forms and web pages shows works, and its tables hold."""

from __future__ import annotations

import re

import pytest

import acp_host
from acp_host.services.form_reader import MAX_CHOICES, MAX_FIELDS
from acp_host.services.forms import FieldKind
from acp_host.testing import ReferenceAgent
from acp_host.wire.elicitation import ElicitationAcceptAction, ElicitationDeclineAction
from tests.docs.snippets import read_page, run_page
from tests.services.form_strategies import request_of

PAGE = "docs/elicitation.md"


async def test_the_page_on_forms_and_web_pages(capsys: pytest.CaptureFixture[str]) -> None:
    names = await run_page(PAGE, command=ReferenceAgent().transport())
    out = capsys.readouterr().out
    assert "Name * (text) []\n" in out
    assert "Colour (choice) ['Red', 'Blue']\n" in out
    assert "Name: Ada\n" in out
    assert "Colour: Blue (blue)\n" in out
    assert "Height: (left out)\n" in out
    assert "You answered: {'name': 'Ada', 'colour': 'blue', 'age': 36, 'tabs': False}\n" in out
    assert "on example.org by https://example.org/login ()\nhttps://example.org/login\n" in out
    assert "You agreed. [True]\n" in out
    assert list(names["host"].diagnostics) == []

    answer = names["handlers"].form
    needs = request_of({"properties": {"x": {"type": "string"}}, "required": ["x"]})
    assert await answer(needs) == ElicitationDeclineAction()
    has = request_of({"properties": {"x": {"type": "integer", "default": 3}}})
    assert await answer(has) == ElicitationAcceptAction({"x": 3})
    assert isinstance(names["handlers"], acp_host.ElicitationHandlers)


def test_every_kind_and_limit_is_listed() -> None:
    page = read_page(PAGE)
    cells = re.findall(r"^\| (`.*?`) \|", page, re.MULTILINE)
    listed = {word for cell in cells for word in re.findall(r"`([\w-]+)`", cell)}
    assert listed >= set(FieldKind)
    assert f"{MAX_FIELDS:,} fields" in page
    assert f"{MAX_CHOICES:,} values" in page
