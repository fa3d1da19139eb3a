"""The reminders and the toasts of an agent in a Qt window: ``python qt_window.py [AGENT…]``."""

import signal
import sys

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication, QLabel, QListWidget, QVBoxLayout, QWidget

from acp_host import blocking, printable
from acp_host.testing import ReferenceAgent
from acp_host.ui.qt import QtDispatch

agent, prompt = sys.argv[1:], "What is new?"
if not agent:
    agent, prompt = ReferenceAgent.command(), "/notice warning The disk is almost full"

app = QApplication(sys.argv[:1])
window, panel, toasts = QWidget(windowTitle="Reminders"), QListWidget(), QLabel(textFormat=Qt.TextFormat.PlainText)
layout = QVBoxLayout(window)
layout.addWidget(toasts)
layout.addWidget(panel)


def draw(changes):
    reminders, notices = changes.snapshot.reminders, changes.snapshot.notices
    panel.clear()
    panel.addItems([f"{entry.status}: {printable(entry.body)}" for entry in reminders.entries])
    toasts.setText("\n".join(f"{toast.agent_name}: {toast.display_title}" for toast in notices.toasts))


window.show()
with blocking.connect(agent, sidebar=True, dispatch=QtDispatch(window)) as host:
    session = host.new_session()
    session.state.changed.connect(draw)
    session.remind_soon("2 tests failed", dedupe_key="tests")
    session.prompt(prompt)
    signal.signal(signal.SIGINT, lambda *_: QTimer.singleShot(0, app.quit))
    beat = QTimer(interval=200, timeout=lambda: None)  # Qt's loop runs no Python by itself, and so sees no Ctrl-C
    beat.start()
    app.exec()
