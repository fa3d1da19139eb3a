"""Text from agents: joining what was cut in two."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from acp_host.wire.text import join_text

HIGH, LOW = "\ud83d", "\ude42"
SMILE = "\U0001f642"


@pytest.mark.parametrize(
    ("parts", "joined"),
    [
        ([], ""),
        (["", ""], ""),
        (["plain ", "words"], "plain words"),
        (["Grüße, ", "世界"], "Grüße, 世界"),
        ([SMILE, SMILE], SMILE * 2),
        ([f"a {HIGH}", f"{LOW} b"], f"a {SMILE} b"),
        ([f"a {HIGH}", "", f"{LOW} b"], f"a {SMILE} b"),
        ([HIGH, LOW, HIGH, LOW], SMILE * 2),
        ([f"世{HIGH}", f"{LOW}界{SMILE}"], f"世{SMILE}界{SMILE}"),
        ([HIGH + LOW], SMILE),
    ],
)
def test_halves_are_put_together(parts: list[str], joined: str) -> None:
    assert join_text(parts) == joined


@pytest.mark.parametrize(
    ("parts", "joined"),
    [
        ([HIGH], HIGH),
        ([LOW], LOW),
        (["a", HIGH], f"a{HIGH}"),
        ([f"{LOW}a"], f"{LOW}a"),
        ([HIGH, " ", LOW], f"{HIGH} {LOW}"),
        ([LOW, HIGH], LOW + HIGH),
        ([HIGH, HIGH, LOW, LOW], HIGH + SMILE + LOW),
    ],
)
def test_a_lone_half_stays(parts: list[str], joined: str) -> None:
    assert join_text(parts) == joined


def test_every_cut_of_a_text_gives_the_text_back() -> None:
    text = f"x{SMILE}é世{SMILE}\U0010ffff\U00010000"
    units = text.encode("utf-16-le")
    halves = [units[i : i + 2].decode("utf-16-le", "surrogatepass") for i in range(0, len(units), 2)]
    assert len(halves) > len(text)
    for cut in range(len(halves) + 1):
        assert join_text(["".join(halves[:cut]), "".join(halves[cut:])]) == text
    assert join_text(halves) == text


def test_parts_may_be_an_iterator() -> None:
    def stream() -> Iterator[str]:
        yield HIGH
        yield LOW

    assert join_text(stream()) == SMILE
