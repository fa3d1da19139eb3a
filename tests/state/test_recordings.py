"""What real agents sent, folded. The recordings have no other people's words in them; see ``acp-host record``."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import jsonpatch
import pytest

from acp_host.replay import FoldedRecording
from acp_host.state.deltas import DeltaMaker
from acp_host.state.entries import MessageEntry, ToolCallEntry
from acp_host.state.json_form import to_json
from acp_host.state.session_state import SessionState
from acp_host.state.snapshot import SessionSnapshot
from tests.state import folded

NAMES = [path.stem for path in folded.RECORDINGS]
EVERY = pytest.mark.parametrize("name", NAMES)

EVERYWHERE = {
    ("unexpected", "for a session that was not open"): "the recorded host prompted one that is unknown, or was closed",
    (
        "unexpected",
        "session/prompt was left out: required property 'prompt' is missing",
    ): "the recorded host sent one so",
}
LINES_THAT_ARE_NONE = {
    ("unknown_response", "-32700"): "the recorded host sent a line that is no JSON",
    ("unknown_response", "-32600"): "the recorded host sent a batch",
}
TWO_PROMPTS = {
    ("unexpected", "two prompts running in one session"): "the recorded host did not wait for the end of a turn",
}
EXPLAINED = {
    "claude-agent-acp-new": LINES_THAT_ARE_NONE | TWO_PROMPTS,
    "codex-acp": LINES_THAT_ARE_NONE,
    "pi3": TWO_PROMPTS,
    "gemini": {("unexpected", "the session is lost"): "it was prompted after a new start, without being loaded"},
}
"""The diagnostics that a recording may yield, each with its reason."""


def path_of(name: str) -> Path:
    return folded.FIXTURES / "recordings" / f"{name}.jsonl"


@functools.cache
def played(name: str) -> FoldedRecording:
    return folded.play(path_of(name))


@functools.cache
def shown(name: str) -> dict[str, list[SessionSnapshot]]:
    return folded.snapshots(played(name))


def main_session(name: str) -> list[SessionSnapshot]:
    """Return the session in which most happened: as it was lived, and loaded again."""
    return max(shown(name).values(), key=lambda snapshots: len(snapshots[0].transcript))


def calls(snapshot: SessionSnapshot) -> dict[str, ToolCallEntry]:
    return {entry.key: entry for entry in snapshot.tool_calls}


def user_texts(snapshot: SessionSnapshot) -> list[str]:
    return [entry.text for entry in snapshot.transcript if isinstance(entry, MessageEntry) and entry.speaker == "user"]


def test_the_recordings_are_there_and_small():
    assert len(NAMES) >= 8
    kept = [path for folder in ("recordings", "folded") for path in (folded.FIXTURES / folder).iterdir()]
    size = sum(path.stat().st_size for path in kept)
    assert size < 2_500_000


@EVERY
def test_a_recording_is_folded_into_what_was_looked_at(name):
    expected = folded.expected(path_of(name)).read_text(encoding="utf-8")
    assert folded.written(folded.form(played(name))) == expected


@EVERY
def test_every_diagnostic_has_its_reason(name):
    explained = EVERYWHERE | EXPLAINED.get(name, {})
    unexplained = [
        diagnostic
        for diagnostic in played(name).diagnostics
        if not any(diagnostic.kind == kind and word in diagnostic.message for kind, word in explained)
    ]
    assert unexplained == []


@EVERY
def test_every_update_is_of_a_known_kind(name):
    for snapshots in shown(name).values():
        for snapshot in snapshots:
            assert [entry for entry in snapshot.transcript if entry.type == "unknown"] == []


@EVERY
def test_nothing_is_left_running_or_waiting(name):
    for snapshots in shown(name).values():
        assert (snapshots[-1].turn.status, snapshots[-1].turn.queued, snapshots[-1].questions) == ("idle", (), ())
        for entry in snapshots[-1].tool_calls:
            assert entry.finished or entry.unfinished


@pytest.mark.parametrize("name", sorted({*NAMES} - {"acpsdk-ts-example"}))  # whose host sent two prompts at once
def test_nothing_is_empty_or_doubled(name):
    for snapshots in shown(name).values():
        for entry in snapshots[-1].transcript:
            if isinstance(entry, MessageEntry):
                assert any(part.type == "block" or part.text for part in entry.parts)
                half = len(entry.text) // 2
                assert half < 20 or entry.text[:half] != entry.text[half:]


@EVERY
def test_patches_on_the_way_lead_to_the_end(name):
    viewers: dict[int, tuple[SessionState, list[Any]]] = {}

    def opened(state: SessionState) -> None:
        snapshot = state.snapshot()
        maker, document = DeltaMaker(snapshot), [json.loads(json.dumps(to_json(snapshot)))]
        viewers[id(state)] = state, document

        def patch(changes: Any) -> None:
            operations = json.loads(json.dumps(maker.delta(changes)))
            document[0] = jsonpatch.JsonPatch(operations).apply(document[0], in_place=True)

        state.changed.connect(patch)

    folded.play(path_of(name), opened=opened)
    assert len(viewers) >= 3
    for state, (document,) in viewers.values():
        assert document == to_json(state.snapshot())


class TestWhatWasSeen:
    """What is remarkable in the folded states."""

    @pytest.mark.parametrize("name", ["gemini", "qwen"])
    def test_calls_of_which_only_a_permission_request_and_updates_came(self, name):
        provisional = [call for call in calls(main_session(name)[0]).values() if call.provisional]
        assert {"edit", "execute"} <= {call.kind for call in provisional}
        rejected = [call for call in provisional if call.unfinished]
        assert [call.status for call in rejected] == ["pending", "pending"]  # nothing came after the rejection

    def test_ids_that_are_used_again_in_every_turn(self):
        live = calls(main_session("acpsdk-ts-example")[0])
        first, second = list(live)[:2]
        assert {f"{first}#2", f"{first}#17", f"{second}#15"} <= live.keys()
        assert len({call.tool_call_id for call in live.values()}) == 2

    @pytest.mark.parametrize("name", ["claude-agent-acp-new", "codex-acp"])
    def test_notices_stay_out_of_the_transcript(self, name):
        lines = path_of(name).read_text(encoding="utf-8")
        assert '"sessionUpdate":"notice"' in lines
        types = {entry.type for snapshots in shown(name).values() for entry in snapshots[-1].transcript}
        assert types == {"message", "tool_call"}

    @pytest.mark.parametrize("name", sorted({*NAMES} - {"acpsdk-ts-example"}))  # which cannot load
    def test_a_history_takes_the_place_of_what_was_lived(self, name):
        lived, after = main_session(name)[0], main_session(name)[-1]
        assert not any(entry.replayed for entry in lived.transcript)
        assert after.transcript.first >= len(lived.transcript)
        replayed = [entry for entry in after.transcript if entry.replayed]
        assert len(replayed) > 30
        assert all(entry.turn is not None and entry.turn < 0 for entry in replayed)
        # Then comes one prompt more, after the agent was started again.
        assert list(after.transcript[: len(replayed)]) == replayed
        assert {entry.turn for entry in after.transcript[len(replayed) :]} == {after.turn.turn}

    @pytest.mark.parametrize("name", ["opencode", "qwen", "pi3", "codex-acp"])
    def test_the_history_begins_with_the_prompts_that_were_typed(self, name):
        lived, after = main_session(name)[0], main_session(name)[-1]
        assert user_texts(after)[:10] == user_texts(lived)[:10]

    def test_a_command_that_ends_after_its_session_was_loaded_again(self):
        _, loaded, _ = main_session(
            "codex-acp"
        )  # cancelled, it went on for half a minute; the history does not have it
        (late,) = [entry for entry in loaded.transcript if not entry.replayed]
        assert (late.provisional, late.status, late.turn, late.title) == (True, "completed", None, None)

    def test_the_history_of_a_fork_comes_before_its_id_is_known(self):
        forks = [
            snapshots[-1]
            for snapshots in shown("opencode").values()
            if any(entry.replayed for entry in snapshots[-1].transcript) and snapshots[-1].transcript.first == 0
        ]
        assert len(forks) == 1
        assert [entry.turn for entry in forks[0].transcript][-2:] == [1, 1]

    def test_a_replay_that_goes_on_after_the_answer(self):
        _, after = main_session("gemini")
        assert sum(entry.replayed for entry in after.transcript) > 40

    def test_remarks_about_modes_between_turns_are_several(self):
        lived, _ = main_session("gemini")
        assert len([entry for entry in lived.transcript if entry.turn is None]) == 4

    def test_titles(self):
        assert not main_session("codex-acp")[0].info.provisional
        assert main_session("qwen")[0].info.provisional

    @pytest.mark.parametrize(
        ("name", "options"),
        [
            ("gemini", {"mode": "mode", "model": "model"}),  # which has no configuration options
            ("fast-agent", {"mode": "mode"}),
            ("qwen", {"mode": "config_option", "model": "config_option"}),  # which tells both twice
            ("pi3", {"model": "config_option", "thought_level": "config_option"}),  # its modes are the latter
            ("opencode", {"model": "config_option", "mode": "config_option"}),
            ("acpsdk-ts-example", {}),
        ],
    )
    def test_options_are_shown_once_whatever_their_form(self, name, options):
        for snapshots in shown(name).values():
            assert {option.id: option.source for option in snapshots[-1].options.entries} == options

    @pytest.mark.parametrize("name", ["claude-agent-acp-new", "codex-acp", "gemini", "opencode", "pi3", "qwen"])
    def test_every_set_of_an_option_was_shown_at_once_and_is_over(self, name):
        seen = []

        def opened(state: SessionState) -> None:
            state.options.changed.connect(lambda changes: seen.extend(changes.snapshot.entries))

        player = folded.snapshots(folded.play(path_of(name), opened=opened))
        pending = [option for option in seen if option.pending is not None]
        assert pending
        assert all(option.value == option.pending for option in pending)
        for snapshots in player.values():
            assert {option.pending for option in snapshots[-1].options.entries} <= {None}

    def test_hints_in_metadata_are_kept(self):
        [codex] = main_session("codex-acp")[0].info.meta.values()
        assert list(codex.values()) == [{"type": "idle"}]
        [pi] = main_session("pi3")[0].info.meta.values()
        assert list(pi.values()) == [0, False]  # requests that wait, and whether it runs
