"""A user of the editor of the tutorial: ``python -m tests.docs.qt_tutorial FILE``, in the folder with its files.

Lines of stdin are what is done in the window, one after the other: ``send PROMPT``, ``type TEXT``, ``save``, ``undo``;
``answer NAME`` says which button of the next box is pressed. What is in the window then is printed as JSON.
"""

from __future__ import annotations

import json
import runpy
import sys
import traceback
from collections.abc import Iterator
from typing import Any

from PySide6.QtCore import QTimer
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QMessageBox, QPlainTextEdit

PATIENCE = 40.0
"""Seconds."""
EVERY = 20
"""Milliseconds."""


class User:
    """Does one thing after the other, each when the agent is done with the one before."""

    def __init__(self, window: Any, tasks: Iterator[str]) -> None:
        self.window = window
        self.panel = window.findChild(QDockWidget)
        self.tasks = tasks
        self.answer = ""
        self.boxes: list[str] = []
        self.sent = 0
        self.drawn: Any = None
        if self.panel is not None:
            self.panel.session.state.changed.connect(self.note)  # behind the observers of the tutorial
        self.left = int(PATIENCE * 1_000 / EVERY)

    def note(self, changes: Any) -> None:
        self.drawn = changes.snapshot

    def look(self) -> None:
        try:
            self.go_on()
        except Exception:
            traceback.print_exc()
            self.window.close()

    def go_on(self) -> None:
        self.left -= 1
        for box in QApplication.topLevelWidgets():
            if isinstance(box, QMessageBox) and box.isVisible():
                self.boxes.append(box.text())
                [button] = [button for button in box.buttons() if button.text() == self.answer]
                button.click()
        if self.is_idle:
            task = next(self.tasks, None)
            if task is None:
                self.leave()
                return
            name, _, text = task.partition(" ")
            getattr(self, f"do_{name}")(text)
        if self.left < 0:
            self.leave()
            return
        QTimer.singleShot(EVERY, self.look)

    @property
    def is_idle(self) -> bool:
        if self.sent == 0:
            return True
        if self.drawn is None or self.drawn.turn.status != "idle":
            return False
        return sum(getattr(entry, "speaker", None) == "user" for entry in self.drawn.transcript) == self.sent

    def do_send(self, text: str) -> None:
        self.sent += 1
        self.panel.prompt.setText(text)
        self.panel.prompt.returnPressed.emit()

    def do_answer(self, text: str) -> None:
        self.answer = text

    def do_type(self, text: str) -> None:
        self.window.text.moveCursor(self.window.text.textCursor().MoveOperation.End)
        self.window.text.insertPlainText(text)

    def do_save(self, _: str) -> None:
        self.window.save_action.trigger()

    def do_undo(self, _: str) -> None:
        self.window.text.undo()

    def leave(self) -> None:
        transcript = self.panel.findChild(QPlainTextEdit) if self.panel else None
        shown = transcript.toPlainText() if transcript else ""
        if transcript:
            end = QTextCursor(transcript.document())
            end.movePosition(QTextCursor.MoveOperation.End)
        in_view = bool(transcript) and transcript.viewport().rect().contains(transcript.cursorRect(end).center())
        status = self.window.statusBar().currentMessage()
        text = self.window.text.toPlainText()
        seen = {"boxes": self.boxes, "transcript": shown, "end_in_view": in_view, "status": status, "text": text}
        print(json.dumps(seen))
        self.window.close()


def use() -> None:
    run = QApplication.exec

    def watched(*_: Any) -> int:
        [window] = [widget for widget in QApplication.topLevelWidgets() if isinstance(widget, QMainWindow)]
        user = User(window, iter(sys.stdin.read().splitlines()))
        QTimer.singleShot(EVERY, user.look)
        return run()

    QApplication.exec = watched


if __name__ == "__main__":
    sys.path.insert(0, ".")
    sys.argv = sys.argv[1:]
    use()
    runpy.run_path(sys.argv[0], run_name="__main__")
