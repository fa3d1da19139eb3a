"""A conversation with the agent: :class:`Session`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from acp_host.errors import ConnectionClosed, InvalidInput, InvalidState
from acp_host.host.connected_session import ConnectedSession
from acp_host.host.injections import InjectMode, InjectReceipt
from acp_host.host.prompt_content import PromptPart, content_blocks
from acp_host.host.turn import PromptToSend, Turn
from acp_host.host.update_buffer import UpdatesSkipped
from acp_host.reminders import Reminder, ReminderPolicy, ReminderReceipt, Step
from acp_host.reminders.model import reminder_of
from acp_host.state.reminder_entry import ReminderEntry
from acp_host.state.reminders import RemindersPanel
from acp_host.state.session_state import SessionState
from acp_host.translate.reminders import PendingInjections
from acp_host.wire.updates import SessionUpdate

__all__ = ["Session"]


class Session(ConnectedSession):
    """A conversation with the agent; made by the methods of :class:`~acp_host.host.connection.HostConnection`.

    Attributes:
        id: the agent's id of the session.
        cwd: its working directory, absolute.
        opening: the agent's answer to the request that opened it; ``None`` while that is pending.
        state: what a user interface shows of it: transcript, tool calls, plan, usage, options, …; reactive.
        subagents: the sessions that the agent leads below this one.
        notices: what the agent tells the user beside the conversation: toasts and a history.
        injections: takes back and replaces what was said by :meth:`inject`; the messages are in ``state``.
        lacks_history: whether the agent has not told what was said before the session was opened here.
        standing: what this host may do here where other programs are attached to the session, too.
        origin: what it was opened with, to open it again; ``None`` where a program made it in another way.
    """

    # --- turns ------------------------------------------------------------------------------------------------------

    def prompt(
        self,
        content: PromptPart | Iterable[PromptPart],
        *,
        idle_timeout: float | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> Turn:
        """Put a prompt into the session's queue and return its turn at once (``session/prompt``).

        It is sent when the turns before it are over; one turn at a time is on the wire.

        Args:
            content: text, paths, image bytes or content blocks; one or several.
            idle_timeout: seconds without any update after which the turn is cancelled; an open question to the user
                stops the clock. ``None``: no limit.
            meta: ``_meta`` of the request.

        Raises:
            InvalidInput: ``content`` is none that a prompt can take.
            NotSupported: the agent does not take a kind of content; names the capability.
            ConnectionClosed: the connection has ended.
            InvalidState: the session was closed, the agent does not know it any more, or another client controls it.
        """
        return self._prompt(content, idle_timeout=idle_timeout, meta=meta)

    def _prompt(
        self,
        content: PromptPart | Iterable[PromptPart],
        *,
        idle_timeout: float | None = None,
        meta: Mapping[str, Any] | None = None,
        follows: Turn | None = None,
    ) -> Turn:
        if self._driver.is_over:
            why = self.state.snapshot().health.detail
            raise ConnectionClosed("the prompt was not queued: the connection has ended" + (f": {why}" if why else ""))
        if self._closed:
            raise InvalidState(self._closed)
        self.standing.check_may_speak()
        if idle_timeout is not None and not (isinstance(idle_timeout, int | float) and idle_timeout > 0):
            raise InvalidInput(f"idle_timeout is a number of seconds above 0, not {idle_timeout!r}")
        blocks = content_blocks(content, self._driver.agreement, self.cwd_here())
        if not isinstance(meta, Mapping | None):
            raise InvalidInput(f"meta is a JSON object, not {type(meta).__name__}")
        return self.queue_prompt(
            PromptToSend(blocks, dict(meta or {}), idle_timeout, None if follows is None else follows.number)
        )

    def queue_prompt(self, prompt: PromptToSend) -> Turn:
        """Put a prompt into the queue that was checked, or that was sent unchecked by the host of a recording."""
        turn = self._new_turn(prompt)
        self._turns.add(turn)
        return turn

    async def inject(
        self,
        content: PromptPart | Iterable[PromptPart],
        *,
        mode: str = InjectMode.STEER,
        goal: str | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> InjectReceipt:
        """Say something to the agent while it works (``session/inject`` of Harn), and wait until it has taken it.

        The message is not in the transcript before the model has it; until then ``state.snapshot().injections`` shows
        it. Where no turn runs, it is a prompt like any other, and the receipt has its turn.

        Args:
            content: as for :meth:`prompt`.
            mode: one of :class:`~acp_host.host.injections.InjectMode`: when the model gets it. Where the agent does not
                offer ``interrupt_immediate`` it goes as ``steer``, and the receipt says so.
            goal: what the agent is to work for from now on; with ``steer`` and ``interrupt_immediate`` only.
            meta: ``_meta`` of the request.

        Raises:
            InvalidInput: an argument is wrong.
            NotSupported: the agent does not offer the mode, or does not take a kind of content.
            NoActivePrompt: the turn was over before the agent read it; the message is in the state as ``refused``.
            RequestFailed: the agent refused.
            OutcomeUnknown: the connection ended before the answer.
            InvalidState: the session was closed, or another client controls it.
        """
        if self._closed:
            raise InvalidState(self._closed)
        self.standing.check_may_speak()
        return await self.injections.inject(content, mode=mode, goal=goal, meta=meta)

    @property
    def current_turn(self) -> Turn | None:
        """The turn that is on the wire, or ``None``."""
        return self._turns.current

    @property
    def queued_turns(self) -> tuple[Turn, ...]:
        """The turns that wait, in the order in which they will be sent."""
        return self._turns.waiting

    def cancel(self) -> None:
        """Cancel the running turn and every queued one; see :meth:`Turn.cancel`."""
        for turn in (*self._turns.waiting, *([self._turns.current] if self._turns.current else [])):
            turn.cancel()

    # --- reminders --------------------------------------------------------------------------------------------------

    @property
    def reminders(self) -> RemindersPanel:
        """The reminders of the session, the host's and the agent's own; reactive."""
        return self._reminders.panel

    async def remind(
        self, body: str | Reminder, *, policy: ReminderPolicy | None = None, **fields: Any
    ) -> ReminderReceipt:
        """Tell the model something that the user did not type, and wait until it has come to rest.

        It goes by the best way that the agent has and the policy allows, see
        :class:`~acp_host.state.reminder_entry.Rung`. While a turn runs, some agents answer only behind it; use
        :meth:`remind_soon` not to wait. A task cancelled while it waits withdraws the request.

        Args:
            body: the text, or a :class:`~acp_host.reminders.model.Reminder`.
            policy: how it may travel; ``None`` for the default.
            fields: further fields of the reminder, e.g. ``dedupe_key="tests"``.

        Raises:
            ReminderInvalid: a field is wrong.
            ReminderNotDelivered: the rung that the policy requires did not take it.
            RequestFailed: the reminder itself is wrong for the agent, the session is gone, or the user has to log in.
            ConnectionClosed: the connection has ended.
            InvalidState: the session was closed.
        """
        reminder = self._reminder(body, fields)
        return await self._reminders.remind(reminder, policy)

    def remind_soon(
        self, body: str | Reminder, *, policy: ReminderPolicy | None = None, **fields: Any
    ) -> ReminderEntry:
        """Like :meth:`remind`, without waiting: the entry is returned at once, and :attr:`reminders` shows the rest."""
        return self._reminders.remind_soon(self._reminder(body, fields), policy)

    def plan_reminder(self, body: str | Reminder, *, policy: ReminderPolicy | None = None, **fields: Any) -> list[Step]:
        """Return the rungs that :meth:`remind` would try, in order, with the reasons; nothing is sent."""
        return self._reminders.plan(reminder_of(body, fields), policy)

    async def pending_injections(self) -> PendingInjections:
        """Ask the agent which reminders and messages it still holds (``session/pending_injections``).

        The panel of reminders and the state's injections are settled by it.

        Raises:
            RequestFailed: the agent does not have the method, or refused.
        """
        return await self._reminders.reconcile()

    def _reminder(self, body: str | Reminder, fields: Mapping[str, Any]) -> Reminder:
        reminder = reminder_of(body, fields)
        if self._closed:
            raise InvalidState(self._closed)
        return reminder

    # --- updates outside of turns -----------------------------------------------------------------------------------

    async def next_update_between_turns(self) -> SessionUpdate | UpdatesSkipped:
        """Return the oldest update that belongs to no turn, waiting for one.

        Such updates come before the first prompt, after the end of a turn, and as the replay of a loaded session. The
        newest 10,000 are kept.

        Raises:
            ConnectionClosed: the connection ended, and none is left.
        """
        return await self._updates.next_between_turns()

    def take_updates_between_turns(self) -> list[SessionUpdate | UpdatesSkipped]:
        """Return the updates that belong to no turn and have come so far, oldest first, without waiting for any.

        What is taken here does not come from :meth:`next_update_between_turns` any more.
        """
        return self._updates.take_between_turns()

    def on_update(self, observer: Callable[[SessionUpdate], None]) -> Callable[[], None]:
        """Call ``observer`` with every update of the session from now on, in order; return a function that ends this.

        It is called from the reader: an observer that blocks holds everything up. One that raises is reported as a
        diagnostic and called again.
        """
        return self._updates.observe(observer)

    def on_file_written(self, observer: Callable[[str], None]) -> Callable[[], None]:
        """Call ``observer`` with the path of each file that the agent writes through this host, as it says it.

        It is called before the write and after it; otherwise as :meth:`on_update`.
        """
        return self._write_observers.connect(observer)

    def announce_change(self, path: str) -> None:
        """Say that this program or its user changes a file, so that nobody takes it for the agent's doing.

        For hosts that save files while a turn runs; it matters only where the working copy is checked after a turn.
        """
        if self._changes is not None:
            self._changes.announce(path)

    @property
    def is_lost(self) -> bool:
        """Whether the agent has said that it does not know the session any more; the transcript stays.

        ``HostConnection.open_session`` goes on with another one.
        """
        return self._lost

    def subagent_state(self, session_id: str) -> SessionState | None:
        """Return what a subagent sends itself; ``None`` as long as that is nothing. Unstable.

        It is like :attr:`state`, and reactive. ``state.snapshot().subagents`` has what this session tells of it.
        """
        return self.subagents.state(session_id)

    def on_subagent(self, observer: Callable[[str], None]) -> Callable[[], None]:
        """Call ``observer`` with the id of each subagent that begins to send; return a function that ends this.

        From then on :meth:`subagent_state` has its state; ``session.subagents.ids()`` has those of before. Unstable.
        """
        return self._subagent_observers.connect(observer)

    def __repr__(self) -> str:
        return f"<Session {self.id!r} in {self.cwd!r}>"
