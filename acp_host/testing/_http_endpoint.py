"""The endpoint of Streamable HTTP, as an ASGI application: :class:`HttpEndpoint`.

It keeps to the RFD "Streamable HTTP & WebSocket Transport" of ACP, with one stream for the connection and one for each
session; a host that listens to that of the connection only gets what belongs to no session there.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Iterable
from contextlib import aclosing
from http import HTTPStatus
from typing import Any, cast

import orjson
from attrs import define, field

from acp_host.errors import ConnectionLost
from acp_host.testing._http_host import HostOnHttp
from acp_host.testing.access import Access
from acp_host.transports import Transport
from acp_host.transports._envelopes import Envelope, read_envelope

__all__ = ["HttpEndpoint"]

_MOST_CONNECTIONS = 64
_ABSENCE = 60.0
"""Seconds after which a host that listens to nothing counts as gone."""
_LAST_STEPS = 3.0
"""Seconds that agents may take to end once their connections have."""
_LONGEST_ID = 1024

_Scope = dict[str, Any]
_Receive = Callable[[], Awaitable[dict[str, Any]]]
_Send = Callable[[dict[str, Any]], Awaitable[None]]


class _Refused(Exception):
    """A request is not served."""

    def __init__(self, status: HTTPStatus, text: str, headers: Iterable[tuple[str, str]] = ()) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.headers = tuple(headers)


@define(eq=False)
class _Connection:
    host: HostOnHttp
    agent: asyncio.Task[None]
    absence: asyncio.TimerHandle | None = field(default=None)


class HttpEndpoint:
    """Serves an agent; every ``initialize`` is a connection, and a call of ``agent``.

    Args:
        agent: serves one host over the transport that it is given.
        access: who is let in.
        path: path of the endpoint.
        max_size: longest message that is read, in bytes.
    """

    def __init__(self, agent: Callable[[Transport], Awaitable[int]], access: Access, path: str, max_size: int) -> None:
        self._agent = agent
        self._access = access
        self._path = path
        self._max_size = max_size
        self._connections: dict[str, _Connection] = {}
        self._agents: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one request."""
        if scope["type"] == "lifespan":
            await _live(receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close"})
        else:
            try:
                await self._serve(scope, receive, send)
            except _Refused as refusal:
                body = f"{refusal.text}\n".encode()
                await _answer(send, refusal.status, body, [("Content-Type", "text/plain"), *refusal.headers])

    async def close(self) -> None:
        """End all connections; wait for the agents, and cancel those that take too long."""
        for connection in tuple(self._connections.values()):
            connection.host.end()
        if self._agents:
            _, late = await asyncio.wait(self._agents, timeout=_LAST_STEPS)
            for task in late:
                task.cancel()

    async def _serve(self, scope: _Scope, receive: _Receive, send: _Send) -> None:
        try:
            self._check_access(scope)
        except _Refused:
            if scope["method"] == "POST":
                await self._discard(receive)
            raise
        match scope["method"]:
            case "POST":
                await self._post(scope, receive, send)
            case "GET":
                await self._get(scope, receive, send)
            case "DELETE":
                self._connection(scope).host.end()
                await _answer(send, HTTPStatus.ACCEPTED)
            case _:
                allowed = [("Allow", "GET, POST, DELETE")]
                raise _Refused(HTTPStatus.METHOD_NOT_ALLOWED, "This endpoint takes GET, POST and DELETE.", allowed)

    def _check_access(self, scope: _Scope) -> None:
        query = scope.get("query_string", b"").decode("latin-1")
        refusal = self._access.refusal(
            host=_headers(scope, "host"),
            origin=_headers(scope, "origin"),
            authorization=_headers(scope, "authorization"),
            target=f"{scope['path']}?{query}",
        )
        if refusal is not None:
            raise _Refused(refusal.status, refusal.text, refusal.headers)
        if scope["path"] != self._path:
            raise _Refused(HTTPStatus.NOT_FOUND, f"The agent is at {self._path}.")

    # --- messages of the host ---------------------------------------------------------------------------------------

    async def _post(self, scope: _Scope, receive: _Receive, send: _Send) -> None:
        body = await self._body(receive)
        kind = _header(scope, "content-type") or ""
        if kind.partition(";")[0].strip().lower() != "application/json":
            raise _Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "A message is sent as application/json.")
        envelope = _envelope(body)
        if envelope.method == "initialize" and envelope.is_request:
            await self._initialize(scope, body, envelope, send)
            return
        host = self._connection(scope).host
        self._check_session(_header(scope, "acp-session-id"), envelope, host)
        host.receive(body, envelope)
        await _answer(send, HTTPStatus.ACCEPTED)

    @staticmethod
    def _check_session(named: str | None, envelope: Envelope, host: HostOnHttp) -> None:
        session_id = envelope.session_id or host.session_of_answer(envelope)
        if session_id is not None and named is None:
            raise _Refused(HTTPStatus.BAD_REQUEST, "A message of a session names it in Acp-Session-Id.")
        if session_id is not None and named != session_id:
            raise _Refused(HTTPStatus.BAD_REQUEST, "Acp-Session-Id names another session than the message.")

    async def _body(self, receive: _Receive) -> bytes:
        body = bytearray()
        while True:
            event = await receive()
            body += event.get("body", b"")
            if len(body) > self._max_size:
                if event.get("more_body"):
                    await self._discard(receive)
                raise _Refused(
                    HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"A message has at most {self._max_size} bytes here."
                )
            if event["type"] == "http.disconnect" or not event.get("more_body"):
                return bytes(body)

    async def _discard(self, receive: _Receive) -> None:
        """Read the rest of a body, as much as is allowed; the server takes it amiss to be answered before its end."""
        size = 0
        while size <= self._max_size:
            event = await receive()
            if event["type"] == "http.disconnect" or not event.get("more_body"):
                return
            size += len(event["body"])

    async def _initialize(self, scope: _Scope, body: bytes, envelope: Envelope, send: _Send) -> None:
        if _header(scope, "acp-connection-id") is not None:
            raise _Refused(HTTPStatus.BAD_REQUEST, "This connection has been initialized; begin another one.")
        if len(self._connections) >= _MOST_CONNECTIONS:
            raise _Refused(HTTPStatus.SERVICE_UNAVAILABLE, "There are too many connections.")
        connection_id = str(uuid.uuid4())
        host = HostOnHttp()
        agent = asyncio.create_task(self._serve_host(connection_id, host), name=f"agent of {connection_id}")
        self._connections[connection_id] = connection = _Connection(host, agent)
        self._agents.add(agent)
        agent.add_done_callback(self._agents.discard)
        self._note_absence(connection)
        try:
            answer = await host.call(body, envelope)
        except ConnectionLost:
            raise _Refused(HTTPStatus.INTERNAL_SERVER_ERROR, "The agent ended before it answered.") from None
        except asyncio.CancelledError:
            host.end()
            raise
        headers = [("Content-Type", "application/json"), ("Acp-Connection-Id", connection_id)]
        await _answer(send, HTTPStatus.OK, answer, headers)

    async def _serve_host(self, connection_id: str, host: HostOnHttp) -> None:
        try:
            await self._agent(host)
        finally:
            host.end()
            connection = self._connections.pop(connection_id, None)
            if connection is not None and connection.absence is not None:
                connection.absence.cancel()

    # --- streams ----------------------------------------------------------------------------------------------------

    async def _get(self, scope: _Scope, receive: _Receive, send: _Send) -> None:
        accepted = _header(scope, "accept") or ""
        if "text/event-stream" not in accepted.lower():
            raise _Refused(HTTPStatus.NOT_ACCEPTABLE, "There is an event stream here: accept text/event-stream.")
        connection = self._connection(scope)
        session_id = _header(scope, "acp-session-id")
        if connection.absence is not None:
            connection.absence.cancel()
            connection.absence = None
        headers = [("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"), ("X-Accel-Buffering", "no")]
        await send({"type": "http.response.start", "status": HTTPStatus.OK, "headers": _raw(headers)})
        await send({"type": "http.response.body", "body": b":\n\n", "more_body": True})
        reading = asyncio.create_task(_pump(connection.host, session_id, send))
        leaving = asyncio.create_task(_gone(receive))
        try:
            await asyncio.wait({reading, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (reading, leaving):
                task.cancel()
            await asyncio.wait({reading, leaving})
            if not connection.host.is_listened_to:
                self._note_absence(connection)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _note_absence(self, connection: _Connection) -> None:
        if connection.absence is None and not connection.host.ended.is_set():
            error = ConnectionLost("the host listens to nothing any more")
            connection.absence = asyncio.get_running_loop().call_later(_ABSENCE, connection.host.end, error)

    def _connection(self, scope: _Scope) -> _Connection:
        connection_id = _header(scope, "acp-connection-id")
        if connection_id is None:
            raise _Refused(HTTPStatus.BAD_REQUEST, "Acp-Connection-Id is missing; begin with initialize.")
        if len(_header(scope, "acp-session-id") or "") > _LONGEST_ID:
            raise _Refused(HTTPStatus.BAD_REQUEST, "No session has such a long id.")
        connection = self._connections.get(connection_id)
        if connection is None:
            raise _Refused(HTTPStatus.NOT_FOUND, "There is no such connection; begin with initialize.")
        return connection


async def _pump(host: HostOnHttp, session_id: str | None, send: _Send) -> None:
    async with aclosing(cast("Any", host.listen(session_id))) as events:
        async for event in events:
            await send({"type": "http.response.body", "body": event, "more_body": True})


async def _gone(receive: _Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _live(receive: _Receive, send: _Send) -> None:
    while True:
        event = (await receive())["type"]
        await send({"type": f"{event}.complete"})
        if event == "lifespan.shutdown":
            return


async def _answer(send: _Send, status: HTTPStatus, body: bytes = b"", headers: Iterable[tuple[str, str]] = ()) -> None:
    sized = [*headers, ("Content-Length", str(len(body)))]
    await send({"type": "http.response.start", "status": status, "headers": _raw(sized)})
    await send({"type": "http.response.body", "body": body})


def _envelope(body: bytes) -> Envelope:
    try:
        if isinstance(orjson.loads(body), list):
            raise _Refused(HTTPStatus.NOT_IMPLEMENTED, "Batches are not taken; send each message by itself.")
    except orjson.JSONDecodeError:
        raise _Refused(HTTPStatus.BAD_REQUEST, "The body is no JSON.") from None
    envelope = read_envelope(body)
    if envelope is None:
        raise _Refused(HTTPStatus.BAD_REQUEST, "The body is no JSON-RPC message.")
    return envelope


def _headers(scope: _Scope, name: str) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key.lower() == name.encode()]


def _header(scope: _Scope, name: str) -> str | None:
    return next(iter(_headers(scope, name)), None)


def _raw(headers: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]
