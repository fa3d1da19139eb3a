"""Recordings that are damaged, hostile, or of hosts and agents that break the rules."""

from __future__ import annotations

import io
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import acp_host
from acp_host import DecodeError, OutcomeUnknown
from acp_host.cli import main
from acp_host.replay import FoldedRecording, fold_recording
from acp_host.testing import ReplayDiverged, ReplayTransport, ScriptedAgent
from tests.chaos.bad_agents import DONE, open_session, permission

OFFERS = {"protocolVersion": 1, "agentCapabilities": {"loadSession": True}}
DAY = 86_400.0


def line(direction: str, message: Any, t: float = 0.0) -> bytes:
    return json.dumps({"dir": direction, "t": t, "msg": {"jsonrpc": "2.0", **message}}).encode() + b"\n"


def asks(request_id: Any, method: str, t: float = 0.0, **params: Any) -> bytes:
    return line("out", {"id": request_id, "method": method, "params": params}, t)


def answers(request_id: Any, result: Any, t: float = 0.0) -> bytes:
    return line("in", {"id": request_id, "result": result}, t)


def tells(t: float = 0.0, /, **update: Any) -> bytes:
    return line("in", {"method": "session/update", "params": {"sessionId": "s", "update": update}}, t)


def says(text: str, t: float = 0.0) -> bytes:
    return tells(t, sessionUpdate="agent_message_chunk", content={"type": "text", "text": text})


def prompt(request_id: Any, text: str = "go", t: float = 0.0) -> bytes:
    return asks(request_id, "session/prompt", t, sessionId="s", prompt=[{"type": "text", "text": text}])


HELLO = [asks(0, "initialize", protocolVersion=1), answers(0, OFFERS)]
OPENING = [*HELLO, asks(1, "session/new", cwd="/nowhere", mcpServers=[]), answers(1, {"sessionId": "s"})]
TALK = [*OPENING, prompt(2), says("hel"), says("lo"), answers(2, DONE)]
META = b'{"dir":"meta","t":0,"note":"started anew"}\n'


def folded(*lines: bytes) -> FoldedRecording:
    return fold_recording(io.BytesIO(b"".join(lines)))


def texts(recording: FoldedRecording) -> list[str]:
    return [entry.text for entry in recording.sessions["s"].transcript if entry.type == "message"]


def said(recording: FoldedRecording) -> str:
    return "\n".join(diagnostic.message for diagnostic in recording.diagnostics)


@pytest.mark.parametrize(
    "damage",
    [b"\n", b"not json\n", b"[1, 2]\n", b'{"dir":"sideways","msg":{}}\n', b'{"dir":"in","t":"soon","msg":{}}\n'],
)
def test_r285_lines_that_are_none_are_left_out(damage: bytes) -> None:
    whole = folded(*TALK)
    recording = folded(*(each for one in TALK for each in (damage, one)), TALK[-1][:30])

    assert texts(recording) == texts(whole) == ["go", "hello"]
    assert "was left out" in said(recording)


def test_r285_a_line_without_end_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_bytes(b"".join([*TALK[:6], b'{"dir":"in","t":0,"raw":"', b"x" * 100_000_000, b'"}\n', *TALK[6:]]))

    assert texts(fold_recording(path)) == ["go", "hello"]


def test_r286_a_recording_without_its_beginning_is_folded_from_there() -> None:
    recording = folded(*TALK[4:], b'{"dir":"meta","t":1,"event":"not_recorded","count":3,"note":"3 are missing"}\n')

    assert texts(recording) == ["go", "hello"]
    assert recording.sessions["s"].turn.outcome == "completed"
    assert "does not begin with initialize" in said(recording)
    assert "3 are missing" in said(recording)


def test_r287_times_are_not_believed() -> None:
    times = [0.0, 5.0, -3.0, 1e299, 2.0, DAY, 0.0, 1e9]  # longer ones are none, and their lines are left out
    lines = [each.replace(b'"t": 0.0', f'"t": {t}'.encode()) for each, t in zip(TALK, times, strict=True)]
    began = time.monotonic()
    recording = folded(*lines, says("late").replace(b'"t": 0.0', b'"t": 1e999'))

    assert texts(recording)[:2] == ["go", "hello"]
    assert time.monotonic() - began < 10


