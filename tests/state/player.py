"""Plays a recording of a host and an agent into session states, as a host would have folded it.

What the agent wrote goes through :class:`HostProtocol` and the translator. What the recorded host wrote is looked at
for what it did: prompts, loads, answers. The host of a recording may break our rules; where it sent a second prompt
while one was running, that one waits here as it would in our queue.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from attrs import define, field

from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.host.outcome import outcome_of
from acp_host.host.replay import ReplayWindow
from acp_host.protocol.events import CallFailed, NotificationReceived, RequestReceived, ResponseReceived
from acp_host.protocol.host_protocol import HostProtocol
from acp_host.state import events
from acp_host.state.clock import ManualClock, ManualScheduler
from acp_host.state.option_entries import OptionSource
from acp_host.state.session_state import SessionState
from acp_host.state.snapshot import SessionSnapshot
from acp_host.translate import v1
from acp_host.wire.capabilities import ClientCapabilities
from acp_host.wire.content import ContentBlock
from acp_host.wire.converters import structure_tolerant
from acp_host.wire.prompt import PromptRequest
from acp_host.wire.updates import SessionNotification

_CREATES = ("session/new", "session/fork")
_REOPENS = ("session/load", "session/resume")
_SETS = {
    "session/set_mode": (OptionSource.MODE, "modeId"),
    "session/set_model": (OptionSource.MODEL, "modelId"),
    "session/set_config_option": (OptionSource.CONFIG_OPTION, "value"),
}
_AFTERWARDS = 10.0
"""Seconds that pass after the last line of a recording."""
_QUESTIONS = ("session/request_permission", "elicitation/create")


@define
class _Request:
    """A request of the recorded host that has no answer yet."""

    recorded_id: Any
    method: str
    params: Mapping[str, Any]
    turn: int = 0
    set: events.OptionSetSent | None = None


@define
class _Session:
    state: SessionState
    replay: ReplayWindow | None = None
    turns: int = 0
    running: int | None = None
    waiting: deque[tuple[int, tuple[ContentBlock, ...]]] = field(factory=deque)
    cancelled: set[int] = field(factory=set)
    is_ours: bool = False


class Player:
    """Folds one recording.

    Args:
        opened: called with each session's state when it is made.

    Attributes:
        snapshots: of each session, by id: as it was lived until it was loaded again, and as it was at the end.
        diagnostics: what the protocol core had to say.
    """

    def __init__(self, opened: Callable[[SessionState], None] = lambda _: None) -> None:
        self._opened = opened
        self.clock = ManualClock()
        self.scheduler = ManualScheduler(self.clock)
        self.snapshots: dict[str, list[SessionSnapshot]] = {}
        self.diagnostics: list[Diagnostic] = []
        self._sessions: dict[str, _Session] = {}
        self._early: list[SessionNotification] = []
        self._sets = 0
        self._connect()

    def play(self, lines: Iterable[str]) -> Player:
        """Play the lines of a recording."""
        for line in lines:
            record = json.loads(line)
            self._pass_time(record.get("t", 0))
            match record["dir"]:
                case "meta":
                    self._end("the agent was started again")
                    self._connect()
                case "in":
                    self._receive(record)
                case "out":
                    if isinstance(record.get("msg"), dict):
                        self._sent(record["msg"])
            self.scheduler.flush()
        self._pass_time(self.clock.now() + _AFTERWARDS)
        for session_id, session in self._sessions.items():
            self.snapshots.setdefault(session_id, []).append(session.state.snapshot())
        return self

    def _pass_time(self, until: float) -> None:
        while (due := self.scheduler.next_due) is not None and due <= until:
            self.clock.advance(max(0, due - self.clock.now()))
            self.scheduler.flush()
        self.clock.advance(max(0, until - self.clock.now()))

    def _connect(self) -> None:
        self._host = HostProtocol(serves=lambda _: True)
        self._requests: dict[Any, _Request] = {}
        self._ids: dict[Any, Any] = {}
        self._questions: dict[tuple[type, Any], str] = {}

    # --- what the host wrote ----------------------------------------------------------------------------------------

    def _sent(self, message: dict[str, Any]) -> None:
        method, params = message.get("method"), message.get("params") or {}
        if method is None:
            self._answered(message)
        elif "id" in message:
            self._requested(message["id"], method, params)
        elif method == "session/cancel" and params["sessionId"] in self._sessions:
            session = self._sessions[params["sessionId"]]
            session.cancelled.update([] if session.running is None else [session.running])
            session.cancelled.update(turn for turn, _ in session.waiting)

    def _requested(self, recorded_id: Any, method: str, params: dict[str, Any]) -> None:
        if method == "initialize":
            offer, _ = structure_tolerant(params.get("clientCapabilities") or {}, ClientCapabilities)
            self._host = HostProtocol(offer, serves=lambda _: True)
            request_id = self._host.initialize()
        else:
            # Past the checks of what this host sends: the recorded one also sent what no host should.
            request_id = self._host._peer.send_request(method, params)
        self._host.data_to_send()
        self._requests[request_id] = _Request(recorded_id, method, params)
        self._ids[recorded_id] = request_id
        session = self._sessions.get(params.get("sessionId", ""))
        if method == "session/prompt" and session is not None and isinstance(params.get("prompt"), list):
            prompt = structure_tolerant(params, PromptRequest)[0].prompt
            session.turns += 1
            self._requests[request_id].turn = session.turns
            session.waiting.append((session.turns, prompt))
            session.state.apply(events.TurnQueued(session.turns, prompt))
            self._start_next(session)
        if method in _SETS and session is not None:
            source, name = _SETS[method]
            self._sets += 1
            sent = events.OptionSetSent(self._sets, source, params[name], params.get("configId", ""))
            self._requests[request_id].set = sent
            session.state.apply(sent)
        if method in _REOPENS:
            session = session or self._open(params["sessionId"])
            if not all(entry.replayed for entry in session.state.snapshot().transcript):
                self.snapshots.setdefault(params["sessionId"], []).append(session.state.snapshot())
            self._begin_replay(session, whole=method == "session/load")

    def _answered(self, message: dict[str, Any]) -> None:
        """The host answered a request of the agent."""
        known = self._questions.pop((type(message["id"]), message["id"]), None)
        if known is None:
            return
        self._sessions[known].state.apply(events.QuestionClosed(message["id"]))

    def _start_next(self, session: _Session) -> None:
        if session.running is None and session.waiting:
            session.running, prompt = session.waiting.popleft()
            session.state.apply(events.TurnStarted(session.running, prompt, prompt))

    # --- what the agent wrote ---------------------------------------------------------------------------------------

    def _receive(self, record: dict[str, Any]) -> None:
        if "raw" in record:
            if record["raw"] == "<EOF>":
                return
            line = record["raw"]
        else:
            message = record["msg"]
            if "method" not in message and message.get("id") in self._ids:
                message = {**message, "id": self._ids[message["id"]]}
            line = json.dumps(message)
        self._host.receive_data(line.encode() + b"\n")
        for event in self._host.events():
            self._take(event)

    def _take(self, event: Any) -> None:
        match event:
            case SessionNotification():
                self._update(event)
            case Diagnostic():
                self.diagnostics.append(event)
            case RequestReceived(method=method) if method in _QUESTIONS:
                session = self._sessions[event.params.session_id]
                self._questions[type(event.id), event.id] = event.params.session_id
                session.state.apply(events.QuestionAsked(event.id, method, event.params))
            case ResponseReceived() | CallFailed():
                self._response(self._requests.pop(event.id), event)
            case RequestReceived() | NotificationReceived():
                pass

    def _update(self, notification: SessionNotification) -> None:
        session = self._sessions.get(notification.session_id)
        if session is None:
            if any(request.method in _CREATES for request in self._requests.values()):
                self._early.append(notification)
            else:
                text = f"an update for the unknown session {notification.session_id}"
                self.diagnostics.append(Diagnostic(DiagnosticKind.UNEXPECTED, text))
            return
        event = v1.translate(notification.update)
        if event is not None:
            session.state.apply(event)

    def _response(self, request: _Request, event: ResponseReceived | CallFailed) -> None:
        result = event.result if isinstance(event, ResponseReceived) else None
        session = self._sessions.get(request.params.get("sessionId", ""))
        if request.method in _CREATES and result is not None:
            session = self._open(result.session_id)
            session.is_ours = True
            if request.method == "session/fork":  # what comes before the answer is the history of the other session
                self._begin_replay(session, whole=False)
            self._adopt_early(result.session_id)
            session.state.apply(v1.opened(result))
            if session.replay is not None:
                session.replay.answered()
        elif session is None:
            return
        elif request.method in _REOPENS:
            assert session.replay is not None
            if result is not None:
                session.is_ours = True
                session.state.apply(v1.opened(result))
                session.replay.answered()
            else:
                session.replay.close()
            if not session.is_ours:
                del self._sessions[request.params["sessionId"]]
        elif request.turn:
            self._turn_ended(session, request.turn, event)
        elif request.set is not None:
            answered = isinstance(event, ResponseReceived)
            taken = events.OptionSetTaken(request.set, getattr(result, "config_options", ()))
            failed = events.OptionSetFailed(request.set.number, "" if answered else str(event.error))
            session.state.apply(taken if answered else failed)

    def _turn_ended(self, session: _Session, turn: int, event: ResponseReceived | CallFailed) -> None:
        if turn != session.running:  # the recorded host had it running beside another one
            session.waiting = deque(item for item in session.waiting if item[0] != turn)
            session.state.apply(events.TurnDropped(turn))
            return
        if isinstance(event, ResponseReceived):
            result, outcome = event.result, outcome_of(event.result)
            end = events.TurnEnded(turn, outcome.kind.value, result.stop_reason, outcome.detail, result.usage or None)
        elif turn in session.cancelled:
            end = events.TurnEnded(turn, "cancelled", "cancelled", str(event.error))
        else:
            end = events.TurnEnded(turn, "failed", None, str(event.error))
        session.state.apply(end)
        session.running = None
        self._start_next(session)

    def _open(self, session_id: str) -> _Session:
        session = self._sessions[session_id] = _Session(SessionState(session_id, self.scheduler))
        self._opened(session.state)
        return session

    def _adopt_early(self, session_id: str) -> None:
        early, self._early = self._early, []
        for notification in early:
            if notification.session_id == session_id:
                self._update(notification)
            else:
                self._early.append(notification)

    def _begin_replay(self, session: _Session, *, whole: bool) -> None:
        self._end_replay(session)
        session.replay = ReplayWindow(session.state, self.scheduler, whole=whole)

    def _end_replay(self, session: _Session) -> None:
        if session.replay is not None:
            session.replay.close()

    def _end(self, reason: str) -> None:
        for session in self._sessions.values():
            session.state.apply(events.HealthChanged("lost", reason))
            self._end_replay(session)
            for turn, _ in session.waiting:
                session.state.apply(events.TurnDropped(turn))
            session.waiting.clear()
            if session.running is not None:
                session.state.apply(events.TurnEnded(session.running, "failed", None, reason))
                session.running = None
            session.state.apply(events.HealthChanged("connected"))
        for (_, request_id), session_id in self._questions.items():
            self._sessions[session_id].state.apply(events.QuestionClosed(request_id))
