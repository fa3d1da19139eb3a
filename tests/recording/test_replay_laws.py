"""Laws of folding that hold for every file, however it is damaged."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_host.recording import encode_line, read_recording
from acp_host.recording.anonymise import anonymise
from acp_host.replay import fold_recording
from acp_host.replay.comparing import compare_states
from tests.recording.live import structure

FIXTURES = Path(__file__).parents[2] / "fixtures" / "recordings"
LINES = [
    *(FIXTURES / "fast-agent.jsonl").read_bytes().splitlines(keepends=True)[:120],
    *(FIXTURES / "opencode.jsonl").read_bytes().splitlines(keepends=True)[-80:],
]
METHODS = st.sampled_from(
    [
        *("initialize", "session/new", "session/load", "session/resume", "session/fork", "session/prompt"),
        *("session/cancel", "session/close", "session/set_mode", "session/set_config_option", "session/remind"),
        *("session/inject", "session/revoke_inject", "session/request_permission", "terminal/create", "_x", "foo"),
        *("session/update", "session/attach", "$/cancel_request", "elicitation/create", "fs/write_text_file"),
    ]
)
VALUES = st.none() | st.integers(-1, 3) | st.sampled_from(["", "s", "end_turn"]) | st.just([]) | st.just({})
NAMES = st.sampled_from(
    ["sessionId", "prompt", "update", "cwd", "modeId", "configId", "value", "body", "mode", "content", "requestId"]
)
MESSAGES = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0")},
    optional={
        "id": VALUES,
        "method": METHODS,
        "params": st.dictionaries(NAMES, VALUES, max_size=4) | VALUES,
        "result": VALUES,
        "error": VALUES,
    },
)
ODD = st.builds(
    lambda direction, t, message: json.dumps({"dir": direction, "t": t, "msg": message}).encode() + b"\n",
    st.sampled_from(["in", "out", "meta"]),
    st.floats(allow_nan=False, allow_infinity=False) | st.integers(-5, 5),
    MESSAGES,
)
META = st.sampled_from([b'{"dir":"meta","note":"anew"}\n', b'{"dir":"meta","event":"end","note":"over"}\n', b"noise\n"])
DAMAGE = st.lists(
    st.tuples(
        st.integers(0, len(LINES) - 1), st.sampled_from(["drop", "repeat", "cut", "insert"]), st.one_of(ODD, META)
    ),
    max_size=25,
)


def damaged(damage: Any) -> bytes:
    lines = list(LINES)
    for index, what, odd in sorted(damage, key=lambda each: -each[0]):
        match what:
            case "drop":
                del lines[index]
            case "repeat":
                lines.insert(index, lines[index])
            case "cut":
                lines[index] = lines[index][: len(lines[index]) // 2] + b"\n"
            case _:
                lines.insert(index, odd)
    return b"".join(lines)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(DAMAGE)
def test_whatever_a_file_holds_it_is_folded_and_always_the_same(damage: Any) -> None:
    data = damaged(damage)
    first, second = fold_recording(io.BytesIO(data)), fold_recording(io.BytesIO(data))

    assert [each for each in first.diagnostics if each.kind == "handler_failed"] == []
    assert first.to_bytes() == second.to_bytes()
    assert compare_states(first.to_json(), second.to_json()) == []


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(DAMAGE)
def test_whatever_a_file_holds_it_is_folded_alike_when_it_is_anonymous(damage: Any) -> None:
    data = damaged(damage)
    made = b"".join(map(encode_line, anonymise(read_recording(io.BytesIO(data)))))
    before, after = (fold_recording(io.BytesIO(each)).to_json() for each in (data, made))

    assert structure(after["sessions"]) == structure(before["sessions"])
    assert [each["kind"] for each in after["diagnostics"]] == [each["kind"] for each in before["diagnostics"]]