def test_r287_a_year_of_pauses_takes_no_time() -> None:
    call = tells(sessionUpdate="tool_call", toolCallId="c", title="Wait", status="in_progress")
    waits = [says(".", number * DAY) for number in range(365)]
    began = time.monotonic()
    recording = folded(*OPENING, call, *waits)

    assert texts(recording) == ["." * 365]
    assert time.monotonic() - began < 10


def test_r288_two_prompts_at_once() -> None:
    both = [*OPENING, prompt(2, "one"), prompt(3, "two")]
    recording = folded(*both, says("a"), answers(2, DONE), says("b"), answers(3, DONE))

    assert texts(recording) == ["one", "a", "two", "b"]
    crossed = folded(*both, answers(3, DONE), says("a"), answers(2, DONE))
    assert texts(crossed) == ["one", "a"]
    assert "two prompts running in one session" in said(crossed)


@pytest.mark.parametrize("ends_late", [False, True])
def test_r474_a_turn_that_was_given_up_is_over_when_the_next_one_is_prompted(ends_late: bool) -> None:
    cancel = line("out", {"method": "session/cancel", "params": {"sessionId": "s"}}, 1.0)
    withdrawn = line("out", {"method": "$/cancel_request", "params": {"requestId": 2}}, 1.5)
    ask = line("in", {"id": "q", "method": "session/request_permission", "params": permission(session_id="s")}, 2.0)
    given_up = [*OPENING, prompt(2, "one"), says("a"), cancel, withdrawn, prompt(3, "two", 2.0)]
    late = [answers(2, DONE, 2.0)] if ends_late else []
    recording = folded(*given_up, ask, says("b", 2.0), *late, answers(3, DONE, 2.0))

    assert texts(recording) == ["one", "a", "two", "b"]
    assert [entry.turn for entry in recording.sessions["s"].transcript] == [1, 1, 2, 2, 2]
    assert recording.sessions["s"].turn.outcome == "completed"
    assert len(recording.sessions["s"].questions) == 1


@pytest.mark.parametrize("is_own", [True, False])
def test_r474_a_host_that_waits_longer_for_the_end_of_a_turn(is_own: bool) -> None:
    start = b'{"dir":"meta","t":0,"event":"start","note":"the recording begins","acp_host":"1"}\n'
    cancel = line("out", {"method": "session/cancel", "params": {"sessionId": "s"}}, 1.0)
    talk = [*OPENING, prompt(2), says("a"), cancel, says("b", 60.0), answers(2, {"stopReason": "cancelled"}, 61.0)]
    recording = folded(*([start] if is_own else []), *talk)

    assert texts(recording) == (["go", "ab"] if is_own else ["go", "a", "b"])
    assert recording.sessions["s"].turn.outcome == "cancelled"


def test_r474_it_gives_up_some_time_after_it_has_withdrawn_the_prompt() -> None:
    start = b'{"dir":"meta","t":0,"event":"start","note":"the recording begins","acp_host":"1"}\n'
    cancel = line("out", {"method": "session/cancel", "params": {"sessionId": "s"}}, 1.0)
    withdrawn = line("out", {"method": "$/cancel_request", "params": {"requestId": 2}}, 61.0)
    recording = folded(start, *OPENING, prompt(2), says("a"), cancel, says("b", 60.0), withdrawn, says("c", 70.0))

    assert texts(recording) == ["go", "ab", "c"]
    assert recording.sessions["s"].turn.outcome == "cancelled"


def test_r288_what_no_host_should_send() -> None:
    batch = b'{"dir":"out","t":0,"raw":"[{}]"}\n'
    odd = [asks(7, "session/prompt", sessionId="s"), asks(8, "session/load", sessionId=5), asks(9, "foo/bar")]
    notes = [
        line("out", {"method": "session/cancel", "params": {"sessionId": []}}),
        line("out", {"id": {}, "method": 3}),
    ]
    recording = folded(*OPENING, batch, *odd, *notes, answers(7, DONE), answers(9, {}), *TALK[4:])

    assert texts(recording) == ["go", "hello"]
    assert "session/prompt was left out" in said(recording)
    assert not [each for each in recording.diagnostics if each.kind == "handler_failed"]


