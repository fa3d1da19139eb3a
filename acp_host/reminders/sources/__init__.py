"""Ready-made sources of reminders: what an editor knows and the model should, so that nobody writes the loop again.

Each takes a session, and from then on reminds the model by itself::

    async with FileWatcher(session):
        ...

=======================  =========================================================================================
source                   reminds the model that
=======================  =========================================================================================
:class:`FileWatcher`     files changed on disk (needs the extra ``watch``)
:class:`FinishedRuns`    a process or a test run has finished
:class:`PolicyNotes`     a rule holds that the host enforces
:class:`TokenPressure`   the context is nearly full
=======================  =========================================================================================

Every one gives its reminders a dedupe key and a number of turns, sends no more than one per key in some time — the
newest, once that time is over — and stays quiet about what the agent itself has just done, through the host or in a
tool call. They belong to the event loop of their session.
"""

from acp_host.reminders.sources.activity import AgentActivity
from acp_host.reminders.sources.files import FileWatcher
from acp_host.reminders.sources.notes import PolicyNotes
from acp_host.reminders.sources.pace import Pace
from acp_host.reminders.sources.runs import FinishedRuns
from acp_host.reminders.sources.target import ReminderTarget
from acp_host.reminders.sources.tokens import TokenPressure

__all__ = [
    "AgentActivity",
    "FileWatcher",
    "FinishedRuns",
    "Pace",
    "PolicyNotes",
    "ReminderTarget",
    "TokenPressure",
]
