"""The commands that run for the agent, as the state shows them."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host.state import events
from acp_host.state.snapshot import TerminalView
from acp_host.state.terminal_output import MAX_SEGMENTS
from acp_host.state.terminals import MAX_RELEASED
from acp_host.state.text import SEGMENT
from tests.state.session_events import Folding, said, start


def reported(printed: str = "", terminal_id: str = "t", **more: Any) -> events.TerminalReported:
    return events.TerminalReported(terminal_id, "ls", printed=printed, **more)


def test_a_command_from_its_beginning_to_its_end():
    folding = Folding(events.TerminalReported("t", "ls | wc", via_shell=True))
    assert folding.snapshot.terminals == {"t": TerminalView(terminal_id="t", command="ls | wc", via_shell=True)}
    folding.fold(reported("a\n"), reported("b"))
    assert "".join(folding.snapshot.terminals["t"].output) == "a\nb"
    folding.fold(reported(ended=True, signal="SIGTERM"))
    view = folding.snapshot.terminals["t"]
    assert (view.ended, view.exit_code, view.signal, view.released) == (True, None, "SIGTERM", False)
    folding.fold(reported(ended=True, exit_code=0, released=True))
    view = folding.snapshot.terminals["t"]
    assert (view.exit_code, view.released, "".join(view.output)) == (0, True, "a\nb")


def test_what_did_not_change_is_the_same_object():
    folding = Folding(start(), reported("a", "t1"), reported("b", "t2"))
    before = folding.snapshot.terminals
    assert folding.fold(said("x")).snapshot.terminals is before
    after = folding.fold(reported("c", "t2")).snapshot.terminals
    assert after["t1"] is before["t1"]
    assert after["t2"] is not before["t2"]


@pytest.mark.parametrize("piece", [1, 1000, SEGMENT * (MAX_SEGMENTS + 3)])
def test_the_newest_output_is_kept_however_it_comes(piece):
    whole = "".join(chr(ord("a") + place % 26) for place in range(SEGMENT * (MAX_SEGMENTS + 3) + 7))
    folding = Folding()
    at_once = 5_000 if piece == 1 else piece  # a piece of one for the end only, since it is slow
    cut = len(whole) - 100 if piece == 1 else len(whole)
    for place in range(0, cut, at_once):
        folding.fold(reported(whole[place : min(place + at_once, cut)]))
    for place in range(cut, len(whole)):
        folding.fold(reported(whole[place]))
    view = folding.snapshot.terminals["t"]
    assert view.truncated
    assert whole.endswith("".join(view.output))
    assert (MAX_SEGMENTS - 1) * SEGMENT < sum(map(len, view.output)) <= MAX_SEGMENTS * SEGMENT
    assert {len(segment) for segment in view.output[:-1]} == {SEGMENT}


def test_output_that_fits_is_kept_whole():
    folding = Folding(reported("x" * (SEGMENT * MAX_SEGMENTS - 1)))
    view = folding.snapshot.terminals["t"]
    assert (view.truncated, sum(map(len, view.output))) == (False, SEGMENT * MAX_SEGMENTS - 1)


def test_of_what_the_agent_has_let_go_of_the_newest_are_kept():
    folding = Folding(reported("", "runs"))
    for number in range(MAX_RELEASED + 3):
        folding.fold(reported("", f"t{number}", released=True))
    kept = list(folding.snapshot.terminals)
    assert kept[:2] == ["runs", "t3"]
    assert len(kept) == MAX_RELEASED + 1


def test_they_are_gone_when_the_session_is_closed():
    folding, seen = Folding(reported("a", "t1"), reported("b", "t2")), []
    folding.flush()
    folding.state.changed.connect(seen.append)
    folding.fold(events.SessionClosed()).flush()
    assert folding.snapshot.terminals == {}
    assert [tuple(change) for change in seen[0].changes] == [
        ("terminals", "t1", "removed"),
        ("terminals", "t2", "removed"),
    ]
