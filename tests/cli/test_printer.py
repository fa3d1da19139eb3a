from __future__ import annotations

import io
import os
import re
from pathlib import Path

import pytest
from rich.text import Text

from acp_host.cli.printer import Joiner, Printer, clean, make_console, plain


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def joined(*pieces: str) -> str:
    joiner = Joiner()
    return "".join([*map(joiner.feed, pieces), joiner.end()])


@pytest.mark.parametrize(
    "pieces, text",
    [
        (("a", "b"), "ab"),
        (("\ud83d", "\ude00"), "\U0001f600"),
        (("x\ud83d", "", "\ude00y"), "x\U0001f600y"),
        (("\ud83d", "y"), "\\ud83dy"),
        (("\ude00",), "\\ude00"),
        (("x\ud83d",), "x\\ud83d"),
        (("a\r", "\nb"), "a\nb"),
        (("a\r", "b"), "a\\rb"),
        (("a\r",), "a\\r"),
        (("\x1b", "[1m"), "\\x1b[1m"),
    ],
)
def test_pieces_are_joined(pieces: tuple[str, ...], text: str) -> None:
    assert joined(*pieces) == text


def test_nothing_is_held_longer_than_needed() -> None:
    assert Joiner().feed("a ") == "a "


def test_clean() -> None:
    assert clean("a\r\nb\tc\x1b\x07\x9b\u202e[bold]") == "a\nb\tc\\x1b\\x07\\x9b\\u202e[bold]"


def printed(answer: io.StringIO | None = None, file: io.StringIO | None = None) -> tuple[Printer, io.StringIO]:
    file = io.StringIO() if file is None else file
    return Printer(make_console(file), answer), file


def test_lines_are_labelled_and_indented() -> None:
    printer, file = printed()
    printer.line("label", plain("one\ntwo"), Text(" and\nthree"))
    assert file.getvalue() == "label       one\n            two and\n            three\n"


def test_in_one_log_each_begins_its_own_lines(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as log, os.fdopen(os.dup(log.fileno()), "w") as answer:
        printer = Printer(make_console(log), answer)
        printer.answer("one ")
        printer.answer("two")
        printer.line("label", plain("a"))
        printer.answer("three")
        printer.finish()
    assert (tmp_path / "log").read_text() == "one two\nlabel       a\nthree\n"


def test_an_answer_that_goes_elsewhere_is_exact(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as log, (tmp_path / "answer").open("w") as answer:
        printer = Printer(make_console(log), answer)
        printer.answer("one ")
        printer.line("label", plain("a"))
        printer.answer("two")
        printer.finish()
    assert (tmp_path / "answer").read_text() == "one two\n"


def test_long_lines_are_not_wrapped() -> None:
    printer, file = printed()
    printer.line("label", plain("word " * 100))
    assert file.getvalue().count("\n") == 1


@pytest.mark.parametrize("text", ["[bold]x[/bold]", "[link=http://a]x[/link]", ":smile:", "[/]", "\\[x"])
def test_markup_is_text(text: str) -> None:
    printer, file = printed()
    printer.line("label", plain(text))
    printer.flow("flow", text)
    printer.end_flow()
    assert file.getvalue() == f"label       {text}\nflow        {text}\n"


def test_flows_are_joined_until_something_else_comes() -> None:
    printer, file = printed()
    for piece in ("a ", "b\n", "\n", "c", " \n"):
        printer.flow("one", piece)
    printer.flow("two", "d", key=1)
    printer.flow("two", "e", key=2)
    printer.line("line", plain("f"))
    printer.flow("two", "g", key=2)
    printer.finish()
    assert file.getvalue().splitlines() == [
        "one         a b",
        "            ",
        "            c",
        "two         d",
        "two         e",
        "line        f",
        "two         g",
    ]


def test_answer_alone_is_exact() -> None:
    answer = io.StringIO()
    printer, file = printed(answer)
    for piece in ("one", " two\n", "\n three"):
        printer.answer(piece)
        printer.line("line", plain("x"))
    printer.finish()
    assert answer.getvalue() == "one two\n\n three\n"
    assert file.getvalue() == "line        x\n" * 3


@pytest.mark.parametrize("text, shown", [("", ""), ("a", "a\n"), ("a\n", "a\n"), ("a\r", "a\\r\n")])
def test_answer_ends_with_its_line(text: str, shown: str) -> None:
    answer = io.StringIO()
    printer, _ = printed(answer)
    printer.answer(text)
    printer.finish()
    assert answer.getvalue() == shown


def test_answer_without_a_stream_of_its_own_is_a_flow() -> None:
    printer, file = printed()
    printer.answer("a")
    printer.answer("b")
    printer.answer("c", "another message")
    printer.finish()
    assert file.getvalue() == "agent       ab\nagent       c\n"


def test_on_one_screen_everything_begins_its_own_line() -> None:
    screen = Terminal()
    printer, _ = printed(answer=screen, file=screen)
    printer.flow("thinking", "hm")
    printer.answer("one")
    printer.line("line", plain("x"))
    printer.answer("two\n")
    printer.line("line", plain("y"))
    printer.answer("three")
    printer.finish()
    shown = re.sub(r"\x1b\[[0-9;]*m", "", screen.getvalue())
    assert shown == "thinking    hm\none\nline        x\ntwo\nline        y\nthree\n"
