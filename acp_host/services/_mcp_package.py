"""A server of the package ``mcp``, talked to as over any of its transports: :class:`PackageConversation`.

The server is given a stream to read from and one to write to. Which version of MCP is spoken the agent's first request
decides: one that carries it (2026-07-28), or ``initialize``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any

import anyio
from attrs import frozen
from mcp.server.lowlevel import Server
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse
from mcp_types.jsonrpc import ErrorData

from acp_host.errors import MethodNotFound, RequestFailed
from acp_host.services.mcp import MAX_OPEN, Notify

__all__ = ["PackageConversation"]

_NO_WAY_BACK = ServerMessageMetadata(can_send_request=False)
"""Tells the server that it cannot ask the agent anything."""


@frozen(eq=False)
class _Exchange:
    """A request without an answer."""

    answer: asyncio.Future[Any]
    notify: Notify


class PackageConversation:
    """One conversation with a server of the package.

    Args:
        server: an ``MCPServer`` or a low-level ``Server``.
        report: takes what the server failed with.

    Attributes:
        ended: whether the server has ended.
    """

    def __init__(self, server: Any, report: Callable[[BaseException], None]) -> None:
        self._server: Server[Any] = _lowlevel(server)
        self._report = report
        self._open: dict[str, _Exchange] = {}
        # Two for each request: itself and its withdrawal.
        self._send, self._receive = anyio.create_memory_object_stream[SessionMessage | Exception](2 * MAX_OPEN)
        self.ended = False

    async def run(self) -> None:
        """Run the server until :meth:`close`."""
        writer = _Writer(self._take)
        try:
            await self._server.run(self._receive, writer, self._server.create_initialization_options())
        except Exception as error:
            self._report(error)
        finally:
            self.ended = True
            self.close()
            self._receive.close()
            for exchange in self._open.values():
                if not exchange.answer.done():
                    exchange.answer.set_exception(EOFError("the MCP server has ended"))

    def close(self) -> None:
        """End the server's input, on which it ends."""
        self._send.close()

    async def request(self, request_id: str, method: str, params: Mapping[str, Any] | None, notify: Notify) -> Any:
        """Return the server's result; a task that is cancelled withdraws the request.

        Raises:
            RequestFailed: the server answered with this error.
        """
        given = {} if params is None else {"params": dict(params)}
        exchange = _Exchange(asyncio.get_running_loop().create_future(), notify)
        self._open[request_id] = exchange
        try:
            self._tell(JSONRPCRequest(jsonrpc="2.0", id=request_id, method=method, **given))
            result = await exchange.answer
            if method == "initialize":  # the agent has no message for it
                self._tell(JSONRPCNotification(jsonrpc="2.0", method="notifications/initialized"))
            return result
        except asyncio.CancelledError:
            withdrawn = {"requestId": request_id}
            with suppress(BufferError):
                self._tell(JSONRPCNotification(jsonrpc="2.0", method="notifications/cancelled", params=withdrawn))
            raise
        finally:
            del self._open[request_id]

    def _tell(self, message: Any) -> None:
        try:
            self._send.send_nowait(SessionMessage(message, _NO_WAY_BACK))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # it has ended, and every request with it
        except anyio.WouldBlock:
            raise BufferError("the MCP server does not read its requests") from None

    async def _take(self, written: SessionMessage) -> None:
        """Take what the server writes."""
        match written.message:
            case JSONRPCResponse(id=str(request_id), result=result) if request_id in self._open:
                _settle(self._open[request_id].answer, result)
            case JSONRPCError(id=str(request_id), error=error) if request_id in self._open:
                failure = RequestFailed(error.message, code=error.code, data=error.data)
                _settle(self._open[request_id].answer, failure)
            case JSONRPCNotification(method=method, params=params):
                related = getattr(written.metadata, "related_request_id", None)
                exchange = self._open.get(related) if isinstance(related, str) else None
                if exchange is not None:  # the others belong to no request, and have no way to the agent
                    await exchange.notify(method, params)
            case JSONRPCRequest(id=asked):
                refusal = ErrorData(code=MethodNotFound.default_code, message="the agent cannot be asked over ACP")
                self._tell(JSONRPCError(jsonrpc="2.0", id=asked, error=refusal))


class _Writer:
    """The stream that the server writes to."""

    def __init__(self, take: Callable[[SessionMessage], Any]) -> None:
        self._take = take

    async def send(self, item: SessionMessage, /) -> None:
        await self._take(item)

    async def aclose(self) -> None:
        pass

    async def __aenter__(self) -> _Writer:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


def _lowlevel(server: Any) -> Server[Any]:
    """Return what an ``MCPServer`` is made of; the package has no public name for it yet, and uses this one itself."""
    inner: Server[Any] = getattr(server, "_lowlevel_server", server)
    return inner


def _settle(answer: asyncio.Future[Any], outcome: Any) -> None:
    if answer.done():
        return
    if isinstance(outcome, RequestFailed):
        answer.set_exception(outcome)
    else:
        answer.set_result(outcome)
