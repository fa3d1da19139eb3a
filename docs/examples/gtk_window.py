"""The reminders and the toasts of an agent in a GTK 4 window: ``python gtk_window.py [AGENT…]``."""

import contextlib
import sys

import gi

gi.require_version("Gtk", "4.0")
from gi.repository import GLib, Gtk  # noqa: E402  # the version comes first

from acp_host import blocking, printable  # noqa: E402  # likewise
from acp_host.testing import ReferenceAgent  # noqa: E402  # likewise
from acp_host.ui.glib import GLibDispatch  # noqa: E402  # likewise

agent, prompt = sys.argv[1:], "What is new?"
if not agent:
    agent, prompt = ReferenceAgent.command(), "/notice warning The disk is almost full"

Gtk.init()
loop, window = GLib.MainLoop(), Gtk.Window(title="Reminders")
toasts, panel = Gtk.Label(xalign=0), Gtk.Label(xalign=0)
box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=12)
box.append(toasts)
box.append(panel)
window.set_child(box)
window.connect("close-request", lambda _: loop.quit())


def draw(changes):
    reminders, notices = changes.snapshot.reminders, changes.snapshot.notices
    panel.set_text("\n".join(f"{entry.status}: {printable(entry.body)}" for entry in reminders.entries))
    toasts.set_text("\n".join(f"{toast.agent_name}: {toast.display_title}" for toast in notices.toasts))


window.present()
with blocking.connect(agent, sidebar=True, dispatch=GLibDispatch(window)) as host:
    session = host.new_session()
    session.state.changed.connect(draw)
    session.remind_soon("2 tests failed", dedupe_key="tests")
    session.prompt(prompt)
    with contextlib.suppress(KeyboardInterrupt):
        loop.run()
