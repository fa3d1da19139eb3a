"""A progress bar for people: :func:`progress_bar`. It needs rich, which the extra ``cli`` brings, and a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from types import TracebackType
from typing import Any, Protocol

from acp_host.amounts import amount_text
from acp_host.errors import InvalidInput
from acp_host.fleet.result import FleetSummary
from acp_host.printable import printable

__all__ = ["Progress", "in_words", "progress_bar"]

_LONGEST = 20


class Progress(Protocol):
    """Shows how far a fleet is, while its block runs."""

    def __enter__(self) -> Any: ...

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> bool | None: ...

    def show(self, summary: Callable[[], FleetSummary]) -> None:
        """Take note that something has come of a job; ``summary`` returns what came of all so far."""
        ...


class _Nothing(nullcontext[None]):
    def show(self, summary: Callable[[], FleetSummary]) -> None:
        pass


class _Bar:
    def __init__(self, jobs: int, console: Any) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        columns = (
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}", markup=False),
        )
        self._bar = Bar(*columns, console=console, redirect_stdout=False, redirect_stderr=False)
        self._task = self._bar.add_task("", total=jobs)

    def __enter__(self) -> _Bar:
        self._bar.start()
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._bar.stop()

    def show(self, summary: Callable[[], FleetSummary]) -> None:
        now = summary()
        self._bar.update(self._task, completed=sum(now.outcomes.values()), description=in_words(now))


def progress_bar(jobs: int, wanted: bool | None) -> Progress:
    """Return what shows how far a fleet is, on stderr.

    Args:
        jobs: how many there are.
        wanted: whether to show it; ``None``: if rich is installed. Nothing is shown where stderr is no terminal.

    Raises:
        InvalidInput: it is wanted, and rich is not installed.
    """
    if wanted is False or sys.stderr is None or not sys.stderr.isatty():
        return _Nothing()
    try:
        from rich.console import Console
    except ModuleNotFoundError:
        if wanted:
            raise InvalidInput("a progress bar needs rich: pip install 'acp-host[cli]'") from None
        return _Nothing()
    return _Bar(jobs, Console(stderr=True))


def in_words(summary: FleetSummary) -> str:
    """Return how many jobs ended in which way, and what was spent, on one line."""
    parts = [f"{count} {kind.replace('_', ' ')}" for kind, count in summary.outcomes.items()]
    # The currency is the agent's word.
    costs = summary.spent.cost.items()
    parts += [f"{amount_text(amount)} {printable(currency)[:_LONGEST]}" for currency, amount in costs]
    return ", ".join(parts)
