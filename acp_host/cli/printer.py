"""Puts text on the terminal or into a log: :class:`Printer`, and :func:`plain`, which makes what it prints.

What agents send is not trusted: it may hold control characters that steer a terminal, and signs that rich would read as
markup. All text becomes a rich ``Text`` here, by :func:`plain`, and never a markup string. Nothing is redrawn, so that
the output reads the same on a terminal and in a log.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import IO, NoReturn

from rich.console import Console, RenderableType
from rich.text import Text

from acp_host.printable import printable
from acp_host.wire.text import ends_in_half, join_text

__all__ = ["GUTTER", "Joiner", "Printer", "clean", "make_console", "plain"]

GUTTER = 12
"""Width of the column that says what a line is, in characters."""

_LOG_WIDTH = 110


class _Console(Console):
    def on_broken_pipe(self) -> NoReturn:
        raise  # the command ends as for any other closed pipe; rich would leave by SystemExit in the middle of a task


def make_console(file: IO[str]) -> Console:
    """Return a console that takes nothing for markup; without a terminal it is 110 characters wide, or ``COLUMNS``."""
    width = None if file.isatty() or os.environ.get("COLUMNS") else _LOG_WIDTH
    return _Console(file=file, width=width, markup=False, emoji=False, highlight=False)


def clean(text: str) -> str:
    """Return ``text`` with everything that could steer a terminal spelled out; line ends become plain newlines."""
    return printable(text.replace("\r\n", "\n"))


def plain(text: str, style: str = "") -> Text:
    """Return text to print, made safe; ``style`` is a rich style of ours, never an agent's."""
    return Text(clean(text), style)


def _lead_to_one_place(one: IO[str], other: IO[str]) -> bool:
    """Tell whether what is written to both can be read in one sequence, as after ``2>&1``."""
    if one.isatty() and other.isatty():
        return True
    try:
        places = os.fstat(one.fileno()), os.fstat(other.fileno())
    except (OSError, ValueError):  # no files of the system, or closed
        return False
    return places[0].st_ino != 0 and os.path.samestat(*places)  # 0: a pipe of Windows, which has no number


class Joiner:
    """Makes printable text of pieces that may have been cut within a character or within a line end."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        """Return what can be printed after this piece; the rest is held until the next."""
        text = join_text((self._held, piece))
        whole = len(text) - (text.endswith("\r") or ends_in_half(text))
        self._held = text[whole:]
        return clean(text[:whole])

    def end(self) -> str:
        """Return what is still held."""
        held, self._held = self._held, ""
        return clean(held)


class Printer:
    """Prints labelled lines, and text that comes in pieces.

    Args:
        console: takes everything, the answer aside.
        answer: takes the agent's message text alone and exactly, made printable; ``None``: it goes to the console with
            the rest. Where both lead to one place, such as the log of a pipeline, each begins its own lines; two
            terminals are taken for the same one.

    Attributes:
        before_output: called before anything is printed.
    """

    def __init__(self, console: Console, answer: IO[str] | None = None) -> None:
        self.console = console
        self.before_output: Callable[[], None] = lambda: None
        self._answer = answer
        self._same_screen = answer is not None and _lead_to_one_place(answer, console.file)
        self._answer_joiner = Joiner()
        self._answer_end = ""
        self._answer_open = False
        self._flow: tuple[str, object] | None = None
        self._joiner = Joiner()
        self._spaces = ""
        self._style = ""

    @property
    def in_a_line(self) -> bool:
        """Whether a line is open on the console's screen."""
        return self._flow is not None or (self._answer_open and self._same_screen)

    def line(self, label: str, *parts: Text, style: str = "bold") -> None:
        """Print one entry: a label and what is said; lines after the first are indented below it."""
        self.end_flow()
        text = Text.assemble((label.ljust(GUTTER), style), *parts)
        first, *rest = text.split("\n", allow_blank=True)
        self._print(first)
        for line in rest:
            self._print(Text(" " * GUTTER).append_text(line) if line else line)

    def say(self, text: Text) -> None:
        """Print text without a label."""
        self.end_flow()
        self._print(text)

    def show(self, renderable: RenderableType, *, blank_before: bool = False) -> None:
        """Print a table or a rule, whose texts :func:`plain` has made, after an empty line if asked for."""
        self.end_flow()
        self.before_output()
        if blank_before:
            self.console.print()
        self.console.print(renderable)

    def flow(self, label: str, piece: str, *, key: object = None, style: str = "", label_style: str = "bold") -> None:
        """Continue the text that is being printed; a label or key other than the last begins a new one.

        Args:
            label: what the text is.
            piece: its next piece.
            key: tells texts with the same label apart.
            style: how the text looks.
            label_style: how the label looks.
        """
        if self._flow != (label, key):
            self.end_flow()
            self._flow, self._style = (label, key), style
            self._put(Text(label.ljust(GUTTER), label_style))
        self._put_piece(self._joiner.feed(piece))

    def answer(self, piece: str, key: object = None) -> None:
        """Print the next piece of the agent's message; ``key`` tells its messages apart where they share a screen.

        Raises:
            OSError: the other end of the pipe is closed.
        """
        if self._answer is None:
            self.flow("agent", piece, key=key)
            return
        if self._same_screen and self._flow is not None:
            self.end_flow()
        self._write_answer(self._answer_joiner.feed(piece))

    def end_flow(self) -> None:
        """End the line that is open, if one is."""
        if self._flow is not None:
            self._put_piece(self._joiner.end())
            self._flow, self._spaces = None, ""
            self._put(Text("\n"))
        if self._answer_open and self._same_screen and self._answer is not None:
            self._answer.write("\n")
            self._answer.flush()
            self._answer_open = False

    def finish(self) -> None:
        """End every open line, that of the answer too."""
        self.end_flow()
        if self._answer is not None:
            self._write_answer(self._answer_joiner.end())
            if self._answer_end not in ("", "\n") and (self._answer_open or not self._same_screen):
                self._write_answer("\n")

    def _write_answer(self, text: str) -> None:
        if text and self._answer is not None:
            if self._same_screen:
                self.before_output()
            self._answer.write(text)
            self._answer.flush()
            self._answer_end = text[-1]
            self._answer_open = self._answer_end != "\n"

    def _put_piece(self, text: str) -> None:
        """Print a piece, indented; blanks and line ends at its end wait for what follows, since nothing may."""
        text = self._spaces + text
        body = text.rstrip(" \n")
        self._spaces = text[len(body) :]
        if body:
            self._put(Text(body.replace("\n", "\n" + " " * GUTTER), self._style))

    def _put(self, text: Text) -> None:
        self.before_output()
        self.console.print(text, end="", soft_wrap=True)

    def _print(self, text: Text) -> None:
        self.before_output()
        self.console.print(text, soft_wrap=True)
