"""The reminders and the toasts of an agent in a Tk window: ``python tk_window.py [AGENT…]``."""

import signal
import sys
import tkinter

from acp_host import blocking, printable
from acp_host.testing import ReferenceAgent
from acp_host.ui.tk import TkDispatch

agent, prompt = sys.argv[1:], "What is new?"
if not agent:
    agent, prompt = ReferenceAgent.command(), "/notice warning The disk is almost full"

root = tkinter.Tk()
root.title("Reminders")
toasts, panel = tkinter.Label(root, justify="left"), tkinter.Listbox(root, width=60)
toasts.pack()
panel.pack(fill="both", expand=True)


def draw(changes):
    reminders, notices = changes.snapshot.reminders, changes.snapshot.notices
    panel.delete(0, "end")
    panel.insert("end", *[f"{entry.status}: {printable(entry.body)}" for entry in reminders.entries])
    toasts["text"] = "\n".join(f"{toast.agent_name}: {toast.display_title}" for toast in notices.toasts)


def beat():
    root.after(200, beat)  # Tk's loop runs no Python by itself, and so sees no Ctrl-C


with blocking.connect(agent, sidebar=True, dispatch=TkDispatch(root)) as host:
    session = host.new_session()
    session.state.changed.connect(draw)
    session.remind_soon("2 tests failed", dedupe_key="tests")
    session.prompt(prompt)
    signal.signal(signal.SIGINT, lambda *_: root.after_idle(root.destroy))
    beat()
    root.mainloop()
