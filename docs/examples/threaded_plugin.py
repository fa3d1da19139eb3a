"""The protocol core in an editor's plugin, without asyncio: ``python threaded_plugin.py [AGENT…]``.

It is made for editors such as Sublime Text, where a plugin runs on the main thread, which must never wait, and other
threads get there by ``set_timeout``. Two threads do nothing but read and write the agent's pipes. All the rest is done
on the main thread, so nothing needs a lock.
"""

import contextlib
import os
import queue
import subprocess
import sys
import threading
import time

from acp_host import HostProtocol, NoticeCenter, RemindersPanel, SessionState, printable
from acp_host.protocol.events import CallFailed, Ended, RequestReceived, ResponseReceived
from acp_host.protocol.negotiation import Registered, client_capabilities
from acp_host.state import events
from acp_host.state.clock import ManualScheduler
from acp_host.state.notice_entries import NoticeReceived
from acp_host.testing import ReferenceAgent
from acp_host.translate.reminders import translate_reminder
from acp_host.translate.versions import update_translator
from acp_host.wire.content import TextContent
from acp_host.wire.notices import Notice
from acp_host.wire.permission import CancelledPermissionOutcome, RequestPermissionResponse, SelectedPermissionOutcome
from acp_host.wire.prompt import PromptRequest
from acp_host.wire.session import NewSessionRequest
from acp_host.wire.updates import SessionNotification


class Editor:
    """What stands for the editor here; in Sublime Text these are ``sublime.set_timeout`` and ``show_quick_panel``."""

    def __init__(self):
        self._soon = queue.SimpleQueue()

    def set_timeout(self, function, milliseconds=0):
        timer = threading.Timer(milliseconds / 1000, self._soon.put, [function])
        timer.daemon = True
        timer.start() if milliseconds else self._soon.put(function)

    def show_quick_panel(self, items, on_select):
        self.set_timeout(lambda: on_select(0))  # a user who takes the first

    def run(self):
        while (function := self._soon.get()) is not None:
            function()

    def quit(self):
        self._soon.put(None)


class Clock:
    now = staticmethod(time.time)


class Plugin:
    """One conversation with an agent; all of its methods but the two that say so run on the main thread."""

    def __init__(self, editor, command, question):
        self._editor = editor
        self._question = question
        self._state = None
        self._reminders = None
        self._notices = None
        self._timer_is_set = False
        self._scheduler = ManualScheduler(Clock)
        self._protocol = HostProtocol(client_capabilities(Registered()), serves=["session/request_permission"])
        self._agent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self._outbox = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._write, daemon=True).start()
        self._protocol.initialize()
        self._flush()

    def _read(self):
        """Bring what the agent writes to the main thread; on a thread of its own."""
        while data := os.read(self._agent.stdout.fileno(), 65536):
            self._editor.set_timeout(lambda data=data: self._receive(data))
        self._editor.set_timeout(lambda: self._receive(b""))

    def _write(self):
        """Write what there is to write, which may take a while; on a thread of its own."""
        with contextlib.suppress(OSError):  # the agent has ended, which the other thread learns, too
            while data := self._outbox.get():
                self._agent.stdin.write(data)
            self._agent.stdin.close()

    def _receive(self, data):
        if data:
            self._protocol.receive_data(data)
        else:
            self._protocol.receive_eof()
        for event in self._protocol.events():
            self._handle(event)
        self._flush()

    def _flush(self):
        """Send what is to be sent, tell observers what has changed, and come again when a timer is due."""
        data = self._protocol.data_to_send()
        if data:
            self._outbox.put(data)
        self._scheduler.flush()
        due = self._scheduler.next_due
        if due is not None and not self._timer_is_set:
            self._timer_is_set = True
            self._editor.set_timeout(self._timer, max(1, int((due - Clock.now()) * 1000)))

    def _timer(self):
        self._timer_is_set = False
        self._flush()

    def _handle(self, event):
        match event:
            case ResponseReceived(method="initialize"):
                self._protocol.request("session/new", NewSessionRequest(cwd=os.getcwd(), mcp_servers=()))
            case ResponseReceived(method="session/new", result=opened):
                self._open(opened.session_id)
            case SessionNotification(update=update) if self._state is not None:
                self._update(event.session_id, update)
            case RequestReceived(method="session/request_permission"):
                self._ask(event)
            case ResponseReceived(method="session/prompt", result=result):
                self._state.apply(events.TurnEnded(1, "completed", result.stop_reason))
                self._outbox.put(None)  # the agent ends when nobody can ask it anything any more
            case CallFailed(error=error):
                print("failed:", printable(str(error)))
            case Ended():
                self._agent.wait()
                self._editor.quit()

    def _open(self, session_id):
        name = self._protocol.agreement.agent_name
        self._state = SessionState(session_id, self._scheduler)
        self._reminders = RemindersPanel(self._scheduler, Clock)
        self._notices = NoticeCenter(self._scheduler, Clock, agent_name=name)
        self._state.attach(reminders=self._reminders, notices=self._notices)
        self._translate = update_translator(self._protocol.version).translate
        self._state.changed.connect(self._draw)
        prompt = (TextContent(self._question),)
        self._state.apply(events.TurnStarted(1, prompt, prompt))
        self._protocol.request("session/prompt", PromptRequest(session_id, prompt))

    def _update(self, session_id, update):
        reminder = translate_reminder(update)
        if reminder is not None and reminder.event is not None:
            self._reminders.apply(reminder.event)
        if reminder is not None and reminder.is_update:
            return
        if isinstance(update, Notice):
            self._notices.apply(NoticeReceived.from_wire(session_id, update))
        event = self._translate(update)
        if event is not None:
            self._state.apply(event)

    def _ask(self, request):
        question = request.params
        self._state.apply(events.QuestionAsked(request.id, request.method, question))

        def answer(index):
            chosen = question.options[index].option_id if index >= 0 else None
            outcome = CancelledPermissionOutcome() if chosen is None else SelectedPermissionOutcome(chosen)
            self._protocol.respond(request.id, request.method, RequestPermissionResponse(outcome))
            self._state.apply(events.QuestionClosed(request.id))
            self._flush()

        labels = [f"{self._protocol.agreement.agent_name}: {option.name}" for option in question.options]
        self._editor.show_quick_panel([printable(label) for label in labels], answer)

    def _draw(self, changes):
        """Show what has changed; an editor would change a panel in place of printing."""
        session = changes.snapshot
        for section, key, kind in changes.changes:
            if section == "transcript" and key is not None:
                entry = session.entry(key)
                shown = getattr(entry, "text", "") or getattr(entry, "title", "")
                print(f"{kind} {entry.type} {key}: {printable(shown)}")
        changed = {change.section for change in changes.changes}
        if "notices" in changed:
            print("toasts:", *[f"{toast.agent_name}: {toast.display_title}" for toast in session.notices.toasts])
        if "reminders" in changed:
            print("reminders:", *[f"{entry.status}: {printable(entry.body)}" for entry in session.reminders.entries])
        if "turn" in changed:
            print("turn:", session.turn.status)


if __name__ == "__main__":
    editor = Editor()
    plugin = Plugin(editor, sys.argv[1:] or ReferenceAgent.command(), "Show me what you can do.")
    editor.run()
