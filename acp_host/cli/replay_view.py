"""Prints a conversation as it is played: :class:`ReplayView`.

Each session is printed by the views of a live turn; here is what these are told: prompts and ends of turns come from
the session's state, since nobody holds the turns of a recording.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TextIO

from rich.table import Table

from acp_host.cli.panels import PanelView, ToastView
from acp_host.cli.printer import Printer, plain
from acp_host.cli.render import TurnView
from acp_host.diagnostics import Diagnostic
from acp_host.host.session import Session
from acp_host.recording.format import RecordedDirection, RecordedLine
from acp_host.state.changes import ChangeSet
from acp_host.state.entries import BlockPart, MessageEntry, Speaker
from acp_host.state.snapshot import Question, SessionSnapshot
from acp_host.ui.content_text import content_text
from acp_host.wire.ids import RequestId
from acp_host.wire.permission import RequestPermissionRequest
from acp_host.wire.updates import SessionUpdate, UserMessageChunk

__all__ = ["ReplayView", "WatchedOutput"]


class WatchedOutput(io.TextIOBase):
    """A file that keeps its failure: who observes a session must not fail, and a closed pipe is to end the command."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._failure: OSError | None = None

    def write(self, text: str) -> int:
        try:
            if self._failure is None:
                self._file.write(text)
        except OSError as error:
            self._failure = error
        return len(text)

    def flush(self) -> None:
        try:
            if self._failure is None:
                self._file.flush()
        except OSError as error:
            self._failure = error

    def isatty(self) -> bool:
        return self._file.isatty()

    @property
    def encoding(self) -> str:  # type: ignore[override]  # an attribute there, which nobody sets
        return self._file.encoding

    def fileno(self) -> int:
        return self._file.fileno()

    def while_it_works(self, lines: Iterable[RecordedLine]) -> Iterator[RecordedLine]:
        """Yield the lines of a recording as long as something can be written.

        Raises:
            OSError: it cannot any more.
        """
        for line in lines:
            if self._failure is not None:
                raise self._failure
            yield line


class ReplayView:
    """Prints the sessions of a recording.

    Args:
        printer: where to.
        verbose: print also what matters little while one watches.
    """

    def __init__(self, printer: Printer, *, verbose: bool = False) -> None:
        self._printer = printer
        self._verbose = verbose
        self._answers: dict[RequestId, Mapping[str, Any]] = {}
        self._shown: _SessionView | None = None
        self._views: list[_SessionView] = []

    def watch(self, session: Session) -> None:
        """Print what happens in a session from now on."""
        self._views.append(_SessionView(session, TurnView(self._printer, verbose=self._verbose), self))

    def hearing_answers(self, lines: Iterable[RecordedLine]) -> Iterator[RecordedLine]:
        """Yield lines to play; what they answer to questions is told when the question is gone, as no state has it."""
        for line in lines:
            message = line.message
            if line.direction == RecordedDirection.OUT and isinstance(message, dict) and "method" not in message:
                result = message.get("result")
                outcome = result.get("outcome") if isinstance(result, dict) else None
                if isinstance(outcome, dict) and isinstance(message.get("id"), int | str):
                    self._answers[message["id"]] = outcome
            yield line

    def answer_to(self, request_id: RequestId) -> Mapping[str, Any]:
        """Return what the recorded host has answered to a permission request; empty if nothing."""
        return self._answers.pop(request_id, {})

    def conclude(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Print what it all amounts to."""
        self._printer.finish()
        table = Table(title="Sessions", title_justify="left", title_style="bold", header_style="dim")
        for column in ("session", "turns", "entries", "tool calls", "last turn", "health"):
            table.add_column(column, overflow="fold")
        for view in self._views:
            if view.session.opening is None and not len(view.session.state.snapshot().transcript):
                continue  # the agent did not open it
            table.add_row(*map(plain, _row(view.session.state.snapshot())))
        self._printer.show(table, blank_before=True)
        for diagnostic in diagnostics:
            times = f" ({diagnostic.count} times)" if diagnostic.count > 1 else ""
            self._printer.line("diagnostic", plain(f"{diagnostic.kind}: {diagnostic.message}{times}", "yellow"))

    def turn_to(self, view: _SessionView) -> None:
        """Say which session the next lines are about, where it is another one."""
        if self._shown is not view:
            self._shown = view
            self._printer.line("session", plain(view.session.id, "bold"))


class _SessionView:
    """Prints one session."""

    def __init__(self, session: Session, view: TurnView, views: ReplayView) -> None:
        self.session = session
        self._view = view
        self._views = views
        self._turn: int | None = None
        self._outcome: str | None = None
        self._asked: dict[RequestId, RequestPermissionRequest] = {}
        session.on_update(self._show_update)
        session.state.changed.connect(self._show_changes)
        PanelView(view.printer, session.reminders)
        ToastView(view.printer, session.notices)

    def _show_update(self, update: SessionUpdate) -> None:
        self._views.turn_to(self)
        if isinstance(update, UserMessageChunk) and self.session.state.is_replaying:
            self._view.printer.flow("user", content_text(update.content), key=update.message_id)
        elif self.session.current_turn is None:
            self._view.show_aside(update)
        else:
            self._view.show(update)

    def _show_changes(self, changes: ChangeSet) -> None:
        snapshot: SessionSnapshot = changes.snapshot
        turn = snapshot.turn
        if turn.turn != self._turn and turn.turn is not None:
            self._turn, self._outcome = turn.turn, None
            self._show_prompt(snapshot)
        self._show_questions(snapshot.questions)
        if turn.outcome is not None and turn.status == "idle" and self._outcome is None:
            self._outcome = turn.outcome
            self._view.printer.finish()
            detail = f" ({turn.detail})" if turn.detail and turn.detail != turn.outcome else ""
            self._view.printer.line("result", plain(turn.outcome, "bold"), plain(detail))

    def _show_questions(self, questions: Iterable[Question]) -> None:
        asked = {
            each.request_id: each.request for each in questions if isinstance(each.request, RequestPermissionRequest)
        }
        for request_id, request in self._asked.items():
            if request_id not in asked:
                self._show_answer(request, self._views.answer_to(request_id))
        for request_id, request in asked.items():
            if request_id not in self._asked:
                self._view.show_question(request)
        self._asked = asked

    def _show_answer(self, request: RequestPermissionRequest, outcome: Mapping[str, Any]) -> None:
        chosen = outcome.get("optionId")
        labels = [f"{option.name} ({option.kind})" for option in request.options if option.option_id == chosen]
        label = labels[0] if labels else outcome.get("outcome")
        if isinstance(label, str):
            self._view.printer.line("answer", plain(label, "bold"))

    def _show_prompt(self, snapshot: SessionSnapshot) -> None:
        self._views.turn_to(self)
        said = [
            entry
            for entry in snapshot.transcript
            if isinstance(entry, MessageEntry) and entry.speaker == Speaker.USER and entry.turn == self._turn
        ]
        for entry in said[:1]:
            parts = [content_text(part.block) if isinstance(part, BlockPart) else part.text for part in entry.parts]
            self._view.printer.line("user", plain("\n".join(parts), "bold"))


def _row(snapshot: SessionSnapshot) -> tuple[str, ...]:
    turn = snapshot.turn
    health = f"{snapshot.health.status}: {snapshot.health.detail}" if snapshot.health.detail else snapshot.health.status
    return (
        snapshot.session_id,
        str(turn.turn or 0),
        str(len(snapshot.transcript)),
        str(len(snapshot.tool_calls)),
        turn.outcome or turn.status,
        health,
    )
