"""What an agent writes to its log."""

from __future__ import annotations

from acp_host.state.harn.logs import MAX_LINES, OUTPUT, LogLine
from tests.harn.harness import Desk, events_of, named, read, updates


def test_lines_in_order_from_updates_and_notifications() -> None:
    desk = Desk().take(*updates("derived_namespaced_updates.json", "log"))
    desk.hear("log", level="info", message="m", fields={}).hear("output", text="hello\n")
    assert [*desk.harn.logs] == [
        LogLine(message="cache cold", level="warn", fields={"hits": 0}),
        LogLine(message="m", level="info", fields={}),
        LogLine(message="hello\n", level=OUTPUT),
    ]
    desk.assert_exact()
    assert desk.paths == ["add /harn/logs/entries/-"]


def test_nothing_of_it_is_in_the_transcript() -> None:
    assert len(Desk().take(named("log", message="m")).state.snapshot().transcript) == 0


def test_a_line_without_words_is_none() -> None:
    report = read(named("log", level="info"))
    assert report is not None
    assert (report.events, report.problems) == ((), ("message is missing",))


def test_what_is_told_at_the_start_can_be_told_apart() -> None:
    boot, other = (events_of(named("log", message=text))[0].line for text in ("ACP_BOOT: x=1", "x"))
    assert boot.is_about_start
    assert not other.is_about_start


def test_the_log_is_bounded() -> None:
    desk = Desk().take(*(named("log", message=str(number)) for number in range(MAX_LINES + 2)))
    assert (desk.harn.logs.first, len(desk.harn.logs)) == (2, MAX_LINES)
    desk.assert_exact()
