"""A recording, played to a host: :class:`RecordingPlayer`.

Line by line, in the order and at the times of the recording: what the agent sent comes in, what the host sent is done
again (:mod:`acp_host.replay.host_actions`). The host of a recording may have broken the rules of this one; then what it
did is done as far as it can be, with a diagnostic. Nothing in a recording raises.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.errors import AcpError, InvalidInput
from acp_host.host.cancel_timeouts import CancelTimeouts
from acp_host.host.connection import HostConnection
from acp_host.host.connection_options import ConnectionOptions
from acp_host.host.directories import Directories
from acp_host.host.session import Session
from acp_host.recording.format import CLOSED_BY_HOST, END_OF_STREAM, MetaEvent, RecordedDirection, RecordedLine
from acp_host.recording.recorded_ids import RecordedIds
from acp_host.replay.host_actions import HostActions
from acp_host.replay.pace import LineTimes, Pace, RecordedClock
from acp_host.replay.played_wire import PlayedWire, RecordedCall
from acp_host.replay.recorded_terminals import RecordedTerminals
from acp_host.replay.replayed_host import ReplayedHost
from acp_host.state.memory import MemoryPolicy
from acp_host.wire.capabilities import ClientCapabilities
from acp_host.wire.codec import encode
from acp_host.wire.converters import structure_tolerant
from acp_host.wire.framing import MAX_MESSAGE_SIZE
from acp_host.wire.initialize import Implementation, InitializeRequest

__all__ = ["RecordingPlayer"]

_PATIENCE = 1e6
"""Seconds that the recorded agent may take to shake hands: it took what it took."""
_AS_RECORDED = CancelTimeouts(grace=_PATIENCE)
"""How long a cancelled turn may take where the recording tells when its prompt was withdrawn, as this library's do."""
_UNTIL_SETTLED = 0.3
"""Seconds that pass after the last line: a history that is told ends a quarter of a second after its last entry."""


