"""ACP v2 updates as session events, folded: every kind has its effect, or is kept as unknown."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from acp_host.state import events
from acp_host.state.entries import CompactionEntry, MessageEntry, SessionMessageEntry, ToolCallEntry, UnknownEntry
from acp_host.state.json_form import to_json
from acp_host.state.snapshot import SessionSnapshot, TerminalView
from acp_host.translate import v1
from acp_host.translate.v2.updates import PLAIN, translate, translate_run
from acp_host.wire import updates as v1_updates
from acp_host.wire.chunk_runs import ChunkRun
from acp_host.wire.converters import structure
from acp_host.wire.notices import Notice
from acp_host.wire.v2 import updates
from acp_host.wire.v2.diffs import Diff
from acp_host.wire.v2.updates import SessionUpdate
from tests.state.session_events import LIVE, REPLAY, Folding, end, start

TEXT = {"type": "text", "text": "Hi"}

UPDATES: dict[str, dict[str, Any]] = {
    "user_message_chunk": {"messageId": "m", "content": TEXT},
    "user_message": {"messageId": "m", "content": [TEXT]},
    "agent_message_chunk": {"messageId": "m", "content": TEXT},
    "agent_message": {"messageId": "m", "content": [TEXT]},
    "agent_thought_chunk": {"messageId": "m", "content": TEXT},
    "agent_thought": {"messageId": "m", "content": [TEXT]},
    "state_update": {"state": "running"},
    "tool_call_content_chunk": {"toolCallId": "c", "content": {"type": "content", "content": TEXT}},
    "tool_call_update": {"toolCallId": "c", "title": "Read"},
    "terminal_update": {"terminalId": "t", "command": "ls"},
    "terminal_output_chunk": {"terminalId": "t", "data": "aGk="},
    "plan_update": {"plan": {"type": "markdown", "planId": "p", "content": "# Do"}},
    "plan_removed": {"planId": "p0"},
    "available_commands_update": {"availableCommands": [{"type": "command", "name": "web", "description": ""}]},
    "config_option_update": {
        "configOptions": [{"type": "boolean", "configId": "fast", "name": "Fast", "currentValue": True}]
    },
    "session_info_update": {"title": "Fix"},
    "usage_update": {"used": 1, "size": 2},
    "compaction_update": {"compactionId": "k", "status": "in_progress"},
    "compaction_summary_chunk": {"compactionId": "k", "content": TEXT},
    "subagent_update": {"sessionId": "child"},
    "session_message": {"messageId": "m", "content": [TEXT]},
    "session_message_chunk": {"messageId": "m", "content": TEXT},
    "_own": {"a": 1},
}


def event(update: str, /, **members: Any) -> Any:
    return translate(structure(tell(update, **members), SessionUpdate))


def event_of(kind: str) -> Any:
    return event(kind, **UPDATES[kind])


def fold(*told: Any) -> SessionSnapshot:
    folding = Folding(start())
    for item in told:
        folding.fold(translate(structure(item, SessionUpdate)) if isinstance(item, dict) else item)
    return folding.snapshot


def tell(update: str, /, **members: Any) -> dict[str, Any]:
    return {"sessionUpdate": update, **members}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def messages(snapshot: SessionSnapshot) -> list[tuple[str, str]]:
    found = [entry for entry in snapshot.transcript if isinstance(entry, MessageEntry)]
    return [(entry.speaker.value, entry.text) for entry in found]


def the_call(snapshot: SessionSnapshot) -> ToolCallEntry:
    [entry] = [entry for entry in snapshot.transcript if isinstance(entry, ToolCallEntry)]
    return entry


def the_terminal(snapshot: SessionSnapshot) -> TerminalView:
    [view] = snapshot.terminals.values()
    return view


@pytest.mark.parametrize("kind", UPDATES)
def test_every_update_changes_the_state(kind: str) -> None:
    before = Folding(start(), event("plan_update", plan={"type": "markdown", "planId": "p0", "content": "x"}))
    unchanged = to_json(before.snapshot)
    before.fold(event_of(kind))
    assert to_json(before.snapshot) != unchanged


def test_no_kind_is_left_out() -> None:
    kinds = {tag for tag in SessionUpdate.__args__ if hasattr(tag, "session_update")}
    assert {kind.session_update for kind in kinds} - {"notice"} == set(UPDATES) - {"_own"}
    assert translate(Notice("info", "Hi")) is None
    assert Notice in PLAIN


class TestMessages:
    def test_a_whole_message_takes_the_place_of_its_chunks_and_chunks_add_to_it(self) -> None:
        snapshot = fold(
            tell("agent_message_chunk", messageId="m", content=text("draft")),
            tell("agent_message", messageId="m", content=[text("one ")]),
            tell("agent_message_chunk", messageId="m", content=text("two")),
        )
        assert messages(snapshot)[1:] == [("assistant", "one two")]

    @pytest.mark.parametrize("content", [None, []])
    def test_null_and_empty_clear_and_absent_leaves(self, content: Any) -> None:
        chunk = tell("agent_thought_chunk", messageId="m", content=text("x"))
        assert messages(fold(chunk, tell("agent_thought", messageId="m")))[1:] == [("thought", "x")]
        cleared = fold(chunk, tell("agent_thought", messageId="m", content=content))
        assert messages(cleared)[1:] == [("thought", "")]

    def test_chunks_of_messages_that_take_turns_belong_to_their_messages(self) -> None:
        told = [
            tell("agent_message_chunk", messageId=name, content=text(f"{name}{i}")) for i in (1, 2) for name in "ab"
        ]
        assert messages(fold(*told))[1:] == [("assistant", "a1a2"), ("assistant", "b1b2")]

    def test_a_message_of_an_earlier_turn_is_still_the_same(self) -> None:
        snapshot = fold(
            tell("agent_message_chunk", messageId="m", content=text("one")),
            end(),
            start(2, "More"),
            tell("agent_message_chunk", messageId="m", content=text(" two")),
        )
        assert messages(snapshot)[1:] == [("assistant", "one two"), ("user", "More")]

    def test_a_run_of_chunks_is_as_many_chunks(self) -> None:
        run = ChunkRun("s", updates.AgentMessageChunk, "m", ["a", "b"])
        told = [translate(chunk) for chunk in run.updates()]
        assert fold(translate_run(run)).transcript[1] == fold(*told).transcript[1]

    def test_icons_of_a_link_are_kept(self) -> None:
        link = {"type": "resource_link", "name": "a", "uri": "file:///a", "icons": [{"src": "https://x/i.png"}]}
        entry = to_json(fold(tell("agent_message", messageId="m", content=[link])))["transcript"]["entries"][1]
        assert entry["parts"] == [{"type": "block", "block": link}]


class TestTheUsersOwn:
    @pytest.mark.parametrize("inserted_first", [True, False])
    @pytest.mark.parametrize("kind", ["user_message", "user_message_chunk"])
    def test_the_prompt_is_shown_once_under_its_id(self, kind: str, inserted_first: bool) -> None:
        content: Any = text("Hi") if kind.endswith("chunk") else [text("Hi")]
        told: list[Any] = [events.PromptInserted(1, "m"), tell(kind, messageId="m", content=content)]
        snapshot = fold(*(told if inserted_first else reversed(told)))
        assert [(entry.text, entry.message_id) for entry in snapshot.transcript] == [("Hi", "m")]

    def test_what_the_agent_made_of_the_prompt_takes_its_place(self) -> None:
        snapshot = fold(events.PromptInserted(1, "m"), tell("user_message", messageId="m", content=[text("Hello")]))
        assert messages(snapshot) == [("user", "Hello")]

    def test_the_same_words_again_are_another_message(self) -> None:
        told = [tell("user_message", messageId=name, content=[text("Hi")]) for name in ("m", "n")]
        assert messages(fold(*told)) == [("user", "Hi"), ("user", "Hi")]

    def test_a_history_takes_the_place_of_what_was_shown(self) -> None:
        said = [
            tell("user_message", messageId="m", content=[text("Hi")]),
            tell("agent_message", messageId="n", content=[text("Hello")]),
        ]
        snapshot = fold(*said, end(), REPLAY, *said, LIVE)
        assert messages(snapshot) == [("user", "Hi"), ("assistant", "Hello")]
        assert [entry.turn for entry in snapshot.transcript] == [-1, -1]


class TestToolCalls:
    def test_null_clears_and_absent_leaves(self) -> None:
        first = tell(
            "tool_call_update",
            toolCallId="c",
            title="Read",
            name="read",
            kind="read",
            status="completed",
            rawInput={"a": 1},
            locations=[{"path": "/a", "line": 3}],
            content=[{"type": "content", "content": TEXT}],
            capabilities={"cancel": {}},
            _meta={"a": 1, "b": {"c": 2}},
        )
        told = the_call(fold(first, tell("tool_call_update", toolCallId="c")))
        assert (told.title, told.status, told.cancellable, told.meta) == (
            "Read",
            "completed",
            True,
            {"a": 1, "b": {"c": 2}},
        )
        nulls = dict.fromkeys(
            ("title", "name", "kind", "status", "rawInput", "locations", "content", "capabilities"), None
        )
        cleared = the_call(fold(first, tell("tool_call_update", toolCallId="c", **nulls, _meta={"a": None})))
        assert (cleared.title, cleared.name, cleared.kind, cleared.status) == (None, None, "other", "pending")
        assert (cleared.raw_input, cleared.locations, cleared.content, cleared.cancellable) == (None, (), (), False)
        assert cleared.meta == {"b": {"c": 2}}
        assert not cleared.provisional

    def test_content_is_added_and_replaced(self) -> None:
        def item(words: str) -> dict[str, Any]:
            return {"type": "content", "content": text(words)}

        call = the_call(
            fold(
                tell("tool_call_content_chunk", toolCallId="c", content=item("gone")),
                tell("tool_call_update", toolCallId="c", content=[item("a")]),
                tell("tool_call_content_chunk", toolCallId="c", content=item("b")),
            )
        )
        assert to_json(call)["content"] == [item("a"), item("b")]

    def test_a_diff_keeps_its_changes_and_its_patch(self) -> None:
        diff = {
            "type": "diff",
            "changes": [{"operation": "move", "oldPath": "/a", "path": "/b"}, {"operation": "_x", "what": 1}],
            "patch": {"format": "_own", "text": "…"},
        }
        call = the_call(fold(tell("tool_call_content_chunk", toolCallId="c", content=diff)))
        assert isinstance(call.content[0], Diff)
        assert to_json(call)["content"] == [diff]

    @pytest.mark.parametrize(
        ("status", "finished"), [("cancelled", True), ("completed", True), ("paused", False), ("_later", False)]
    )
    def test_a_call_is_over_when_it_says_so(self, status: str, finished: bool) -> None:
        call = the_call(fold(tell("tool_call_update", toolCallId="c", status=status), end()))
        assert (call.finished, call.unfinished) == (finished, not finished)

    def test_a_call_that_goes_on_beside_is_not_unfinished(self) -> None:
        background = [{"type": "tool_call", "toolCallId": "c"}]
        snapshot = fold(
            tell("tool_call_update", toolCallId="c", status="in_progress"),
            tell("state_update", state="idle", background=background),
            end(),
        )
        assert not the_call(snapshot).unfinished
        assert to_json(snapshot)["turn"]["background"] == background


class TestTerminals:
    def test_output_comes_in_pieces_that_cut_characters_and_escapes(self) -> None:
        output = "\x1b[31mgrün 😀\x1b[0m\r\n"
        for size in (1, 2, 3, 5):
            data = output.encode()
            pieces = [data[at : at + size] for at in range(0, len(data), size)]
            told = [tell("terminal_output_chunk", terminalId="t", data=encoded(piece)) for piece in pieces]
            assert "".join(the_terminal(fold(*told)).output) == output

    def test_a_snapshot_takes_the_place_of_all_that_was_printed(self) -> None:
        snapshot = fold(
            tell("terminal_output_chunk", terminalId="t", data=encoded(b"old \xe2\x82")),
            tell("terminal_update", terminalId="t", output={"data": encoded(b"new ")}),
            tell("terminal_output_chunk", terminalId="t", data=encoded(b"more")),
        )
        assert the_terminal(snapshot).output == ("new more",)

    def test_a_character_that_is_never_finished_is_replaced_at_the_end(self) -> None:
        half = tell("terminal_output_chunk", terminalId="t", data=encoded(b"a\xe2\x82"))
        assert the_terminal(fold(half)).output == ("a",)
        ended = fold(half, tell("terminal_update", terminalId="t", exitStatus={}))
        assert the_terminal(ended).output == ("a\ufffd",)

    def test_how_it_ended_can_be_told_and_taken_back(self) -> None:
        ended = tell("terminal_update", terminalId="t", exitStatus={"exitCode": -1073741819})
        view = the_terminal(fold(ended))
        assert (view.ended, view.exit_code, view.signal) == (True, -1073741819, None)
        view = the_terminal(fold(ended, tell("terminal_update", terminalId="t", exitStatus=None)))
        assert (view.ended, view.exit_code) == (False, None)

    def test_what_is_known_of_it(self) -> None:
        view = the_terminal(
            fold(
                tell(
                    "terminal_update",
                    terminalId="t",
                    command="make",
                    cwd="/w",
                    size={"cols": 80, "rows": 24},
                    capabilities={"cancel": {}},
                    _meta={"a": 1},
                )
            )
        )
        assert (view.owner, view.command, view.cwd, view.cols, view.rows) == ("agent", "make", "/w", 80, 24)
        assert (view.cancellable, view.meta) == (True, {"a": 1})

    @pytest.mark.parametrize("data", ["no base64!", "aGk", "aGk=\n\x00"])
    def test_what_is_no_base64_is_told_and_the_rest_is_taken(self, data: str) -> None:
        chunk = event("terminal_output_chunk", terminalId="t", data=data)
        assert (chunk.data, "not base64" in chunk.problem) == (b"", True)
        update = event("terminal_update", terminalId="t", command="ls", output={"data": data})
        assert "not base64" in update.problem
        before = tell("terminal_output_chunk", terminalId="t", data=encoded(b"kept"))
        view = the_terminal(fold(before, update))
        assert (view.command, view.output) == ("ls", ("kept",))

    def test_a_history_tells_it_anew(self) -> None:
        told = [tell("terminal_output_chunk", terminalId="t", data=encoded(b"a"))]
        again = fold(*told, end(), REPLAY, *told, LIVE)
        assert the_terminal(again).output == ("a",)
        failed = fold(*told, end(), REPLAY, *told, events.ReplayEnded(failed=True))
        assert the_terminal(failed).output == ("a",)


class TestTheRest:
    def test_members_of_meta_are_patched(self) -> None:
        snapshot = fold(
            tell("session_info_update", title="A", _meta={"a": 1, "b": 2}),
            tell("session_info_update", _meta={"a": None, "c": 3}),
        )
        assert (snapshot.info.title, snapshot.info.meta) == ("A", {"b": 2, "c": 3})

    def test_a_subagent_tells_its_state_and_what_goes_on_beside(self) -> None:
        snapshot = fold(
            tell(
                "subagent_update",
                sessionId="k",
                state={"state": "running", "background": [{"type": "terminal", "terminalId": "t"}]},
                _meta={"a": 1},
            ),
            tell("subagent_update", sessionId="k", title="Kid", _meta={"b": 2}),
        )
        assert to_json(snapshot)["subagents"]["k"] == {
            "sessionId": "k",
            "title": "Kid",
            "state": {"state": "running", "background": [{"type": "terminal", "terminalId": "t"}]},
            "_meta": {"a": 1, "b": 2},
        }

    def test_options_have_their_ids(self) -> None:
        group = {"groupId": "g", "name": "G", "options": [{"value": "v", "name": "V"}]}
        option = {"type": "select", "configId": "model", "name": "Model", "currentValue": "v", "options": [group]}
        snapshot = fold(tell("config_option_update", configOptions=[option]))
        [entry] = snapshot.options.entries
        assert (entry.id, entry.value, entry.choices[0].group) == ("model", "v", "G")

    def test_compactions_and_messages_between_sessions(self) -> None:
        snapshot = fold(
            tell("compaction_summary_chunk", compactionId="k", content=TEXT),
            tell("compaction_update", compactionId="k", status="completed"),
            tell("session_message_chunk", messageId="m", content=TEXT),
        )
        compaction, message = snapshot.transcript[1:]
        assert isinstance(compaction, CompactionEntry)
        assert (compaction.status, compaction.summary[0].text) == ("completed", "Hi")
        assert isinstance(message, SessionMessageEntry)

    def test_what_is_not_known_is_kept(self) -> None:
        [entry] = fold(tell("_own", a=[1])).transcript[1:]
        assert isinstance(entry, UnknownEntry)
        assert entry.data == {"sessionUpdate": "_own", "a": [1]}

    @pytest.mark.parametrize("state", ["unknown", "_own"])
    def test_a_state_that_says_nothing_is_kept(self, state: str) -> None:
        turn = fold(tell("state_update", state=state)).turn
        assert (turn.agent_state, turn.status) == (state, "running")

    def test_what_requires_action_waits(self) -> None:
        assert fold(tell("state_update", state="requires_action")).turn.status == "waiting"

    def test_a_notice_is_the_same_in_both_versions(self) -> None:
        notice = {"sessionUpdate": "notice", "severity": "warning", "title": "Hm", "description": None}
        assert structure(notice, SessionUpdate) == structure(notice, v1_updates.SessionUpdate)
        assert v1.translate(structure(notice, SessionUpdate)) is None
