"""Who answers the agent's permission requests on the command line, and how question and answer are shown.

:func:`by_policy` answers without asking; :class:`TerminalAsker` asks the user. Both print the question with all that is
known of what would be done, and every answer.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from acp_host.cli.printer import Printer, plain
from acp_host.cli.render import TurnView
from acp_host.services.permissions import PermissionPolicy
from acp_host.wire.permission import (
    RequestPermissionOutcome,
    RequestPermissionRequest,
    SelectedPermissionOutcome,
)

__all__ = ["LineSource", "TerminalAsker", "TerminalLines", "by_policy", "show_answer"]


def by_policy(
    policy: PermissionPolicy, view: TurnView, who: str
) -> Callable[[RequestPermissionRequest], RequestPermissionOutcome]:
    """Return a handler that shows each question and answers it by ``policy``, in the name of ``who``."""

    def answer(request: RequestPermissionRequest) -> RequestPermissionOutcome:
        view.show_question(request)
        outcome = policy.decide(request)
        show_answer(view.printer, request, outcome, who)
        return outcome

    return answer


def show_answer(
    printer: Printer, request: RequestPermissionRequest, outcome: RequestPermissionOutcome, who: str
) -> None:
    """Print how a question was answered, and by whom."""
    label = "cancelled"
    if isinstance(outcome, SelectedPermissionOutcome):
        option = next(option for option in request.options if option.option_id == outcome.option_id)
        label = f"{option.name} ({option.kind})"
    printer.line("answer", plain(label, "bold"), plain(f", by {who}"))


class LineSource(Protocol):
    """Lines that the user types.

    Attributes:
        turn: held by whoever asks the user something; one question is asked at a time.
    """

    turn: asyncio.Lock

    def discard(self) -> None:
        """Forget what was typed before now."""
        ...

    async def next(self) -> str | None:
        """Wait for a line and return it; ``None`` when there will be none."""
        ...


class TerminalLines:
    """The lines of standard input, read by a thread of their own once the first is asked for.

    Args:
        descriptor: the file descriptor to read. It is read directly: a thread that waits in ``sys.stdin`` would hold up
            the end of the program.
    """

    def __init__(self, descriptor: int = 0) -> None:
        self.turn = asyncio.Lock()
        self._descriptor = descriptor
        self._lines: deque[str | None] = deque()
        self._arrived = asyncio.Event()
        self._thread: threading.Thread | None = None

    def discard(self) -> None:
        """Forget what was typed before now; the end of the input is remembered."""
        ended = None in self._lines
        self._lines.clear()
        if ended:
            self._lines.append(None)

    async def next(self) -> str | None:
        """Wait for a line and return it; ``None`` when there will be none."""
        if self._thread is None:
            loop = asyncio.get_running_loop()
            self._thread = threading.Thread(target=self._read, args=(loop,), name="acp-host stdin", daemon=True)
            self._thread.start()
        while not self._lines:
            self._arrived.clear()
            await self._arrived.wait()
        return None if self._lines[0] is None else self._lines.popleft()

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        unfinished = b""
        while data := self._read_some():
            *lines, unfinished = (unfinished + data).split(b"\n")
            for line in lines:
                self._hand_over(loop, line.decode(errors="replace"))
        self._hand_over(loop, None)

    def _read_some(self) -> bytes:
        try:
            return os.read(self._descriptor, 4096)
        except OSError:
            return b""

    def _hand_over(self, loop: asyncio.AbstractEventLoop, line: str | None) -> None:
        with suppress(RuntimeError):  # the loop is closed, and nobody asks any more
            loop.call_soon_threadsafe(self._take, line)

    def _take(self, line: str | None) -> None:
        self._lines.append(line)
        self._arrived.set()


class TerminalAsker:
    """Asks the user on the terminal; without an answer nothing is allowed.

    One question is asked at a time. What was typed before a question was shown does not answer it.

    Args:
        view: shows the questions.
        lines: what the user types.
    """

    def __init__(self, view: TurnView, lines: LineSource) -> None:
        self._view = view
        self._lines = lines

    async def __call__(self, request: RequestPermissionRequest) -> RequestPermissionOutcome:
        async with self._lines.turn:
            self._lines.discard()
            self._view.show_question(request)
            try:
                chosen = await self._ask(request)
            except asyncio.CancelledError:
                self._view.printer.line("answer", plain("withdrawn", "bold"), plain(", by cancelling"))
                raise
            outcome = chosen or PermissionPolicy.reject().decide(request)
            show_answer(self._view.printer, request, outcome, "you" if chosen else "the end of the input")
            return outcome

    async def _ask(self, request: RequestPermissionRequest) -> SelectedPermissionOutcome | None:
        """Ask until the answer is one of the numbers; ``None`` when the user is gone."""
        choices = {str(number): option for number, option in enumerate(request.options, start=1)}
        while choices:
            self._view.printer.line("", plain(f"your choice, {' or '.join(choices)}, then Enter:"))
            line = await self._lines.next()
            if line is None:
                break
            option = choices.get(line.strip())
            if option is not None:
                return SelectedPermissionOutcome(option_id=option.option_id)
        return None