def test_r289_nothing_that_a_recording_tells_of_is_done(tmp_path: Path) -> None:
    target = tmp_path / "written"
    write = {"sessionId": "s", "path": str(target), "content": "x"}
    run = {"sessionId": "s", "command": sys.executable, "args": ["-c", f"open({str(target)!r}, 'w')"]}
    events: list[str] = []
    watching = True

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if watching and event in (
            "subprocess.Popen",
            "os.exec",
            "os.system",
            "os.mkdir",
            "os.remove",
            "socket.connect",
        ):
            events.append(event)
        if watching and event == "open" and str(arguments[0]).startswith(str(tmp_path)):
            events.append(event)

    sys.addaudithook(audit)
    recording = folded(
        *OPENING,
        prompt(2),
        line("in", {"id": "w", "method": "fs/write_text_file", "params": write}),
        line("out", {"id": "w", "result": {}}),
        line("in", {"id": "r", "method": "terminal/create", "params": run}),
        line("out", {"id": "r", "result": {"terminalId": "t"}}),
        line("in", {"id": "o", "method": "terminal/output", "params": {"sessionId": "s", "terminalId": "t"}}),
        line("out", {"id": "o", "result": {"output": "done", "truncated": False, "exitStatus": {"exitCode": 3}}}),
        answers(2, DONE),
    )
    watching = False

    assert events == []
    assert not target.exists()
    terminal = recording.sessions["s"].terminals["t"]
    assert (terminal.output, terminal.ended, terminal.exit_code) == (("done",), True, 3)


def test_r290_answers_to_nothing_and_no_answers() -> None:
    asked = line("in", {"id": 5, "method": "_ask", "params": {}})
    recording = folded(
        *OPENING, answers(99, {}), line("out", {"id": 5, "result": {}}), asked, asked, *TALK[4:], prompt(3)
    )

    assert texts(recording) == ["go", "hello", "go"]
    assert recording.sessions["s"].turn.status == "running"
    assert "99" in said(recording)


def test_r291_another_process_begins_in_the_midst() -> None:
    again = [asks(1, "session/load", sessionId="s", cwd="/", mcpServers=[]), says("as told"), answers(1, {})]
    recording = folded(*OPENING, prompt(2), says("half"), META, *HELLO, *again, prompt(2, "more"), answers(2, DONE))
    state = recording.sessions["s"]

    assert texts(recording) == ["as told", "more"]
    assert (state.turn.outcome, state.health.status) == ("completed", "connected")
    [before] = recording.earlier["s"]
    assert (before.turn.outcome, before.health.status) == ("failed", "lost")


def test_r292_a_recording_is_shown_without_steering_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_bytes(
        b"".join([*OPENING, prompt(2, "\x1b]0;x\x07"), says("\x1b[2J"), answers(2, {"stopReason": "\x9b"})])
    )

    for options in ([], ["--json"], ["--lint"]):
        main(["replay", *options, str(path)])
        printed = "".join(capsys.readouterr())
        assert printed
        assert not set(printed) & {"\x1b", "\x07", "\x9b"}


async def test_r293_a_host_that_leaves_the_recording_is_told_where(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_bytes(b"".join(TALK))
    async with acp_host.connect(ReplayTransport(path)) as host:
        session = await host.new_session(os.getcwd())
        with pytest.raises(OutcomeUnknown, match="left the recording") as caught:
            await session.prompt("come")
    assert isinstance(caught.value.cause, ReplayDiverged)
    assert caught.value.cause.line == 5


async def test_r294_the_first_deviation_ends_a_strict_connection() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        agent.notify(
            "session/update", {"sessionId": "s-1", "update": {"sessionUpdate": "tool_call", "toolCallId": "c"}}
        )
        agent.reply(DONE)

    async with open_session(script, lint="strict") as (_, session):
        with pytest.raises(OutcomeUnknown, match="'title' is missing") as caught:
            await session.prompt("go")
    assert isinstance(caught.value.cause, DecodeError)
