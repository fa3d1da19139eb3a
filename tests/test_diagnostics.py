"""Diagnostics are small, and few even where the faults are many."""

from __future__ import annotations

import pytest

from acp_host.diagnostics import MAX_DATA, Diagnostic, DiagnosticKind, Throttle, excerpt, throttled

NOISE = Diagnostic(DiagnosticKind.NOISE, "a line was ignored")


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("", ""),
        ("text", "text"),
        (b"bytes", "bytes"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        ("x" * MAX_DATA, "x" * MAX_DATA),
        ("x" * (MAX_DATA + 1), "x" * (MAX_DATA - 1) + "…"),
        (b"x" * 10**6, "x" * (MAX_DATA - 1) + "…"),
        ("\U0001f600".encode() * MAX_DATA, "\U0001f600" * MAX_DATA),
    ],
)
def test_excerpt(raw: bytes | str, text: str) -> None:
    assert excerpt(raw) == text


def test_no_text_of_a_diagnostic_is_long() -> None:
    long = "x" * 10**6
    diagnostic = Diagnostic(DiagnosticKind.MALFORMED, long, path=long, method=long, session_id=long)
    assert {
        len(text or "") for text in (diagnostic.message, diagnostic.path, diagnostic.method, diagnostic.session_id)
    } == {MAX_DATA}
    assert Diagnostic(DiagnosticKind.NOISE, "m") == Diagnostic(DiagnosticKind.NOISE, "m", None, None, None, None, 1)


def test_a_few_are_all_let_through() -> None:
    throttle = Throttle()
    assert [throttle.admit(NOISE) for _ in range(20)] == [NOISE] * 20
    assert throttle.flush() == []


def test_of_many_ever_fewer_are_let_through() -> None:
    throttle = Throttle()
    counts = [admitted.count for _ in range(1_000) if (admitted := throttle.admit(NOISE))]
    assert counts == [1] * 20 + [20, 40, 80, 160, 320]
    assert [diagnostic.count for diagnostic in throttle.flush()] == [1_000 - sum(counts)]
    assert throttle.flush() == []


def test_kinds_do_not_hold_each_other_back() -> None:
    throttle = Throttle()
    for _ in range(100):
        throttle.admit(NOISE)
    other = Diagnostic(DiagnosticKind.REPAIRED, "repaired")
    assert throttle.admit(other) == other
    assert [(held.kind, held.count) for held in throttle.flush()] == [(DiagnosticKind.NOISE, 20)]


def test_one_that_stands_for_many_counts_as_many() -> None:
    throttle = Throttle()
    many = Diagnostic(DiagnosticKind.REPAIRED, "repaired", count=50)
    assert throttle.admit(many) == many
    assert throttle.admit(Diagnostic(DiagnosticKind.REPAIRED, "one more")) is None
    assert [(held.message, held.count) for held in throttle.flush()] == [("one more", 1)]
    assert throttle.admit(many) == many


def test_the_newest_stands_for_those_before_it() -> None:
    throttle = Throttle()
    for number in range(30):
        throttle.admit(Diagnostic(DiagnosticKind.NOISE, f"line {number}"))
    assert [(held.message, held.count) for held in throttle.flush()] == [("line 29", 10)]


def test_each_source_has_a_throttle_of_its_own() -> None:
    reported: list[int] = []
    sources = [throttled(lambda diagnostic: reported.append(diagnostic.count)) for _ in range(2)]
    for source in sources:
        for _ in range(100):
            source(NOISE)
    assert reported == ([1] * 20 + [20, 40]) * 2
