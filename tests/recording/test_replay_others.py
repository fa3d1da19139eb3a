"""Recordings of further agents, each of which does something that the others do not; looked at like those.

``python -m tests.recording.test_replay_others`` writes what they are folded into anew; then look at what has changed.
"""

from __future__ import annotations

import functools
import gzip
from pathlib import Path

import pytest

from acp_host.cli import main as command
from acp_host.replay import FoldedRecording
from tests.state import folded

RECORDINGS = sorted((folded.FIXTURES / "recordings" / "others").glob("*.jsonl*"))
EVERY = pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name.partition(".")[0])

EVERYWHERE = {
    "for a session that was not open": "the recorded host prompted one that is unknown, or was closed",
    "required property 'prompt' is missing": "the recorded host sent a prompt so",
}
TWO_PROMPTS = {"two prompts running in one session": "the recorded host did not wait for the end of a turn"}
ANSWERS_ALL = {"for the unknown session": "the agent takes prompts for sessions that it does not know"}
EXPLAINED = {
    "acpsdk-agent": ANSWERS_ALL,
    "acpsdk-echo": ANSWERS_ALL,
    "deepagents": TWO_PROMPTS,
    "gptme": {
        "of an open one, which is closed in this program": "the agent gives several sessions one id",
        "has not ended 10 s after session/cancel": "the agent does not react to a cancel",
        "never ended after it was cancelled": "likewise",
        **ANSWERS_ALL,
    },
    "langchain-acp": {**TWO_PROMPTS, "the session is lost": "it was prompted after a new start, without being loaded"},
    "openhands": {"a line was ignored: not a JSON object": "the agent prints its login to stdout"},
}
"""What the diagnostics of a recording may say, each with its reason."""


def name_of(path: Path) -> str:
    return path.name.partition(".")[0]


def expected(path: Path) -> Path:
    """Return where the result is kept; that of a long recording is compressed, too."""
    ending = ".json.gz" if path.suffix == ".gz" else ".json"
    return folded.FIXTURES / "folded" / "others" / f"{name_of(path)}{ending}"


def looked_at(path: Path) -> str:
    data = expected(path).read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode()


@functools.cache
def played(path: Path) -> FoldedRecording:
    return folded.play(path)


def test_they_are_there():
    assert len(RECORDINGS) == 10
    assert {name_of(path) for path in RECORDINGS} >= EXPLAINED.keys()


@EVERY
def test_one_is_folded_into_what_was_looked_at(path: Path):
    assert folded.written(folded.form(played(path))) == looked_at(path)


@EVERY
def test_every_diagnostic_has_its_reason(path: Path):
    explained = EVERYWHERE | EXPLAINED.get(name_of(path), {})
    said = [diagnostic.message for diagnostic in played(path).diagnostics]
    assert [message for message in said if not any(words in message for words in explained)] == []
    for words in EXPLAINED.get(name_of(path), {}):
        assert any(words in message for message in said), f"{words!r} explains nothing"


@EVERY
def test_one_is_shown(path: Path, capsys: pytest.CaptureFixture[str]):
    assert command(["replay", str(path)]) == 0
    assert "Sessions" in capsys.readouterr().out


def main() -> None:
    for path in RECORDINGS:
        data = folded.written(folded.form(folded.play(path))).encode()
        expected(path).write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


if __name__ == "__main__":
    main()
