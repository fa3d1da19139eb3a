"""Forms and web pages of an agent built on the official Python SDK, which reads every answer by its own types."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import acp_host
from acp_host import ElicitationQueue
from acp_host.services.elicitation_queue import FormQuestion, PageQuestion
from acp_host.services.forms import FieldKind
from tests.interop.test_sdk_agents import PYTHON_SDK_AGENT

SCHEMA = {
    "type": "object",
    "title": "Settings",
    "properties": {
        "name": {"type": "string", "title": "Name", "minLength": 2, "pattern": "^[A-Z]"},
        "mail": {"type": "string", "format": "email"},
        "day": {"type": "string", "format": "date"},
        "colour": {"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "b", "title": "Blue"}]},
        "size": {"type": "string", "enum": ["S", "M"], "default": "M"},
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "ratio": {"type": "number"},
        "really": {"type": "boolean", "default": False},
        "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}, "maxItems": 2},
    },
    "required": ["name"],
}


async def next_question(queue: ElicitationQueue) -> Any:
    async for pending in queue.watch():
        if pending:
            return pending[0]


async def test_a_form_with_every_kind_of_field(folder: Path) -> None:
    queue = ElicitationQueue()
    async with acp_host.connect(PYTHON_SDK_AGENT, elicitation=queue) as host:
        session = await host.new_session(cwd=folder)
        turn = session.prompt(f"ask {json.dumps(SCHEMA)}")
        question = await next_question(queue)
        assert isinstance(question, FormQuestion)
        assert (question.form.message, question.form.title) == ("Which ones?", "Settings")
        kinds = {field.name: field.kind for field in question.form.fields}
        assert set(kinds.values()) == set(FieldKind) - {FieldKind.URI, FieldKind.DATE_TIME, FieldKind.UNKNOWN}
        typed = {"name": "Ada", "mail": "ada@example.org", "day": "2025-01-31", "colour": "b", "count": "3"}
        for name, text in {**typed, "ratio": "0.5", "tags": ["c", "a"]}.items():
            question.type_in(name, text)
        review = await question.review()
        assert review.errors == ()
        question.accept(review)
        told = json.loads((await turn).text)
    assert told == {
        "action": "accept",
        "content": {**typed, "size": "M", "count": 3, "ratio": 0.5, "really": False, "tags": ["c", "a"]},
    }
    assert list(host.diagnostics) == []


async def test_a_form_that_is_declined_and_one_that_is_cancelled_with_its_turn(folder: Path) -> None:
    queue = ElicitationQueue()
    async with acp_host.connect(PYTHON_SDK_AGENT, elicitation=queue) as host:
        session = await host.new_session(cwd=folder)
        turn = session.prompt(f"ask {json.dumps(SCHEMA)}")
        (await next_question(queue)).decline()
        assert json.loads((await turn).text) == {"action": "decline"}
        turn = session.prompt(f"ask {json.dumps(SCHEMA)}")
        question = await next_question(queue)
        turn.cancel()
        await turn
        assert json.loads(turn.text) == {"action": "cancel"}
        assert question.expired


async def test_a_page_that_is_visited(folder: Path) -> None:
    opened: list[str] = []
    queue = ElicitationQueue(opener=opened.append)
    async with acp_host.connect(PYTHON_SDK_AGENT, elicitation=queue) as host:
        session = await host.new_session(cwd=folder)
        turn = session.prompt("visit https://example.org/login?next=%2F")
        question = await next_question(queue)
        assert isinstance(question, PageQuestion)
        assert question.address.host == "example.org"
        assert opened == []
        await question.open()
        assert json.loads((await turn).text) == {"action": "accept"}
    assert opened == ["https://example.org/login?next=%2F"]
    assert [visit.completed for visit in queue.visits] == [True]
    assert list(host.diagnostics) == []
