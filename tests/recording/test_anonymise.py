"""Recordings without other people's words: what is taken away, what stays, and that they are folded as before."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_host.recording import RecordedLine, encode_line, parse_line, read_recording
from acp_host.recording.anonymise import Anonymiser, anonymise
from acp_host.recording.stand_ins import StandIns, masked, masked_base64, masked_bytes
from acp_host.state.reminder_marker import MARKER
from tests.state import folded

RECORDINGS = folded.RECORDINGS
EVERY = pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
CANARY = "Zebra quagga 77"
PLACES = ["method", "params", "result", "error", "update", "sessionUpdate", "content", "text", "path", "_meta", "id"]
PLACES += ["sessionId", "rawInput", "title", "name", "options", "entries", "command", "status", "kind", "mimeType"]
PLACES += ["harn", "type", "data", "uri", "cwd", "env", CANARY, f"/home/{CANARY}", "message", "code"]
words = st.sampled_from([CANARY, f"/home/{CANARY}/x.py", f"https://{CANARY}/", "agent_message_chunk", "text", ""])
values = st.recursive(
    words | st.integers(-100, 100) | st.none() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(PLACES), inner, max_size=4),
    max_leaves=12,
)
METHODS = ["initialize", "session/new", "session/prompt", "session/update", "session/request_permission", "x/y"]
messages = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0")},
    optional={
        "id": st.integers(0, 3) | st.just(CANARY),
        "method": st.sampled_from(METHODS),
        "params": values,
        "result": values,
        "error": values,
        "other": values,
    },
)


def line(message: Any, direction: str = "in") -> RecordedLine:
    return RecordedLine(direction=direction, message=message)


def anonymous(message: Any, direction: str = "in") -> Any:
    [made] = anonymise([line(message, direction)])
    return made.message


def said(params: Iterable[Any]) -> list[Any]:
    return [made.message for made in anonymise(line({"method": "x/y", "params": each}) for each in params)]


def update(**members: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s-1", "update": members}}


def kinds(value: Any) -> Any:
    if isinstance(value, dict):
        return [kinds(item) for item in value.values()]
    return [kinds(item) for item in value] if isinstance(value, list) else type(value)


class TestLaws:
    @given(st.lists(st.tuples(messages, st.sampled_from(["in", "out"])), max_size=4))
    def test_no_free_text_is_left_and_nothing_changes_its_type(self, conversation):
        lines = [line(message, direction) for message, direction in conversation]
        made = list(anonymise(lines))
        for before, after in zip(lines, made, strict=True):
            assert "Zebra" not in json.dumps(after.message)
            assert kinds(after.message) == kinds(before.message)
        assert list(anonymise(made)) == made

    @given(st.text())
    def test_a_text_keeps_its_length_and_once_is_enough(self, text):
        assert len(masked(text)) == len(text)
        assert masked(masked(text)) == masked(text)
        assert masked(text).split("\n") == [masked(part) for part in text.split("\n")]

    @given(st.binary())
    def test_so_do_bytes_and_base64(self, data):
        assert len(masked_bytes(data)) == len(data)
        text = base64.b64encode(data).decode()
        assert len(base64.b64decode(masked_base64(text), validate=True)) == len(data)
        assert masked_base64(masked_base64(text)) == masked_base64(text)

    def test_what_is_nearly_base64_takes_no_longer(self):
        began = time.process_time()
        assert masked_base64(" " * 200_000 + "!") == " " * 200_000 + "!"
        assert time.process_time() - began < 5  # some ms; minutes, where each end is tried anew

    @given(st.text(), st.integers(0, 20))
    def test_a_text_that_was_cut_between_bytes_is_whole_again(self, text, at):
        data = text.encode()
        assert masked_bytes(data[:at]) + masked_bytes(data[at:]) == masked_bytes(data) or "\x1b" in text
        masked_bytes(data).decode()

    @given(st.lists(st.text(alphabet="aZ0-_é", min_size=1, max_size=4), max_size=150))
    def test_different_ids_stay_different_and_equal_ones_equal(self, ids):
        stand_ins = StandIns(lambda text: False)
        made = [stand_ins.id(text) for text in ids]
        assert len(set(made)) == len(set(ids))
        assert [stand_ins.id(text) for text in ids] == made
        again = StandIns(lambda text: False)
        assert [again.id(text) for text in made] == made

    @given(st.lists(st.text(alphabet="ab/.\\ ", min_size=1, max_size=12), max_size=20))
    def test_different_paths_stay_different(self, paths):
        stand_ins = StandIns(lambda text: False)
        made = [stand_ins.path(path) for path in paths]
        assert len(set(made)) == len(set(paths))


class TestWhatStays:
    def test_the_protocols_own_words(self):
        message = update(
            sessionUpdate="tool_call",
            toolCallId="call",
            title="Read secrets",
            kind="read",
            status="in_progress",
            content=[{"type": "content", "content": {"type": "image", "data": "QUJD", "mimeType": "image/png"}}],
            locations=[{"path": "/home/ann/notes.md", "line": 12}],
        )
        made = anonymous(message)["params"]["update"]
        assert made["sessionUpdate"] == "tool_call"
        assert (made["kind"], made["status"]) == ("read", "in_progress")
        assert made["title"] == "Xxxx xxxxxxx"
        assert made["content"][0]["content"] == {"type": "image", "data": "WFhY", "mimeType": "image/png"}
        assert made["locations"][0]["line"] == 12
        assert made["locations"][0]["path"].endswith(".md")
        assert [len(part) for part in made["locations"][0]["path"].split("/")] == [0, 4, 3, 8]

    def test_who_speaks_unless_it_is_to_be_hidden(self):
        info = {"name": "some-agent", "title": "Some Agent", "version": "1.2.3"}
        conversation = [
            line({"id": 0, "method": "initialize", "params": {"protocolVersion": 1, "clientInfo": info}}, "out"),
            line({"id": 0, "result": {"protocolVersion": 1, "agentInfo": info}}),
        ]
        assert [info, info] == [
            (made.message.get("params") or made.message["result"]).get(name)
            for made, name in zip(anonymise(conversation), ("clientInfo", "agentInfo"), strict=True)
        ]
        hidden = [json.dumps(made.message) for made in anonymise(conversation, hide_programs=True)]
        assert "some-agent" not in "".join(hidden)
        assert "1.2.3" not in "".join(hidden)

    def test_numbers_of_the_schema_and_small_ones(self):
        made = anonymous(update(sessionUpdate="usage_update", used=123456, size=200000, cost={"amount": 0.5}))
        assert made["params"]["update"]["used"] == 123456
        made = anonymous(
            update(sessionUpdate="tool_call", toolCallId="c", title="", rawInput={"n": 5, "phone": 5551234})
        )
        assert list(made["params"]["update"]["rawInput"].values()) == [5, 1000000]

    def test_versions_times_and_kinds_of_errors(self):
        assert anonymous({"id": 1, "error": {"code": -32601, "message": "Method not found"}})["error"] == {
            "code": -32601,
            "message": "Method not found",
        }
        made = anonymous(update(sessionUpdate="session_info_update", title="x", updatedAt="2026-01-02T03:04:05Z"))
        assert made["params"]["update"]["updatedAt"] == "2026-01-02T03:04:05Z"

    def test_what_was_hidden_before(self):
        assert anonymous({"method": "x", "params": {"token": "[redacted]"}})["params"].popitem()[1] == "[redacted]"

    def test_lines_that_mark_a_reminder(self):
        info = {"name": "Some Editor", "version": "1"}
        marked = MARKER.wrap("a.py changed on disk.", "rmd-7", "Some Editor")
        hello = line({"id": 0, "method": "initialize", "params": {"protocolVersion": 1, "clientInfo": info}}, "out")
        prompt = {"sessionId": "s", "prompt": [{"type": "text", "text": f"Please\n{marked}\n"}]}
        *_, made = anonymise([hello, line({"id": 1, "method": "session/prompt", "params": prompt}, "out")])
        pieces = MARKER.split(made.message["params"]["prompt"][0]["text"])
        assert [(piece.host, piece.text) for piece in pieces] == [
            (None, "Xxxxxx\n"),
            ("Some Editor", "x.xx xxxxxxx xx xxxx."),
        ]
        assert pieces[1].reminder_id not in (None, "rmd-7")


class TestIdentity:
    def test_a_request_and_its_answer(self):
        asked, answered = anonymise([line({"id": "uuid-ab", "method": "session/new"}, "out"), line({"id": "uuid-ab"})])
        assert asked.message["id"] == answered.message["id"] != "uuid-ab"
        assert anonymous({"id": 7})["id"] == 7

    def test_ids_that_are_numbers(self):
        ids = [5551234, 5551235, 5551234, -5551234, 2**70]
        made = [anonymous_id["params"].popitem()[1] for anonymous_id in said({"userId": number} for number in ids)]
        assert made == [1000001, 1000002, 1000001, -1000003, 10**21 + 4]
        assert [again["params"].popitem()[1] for again in said({"userId": number} for number in made)] == made

    def test_a_file_in_its_folder_as_a_path_and_as_a_uri(self):
        made = anonymous(
            update(
                sessionUpdate="tool_call",
                toolCallId="c",
                title="",
                locations=[{"path": "/home/ann/a b.py"}, {"path": "/home/ann/other.py"}],
                content=[
                    {"type": "content", "content": {"type": "resource_link", "name": "a", "uri": uri}}
                    for uri in ("file:///home/ann/a%20b.py", "https://ann.example/?q=secret")
                ],
            )
        )["params"]["update"]
        first, second = [location["path"] for location in made["locations"]]
        assert first.rsplit("/", 1)[0] == second.rsplit("/", 1)[0]
        assert first != second
        links = [item["content"]["uri"] for item in made["content"]]
        assert links[0] == f"file://{first.replace(' ', '%20')}"
        assert links[1].startswith("https://")
        assert "secret" not in links[1]

    def test_an_id_that_is_named_elsewhere(self):
        made = anonymous(update(sessionUpdate="tool_call", toolCallId="call_ab", title="", rawInput={"ref": "call_ab"}))
        assert made["params"]["update"]["rawInput"].popitem()[1] == made["params"]["update"]["toolCallId"]

    def test_what_a_user_chose_in_a_form(self):
        fields = {"Which city?": {"type": "string", "enum": ["Oslo", "Rome"]}}
        schema = {"type": "object", "properties": fields, "required": ["Which city?"]}
        params = {"mode": "form", "sessionId": "s", "message": "Where?", "requestedSchema": schema}
        answer = {"action": "accept", "content": {"Which city?": "Rome"}}
        asked, answered = anonymise(
            [
                line({"id": 1, "method": "elicitation/create", "params": params}),
                line({"id": 1, "result": answer}, "out"),
            ]
        )
        shown = asked.message["params"]["requestedSchema"]
        [(name, field)] = shown["properties"].items()
        assert shown["required"] == [name]
        assert answered.message["result"] == {"action": "accept", "content": {name: field["enum"][1]}}
        assert "city" not in name


class TestOtherLines:
    def test_remarks_of_a_recorder_lose_commands_and_words(self):
        lines = [
            parse_line(
                b'{"dir":"meta","t":0,"note":"the recording begins","event":"start","at":"2026-01-02","python":"3"}'
            ),
            parse_line(
                b'{"dir":"meta","t":0,"note":"connects to ann","event":"connection","agent":{"command":["ann"]}}'
            ),
            parse_line(b'{"dir":"meta","t":0,"note":"ann wrote","event":"stderr"}'),
            parse_line(b'{"dir":"meta","t":1,"note":"ann ended","event":"end","exit_status":3,"stderr":"ann"}'),
        ]
        made = list(anonymise(lines))
        assert "ann" not in b"".join(map(encode_line, made)).decode()
        assert made[0] == lines[0]
        assert made[-1].details["exit_status"] == 3

    @pytest.mark.parametrize("raw", ["ann said", '[{"id":1,"method":"ann said"}]', "[", "<EOF>"])
    def test_what_is_no_message_keeps_its_shape(self, raw):
        [made] = anonymise([RecordedLine(direction="in", raw=raw, details={"cut": 5, "who": "ann"})])
        assert made.raw is not None
        assert len(made.raw) == len(raw)
        assert "ann" not in made.raw
        assert made.details == {"cut": 5}

    def test_a_bad_line_says_no_more_than_that_it_is_one(self):
        [made] = anonymise([parse_line(b"ann said")])
        assert made.problem is not None
        assert "ann" not in (made.raw or "")


@pytest.mark.parametrize("path", sorted((folded.FIXTURES / "recordings").rglob("*.jsonl")), ids=lambda path: path.stem)
def test_what_is_anonymous_is_so_for_good_as_all_fixtures_are(path):
    lines = list(read_recording(path))
    assert list(anonymise(lines)) == lines


@EVERY
def test_it_is_folded_into_the_same_structure(path, tmp_path):
    out = tmp_path / path.name
    out.write_bytes(b"".join(map(encode_line, anonymise(read_recording(path)))))
    before, after = (folded.form(folded.play(which)) for which in (path, out))
    assert structure(after) == structure(before)


def structure(value: Any) -> Any:
    """What must be the same in a folded state: everything but texts, and numbers that only an agent understands."""
    if isinstance(value, dict):
        return [structure(item) for item in value.values()]
    if isinstance(value, list):
        return [structure(item) for item in value]
    if isinstance(value, str):
        return str
    return value if not isinstance(value, int | float) or abs(value) < 10_000 else type(value)


def test_the_anonymiser_needs_no_memory_of_what_it_has_seen_but_ids():
    anonymiser = Anonymiser()
    for number in range(1_000):
        anonymiser.line(line({"id": number, "method": "session/list", "params": {}}, "out"))
        anonymiser.line(line({"id": number, "result": {"sessions": []}}))
    assert anonymiser._asked == {}
