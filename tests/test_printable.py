"""Text from an agent on its way to a screen."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_host.printable import block, json_text, one_line, printable, printable_json


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words", "plain words"),
        ("  two\n\tlines \r\n here  ", "two lines here"),
        ("a\u2028b\x85c\x0bd", "a b c d"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x1b]8;;http://x\x07link", "\\x1b]8;;http://x\\x07link"),
        ("abc\u202edcb", "abc\\u202edcb"),
        ("half \ud83d", "half \\ud83d"),
        ("<b>bold</b> [x](y) `z`", "<b>bold</b> [x](y) `z`"),
        ("Grüße, 世界 🙂", "Grüße, 世界 🙂"),
        ("0123456789" * 4, "0123456789" * 4),
        ("0123456789" * 4 + "0", "0123456789" * 3 + "012345678…"),
        ("\x1b" * 11, "\\x1b" * 9 + "\\x1…"),
        (" " * 100 + "far away", "far away"),
        ("a" + " " * 100 + "b", "a…"),
    ],
)
def test_one_line(text: str, shown: str) -> None:
    assert one_line(text, 40) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one\ntwo\tthree", "one\ntwo\tthree"),
        ("one\r\ntwo", "one\ntwo"),
        ("over\rwritten", "over\\rwritten"),
        ("\x1b[2Jgone", "\\x1b[2Jgone"),
        ("one\u2029two", "one\\u2029two"),
        ("1\n2\n3", "1\n2\n3"),
        ("1\n2\n3\n4", "1\n2\n3…"),
        ("\n" * 1_000, "\n\n…"),
        ("x" * 41, "x" * 39 + "…"),
    ],
)
def test_block(text: str, shown: str) -> None:
    assert block(text, 40, 3) == shown


@given(st.text(st.characters(exclude_categories=())), st.integers(1, 30), st.integers(1, 4))
def test_whatever_the_text_it_is_bounded_and_harmless(text: str, limit: int, lines: int) -> None:
    line, several = one_line(text, limit), block(text, limit, lines)
    assert max(len(line), len(several)) <= limit
    assert several.count("\n") < lines
    for shown in (line, several.replace("\n", "").replace("\t", "")):
        shown.encode()
        assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for character in shown)
        assert not any(character in "\u200e\u200f\u061c\u2028\u2029\u202e\u2066" for character in shown)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\twords\nGrüße, 世界 👩\u200d💻", "plain\twords\nGrüße, 世界 👩\u200d💻"),
        ("\x1b[2J", "\\x1b[2J"),
        ("a\rb\x00\x07\x7f\x9b", "a\\rb\\x00\\x07\\x7f\\x9b"),
        ("\u202eabc\u2066\u200f\u061c", "\\u202eabc\\u2066\\u200f\\u061c"),
        ("a\u2028b\u2029c", "a\\u2028b\\u2029c"),
        ("\ud83d", "\\ud83d"),
        ("\ude42x", "\\ude42x"),
    ],
)
def test_what_could_steer_a_terminal_is_spelled_out(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert printable(shown) == shown


@given(st.text(st.characters(exclude_categories=())), st.sampled_from([None, 2]))
def test_json_holds_any_text_and_steers_nothing(text: str, indent: int | None) -> None:
    shown = printable_json({"text": text}, indent=indent)
    assert json.loads(shown) == {"text": text}
    assert shown.replace("\n", "").isascii()
    assert shown.replace("\n", "").isprintable()


def test_json_for_people_of_any_depth() -> None:
    assert json_text({"a": ["ä", 10**400]}) == '{"a": ["ä", 1' + "0" * 400 + "]}"
    deep: list[object] = []
    for _ in range(2_000):
        deep = [deep]
    assert json_text({"a": deep}) == "(nested too deeply to be shown)"
