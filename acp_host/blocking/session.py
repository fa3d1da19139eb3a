"""A conversation with the agent, without ``await``: :class:`Session`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from acp_host.blocking._callbacks import Callbacks
from acp_host.blocking._forward import Facade, asks, reads, waits
from acp_host.blocking._thread import LoopThread
from acp_host.blocking.observables import NoticeCenter, OptionsView, RemindersPanel, SessionState
from acp_host.blocking.turn import Turn
from acp_host.host import injections as async_injections
from acp_host.host import session as async_session
from acp_host.host.injections import InjectActor
from acp_host.host.prompt_content import PromptPart
from acp_host.host.session_context import Opening
from acp_host.protocol.negotiation import Agreement
from acp_host.reminders import Reminder, ReminderPolicy, ReminderReceipt, Step
from acp_host.state.reminder_entry import ReminderEntry
from acp_host.wire.updates import SessionUpdate

__all__ = ["Injections", "Session"]


class Injections(Facade[async_injections.SessionInjections]):
    """As ``Session.injections``."""

    revoke = waits(async_injections.SessionInjections.revoke)
    replace = waits(async_injections.SessionInjections.replace)

    @property
    def actor(self) -> InjectActor | None:
        """Who this host is to the agent; may be set."""
        return self._thread.ask(lambda: self.asynchronous.actor)

    @actor.setter
    def actor(self, actor: InjectActor | None) -> None:
        self._thread.ask(lambda: setattr(self.asynchronous, "actor", actor))


_Async = async_session.Session


class Session(Facade[_Async]):
    """As :class:`acp_host.Session`."""

    def __init__(self, asynchronous: _Async, thread: LoopThread, callbacks: Callbacks) -> None:
        super().__init__(asynchronous, thread)
        self._callbacks = callbacks

    id = reads[_Async, str](lambda session: session.id)
    cwd = reads[_Async, str](lambda session: session.cwd)
    opening = reads[_Async, Opening | None](lambda session: session.opening)
    lacks_history = reads[_Async, bool](lambda session: session.lacks_history)
    agreement = reads[_Async, Agreement](lambda session: session.agreement)

    # --- state ------------------------------------------------------------------------------------------------------

    @functools.cached_property
    def state(self) -> SessionState:
        """What a user interface shows of it."""
        return SessionState(self.asynchronous.state, self._thread, self._callbacks)

    @functools.cached_property
    def notices(self) -> NoticeCenter:
        """What the agent tells the user beside the conversation."""
        return NoticeCenter(self.asynchronous.notices, self._thread, self._callbacks)

    @property
    def reminders(self) -> RemindersPanel:
        """What the host tells the model beside the conversation."""
        panel = self._thread.ask(lambda: self.asynchronous.reminders)
        return RemindersPanel(panel, self._thread, self._callbacks)

    @property
    def options(self) -> OptionsView:
        """What the user can set about it."""
        return OptionsView(self._thread.ask(lambda: self.asynchronous.options), self._thread, self._callbacks)

    @functools.cached_property
    def injections(self) -> Injections:
        """Takes back and replaces what was said by :meth:`inject`."""
        return Injections(self.asynchronous.injections, self._thread)

    # --- turns ------------------------------------------------------------------------------------------------------

    def prompt(
        self,
        content: PromptPart | Iterable[PromptPart],
        *,
        idle_timeout: float | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> Turn:
        """Queue a prompt, as :meth:`acp_host.Session.prompt`; returns at once."""
        prompt = self.asynchronous.prompt
        turn = self._thread.ask(lambda: prompt(content, idle_timeout=idle_timeout, meta=meta))
        return Turn(turn, self._thread)

    @property
    def current_turn(self) -> Turn | None:
        """The turn on the wire, if there is one."""
        turn = self._thread.ask(lambda: self.asynchronous.current_turn)
        return None if turn is None else Turn(turn, self._thread)

    @property
    def queued_turns(self) -> tuple[Turn, ...]:
        """The turns that wait, in the order in which they will be sent."""
        turns = self._thread.ask(lambda: self.asynchronous.queued_turns)
        return tuple([Turn(turn, self._thread) for turn in turns])

    cancel = asks(_Async.cancel)
    inject = waits(_Async.inject)

    # --- reminders --------------------------------------------------------------------------------------------------

    def remind(self, body: str | Reminder, *, policy: ReminderPolicy | None = None, **fields: Any) -> ReminderReceipt:
        """Tell the model something that the user did not type, as :meth:`acp_host.Session.remind`."""
        return self._thread.run(lambda: self.asynchronous.remind(body, policy=policy, **fields))

    def remind_soon(
        self, body: str | Reminder, *, policy: ReminderPolicy | None = None, **fields: Any
    ) -> ReminderEntry:
        """Begin to tell it, as :meth:`acp_host.Session.remind_soon`; returns at once."""
        return self._thread.ask(lambda: self.asynchronous.remind_soon(body, policy=policy, **fields))

    def plan_reminder(self, body: str | Reminder, *, policy: ReminderPolicy | None = None, **fields: Any) -> list[Step]:
        """Return on which rungs it would be tried, as :meth:`acp_host.Session.plan_reminder`; sends nothing."""
        return self._thread.ask(lambda: self.asynchronous.plan_reminder(body, policy=policy, **fields))

    pending_injections = waits(_Async.pending_injections)

    # --- options and the session itself -----------------------------------------------------------------------------

    set_option = waits(_Async.set_option)
    set_mode = waits(_Async.set_mode)
    set_model = waits(_Async.set_model)
    set_config_option = waits(_Async.set_config_option)
    cancel_tool_call = waits(_Async.cancel_tool_call)
    cancel_terminal = waits(_Async.cancel_terminal)
    set_title = waits(_Async.set_title)
    status = waits(_Async.status)
    close = waits(_Async.close)
    ext_request = waits(_Async.ext_request)
    ext_notify = asks(_Async.ext_notify)

    # --- what comes besides -----------------------------------------------------------------------------------------

    next_update_between_turns = waits(_Async.next_update_between_turns)
    take_updates_between_turns = asks(_Async.take_updates_between_turns)
    announce_change = asks(_Async.announce_change)

    def on_update(self, observer: Callable[[SessionUpdate], None]) -> Callable[[], None]:
        """Call ``observer`` elsewhere with every update from now on; return a function that ends this."""
        return self._observe(self.asynchronous.on_update, observer)

    def on_file_written(self, observer: Callable[[str], None]) -> Callable[[], None]:
        """Call ``observer`` elsewhere with the path of each file that the agent writes; return what ends this."""
        return self._observe(self.asynchronous.on_file_written, observer)

    def _observe(
        self, connect: Callable[[Callable[[Any], None]], Callable[[], None]], observer: Callable[[Any], None]
    ) -> Callable[[], None]:
        end = self._thread.ask(lambda: connect(self._callbacks.observer(observer)))
        return lambda: self._thread.ask(end)
