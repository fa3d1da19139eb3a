"""``acp-host replay``: what it prints, and how it ends."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import PROGRAM, Command
from tests.cli.test_run import UNSAFE

FIXTURES = Path(__file__).parents[2] / "fixtures" / "recordings"
REAL = str(FIXTURES / "fast-agent.jsonl")
OFFERS = {"protocolVersion": 1, "agentCapabilities": {}, "agentInfo": {"name": "\x1b[31mred\x7f", "version": "1"}}


def written(path: Path, *messages: tuple[str, Any], t: float = 0.0) -> str:
    with path.open("w", encoding="utf-8") as file:
        for number, (direction, message) in enumerate(messages):
            line = {"dir": direction, "t": number * t, "msg": {"jsonrpc": "2.0", **message}}
            file.write(json.dumps(line) + "\n")
    return str(path)


def talk(text: str, stop_reason: str = "end_turn", session: str = "s") -> list[tuple[str, Any]]:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    prompt = {"sessionId": session, "prompt": [{"type": "text", "text": "go"}]}
    return [
        ("out", {"id": 0, "method": "initialize", "params": {"protocolVersion": 1}}),
        ("in", {"id": 0, "result": OFFERS}),
        ("out", {"id": 1, "method": "session/new", "params": {"cwd": "/nowhere", "mcpServers": []}}),
        ("in", {"id": 1, "result": {"sessionId": session}}),
        ("out", {"id": 2, "method": "session/prompt", "params": prompt}),
        ("in", {"method": "session/update", "params": {"sessionId": session, "update": update}}),
        ("in", {"id": 2, "result": {"stopReason": stop_reason}}),
    ]


def test_a_conversation_is_shown_as_it_went(command: Command, tmp_path: Path) -> None:
    ran = command("replay", written(tmp_path / "talk.jsonl", *talk("hello there")))
    assert (ran.code, ran.err) == (0, "")
    lines = [line.split(maxsplit=1) for line in ran.out.splitlines()[:4]]
    assert lines == [["session", "s"], ["user", "go"], ["agent", "hello there"], ["result", "completed (end_turn)"]]
    assert "Sessions" in ran.out


def test_how_a_question_was_answered_is_shown(command: Command, tmp_path: Path) -> None:
    options = [{"optionId": "y", "name": "Yes \x1b[1m", "kind": "allow_once"}]
    asked = {"sessionId": "s", "toolCall": {"toolCallId": "c", "title": "Delete all"}, "options": options}
    conversation = talk("done")
    questions: list[tuple[str, Any]] = []
    for number, outcome in enumerate(({"outcome": "selected", "optionId": "y"}, {"outcome": "cancelled"})):
        questions.append(("in", {"id": number, "method": "session/request_permission", "params": asked}))
        questions.append(("out", {"id": number, "result": {"outcome": outcome}}))
    ran = command("replay", written(tmp_path / "talk.jsonl", *conversation[:5], *questions, *conversation[5:]))
    assert (ran.code, ran.err) == (0, "")
    answers = [line for line in ran.out.splitlines() if line.startswith("answer ")]
    assert answers == ["answer      Yes \\x1b[1m (allow_once)", "answer      cancelled"]
    assert ran.out.index("permission?") < ran.out.index(answers[0]) < ran.out.index("agent       done")


def test_a_real_one(command: Command) -> None:
    ran = command("replay", "-v", REAL)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.count("permission?") > 5
    assert len([line for line in ran.out.splitlines() if line.startswith("user ")]) > 20


def test_json_is_the_same_in_every_run(process: Command) -> None:
    first, second = process("replay", "--json", REAL), process("replay", "--json", REAL)
    assert (first.code, first.err) == (0, "")
    assert first.out == second.out
    document = json.loads(first.out)
    assert list(document) == ["agreement", "diagnostics", "sessions", "version"]
    assert document["version"] == 1
    assert document["agreement"]["agentInfo"]["name"]
    assert all(state["sessionId"] == name for name, state in document["sessions"].items())


def test_nothing_that_an_agent_says_steers_the_terminal(command: Command, tmp_path: Path) -> None:
    text = "\x1b[45mloud\x1b[0m \x1b]0;title\x07 \u202ebackwards \x9b2J \ud83d"
    path = written(tmp_path / "talk.jsonl", *talk(text, stop_reason="\x1b[2J"))
    other = written(tmp_path / "other.jsonl", *talk("\x1b[1mx"))
    for arguments in (
        ("replay", path),
        ("replay", "--json", path),
        ("replay", "--lint", path),
        ("replay", "--diff", path, other),
    ):
        ran = command(*arguments)
        assert ran.out
        assert UNSAFE.search(ran.out + ran.err) is None


def test_with_its_pauses_but_faster(command: Command, tmp_path: Path) -> None:
    path = written(tmp_path / "talk.jsonl", *talk("hello"), t=1.0)
    began = time.monotonic()
    ran = command("replay", "--speed", "20", path)
    assert ran.code == 0
    assert "hello" in ran.out
    assert time.monotonic() - began > 6 / 20


@pytest.mark.parametrize("speed", ["0", "-1", "nan", "inf"])
def test_a_speed_is_a_number_above_zero(command: Command, speed: str) -> None:
    ran = command("replay", f"--speed={speed}", REAL)
    assert ran.code == 2
    assert "above 0" in ran.err


class TestDiff:
    def test_equal_ones(self, command: Command, tmp_path: Path) -> None:
        one = written(tmp_path / "one.jsonl", *talk("hello"))
        other = written(tmp_path / "other.jsonl", *talk("hello", session="another-id"), t=7.0)
        assert command("replay", "--diff", one, one) == command("replay", "--diff", one, other)
        assert command("replay", "--diff", one, other).code == 0

    def test_different_ones(self, command: Command, tmp_path: Path) -> None:
        one = written(tmp_path / "one.jsonl", *talk("hello"))
        other = written(tmp_path / "other.jsonl", *talk("bye", stop_reason="refusal"))
        ran = command("replay", "--diff", one, other)
        assert ran.code == 1
        assert '~ $.sessions.s.turn.outcome: "completed" -> "refused"' in ran.out
        assert '.segments[0]: "hello" -> "bye"' in ran.out

    def test_trouble(self, command: Command, tmp_path: Path) -> None:
        assert command("replay", "--diff", REAL).code == 2
        assert command("replay", "--diff", REAL, str(tmp_path / "nowhere")).code == 2


class TestLint:
    def test_what_does_not_fit_is_told_with_its_line(self, command: Command, tmp_path: Path) -> None:
        path = written(tmp_path / "talk.jsonl", *talk("hello", stop_reason="bored"))
        with open(path, "a", encoding="utf-8") as file:
            file.write('{"dir":"in","t":1,"raw":"starting up"}\n{"dir":"in","t":2,"ms')
        ran = command("replay", "--lint", path)
        assert ran.code == 1
        first, second, third = ran.out.splitlines()
        assert first.startswith(f"{path}:7: in session/prompt: 'bored' is none of end_turn")
        assert first.endswith("at $.result.stopReason")
        assert f"{path}:8: in -: not a JSON object" in second
        assert f"{path}:9: no line of a recording" in third
        assert ran.err == "3 findings\n"

    def test_nothing_to_say(self, command: Command, tmp_path: Path) -> None:
        ran = command("replay", "--lint", written(tmp_path / "talk.jsonl", *talk("hello")))
        assert (ran.code, ran.out, ran.err) == (0, "", "0 findings\n")


@pytest.mark.parametrize("arguments", [("nowhere.jsonl",), ("--json", "nowhere.jsonl"), ("--lint", "nowhere.jsonl")])
def test_a_file_that_is_not_there(command: Command, arguments: tuple[str, ...]) -> None:
    ran = command("replay", *arguments)
    assert ran.code == 2
    assert "nowhere.jsonl cannot be read: No such file" in ran.err


def test_a_file_that_is_none(command: Command, tmp_path: Path) -> None:
    (tmp_path / "poem.txt").write_text("Roses are red,\nviolets are blue.\n")
    ran = command("replay", str(tmp_path / "poem.txt"))
    assert ran.code == 2
    assert "holds no line of a recording" in ran.err


def test_one_at_a_time(command: Command) -> None:
    ran = command("replay", REAL, REAL)
    assert ran.code == 2
    assert "one at a time, not 2" in ran.err


@pytest.mark.skipif(sys.platform == "win32", reason="pipes end otherwise there")
def test_a_reader_that_goes_away_ends_it() -> None:
    with subprocess.Popen([*PROGRAM, "replay", REAL], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.readline()
        running.stdout.close()
        assert running.stderr.read() == b""
    assert running.returncode == 141
