"""The reminders and the toasts of an agent in a Tk window: ``python tk_window.py AGENT…``."""

import sys
import tkinter

from acp_host import blocking, printable
from acp_host.ui.tk import TkDispatch

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


with blocking.connect(sys.argv[1:], sidebar=True, dispatch=TkDispatch(root)) as host:
    session = host.new_session()
    session.state.changed.connect(draw)
    session.remind_soon("2 tests failed", dedupe_key="tests")
    session.prompt("What is new?")
    root.mainloop()
