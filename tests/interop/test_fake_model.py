"""The fake model itself: no agent is needed for these."""

from __future__ import annotations

import http.client
import json
from typing import Any

import pytest

from tests.interop.fake_model import CLOSING_TEXT, FakeModel, answer_for

WRITE = {
    "type": "function",
    "function": {
        "name": "write_file",
        "parameters": {
            "type": "object",
            "properties": {
                "file_path": {"type": "string"},
                "content": {"type": "string"},
                "overwrite": {"type": "boolean"},
                "encoding": {"type": "string"},
            },
            "required": ["file_path", "content", "overwrite"],
        },
    },
}
CALLED = {"role": "assistant", "content": "", "tool_calls": [{"id": "call_1"}]}


def request(*messages: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {"model": "fake-model", "messages": list(messages), "tools": [WRITE], **members}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def test_lines_are_played_one_for_each_tool_call() -> None:
    script = user("Please\n!think hm\n!write /a/b two words\n!say done")
    first = answer_for(request(script))
    assert (first.thought, first.tool) == ("hm", "write_file")
    assert first.arguments == {"file_path": "/a/b", "content": "two words\n", "overwrite": False}
    assert answer_for(request(script, CALLED)).text == "done"
    assert answer_for(request(script, CALLED, CALLED)).text == CLOSING_TEXT


def test_only_the_last_script_counts() -> None:
    conversation = [user("!write /a b"), CALLED, user("!say second"), user("a reminder without a script")]
    assert answer_for(request(*conversation)).text == "second"


def test_a_side_task_gets_no_part_of_the_script() -> None:
    assert answer_for(request(user("!write /a b"), tools=[])).tool is None


def ask(model: FakeModel, body: dict[str, Any]) -> tuple[int, str]:
    address = model.url.removeprefix("http://").removesuffix("/v1")
    connection = http.client.HTTPConnection(address, timeout=10)
    try:
        connection.request("POST", "/v1/chat/completions", json.dumps(body))
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def test_streamed_and_whole_answers_say_the_same() -> None:
    with FakeModel() as model:
        body = request(user("!think why not\n!write /a some text"))
        status, whole = ask(model, body)
        assert status == 200
        message = json.loads(whole)["choices"][0]["message"]
        status, stream = ask(model, body | {"stream": True})
        assert status == 200
        assert len(model.requests) == 2
    events = [line.removeprefix("data: ") for line in stream.split("\n\n") if line]
    assert events.pop() == "[DONE]"
    deltas = [choice["delta"] for event in events for choice in json.loads(event)["choices"]]
    for member in ("content", "reasoning_content"):
        assert "".join(delta.get(member, "") for delta in deltas) == message[member]
    arguments = "".join(delta["tool_calls"][0]["function"]["arguments"] for delta in deltas if "tool_calls" in delta)
    assert arguments == message["tool_calls"][0]["function"]["arguments"]


def test_a_scripted_failure_is_an_http_error() -> None:
    with FakeModel() as model:
        assert ask(model, request(user("!fail 418")))[0] == 418


def test_a_fault_of_the_server_is_told_to_its_owner() -> None:
    with pytest.raises(ValueError, match="invalid literal"), FakeModel() as model:
        assert_hung_up(model)


def assert_hung_up(model: FakeModel) -> None:
    with pytest.raises(http.client.RemoteDisconnected):
        ask(model, request(user("!slow many")))
