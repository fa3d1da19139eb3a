"""Where the states of the gallery are played: :class:`Stage`, a host without a connection and with a clock that stands.

An agent's messages go in as the bytes of the wire, through the protocol core and the translators of the version that is
spoken; what a host does by itself goes in as the events that it folds. So every state is one that a host can be in.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.host.outcome import OutcomeKind, outcome_of
from acp_host.printable import one_line
from acp_host.protocol.events import NotificationReceived, RequestReceived, ResponseReceived
from acp_host.protocol.host_protocol import HostEvent, HostProtocol
from acp_host.protocol.negotiation import Registered, client_capabilities
from acp_host.state import events
from acp_host.state.clock import ManualClock, ManualScheduler
from acp_host.state.notice_entries import NoticeReceived
from acp_host.state.notices import NoticeCenter
from acp_host.state.reminder_events import ReminderEvent, RemindersTurnEnded, RemindersTurnStarted
from acp_host.state.reminders import RemindersPanel
from acp_host.state.session_state import SessionState
from acp_host.testing.gallery.states import CWD, GalleryState
from acp_host.translate.harn import HarnReport, translate_harn
from acp_host.translate.harn.notifications import translate_notification
from acp_host.translate.harn.permissions import permission_facts
from acp_host.translate.marked_text import MarkedReminder, MarkedTextReader
from acp_host.translate.reminders import translate_reminder
from acp_host.translate.v1 import commands_told, opened
from acp_host.translate.v2 import requests as version_two
from acp_host.translate.v2.updates import translate as translate_v2
from acp_host.translate.versions import update_translator
from acp_host.wire._model import UNSET, evolve
from acp_host.wire.content import ContentBlock, TextContent
from acp_host.wire.notices import Notice
from acp_host.wire.permission import RequestPermissionRequest
from acp_host.wire.prompt import PromptResponse
from acp_host.wire.session import NewSessionRequest
from acp_host.wire.updates import SessionNotification, UserMessageChunk

__all__ = ["CWD", "NOW", "SESSION_ID", "Setting", "Stage"]

NOW = 1_767_268_800.0
"""When everything happens: 2026-01-01, 12:00 UTC."""
SESSION_ID = "session-1"

_MAX_NAME = 80


@frozen(kw_only=True)
class Setting:
    """What a state is played with.

    Attributes:
        agent: the agent's name for people, as it says it.
        protocol_version: the version that is spoken.
        capabilities: what the agent offers, as on the wire.
        opened: what it answers to ``session/new`` beside the id, as on the wire.
        notices: the host has said that it shows notices.
    """

    agent: str = "Example Agent"
    protocol_version: int = 1
    capabilities: Mapping[str, Any] = {}
    opened: Mapping[str, Any] = {}
    notices: bool = True


class Stage:
    """One session with an agent, as a host folds it.

    Attributes:
        clock: what time it is; it stands still until it is moved.
        notices: the session's notices, for what a user does with them.
        reminders: the session's reminders.

    Args:
        setting: with whom.
    """

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self.clock = ManualClock(NOW)
        self._scheduler = ManualScheduler(self.clock)
        self._diagnostics: list[Diagnostic] = []
        self._state = SessionState(SESSION_ID, self._scheduler, problem=self._report)
        self.reminders = RemindersPanel(self._scheduler, self.clock)
        self.notices = NoticeCenter(self._scheduler, self.clock, agent_name=setting.agent)
        self._state.attach(reminders=self.reminders, notices=self.notices)
        self._marked_text = MarkedTextReader()
        self._turn = 0
        self._requests = 0
        self._protocol = self._connected()
        self._translator = update_translator(setting.protocol_version)
        self._open()

    # --- what the agent sends ---------------------------------------------------------------------------------------

    def tells(self, kind: str, /, **members: Any) -> None:
        """Send a ``session/update`` of a kind, with the members that it has on the wire."""
        self.notifies("session/update", sessionId=SESSION_ID, update={"sessionUpdate": kind, **members})

    def harn(self, kind: str, /, **members: Any) -> None:
        """Send an update of Harn's."""
        self.tells(kind, _meta={"harn": members})

    def says(self, text: str, **members: Any) -> None:
        """Say something, as a whole message."""
        self._speaks("agent_message_chunk", text, members)

    def thinks(self, text: str, **members: Any) -> None:
        """Think something."""
        self._speaks("agent_thought_chunk", text, members)

    def notifies(self, method: str, /, **params: Any) -> None:
        """Send a notification."""
        self._receive({"jsonrpc": "2.0", "method": method, "params": params})

    def asks(self, method: str, /, **params: Any) -> None:
        """Send a request, which is not answered yet."""
        self._requests += 1
        self._receive({"jsonrpc": "2.0", "id": self._requests, "method": method, "params": params})

    # --- what the host does -----------------------------------------------------------------------------------------

    def folds(self, *told: events.SessionEvent) -> None:
        """Fold what the host knows by itself."""
        for event in told:
            self._state.apply(event)
        self._scheduler.flush()

    def reminds(self, *told: ReminderEvent) -> None:
        """Fold what the host does with reminders."""
        for event in told:
            self.reminders.apply(event)
        self._scheduler.flush()

    def prompts(
        self, *prompt: str | ContentBlock, leading: Sequence[tuple[events.ReminderShown, ContentBlock]] = ()
    ) -> None:
        """Send the user's words, after the reminders that are to be put before them; a turn begins."""
        self._turn += 1
        blocks = tuple(TextContent(block) if isinstance(block, str) else block for block in prompt)
        sent = (*(block for _, block in leading), *blocks)
        self.reminds(RemindersTurnStarted())
        self.folds(events.TurnStarted(self._turn, blocks, sent, tuple(shown for shown, _ in leading)))

    def queues(self, *prompt: str) -> None:
        """Let a further prompt wait."""
        waiting = len(self._state.snapshot().turn.queued)
        self.folds(events.TurnQueued(self._turn + 1 + waiting, tuple(TextContent(text) for text in prompt)))

    def ends(self, stop_reason: str = "end_turn", **told: Any) -> None:
        """End the turn as the agent's answer to the prompt has it; ``told`` are attributes of the event to change."""
        answer = outcome_of(PromptResponse(stop_reason))
        event = events.TurnEnded(self._turn, str(answer.kind), stop_reason, answer.detail)
        self.folds(evolve(event, **told))
        self.reminds(RemindersTurnEnded())

    def breaks_off(self, detail: str) -> None:
        """End the turn without an answer of the agent."""
        self.folds(events.TurnEnded(self._turn, str(OutcomeKind.FAILED), detail=detail))
        self.reminds(RemindersTurnEnded())

    def passes(self, seconds: float) -> None:
        """Let time pass."""
        self.clock.advance(seconds)
        self._scheduler.flush()

    # --- what comes of it -------------------------------------------------------------------------------------------

    def state(self, name: str, shows: str) -> GalleryState:
        """Return the state that everything has led to."""
        self._scheduler.flush()
        return GalleryState(
            name=name,
            shows=shows,
            agent_name=one_line(self._setting.agent, _MAX_NAME),
            session=self._state.snapshot(),
            diagnostics=tuple(self._diagnostics),
        )

    # --- the way of a message ---------------------------------------------------------------------------------------

    def _connected(self) -> HostProtocol:
        offer = Registered(
            read_files=True,
            write_files=True,
            terminals=True,
            elicitation_form=True,
            elicitation_url=True,
            notices=self._setting.notices,
            unstable=True,
        )
        protocol = HostProtocol(
            client_capabilities(offer),
            protocol_versions=(self._setting.protocol_version,),
            serves=("session/request_permission", "elicitation/create"),
        )
        protocol.initialize()
        return protocol

    def _open(self) -> None:
        setting = self._setting
        agent = {"name": "example-agent", "version": "1.0.0", "title": setting.agent}
        if setting.protocol_version == 2:
            result: dict[str, Any] = {"info": agent, "capabilities": {"session": {}, **setting.capabilities}}
        else:
            result = {"agentInfo": agent, "agentCapabilities": dict(setting.capabilities)}
        self._answer(protocolVersion=setting.protocol_version, **result)
        request: Any = NewSessionRequest(CWD, ())
        way = version_two.outgoing("session/new", request) if setting.protocol_version == 2 else None
        self._protocol.request("session/new", request if way is None else way.params)
        response = self._answer(sessionId=SESSION_ID, **setting.opened)
        told = response if way is None else way.back(response)
        self.folds(opened(told))
        commands = commands_told(told)
        if commands is not None:
            self.folds(commands)

    def _answer(self, **result: Any) -> Any:
        """Answer the last request, and return what the host reads in that."""
        sent = self._protocol.data_to_send().splitlines()[-1]
        for event in self._read({"jsonrpc": "2.0", "id": json.loads(sent)["id"], "result": result}):
            if isinstance(event, ResponseReceived):
                return event.result
        raise AssertionError(f"the answer cannot be read: {result}")

    def _speaks(self, kind: str, text: str, members: Mapping[str, Any]) -> None:
        named = {"messageId": "message-1"} if self._setting.protocol_version == 2 else {}
        self.tells(kind, content={"type": "text", "text": text}, **(named | dict(members)))

    def _receive(self, message: Mapping[str, Any]) -> None:
        for event in self._read(message):
            match event:
                case SessionNotification(update=update):
                    self._update(update)
                case NotificationReceived(method=method, params=params):
                    self._fold_harn(translate_notification(method, params if isinstance(params, Mapping) else {}))
                case RequestReceived():
                    self._question(event)
                case _:
                    pass
        self._scheduler.flush()

    def _read(self, message: Mapping[str, Any]) -> list[HostEvent]:
        self._protocol.receive_data(json.dumps(message).encode() + b"\n")
        told = self._protocol.events()
        self._diagnostics += [event for event in told if isinstance(event, Diagnostic)]
        return told

    def _update(self, update: Any) -> None:
        reminder = translate_reminder(update, replayed=self._state.is_replaying)
        if reminder is not None:
            if reminder.problem is not None:
                self._report(reminder.problem)
            if reminder.event is not None:
                self.reminders.apply(reminder.event)
            if reminder.is_update:
                return
        report = translate_harn(update, is_harn=self._protocol.agreement.harn is not None)
        self._fold_harn(report)
        if report is not None and report.is_update:
            return
        if isinstance(update, Notice):
            self.notices.apply(
                NoticeReceived.from_wire(
                    SESSION_ID, update, during_replay=self._state.is_replaying, offered=self._setting.notices
                )
            )
        for part in self._without_marks(update):
            event = self._translator.translate(part) if not isinstance(part, MarkedReminder) else None
            if isinstance(part, MarkedReminder):
                event = events.ReminderShown(part.id, part.body)
            if event is not None:
                self._state.apply(event)

    def _without_marks(self, update: Any) -> Sequence[Any]:
        """Return an update, or of a user's message the parts that it consists of."""
        if not isinstance(update, UserMessageChunk):
            return (update,)
        return (*self._marked_text.feed(update), *self._marked_text.flush())

    def _fold_harn(self, report: HarnReport | None) -> None:
        if report is None:
            return
        for problem in report.problems:
            self._report(f"what Harn tells is malformed: {problem}")
        for event in report.events:
            self._state.apply(event)

    def _report(self, problem: str) -> None:
        self._diagnostics.append(Diagnostic(DiagnosticKind.MALFORMED, problem, session_id=SESSION_ID))

    def _question(self, asked: RequestReceived) -> None:
        request = asked.params
        if self._setting.protocol_version == 2:
            call = version_two.call_told_in(request)
            told = None if call is None else translate_v2(call)
            if told is not None:
                self._state.apply(told)
            request = version_two.incoming(request, asked.id)
        facts = None
        if isinstance(request, RequestPermissionRequest) and request.tool_call.meta not in (UNSET, None):
            facts, problems = permission_facts(request)
            for problem in problems:
                self._report(problem)
        self._state.apply(events.QuestionAsked(asked.id, asked.method, request, facts))
