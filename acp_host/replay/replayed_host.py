"""The host that a recording is played to: :class:`ReplayedHost`.

It is the host of an application in everything that it makes of messages. It differs in what it asks of the machine:
no directory has to exist, nobody is asked, nothing is run; what the agent asks for gets the recorded answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.errors import AcpError, ConnectionLost, InternalError, InvalidInput, RequestFailed
from acp_host.host.connection import HostConnection
from acp_host.host.connection_options import ConnectionOptions
from acp_host.host.diagnostic_log import DiagnosticLog
from acp_host.host.handshake import agree
from acp_host.host.services import ServiceSet
from acp_host.host.session import Session
from acp_host.host.session_origin import SessionOrigin
from acp_host.host.session_setup import SessionSetup
from acp_host.recording.recorded_ids import request_key
from acp_host.transports import Transport
from acp_host.wire.converters import check, structure_tolerant
from acp_host.wire.methods import MethodKind, agent_method, client_method

__all__ = ["ReplayedHost"]

_ROOT = "/"
_ASKS_ABOUT_USER = ("session/request_permission", "elicitation/create")


class ReplayedHost(HostConnection):
    """A host that does what the host of a recording did.

    Args:
        transport: plays the agent's part.
        options: as for every connection.
        answered: called with the method, the parameters and the recorded result of a request of the agent.
    """

    def __init__(
        self,
        transport: Transport,
        options: ConnectionOptions,
        answered: Callable[[str, Any, Any], None],
    ) -> None:
        super().__init__(transport, ServiceSet(), options, DiagnosticLog())
        self._notices.is_logging = False
        self._comes_back = False
        self._answers: dict[tuple[type, Any], asyncio.Future[Any]] = {}
        self._told_answer = answered
        for method in _ASKS_ABOUT_USER:
            self._serve_recorded(method)

    # --- connections ------------------------------------------------------------------------------------------------

    async def begin(self) -> None:
        """Be ready for the first message."""
        await self._tasks.open()
        await self._driver.start()

    async def connect_again(self, transport: Transport, why: str, versions: tuple[int, ...] | None) -> None:
        """Go on with another connection, whose handshake follows; sessions go on.

        Args:
            transport: the other connection.
            why: the earlier one has ended.
            versions: of the protocol, that are asked for there; ``None``: the same as before.
        """
        self._driver.connection_lost(ConnectionLost(why))
        self._answers.clear()
        self._ended.clear()
        self._end_error, self._driver.is_over = None, False
        self._driver.attach(transport, self._make_protocol(versions))
        await self._driver.start()

    async def initialize(self) -> None:
        """Shake hands.

        Raises:
            AcpError: the recorded agent refused, or its answer cannot be used.
        """
        refusal = await agree(self._driver)
        if refusal is not None and not self._driver.protocol.settle():
            raise refusal
        for session in self._sessions:
            session.connection_renewed()

    def lose(self, why: str, *, comes_back: bool) -> None:
        """Learn that the recorded connection ended.

        Args:
            why: what it ended by.
            comes_back: the recorded host made it again, and meant to from then on.
        """
        self._comes_back = comes_back
        self._driver.connection_lost(ConnectionLost(why))

    def _may_return(self, error: AcpError | None) -> bool:
        return self._comes_back

    def _ended_by(self, error: AcpError | None) -> None:
        if not self._comes_back:  # else what waits goes on waiting, and the recording goes on with the next try
            self._end(error)

    def receive(self, data: bytes) -> None:
        """Take what the recorded agent wrote."""
        self._driver.data_received(data)

    # --- what the recorded host did ---------------------------------------------------------------------------------

    def session(self, session_id: Any) -> Session | None:
        """Return the session with this id, or ``None``."""
        return self._sessions.get(session_id) if isinstance(session_id, str) else None

    def know(self, session_id: str) -> Session:
        """Make a session known that was opened before the recording begins."""
        return self._add_session(session_id, [_ROOT], None)

    async def create(self, method: str, params: Mapping[str, Any]) -> None:
        """Open a session whose id the agent chooses."""
        await self._create_once(method, _typed(method, params), _setup(params), True)

    async def reopen(self, method: str, params: Mapping[str, Any]) -> None:
        """Open a session whose id is known."""
        request = _typed(method, params)
        session = await self._reopen_once(method, request, request.session_id, _setup(params), None, True)
        if session.is_suspended:
            session.goes_on()

    async def call(self, method: str, params: Any) -> Any:
        """Send any request, and return its result."""
        return await self._driver.call(method, params, force=True)

    async def forget(self, session_id: str) -> None:
        """Free what is held for a session that is over."""
        await self._forget_session(session_id)

    async def _let_go(self, session: Session) -> None:
        """Close nothing: whether the recorded host did is in the recording."""

    # --- what the recorded host answered ----------------------------------------------------------------------------

    def expect_question(self, method: str) -> None:
        """Be ready for a request of the agent."""
        if not self._incoming.serves(method):
            self._serve_recorded(method)

    def answer(self, message: Mapping[str, Any]) -> None:
        """Give the recorded answer to a request of the agent; where none waits for one, nothing."""
        future = self._answers.pop(request_key(message.get("id")), None)
        if future is not None and not future.done():
            future.set_result(message)

    def _serve_recorded(self, method: str) -> None:
        async def handle(params: Any) -> Any:
            return await self._recorded_answer(method, params)

        self.on_request(method, handle)

    async def _recorded_answer(self, method: str, params: Any) -> Any:
        request = self._incoming.by_params(params)
        assert request is not None, "its handler is called with the parameters of an open request"
        key = request_key(request.id)
        future = self._answers[key] = asyncio.get_running_loop().create_future()
        try:
            message = await future
        finally:
            if self._answers.get(key) is future:
                del self._answers[key]
        return self._taken(method, params, message)

    def _taken(self, method: str, params: Any, message: Mapping[str, Any]) -> Any:
        error = message.get("error")
        if isinstance(error, Mapping):
            code, text = error.get("code"), error.get("message")
            raise RequestFailed.from_code(
                code if type(code) is int else InternalError.default_code, str(text), error.get("data"), method
            )
        result = message.get("result")
        self._told_answer(method, params, result)
        entry = client_method(method, MethodKind.REQUEST)
        if entry is not None:
            try:
                check({} if result is None else result, entry.result_type, method)
            except InvalidInput as problem:
                self.report(f"the recorded host answered {method} with what does not fit the schema: {problem}")
                raise InternalError("the recorded answer does not fit the schema") from None
        return result

    def report(self, text: str, *, kind: DiagnosticKind = DiagnosticKind.UNEXPECTED, method: str | None = None) -> None:
        """Make a diagnostic about the recording."""
        self.diagnostics.add(Diagnostic(kind, text, method=method))


def _typed(method: str, params: Mapping[str, Any]) -> Any:
    """Return the parameters of a request that opens a session, as far as they matter: nobody reads the rest."""
    entry = agent_method(method, MethodKind.REQUEST)
    assert entry is not None
    named = {"sessionId": params["sessionId"]} if "sessionId" in params else {}
    return structure_tolerant({**named, "cwd": _ROOT, "mcpServers": []}, entry.params_type)[0]


def _setup(params: Mapping[str, Any]) -> SessionSetup:
    further = params.get("additionalDirectories")
    given = [params.get("cwd"), *(further if isinstance(further, list) else ())]
    roots = [root if isinstance(root, str) else _ROOT for root in given]
    return SessionSetup(SessionOrigin(cwd=roots[0], additional_directories=roots[1:]), roots, {})
