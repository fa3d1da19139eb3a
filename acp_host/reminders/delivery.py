"""The delivery of a session's reminders, without I/O: :class:`Delivery`.

It is told everything that happens, in whatever order, and says what is to be done (:meth:`Delivery.commands`); it never
sends, waits or looks at a clock. What becomes of each reminder it tells the panel. A driver

* calls :meth:`~Delivery.remind` and carries out the commands, also after every other call;
* reports each answer with the token of its request, however late;
* hands over what the agent says about reminders (:meth:`~Delivery.receive`);
* frames each prompt: :meth:`~Delivery.lead_prompt`, :meth:`~Delivery.turn_started`, then one of ``prompt_accepted``,
  ``prompt_refused`` and ``prompt_lost``, and :meth:`~Delivery.turn_ended`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from attrs import evolve

from acp_host.diagnostics import Diagnostic
from acp_host.errors import AcpError, InvalidInput
from acp_host.protocol.negotiation import Agreement
from acp_host.reminders.commands import Command
from acp_host.reminders.hands import HostHands, LeadingReminder
from acp_host.reminders.ladder import Ladder, LadderContext
from acp_host.reminders.model import Reminder
from acp_host.reminders.planning import Step, plan_in
from acp_host.reminders.policy import ReminderPolicy
from acp_host.reminders.revoking import Revoker
from acp_host.reminders.rungs import Learned, Situation, WireRung
from acp_host.reminders.shipped import SHIPPED
from acp_host.state import reminder_events as events
from acp_host.state.reminder_entry import ReminderStatus, Rung
from acp_host.state.reminders import RemindersPanel

__all__ = ["Delivery"]

_HELD_BY_AGENT = (ReminderStatus.PENDING, ReminderStatus.UNCERTAIN)


class Delivery:
    """The reminders of one session, from the application to the agent and back.

    Attributes:
        panel: what became of them.
        revoker: takes them back.

    Args:
        session_id: the agent's id of the session.
        panel: is written by this object only.
        agreement: what was agreed with the agent.
        learned: what the connection has taught; shared by its sessions.
        host: the name of the host program, for markers.
        sidebar: whether a person sees the panel.
        rungs: the rungs that send something, by name.
        report: takes diagnostics.
    """

    def __init__(
        self,
        session_id: str,
        panel: RemindersPanel,
        agreement: Agreement,
        learned: Learned,
        *,
        host: str = "the host",
        sidebar: bool = False,
        rungs: Mapping[str, WireRung] = SHIPPED,
        report: Callable[[Diagnostic], None] = lambda _: None,
    ) -> None:
        self.panel = panel
        self._rungs = rungs
        self._commands: list[Command] = []
        self._hands = HostHands(panel, report, host)
        context = LadderContext(
            session_id=session_id,
            host=host,
            panel=panel,
            hands=self._hands,
            rungs=rungs,
            command=self._commands.append,
            report=report,
        )
        self._ladder = Ladder(context, Situation(agreement=agreement, learned=learned, sidebar=sidebar))
        self.revoker = Revoker(session_id, panel, self._hands, self._ladder)
        self._agree(agreement)

    def commands(self) -> list[Command]:
        """Return what is to be done, in order, and forget it."""
        commands = list(self._commands)
        self._commands.clear()
        return commands

    # --- reminders --------------------------------------------------------------------------------------------------

    def plan(self, reminder: Reminder, policy: ReminderPolicy) -> list[Step]:
        """Return the ladder as it is now."""
        return plan_in(self._ladder.situation, reminder, policy, self._rungs)

    def remind(self, reminder: Reminder, policy: ReminderPolicy) -> str:
        """Send a reminder down the ladder; return its host-local id. ``Settled`` says when it has come to rest.

        Raises:
            InvalidInput: the policy names a rung that is not registered.
            ReminderNotDelivered: the rung that it requires is not there; nothing was done.
        """
        known = {*Rung, *self._rungs}
        for name in (*policy.rungs, *([policy.require] if policy.require else [])):
            if name not in known:
                raise InvalidInput(f"there is no rung {name!r}; there are {', '.join(sorted(known))}")
        return self._ladder.start(reminder, policy)

    def is_waiting(self, entry_id: str) -> bool:
        """Whether a reminder has not come to rest yet."""
        return self._ladder.is_waiting(entry_id)

    def answered(self, token: int, result: Any) -> None:
        """Take the result of a request."""
        self._ladder.answered(token, result)

    def failed(self, token: int, error: AcpError) -> None:
        """Take the error that a request was answered with or ended with, or that kept it from being sent."""
        self._ladder.failed(token, error)

    def timed_out(self, token: int) -> None:
        """Take note that a timer has run out."""
        self._ladder.timed_out(token)

    def caller_cancelled(self, entry_id: str) -> None:
        """Take note that whoever waited for a reminder was cancelled."""
        self._ladder.caller_cancelled(entry_id)

    def dismiss(self, entry_id: str) -> bool:
        """Put a reminder in the sidebar away; return whether it was there."""
        return self._hands.dismiss(entry_id)

    # --- what the agent says ----------------------------------------------------------------------------------------

    def receive(self, event: events.ReminderEmitted | events.ReminderDeduped | events.ReminderExpired) -> None:
        """Take what the agent says about a reminder."""
        self.panel.apply(event)
        if self._ladder.has_uncertain:
            self._ladder.look()

    def replay_started(self) -> None:
        """Take note that the session's history is about to be repeated."""
        self.panel.apply(events.RemindersReplayed())

    @property
    def wants_history(self) -> bool:
        """Whether there are reminders that the session's history may tell about: see :meth:`seen_in_history`."""
        return self._hands.has_lost

    def seen_in_history(self, entry_ids: Iterable[str]) -> None:
        """Take the ids of reminders whose marked text is in the session's history."""
        self._hands.seen_in_history(entry_ids)

    def held_by_agent(self) -> frozenset[str]:
        """Return the local ids of what the agent has, or may have; to be taken when it is asked for its list."""
        return frozenset(entry.id for entry in self.panel.entries if entry.status in _HELD_BY_AGENT)

    def listed(self, event: events.RemindersListed) -> None:
        """Take the agent's list of what it holds (``session/pending_injections``)."""
        self.panel.apply(event)
        self._ladder.listed()

    def listed_in_part(self, event: events.RemindersListed) -> None:
        """Take a list that is not whole: what is on it is settled, and nothing else."""
        self.panel.apply(event)
        self._ladder.look()

    # --- prompts and turns ------------------------------------------------------------------------------------------

    @property
    def is_leading(self) -> bool:
        """Whether reminders lead a prompt of which it is not known yet whether the agent took it."""
        return self._hands.is_carrying

    def lead_prompt(self) -> tuple[LeadingReminder, ...]:
        """Return the reminders that lead the prompt that is about to be written."""
        return self._hands.lead_prompt()

    def prompt_accepted(self) -> None:
        """Take note that the agent took the prompt."""
        self._hands.prompt_accepted()

    def prompt_refused(self) -> None:
        """Take note that the agent did not take the prompt, or that it was never written."""
        self._hands.prompt_refused()

    def prompt_lost(self) -> None:
        """Take note that nobody knows whether the agent took the prompt."""
        self._hands.prompt_lost()

    def turn_started(self) -> None:
        """Take note that a turn began."""
        self._ladder.turn += 1
        self._hands.turn_started(self._ladder.turn)
        self._change(turn_running=True)
        self.panel.apply(events.RemindersTurnStarted())

    def turn_ended(self) -> None:
        """Take note that the turn is over."""
        self._hands.prompt_lost()  # if it was not known before, it never will be
        self._change(turn_running=False)
        self._hands.turn_ended()
        self.panel.apply(events.RemindersTurnEnded())
        self._ladder.turn_ended()

    # --- the connection ---------------------------------------------------------------------------------------------

    def connection_lost(self, cause: AcpError, *, may_return: bool = False) -> None:
        """Take the end of the connection: what was written is uncertain, what is held stays.

        Args:
            cause: why it has ended.
            may_return: it is being made again; what is to be sent until then waits for that.
        """
        self._ladder.awaits_connection = may_return
        if self._ladder.situation.connected:
            self._change(connected=False)
            self._hands.prompt_lost()
            self._ladder.connection_lost(cause)
        if not may_return:
            self._ladder.release()

    def reconnected(
        self, agreement: Agreement, learned: Learned, *, host: str, sidebar: bool, rungs: Mapping[str, WireRung]
    ) -> None:
        """Go on with another connection to the same session; :meth:`reconnection_settled` follows.

        What is uncertain stays so until the agent was asked for its list, where it can be. The arguments are those of
        the class, as they are for that connection.
        """
        self._rungs, self._hands.host = rungs, host
        self._ladder.awaits_connection = False
        self._ladder.reconnected(host, rungs)
        self._change(agreement=agreement, learned=learned, sidebar=sidebar, connected=True, turn_running=False)
        self._agree(agreement)

    def reconnection_settled(self) -> None:
        """Take note that the agent was asked for its list, or cannot be."""
        self._ladder.go_on()

    def _agree(self, agreement: Agreement) -> None:
        self.panel.apply(events.RemindersReported(agreement.offer("reminders.emit") is True))

    def _change(self, **changes: Any) -> None:
        self._ladder.situation = evolve(self._ladder.situation, **changes)
