"""The JSON form, and that ``docs/json-form.md`` says what it is."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import attrs
import pytest

from acp_host.state import entries, events, snapshot
from acp_host.state.clock import ManualClock, ManualScheduler
from acp_host.state.deltas import DeltaMaker
from acp_host.state.entries import Speaker
from acp_host.state.json_form import FORMAT_VERSION, to_json
from acp_host.state.notice_entries import NoticeReceived
from acp_host.state.notices import NoticeCenter
from acp_host.state.snapshot import SessionSnapshot, TerminalView
from acp_host.wire._model import UNSET, wire_name
from acp_host.wire.commands import AvailableCommand
from acp_host.wire.config_options import SessionConfigBoolean, SessionMode, SessionModeState
from acp_host.wire.content import ImageContent, UnknownContent
from acp_host.wire.elicitation import ElicitationFormMode, ElicitationSchema
from acp_host.wire.plans import PlanEntry, PlanItems
from acp_host.wire.subagents import IdleStateUpdate, SubagentUpdate
from acp_host.wire.tool_calls import Content, Diff, ToolCallLocation
from acp_host.wire.usage import Cost
from tests.state.session_events import Folding, asks, call, end, said, start, text, update

DOC = (Path(__file__).parents[2] / "docs" / "json-form.md").read_text(encoding="utf-8")
EXAMPLES = {name: json.loads(body) for name, body in re.findall(r"```json example=(\w+)\n(.*?)```", DOC, re.DOTALL)}


def documented() -> tuple[Folding, list[Any]]:
    """Return the session of the documentation, and what a viewer was sent."""
    folding, sent = Folding(), []
    folding.state.changed.connect(lambda changes: sent.append(changes))
    folding.fold(
        events.SessionOpened(
            SessionModeState("ask", (SessionMode("ask", "Ask"),)), (SessionConfigBoolean("fast", "Fast", False),)
        ),
        events.CommandsReplaced((AvailableCommand("web", "Search the web"),)),
        start(1, "Fix the test"),
    )
    folding.flush()
    folding.fold(
        said("I will", "m1"),
        said(" look.", "m1"),
        events.PlanReplaced(None, PlanItems("", (PlanEntry("Find the fault", "high", "completed"),))),
        call(
            "call-1",
            "Edit test.py",
            kind="edit",
            status="in_progress",
            content=(Diff("/w/test.py", "ok", "no"),),
            locations=(ToolCallLocation("/w/test.py", 3),),
            raw_input={"file": "test.py"},
        ),
        events.UsageReported(1_200, 200_000, Cost(0.01, "EUR")),
        asks("call-1", request_id=7),
    )
    folding.flush()
    return folding, sent


DEEP: Any = 1
for _ in range(1_000):  # the decoder of messages accepts this depth
    DEEP = [DEEP]


class TestDocumentation:
    def test_the_example_of_a_session(self):
        form = to_json(documented()[0].snapshot)
        assert {"reminders", "notices"} < form.keys()
        del form["reminders"], form["notices"]
        assert form == EXAMPLES["session"]

    def test_the_examples_of_deltas(self):
        folding, sent = documented()
        maker = DeltaMaker(folding.snapshot)
        folding.fold(said(" Now", "m1"))
        folding.flush()
        assert maker.delta(sent[-1]) == EXAMPLES["growing"]
        folding.fold(update("call-1", status="completed"), events.QuestionClosed(7), end(1))
        folding.flush()
        assert maker.delta(sent[-1]) == EXAMPLES["ending"]

    @pytest.mark.parametrize(
        "cls",
        [
            cls
            for module in (snapshot, entries)
            for cls in vars(module).values()
            if attrs.has(cls) and cls.__module__ == module.__name__
        ],
        ids=lambda cls: cls.__name__,
    )
    def test_every_member_is_mentioned(self, cls):
        words = set(re.findall(r"`(\w+)`", DOC)) | set(re.findall(r'"(\w+)":', DOC))
        assert {wire_name(attribute.name) for attribute in attrs.fields(cls)} - words == set()

    def test_every_type_of_entry_is_mentioned(self):
        types = {getattr(cls, "type", "message") for cls in entries.Entry.__args__}
        assert {kind for kind in types if f"| `{kind}` |" not in DOC} == set()


class TestValues:
    @pytest.mark.parametrize("value", [None, True, 0, 1.5, "s", "\ud83d"])
    def test_scalars_are_themselves(self, value):
        assert to_json(value) is value

    def test_words_are_plain_strings(self):
        assert type(to_json(Speaker.USER)) is str

    def test_tuples_and_mappings(self):
        assert to_json((1, (2, [3]), {"a": (4,)})) == [1, [2, [3]], {"a": [4]}]

    @pytest.mark.parametrize("value", [object(), {1, 2}, b"x", UNSET])
    def test_what_has_no_form_is_an_error(self, value):
        with pytest.raises(TypeError, match="has no JSON form"):
            to_json(value)

    def test_members_of_unions_carry_their_tag(self):
        assert to_json(text("a")) == {"type": "text", "text": "a"}
        assert to_json(Content(ImageContent("QUJD", "image/png"))) == {
            "type": "content",
            "content": {"type": "image", "data": "QUJD", "mimeType": "image/png"},
        }
        assert to_json(ElicitationFormMode("?", ElicitationSchema(), "s"))["mode"] == "form"
        assert to_json(SubagentUpdate("s", state=IdleStateUpdate())) == {"sessionId": "s", "state": {"state": "idle"}}

    def test_what_is_not_known_is_written_as_it_came(self):
        data = {"type": "hologram", "depth": 3}
        assert to_json(UnknownContent("hologram", data)) == data
        assert to_json(said(text("a")).content) == {"type": "text", "text": "a"}

    def test_a_terminal(self):
        assert to_json(TerminalView(terminal_id="t", command="ls", output=("a", "b"))) == {
            "terminalId": "t",
            "command": "ls",
            "viaShell": False,
            "output": ["a", "b"],
            "truncated": False,
            "ended": False,
            "exitCode": None,
            "signal": None,
            "released": False,
            "owner": "host",
            "cwd": None,
            "cols": None,
            "rows": None,
            "cancellable": False,
            "_meta": {},
        }

    def test_the_metadata_of_a_notice_is_passed_on_however_deep(self):
        notices = NoticeCenter(ManualScheduler(), ManualClock())
        notices.apply(NoticeReceived("s", "info", "Hi", meta={"deep": DEEP}))
        assert to_json(notices.snapshot())["history"][0]["_meta"]["deep"] is DEEP

    def test_the_agents_own_json_is_passed_on_however_deep(self):
        deep = DEEP
        folding = Folding(call("c", raw_input=deep, meta={"a": deep}), events.UnknownReported("x", {"deep": deep}))
        form = to_json(folding.snapshot)
        assert form["transcript"]["entries"][0]["rawInput"] is deep
        assert form["transcript"]["entries"][1]["data"]["deep"] is deep


def test_a_snapshot_is_json_with_its_version_first():
    form = to_json(Folding().snapshot)
    assert next(iter(form)) == "format"
    assert form["format"] == FORMAT_VERSION == 1
    assert set(form) == {"format", *(wire_name(attribute.name) for attribute in attrs.fields(SessionSnapshot))}
    json.dumps(form)
