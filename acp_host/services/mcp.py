"""MCP servers of this program, called by the agent over the ACP connection: :class:`HostMcpServer`.

An agent with the capability ``mcpCapabilities.acp`` sends MCP's requests inside ``mcp/message``, and gets the server's
answers and notifications the same way. :class:`McpServers` knows which servers the sessions of a connection were lent:
each under an id of its own, so that two sessions share a server and nothing else. What a server cannot do in this way:
ask the agent something, and tell it something outside of an open request; the protocol has no message for either.

Specification: the unstable schema, ``mcp/message``.
"""

from __future__ import annotations

import asyncio
import inspect
import itertools
import traceback
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, Protocol, TypeAlias

from attrs import define, evolve, field, frozen

from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.errors import InvalidInput, InvalidParams, RequestFailed
from acp_host.services._awaiting import as_failure
from acp_host.wire._model import UNSET
from acp_host.wire.mcp import (
    McpError,
    McpServerAcp,
    MessageMcpNotification,
    MessageMcpRequest,
    MessageMcpResponse,
)

__all__ = ["MAX_OPEN", "Conversation", "HostMcpServer", "McpFunction", "McpServers", "Notify"]

MAX_OPEN = 64
"""Most requests that the agent can have open with one server of a session."""

# Codes of the request around MCP's own, where no server has answered; those of other implementations.
_TOO_MANY, _UNAVAILABLE, _FAILED = -33000, -33001, -33002

McpFunction: TypeAlias = Callable[[str, Mapping[str, Any] | None], Any | Awaitable[Any]]
"""Takes MCP's method and its parameters; returns the result, plain JSON, or an awaitable of it."""
Notify: TypeAlias = Callable[[str, Mapping[str, Any] | None], Awaitable[None]]
"""Sends a notification of a server, by method and parameters, that belongs to an open request."""
Start: TypeAlias = Callable[[Coroutine[Any, Any, None]], object]
"""Runs something that does not raise beside everything else."""


class Conversation(Protocol):
    """What one session has with one server."""

    @property
    def ended(self) -> bool:
        """Whether the server has ended, and has to be talked to anew."""

    async def request(self, request_id: str, method: str, params: Mapping[str, Any] | None, notify: Notify) -> Any:
        """Return the server's result.

        Raises:
            RequestFailed: the server answered with this error, MCP's code in it.
        """

    def close(self) -> None:
        """Let the server end."""


@frozen
class HostMcpServer:
    """An MCP server of this program; pass it as one of ``mcp_servers`` to what opens a session.

    Args:
        server: an ``MCPServer`` or low-level ``Server`` of the package ``mcp`` (the extra ``mcp``), or a (coroutine)
            function that takes MCP's method and parameters and returns the result. A function may raise
            :class:`~acp_host.errors.RequestFailed`, which is the error the agent gets; it runs on the event loop,
            or, a plain one of a connection of :mod:`acp_host.blocking`, where that calls handlers.
        name: what the agent calls the server; the prefix of its tools in many agents.

    Raises:
        InvalidInput: ``server`` is neither, or of a version of the package before 2.0.
    """

    server: Any
    name: str = "host"

    def __attrs_post_init__(self) -> None:
        is_function = callable(self.server) and not isinstance(self.server, type)
        if not _is_of_package(self.server) and not is_function:
            kind = f"the class {self.server.__name__}" if isinstance(self.server, type) else type(self.server).__name__
            raise InvalidInput(f"an MCP server is a server of the package mcp or a function, not {kind}")
        if _is_of_package(self.server) and find_spec("mcp_types") is None:
            raise InvalidInput("servers of the package mcp can be served from its version 2.0 on; this is an older one")
        if not isinstance(self.name, str) or not self.name:
            raise InvalidInput("the name of an MCP server is a string that is not empty")

    def called_by(self, handlers: Callable[[McpFunction], McpFunction]) -> HostMcpServer:
        """Return the same server with its function called by what ``handlers`` returns for it."""
        return self if _is_of_package(self.server) else evolve(self, server=handlers(self.server))

    def converse(self, start: Start, report: Callable[[BaseException], None]) -> Conversation:
        """Begin a conversation.

        Args:
            start: runs the server beside everything else.
            report: takes what the server failed with.
        """
        if not _is_of_package(self.server):
            return _FunctionConversation(self.server)
        from acp_host.services._mcp_package import PackageConversation  # what a plain script does not touch

        conversation = PackageConversation(self.server, report)
        start(conversation.run())
        return conversation


def _is_of_package(server: Any) -> bool:
    """Whether a server is the package's; without importing it, for then nobody can have made one."""
    modules = (cls.__module__.partition(".")[0] for cls in type(server).__mro__)
    return "mcp" in modules and callable(getattr(server, "run", None))


