"""What Harn's bridge tells of the calls of the model."""

from __future__ import annotations

from typing import Any

from acp_host.state.harn.model_calls import MAX_CALLS, MAX_TEXT, ModelCall
from tests.harn.harness import Desk, updates

FRAMES = [
    update
    for update in updates("derived_unadvertised_bridge_frames.json")
    if update["sessionUpdate"].startswith("call_")
]


def told(kind: str, call_id: str = "c", **members: Any) -> dict[str, Any]:
    return {"sessionUpdate": f"call_{kind}", "content": {"toolCallId": call_id, **members}}


def test_a_call_from_its_beginning_to_its_end() -> None:
    desk = Desk().take(*FRAMES)
    assert desk.harn.model_calls == {
        "c-1": ModelCall(
            call_id="c-1",
            call_type="llm",
            name="chat",
            script="main.harn",
            status="ok",
            ended=True,
            tokens=1,
            text="he",
            duration_ms=12,
            metadata={},
        )
    }
    assert len(desk.state.snapshot().transcript) == 0
    desk.assert_exact()


def test_only_what_a_user_may_see_is_text() -> None:
    progress = [
        {"delta": "<a>", "visible_delta": "", "user_visible": True},
        {"delta": "b", "user_visible": True},
        {"delta": "<c>", "visible_delta": "c", "visible_text": "bc", "user_visible": True},
        {"delta": "d", "visible_delta": "d", "user_visible": False},
        {"delta": "e", "visible_delta": "e"},
    ]
    desk = Desk().take(*(told("progress", **members) for members in progress))
    assert desk.harn.model_calls["c"].text == "bc"


def test_a_call_that_is_heard_of_late() -> None:
    desk = Desk().take(told("progress", accumulated_tokens=5), told("end", status="error"), told("start", name="chat"))
    call = desk.harn.model_calls["c"]
    assert (call.tokens, call.status, call.ended, call.name) == (5, "error", True, "chat")


def test_they_are_bounded() -> None:
    desk = Desk().take(told("progress", delta="x" * MAX_TEXT + "y", user_visible=True))
    desk.take(*(told("end", str(number)) for number in range(MAX_CALLS)))
    assert len(desk.harn.model_calls) == MAX_CALLS
    text = desk.harn.model_calls["c"].text
    assert (len(text), text[-1]) == (MAX_TEXT, "y")
