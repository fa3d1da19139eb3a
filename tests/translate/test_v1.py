"""ACP v1 updates as session events: every kind has its effect, or is kept as unknown."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from acp_host.state import events
from acp_host.state.entries import Speaker
from acp_host.translate.v1 import opened, translate
from acp_host.wire._model import UNSET
from acp_host.wire.config_options import SessionConfigBoolean, SessionMode, SessionModeState
from acp_host.wire.content import TextContent
from acp_host.wire.converters import structure_tolerant
from acp_host.wire.notices import Notice
from acp_host.wire.plans import PlanEntry, PlanItems
from acp_host.wire.session import ForkSessionResponse, LoadSessionResponse, NewSessionResponse, ResumeSessionResponse
from acp_host.wire.subagents import SubagentUpdate
from acp_host.wire.tool_calls import ToolCall, ToolCallUpdate
from acp_host.wire.updates import SessionUpdate, UnknownSessionUpdate
from acp_host.wire.usage import Cost
from tests.state.session_events import Folding

TEXT = {"type": "text", "text": "Hi"}

UPDATES: dict[str, dict[str, Any]] = {
    "user_message_chunk": {"content": TEXT},
    "agent_message_chunk": {"content": TEXT},
    "agent_thought_chunk": {"content": TEXT},
    "tool_call": {"toolCallId": "c", "title": "Read"},
    "tool_call_update": {"toolCallId": "c"},
    "plan": {"entries": []},
    "plan_update": {"plan": {"type": "markdown", "planId": "p", "content": "# Do"}},
    "plan_removed": {"planId": "p0"},
    "available_commands_update": {"availableCommands": [{"name": "web", "description": ""}]},
    "current_mode_update": {"currentModeId": "ask"},
    "config_option_update": {
        "configOptions": [{"type": "boolean", "id": "fast", "name": "Fast", "currentValue": True}]
    },
    "session_info_update": {"title": "Fix"},
    "usage_update": {"used": 1, "size": 2},
    "compaction_update": {"compactionId": "k", "status": "in_progress"},
    "compaction_summary_chunk": {"compactionId": "k", "content": TEXT},
    "subagent_update": {"sessionId": "child"},
    "session_message": {"messageId": "m"},
    "session_message_chunk": {"messageId": "m", "content": TEXT},
    "weather": {"sky": "blue"},
}
"""One of each kind, by its tag; the last is of a kind that nobody knows."""


def read(kind: str, **more: Any) -> Any:
    update, repairs = structure_tolerant({"sessionUpdate": kind, **UPDATES[kind], **more}, SessionUpdate)
    assert repairs == []
    return update


def test_the_table_has_every_kind_of_the_union_but_notices():
    assert {type(read(kind)) for kind in UPDATES} == set(SessionUpdate.__args__) - {Notice}


@pytest.mark.parametrize("kind", UPDATES)
def test_every_kind_has_an_effect(kind):
    folding = Folding(events.PlanReplaced("p0", PlanItems("p0", ())))
    before = folding.snapshot
    after = folding.fold(translate(read(kind))).snapshot
    changed = [
        attribute.name
        for attribute in attrs.fields(type(after))
        if attribute.name != "version" and getattr(before, attribute.name) is not getattr(after, attribute.name)
    ]
    assert len(set(changed) - {"options"}) == 1  # which is told of in forms of its own


def test_notices_are_no_events_of_the_conversation():
    update, _ = structure_tolerant({"sessionUpdate": "notice", "severity": "info", "title": "Hi"}, SessionUpdate)
    assert isinstance(update, Notice)
    assert translate(update) is None


@pytest.mark.parametrize("kind", UPDATES)
def test_the_same_update_gives_the_same_event(kind):
    update = read(kind)
    assert translate(update) == translate(update)


@pytest.mark.parametrize(
    ("kind", "speaker"),
    [
        ("user_message_chunk", Speaker.USER),
        ("agent_message_chunk", Speaker.ASSISTANT),
        ("agent_thought_chunk", Speaker.THOUGHT),
    ],
)
@pytest.mark.parametrize(
    ("said", "message_id"),
    [({}, None), ({"messageId": None}, None), ({"messageId": ""}, None), ({"messageId": "m"}, "m")],
)
def test_messages(kind, speaker, said, message_id):
    assert translate(read(kind, **said)) == events.MessageChunk(speaker, TextContent("Hi"), message_id)


def test_tool_calls():
    assert translate(read("tool_call")) == events.ToolCallReported(ToolCall("c", "Read"), announced=True)
    assert translate(read("tool_call_update", title=None)) == events.ToolCallReported(
        ToolCallUpdate("c", title=None), announced=False
    )


def test_plans():
    entry = {"content": "do", "priority": "high", "status": "pending"}
    assert translate(read("plan", entries=[entry], _meta={"a": 1}, title="mine")) == events.PlanReplaced(
        None, PlanItems("", (PlanEntry("do", "high", "pending"),), meta={"a": 1}, extra={"title": "mine"})
    )
    assert translate(read("plan_update")).plan_id == "p"
    assert translate(read("plan_removed")) == events.PlanRemoved("p0")


@pytest.mark.parametrize(
    ("plan", "plan_id"),
    [({"type": "gantt", "planId": "g"}, "g"), ({"type": "gantt"}, None), ({"type": "gantt", "planId": 5}, None)],
)
def test_a_plan_of_an_unknown_kind_has_its_id_if_it_says_one(plan, plan_id):
    event = translate(read("plan_update", plan=plan))
    assert event.plan_id == plan_id
    assert event.content.data == plan


def test_settings():
    assert translate(read("current_mode_update")) == events.ModeChanged("ask")
    assert translate(read("config_option_update")) == events.ConfigOptionsReplaced(
        (SessionConfigBoolean("fast", "Fast", True),)
    )
    assert [command.name for command in translate(read("available_commands_update")).commands] == ["web"]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"title": None, "updatedAt": None, "_meta": None}, events.SessionInfoChanged(None, None, None)),
        ({"updatedAt": "2026"}, events.SessionInfoChanged("Fix", "2026")),
        ({"_meta": {"a": 1}}, events.SessionInfoChanged("Fix", UNSET, {"a": 1})),
    ],
)
def test_info(said, expected):
    assert translate(read("session_info_update", **said)) == expected


@pytest.mark.parametrize(
    ("said", "cost"),
    [({}, UNSET), ({"cost": None}, None), ({"cost": {"amount": 1.5, "currency": "EUR"}}, Cost(1.5, "EUR"))],
)
def test_usage(said, cost):
    assert translate(read("usage_update", **said)) == events.UsageReported(1, 2, cost)


@pytest.mark.parametrize(
    ("said", "summary", "error"),
    [
        ({}, UNSET, UNSET),
        ({"summary": None, "error": None}, None, None),
        ({"summary": [TEXT], "error": "too long"}, (TextContent("Hi"),), "too long"),
    ],
)
def test_compaction(said, summary, error):
    expected = events.CompactionReported("k", "in_progress", summary, error)
    assert translate(read("compaction_update", **said)) == expected
    assert translate(read("compaction_summary_chunk")) == events.CompactionSummaryAdded("k", TextContent("Hi"))


def test_subagents():
    assert translate(read("subagent_update", title=None)) == events.SubagentReported(
        SubagentUpdate("child", title=None)
    )


def test_session_messages():
    assert translate(read("session_message")) == events.SessionMessageReported("m")
    names = {"senderSessionId": "s", "recipientSessionId": None, "senderMessageId": "sm", "recipientMessageId": "rm"}
    assert translate(read("session_message", content=[TEXT], **names)) == events.SessionMessageReported(
        "m", (TextContent("Hi"),), None, "s", None, "sm", "rm"
    )
    assert translate(read("session_message_chunk")) == events.SessionMessageReported("m", appended=TextContent("Hi"))


def test_what_is_not_known_or_could_not_be_read():
    data = {"sessionUpdate": "weather", "sky": "blue"}
    assert translate(read("weather")) == events.UnknownReported("weather", data)
    broken = UnknownSessionUpdate("tool_call", {"sessionUpdate": "tool_call"}, problem="no id")
    assert translate(broken) == events.UnknownReported("tool_call", broken.data, "no id")


@pytest.mark.parametrize(
    ("meta", "at_work"),
    [
        ({"piAcp": {"queueDepth": 0, "running": True}}, True),
        ({"piAcp": {"queueDepth": 0, "running": False}}, False),
        ({"codex": {"threadStatus": {"type": "active", "activeFlags": []}}}, True),
        ({"codex": {"threadStatus": {"type": "idle"}}}, False),
        ({"codex": {"threadStatus": {"type": "systemError"}}}, False),
        ({"codex": {"threadStatus": "idle"}, "piAcp": {"running": 1}}, UNSET),
        ({"other": {"running": True}}, UNSET),
        ({}, UNSET),
        (None, UNSET),
    ],
)
def test_what_agents_say_about_their_work(meta, at_work):
    assert translate(read("session_info_update", _meta=meta)) == events.SessionInfoChanged("Fix", UNSET, meta, at_work)


MODES = SessionModeState("ask", (SessionMode("ask", "Ask"),))


@pytest.mark.parametrize(
    "response",
    [
        LoadSessionResponse,
        ResumeSessionResponse,
        lambda **more: NewSessionResponse("s", **more),
        lambda **more: ForkSessionResponse("s", **more),
    ],
)
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({}, events.SessionOpened()),
        ({"modes": None, "config_options": None}, events.SessionOpened()),
        ({"modes": MODES, "config_options": ()}, events.SessionOpened(MODES, ())),
    ],
)
def test_what_is_answered_when_a_session_is_opened(response, said, expected):
    assert opened(response(**said)) == expected