class _FunctionConversation:
    def __init__(self, function: McpFunction) -> None:
        self.ended = False
        self._function = function
        self._calls: set[asyncio.Future[Any]] = set()

    async def request(self, request_id: str, method: str, params: Mapping[str, Any] | None, notify: Notify) -> Any:
        result = self._function(method, params)
        if not inspect.isawaitable(result):
            return result
        call = asyncio.ensure_future(result)
        self._calls.add(call)
        try:
            return await call
        except asyncio.CancelledError:
            if self.ended and call.cancelled():
                raise RequestFailed("the server has ended", code=_UNAVAILABLE) from None
            raise
        finally:
            self._calls.discard(call)

    def close(self) -> None:
        self.ended = True
        for call in self._calls:
            call.cancel()


@define(eq=False)
class _Lent:
    """A server that one session was lent."""

    server: HostMcpServer
    conversation: Conversation | None = None
    open: set[str] = field(factory=set)


class McpServers:
    """The servers of this program that the sessions of a connection were lent.

    Args:
        start: runs a server; owned by the connection.
        send: sends a notification to the agent, and waits until it is on its way.
        report: takes diagnostics.
    """

    def __init__(
        self,
        start: Start,
        send: Callable[[MessageMcpNotification], Awaitable[None]],
        report: Callable[[Diagnostic], None],
    ) -> None:
        self._start = start
        self._send = send
        self._report = report
        self._numbers = itertools.count(1)
        self._lent: dict[str, _Lent] = {}
        self._of_session: dict[str, tuple[str, ...]] = {}

    # --- which there are --------------------------------------------------------------------------------------------

    def lend(self, server: HostMcpServer) -> McpServerAcp:
        """Return how a server is told to the agent, which may call it from now on."""
        server_id = f"mcp-{next(self._numbers)}"
        self._lent[server_id] = _Lent(server)
        return McpServerAcp(server.name, server_id)

    @contextmanager
    def lent(self, servers: Iterable[object]) -> Iterator[Callable[[str], None]]:
        """Take back what was lent of ``servers`` if the block fails; yield what says whose they are if it does not.

        They take the place of those that the session had before.
        """
        ids = tuple(server.server_id for server in servers if isinstance(server, McpServerAcp))

        def belong(session_id: str) -> None:
            self.session_closed(session_id)
            self._of_session[session_id] = ids

        try:
            yield belong
        except BaseException:
            self._take_back(ids)
            raise

    def session_closed(self, session_id: str) -> None:
        """Take back what a session was lent."""
        self._take_back(self._of_session.pop(session_id, ()))

    def close(self) -> None:
        """Take back everything."""
        self._take_back(tuple(self._lent))

    def _take_back(self, server_ids: Iterable[str]) -> None:
        for server_id in server_ids:
            lent = self._lent.pop(server_id, None)
            if lent is not None and lent.conversation is not None:
                lent.conversation.close()

    # --- what the agent asks of them --------------------------------------------------------------------------------

    async def message(self, request: MessageMcpRequest) -> MessageMcpResponse:
        """Answer ``mcp/message``.

        Raises:
            InvalidParams: a request of this name is open.
            RequestFailed: there is no such server (-33001), too many requests are open (-33000), or the server failed
                without an answer of its own (-33002).
        """
        lent, request_id = self._lent.get(request.server_id), request.request_id
        if lent is None:
            raise _failure(_UNAVAILABLE, f"there is no MCP server {request.server_id}", request)
        if request_id in lent.open:
            raise InvalidParams(f"the MCP request {request_id} has no answer yet", data={"requestId": request_id})
        if len(lent.open) >= MAX_OPEN:
            raise _failure(_TOO_MANY, f"{MAX_OPEN} MCP requests have no answer yet; one more is not taken", request)
        lent.open.add(request_id)
        try:
            with as_failure():
                return MessageMcpResponse(result=await self._ask(lent, request))
        except RequestFailed as error:
            if request.server_id not in self._lent:
                raise _failure(_UNAVAILABLE, "the MCP server was taken back with its session", request) from None
            data = UNSET if error.data is None else error.data
            return MessageMcpResponse(error=McpError(error.code, error.message, data))
        except Exception as error:
            self._report_failure(lent, error, request.method)
            raise _failure(_FAILED, f"the MCP server failed to handle {request.method}", request) from None
        finally:
            lent.open.discard(request_id)

    async def _ask(self, lent: _Lent, request: MessageMcpRequest) -> Any:
        async def notify(method: str, params: Mapping[str, Any] | None) -> None:
            given = UNSET if params is None else params
            await self._send(MessageMcpNotification(request.server_id, request.request_id, method, given))

        if lent.conversation is None or lent.conversation.ended:
            lent.conversation = lent.server.converse(self._start, lambda error: self._report_failure(lent, error))
        params = request.params or None
        return await lent.conversation.request(request.request_id, request.method, params, notify)

    def _report_failure(self, lent: _Lent, error: BaseException, method: str = "mcp/message") -> None:
        text = f"the MCP server {lent.server.name} failed: {type(error).__name__}: {error}"
        trace = "".join(traceback.format_exception(error, limit=-5))
        self._report(Diagnostic(DiagnosticKind.HANDLER_FAILED, text, method=method, data=trace))


def _failure(code: int, message: str, request: MessageMcpRequest) -> RequestFailed:
    return RequestFailed(message, code=code, data={"serverId": request.server_id})