class RecordingPlayer:
    """Plays one recording, once.

    Args:
        lines: of the recording, as :func:`~acp_host.recording.format.read_recording` yields them.
        pace: how fast; the default is for :func:`~acp_host.replay.virtual_time.run_in_virtual_time`.
        opened: called with each session when it is made.
        reopening: called with a session that is about to be loaded or resumed, before anything comes of that.
        memory: how much of the transcripts is kept; ``None`` keeps all.

    Attributes:
        host: the host that the recording is played to, to be observed like every other; ``None`` before the first line
            that needs one. What an application asks of it is not in the recording, and nobody will answer.
    """

    def __init__(
        self,
        lines: Iterable[RecordedLine],
        *,
        pace: Pace | None = None,
        opened: Callable[[Session], None] = lambda _: None,
        reopening: Callable[[Session], None] = lambda _: None,
        memory: MemoryPolicy | None = None,
    ) -> None:
        self._lines = lines
        self._pace = pace or Pace()
        self._opened = opened
        self._reopening = reopening
        self._memory = memory or MemoryPolicy()
        self._times = LineTimes()
        self._ids = RecordedIds()
        self._known: set[Session] = set()
        self._tasks: dict[RecordedCall, asyncio.Task[None]] = {}
        self._next: RecordedLine | None = None
        self._is_own = False
        self._host: ReplayedHost | None = None
        self._problems: list[Diagnostic] = []
        self._clock: RecordedClock  # there is a loop when it is played
        self._wire: PlayedWire  # there are these when the recorded host has introduced itself
        self._actions: HostActions
        self._terminals: RecordedTerminals

    @property
    def host(self) -> HostConnection | None:
        """See the class."""
        return self._host

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """What was out of the ordinary: in the file, and in the conversation."""
        return [*self._problems, *(self._host.diagnostics if self._host is not None else ())]

    async def play(self) -> None:
        """Play the recording to its end. The host is open then, as it was after the last line.

        Raises:
            InvalidInput: the file cannot be read on.
        """
        self._clock = RecordedClock(asyncio.get_running_loop(), self._times)
        try:
            for line, following in _with_next(self._lines):
                self._next = following
                await self._pace.reach(self._times.of(line))
                await self._play(line)
                await self._pace.settle()
                self._look_for_sessions()
            await self._pace.reach(self._times.end + _UNTIL_SETTLED)
            await self._pace.settle()
        finally:
            for task in self._tasks.values():
                task.cancel()

    async def close(self) -> None:
        """Close the host."""
        if self._host is not None:
            await self._host.close()

    async def _play(self, line: RecordedLine) -> None:
        self._clock.set_by(line)
        self._is_own = self._is_own or (line.event == MetaEvent.START and "acp_host" in line.details)
        if line.problem is not None:
            self._report(f"line {line.number} of the recording was left out: {line.problem}")
        elif line.begins_connection:
            if self._host is not None:
                own = line.event == MetaEvent.CONNECTION  # its note tells what begins, and not what has ended
                await self._connect_again("another connection begins here" if own or not line.note else line.note)
        elif line.direction == RecordedDirection.IN:
            await self._receive(line)
        elif line.direction == RecordedDirection.OUT and isinstance(line.message, dict):
            await self._send(line.message)
        elif line.event == MetaEvent.END and self._host is not None:
            if line.note != CLOSED_BY_HOST:
                following = self._next.event if self._next is not None else None
                why = line.note or "the recorded connection has ended"
                self._host.lose(why, comes_back=following == MetaEvent.CONNECTION)
        elif line.event in (MetaEvent.NOT_RECORDED, MetaEvent.PARTS_MISSING):
            self._report(f"messages are missing before line {line.number}: {line.note or line.event}")

    # --- connections ------------------------------------------------------------------------------------------------

    async def _begin(self, params: Any) -> ReplayedHost:
        """Make the host, as the recorded one introduced itself."""
        versions = _versions_asked(params)
        request = _introduction(params)
        offer = request.client_capabilities or ClientCapabilities()
        options = ConnectionOptions(
            protocol_versions=versions,
            client_info=request.client_info or Implementation("recorded", "0"),
            start_timeout=_PATIENCE,
            directories=Directories(here=False),
            offer=offer,
            notices=versions == (2,) or bool(offer.session and offer.session.notices),
            # A turn of version 2 is given up without a word, once its prompt is accepted.
            cancel_timeouts=_AS_RECORDED if self._is_own and versions == (1,) else CancelTimeouts(),
            memory=self._memory,
            clock=self._clock,
            max_message_size=MAX_MESSAGE_SIZE,
        )
        self._terminals = RecordedTerminals(self._fold_terminal)
        self._wire = PlayedWire(self._ids)
        self._host = host = ReplayedHost(self._wire, options, self._terminals.answered)
        self._actions = HostActions(host, self._goes_on, in_the_middle=params is None)
        await host.begin()
        return host

    async def _connect_again(self, why: str) -> None:
        assert self._host is not None
        self._ids.forget_requests()
        self._wire = PlayedWire(self._ids)
        following = self._next.message if self._next is not None else None
        asks = isinstance(following, dict) and following.get("method") == "initialize"
        versions = _versions_asked(following.get("params")) if asks and isinstance(following, dict) else None
        await self._host.connect_again(self._wire, why, versions)

    # --- what the agent sent ----------------------------------------------------------------------------------------

    async def _receive(self, line: RecordedLine) -> None:
        host = self._host or await self._begin_in_the_middle()
        if not isinstance(line.message, dict):
            if line.raw is not None and line.raw != END_OF_STREAM:
                host.receive(f"{line.raw}\n".encode("utf-8", "surrogatepass"))
            elif line.raw is None:
                host.receive(encode({"raw": line.message}))
            return
        message = line.message
        if "method" in message and "id" in message and isinstance(message["method"], str):
            host.expect_question(message["method"])
        elif "method" not in message and not self._has_counterpart(message):
            return
        try:
            host.receive(encode(self._ids.translated(message)))
        except (InvalidInput, RecursionError) as error:
            self._report(f"line {line.number} of the recording was left out: {error}")

    def _has_counterpart(self, message: dict[str, Any]) -> bool:
        """Tell whether an answer is for a request that the host of now has sent, or for none at all."""
        call = self._wire.answered(message)
        if call is None or call.sent:
            return True
        self._wire.give_up(call)
        if call.method == "session/prompt":
            self._drop_prompt(call)
        return False

    def _drop_prompt(self, call: RecordedCall) -> None:
        """End a prompt that waits here, because the recorded host had it running beside another one."""
        assert self._host is not None
        session = self._host.session(call.params.get("sessionId"))
        if session is not None and session.queued_turns:
            text = "the recorded host had two prompts running in one session; the later one was dropped"
            self._report(text, session_id=session.id, method=call.method)
            session.queued_turns[0].cancel()

    # --- what the host sent -----------------------------------------------------------------------------------------

    async def _send(self, message: dict[str, Any]) -> None:
        method, params = message.get("method"), message.get("params")
        if method == "initialize":
            if self._host is None:
                await self._begin(params)
        elif self._host is None:
            await self._begin_in_the_middle()
        assert self._host is not None
        if "method" not in message:
            self._host.answer(message)
        elif not isinstance(method, str):
            return
        elif "id" in message:
            self._request(message)
        elif isinstance(params, dict):
            self._notify(method, params)

    def _request(self, message: dict[str, Any]) -> None:
        assert self._host is not None
        if message["method"] == "session/prompt":
            self._give_up_cancelled(message)
        call = self._wire.recorded(message)
        if call.sent:
            return  # the host of now has done it by itself
        if call.method in ("session/load", "session/resume"):
            session = self._host.session(call.params.get("sessionId"))
            if session is not None:
                self._reopening(session)
        task = asyncio.get_running_loop().create_task(self._do(call), name=f"acp_host replay {call.method}")
        self._tasks[call] = task
        task.add_done_callback(lambda _: self._tasks.pop(call, None))

    def _give_up_cancelled(self, prompt: dict[str, Any]) -> None:
        """Give up a turn where the recorded host did, whose deadlines were its own: its next prompt tells."""
        assert self._host is not None
        params = prompt.get("params")
        session_id = params.get("sessionId") if isinstance(params, dict) else None
        session = self._host.session(session_id)
        if session is not None and self._wire.has_withdrawn("session/prompt", session_id):
            session.give_up_cancelled()

    async def _do(self, call: RecordedCall) -> None:
        try:
            await self._actions.do(call.method, call.message.get("params"))
        except AcpError as error:
            if not call.sent:
                self._wire.give_up(call)
                self._report(f"{call.method} was left out: {error}", method=call.method)
        except Exception as error:  # a fault of this library must not cost more than this request
            self._wire.give_up(call)
            text = f"{call.method} was not done again: {type(error).__name__}: {error}"
            self._report(text, kind=DiagnosticKind.HANDLER_FAILED, method=call.method)

    def _notify(self, method: str, params: dict[str, Any]) -> None:
        if method == "session/cancel":
            self._actions.cancel(params)
        elif method == "$/cancel_request":
            call = self._wire.withdraw(params.get("requestId"))
            if call is not None and call.method == "session/prompt":
                self._prompt_withdrawn(call)
            elif call is not None and call in self._tasks:
                self._tasks[call].cancel()

    def _prompt_withdrawn(self, call: RecordedCall) -> None:
        assert self._host is not None
        session = self._host.session(call.params.get("sessionId"))
        if session is not None and self._is_own:
            session.prompt_withdrawn()

    def _goes_on(self, session_id: str) -> bool:
        """Tell whether the next thing that happens is that a session is opened again."""
        message = self._next.message if self._next is not None else None
        if not isinstance(message, dict) or message.get("method") not in ("session/load", "session/resume"):
            return False
        params = message.get("params")
        return isinstance(params, dict) and params.get("sessionId") == session_id

    # --- for both ---------------------------------------------------------------------------------------------------

    async def _begin_in_the_middle(self) -> ReplayedHost:
        """Make a host for a recording whose beginning is missing."""
        self._report("the recording does not begin with initialize: what was agreed is not known")
        host = await self._begin(None)
        task = asyncio.get_running_loop().create_task(host.initialize())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        host.receive(encode({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": 1}}))
        await task
        return host

    def _look_for_sessions(self) -> None:
        for session in self._host.sessions if self._host is not None else ():
            if session not in self._known:
                self._known.add(session)
                self._opened(session)

    def _fold_terminal(self, session_id: str, event: Any) -> None:
        session = self._host.session(session_id) if self._host is not None else None
        if session is not None:
            session.state.apply(event)

    def _report(self, text: str, *, kind: DiagnosticKind = DiagnosticKind.UNEXPECTED, **more: Any) -> None:
        diagnostic = Diagnostic(kind, text, **more)
        if self._host is not None:
            self._host.diagnostics.add(diagnostic)
        elif len(self._problems) < 1_000:
            self._problems.append(diagnostic)


def _versions_asked(params: Any) -> tuple[int, ...]:
    """Return the versions that a host speaks that introduces itself so, the preferred one first."""
    if not isinstance(params, dict) or params.get("protocolVersion") != 2:
        return (1,)
    return (2, 1) if "clientCapabilities" in params else (2,)


def _introduction(params: Any) -> InitializeRequest:
    """Return what the recorded host said of itself; one of version 2 says it under other names."""
    if isinstance(params, dict) and "clientCapabilities" not in params:
        renamed = {"clientInfo": params.get("info"), "clientCapabilities": params.get("capabilities")}
        params = {**{name: value for name, value in renamed.items() if value is not None}, **params}
    try:
        request: InitializeRequest = structure_tolerant(params, InitializeRequest)[0]
    except AcpError:
        return InitializeRequest(1)
    return request


def _with_next(lines: Iterable[RecordedLine]) -> Iterator[tuple[RecordedLine, RecordedLine | None]]:
    """Yield each line with the one that follows it."""
    before: RecordedLine | None = None
    for line in lines:
        if before is not None:
            yield before, line
        before = line
    if before is not None:
        yield before, None
