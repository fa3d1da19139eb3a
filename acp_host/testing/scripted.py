"""An agent that does exactly what a test says, right or wrong: :class:`ScriptedAgent`.

It knows neither ACP nor JSON-RPC beyond what it takes to read the host's lines, so that nothing keeps a script from
sending what no agent should. For an agent that behaves, use :class:`~acp_host.testing.reference.ReferenceAgent`.

As a program: ``python -m acp_host.testing.scripted FILE[:FUNCTION]``, or ``-c CODE``; see
:meth:`ScriptedAgent.command`.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import io
import json
import sys
import textwrap
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from acp_host.errors import AcpError, ConnectionLost, InvalidInput, InvalidState
from acp_host.testing._in_process import InProcessTransport
from acp_host.testing._load import load_function
from acp_host.testing._stdio import run_on_stdio
from acp_host.transports import Transport
from acp_host.wire.codec import encode
from acp_host.wire.framing import LineFramer, Oversized

__all__ = ["Script", "ScriptedAgent", "Step"]

Step = Callable[["ScriptedAgent"], Any]
"""One step of a script; what it returns is awaited where it can be."""
Script = Callable[["ScriptedAgent"], Awaitable[Any]] | Sequence[Step]
"""A coroutine function that takes the agent, or steps that are taken one after the other."""

_LAST_WORDS = 0.2
"""Seconds that a script may take to end by itself once the host is gone."""


class ScriptedAgent:
    """An agent given as a script of what it expects and what it sends; used for one connection. ::

        async def script(agent):
            await agent.handshake()
            await agent.open_session("s1")
            await agent.expect("session/prompt")
            agent.send_raw(b"npm warn deprecated\\n")
            agent.say("Hello")
            agent.reply({"stopReason": "end_turn"})

        agent = ScriptedAgent(script)
        async with acp_host.connect(agent.transport()) as host:
            session = await host.new_session()
            assert (await session.prompt("Hi")).text == "Hello"
        await agent.finished()

    What a script does with its end:

    * it returns: the connection stays open, silent, until the host closes it;
    * it calls :meth:`close`: the host reads the end of the stream, and the script may go on;
    * it raises: the agent ends with status 1 and the traceback on its stderr, as a program would. So an expectation
      that is not met shows up in the host's error; :meth:`finished` raises it in the test;
    * it raises ``SystemExit`` (``sys.exit(3)``): the agent ends with that status.

    When the host closes the connection, what the script waits for raises :class:`~acp_host.errors.ConnectionLost`
    (:meth:`stall` returns instead); a script that goes on after that is cancelled.

    Args:
        script: a coroutine function that takes the agent, or a sequence of functions that take it, e.g.
            ``[ScriptedAgent.handshake, lambda agent: agent.expect("session/new"), ScriptedAgent.stall]``.

    Attributes:
        received: every message of the host so far, as decoded, in order.
    """

    def __init__(self, script: Script) -> None:
        self.received: list[dict[str, Any]] = []
        self._script = script
        self._stderr: TextIO = sys.stderr
        self._framer = LineFramer()
        self._inbox: list[dict[str, Any]] = []
        self._news = asyncio.Event()
        self._gone = asyncio.Event()
        self._transport: Transport | None = None
        self._request: dict[str, Any] | None = None
        self._last_id = 0
        self._closed = False
        self._done = asyncio.Event()
        self._failure: Exception | None = None

    # --- to run it --------------------------------------------------------------------------------------------------

    def transport(self) -> Transport:
        """Return what to pass to :func:`acp_host.connect`; the script runs in this process, as a task."""
        self._stderr = stderr = io.StringIO()
        return InProcessTransport(self.serve, "a scripted agent", stderr)

    @staticmethod
    def command(script: Callable[[ScriptedAgent], Awaitable[Any]] | Path | str, *arguments: str) -> list[str]:
        """Return the command that runs a script as a process of its own, to pass to :func:`acp_host.connect`.

        Args:
            script: a coroutine function at the top level of a file, which the process loads anew; or the path of a file
                that defines ``async def script(agent)``; or, as a string, the body of a script, in which ``agent`` is
                known and ``await`` works.
            arguments: for the script to find in ``sys.argv[1:]``.

        Raises:
            InvalidInput: the function is not at the top level of a file.
        """
        program = [sys.executable, "-m", "acp_host.testing.scripted"]
        if isinstance(script, str):
            return [*program, "-c", textwrap.dedent(script), *arguments]
        if isinstance(script, Path):
            return [*program, str(script), *arguments]
        name = getattr(script, "__qualname__", "<nameless>")
        if not name.isidentifier() or name == "<lambda>":
            raise InvalidInput(f"{name} is not a function at the top level of a file, so no other process can load it")
        return [*program, f"{inspect.getfile(script)}:{name}", *arguments]

    @property
    def failure(self) -> Exception | None:
        """What the script raised so far; ``None`` where it has not, or waited only for a host that went away."""
        return None if isinstance(self._failure, ConnectionLost) else self._failure

    async def finished(self) -> None:
        """Wait for the end of the script.

        Raises:
            ConnectionLost: the host went away while the script still waited for it.
            Exception: what the script raised, e.g. the ``AssertionError`` of an expectation that was not met.
        """
        await self._done.wait()
        if self._failure is not None:
            raise self._failure

    async def serve(self, host: Transport) -> int:
        """Run the script over any transport, and return the exit status; for runners of other kinds."""
        if self._transport is not None:
            raise InvalidState("a scripted agent is used for one connection; make another one")
        self._transport = host
        await host.start(self)
        script = asyncio.create_task(self._run())
        gone = asyncio.create_task(self._gone.wait())
        try:
            await asyncio.wait({script, gone}, return_when=asyncio.FIRST_COMPLETED)
            # A script that closed the stream itself goes on until the host puts an end to the agent.
            await asyncio.wait({script}, timeout=None if self._closed else _LAST_WORDS)
            if script.done() and script.result() is None:
                await gone
        finally:
            for task in (script, gone):
                task.cancel()
            await asyncio.wait({script, gone})
        if self.failure is not None:
            raise self.failure
        return script.result() or 0

    # --- to receive -------------------------------------------------------------------------------------------------

    async def expect(self, method: str | None = None) -> dict[str, Any]:
        """Return the host's next request or notification, which has to be of ``method``; responses are left aside.

        A request is the one that :meth:`reply` answers next.

        Args:
            method: wire method; ``None`` for any.

        Raises:
            AssertionError: it is of another method.
            ConnectionLost: the host went away.
        """
        message = await self._take(lambda message: "method" in message, method or "a request")
        if method is not None and message["method"] != method:
            raise AssertionError(f"the script expected {method}, the host sent {message}")
        if "id" in message:
            self._request = message
        return message

    async def response(self, request_id: Any) -> dict[str, Any]:
        """Return the host's whole response to a request that the script sent.

        Raises:
            ConnectionLost: the host went away.
        """
        return await self._take(
            lambda message: "method" not in message and message.get("id") == request_id, f"response {request_id!r}"
        )

    async def receive(self) -> dict[str, Any]:
        """Return the host's next message of any kind.

        Raises:
            ConnectionLost: the host went away.
        """
        return await self._take(lambda message: True, "a message")

    async def stall(self) -> None:
        """Do nothing until the host is gone; for ever, if the script closed the stream itself."""
        await (asyncio.Event() if self._closed else self._gone).wait()

    # --- to send ----------------------------------------------------------------------------------------------------

    def send(self, message: Mapping[str, Any]) -> None:
        """Send one message exactly as given, as a line of JSON."""
        self.send_raw(encode(message))

    def send_raw(self, data: bytes) -> None:
        """Send bytes; nothing is added, not even a newline."""
        assert self._transport is not None
        self._transport.write(data)

    async def drain(self) -> None:
        """Wait until the host has read nearly everything; for scripts that send much."""
        assert self._transport is not None
        await self._transport.drain()

    def notify(self, method: str, params: Any) -> None:
        """Send a notification."""
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def request(self, method: str, params: Any) -> int:
        """Send a request and return its id; see :meth:`response`."""
        self._last_id += 1
        self.send({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params})
        return self._last_id

    async def call(self, method: str, params: Any) -> dict[str, Any]:
        """Send a request and return the host's whole response."""
        return await self.response(self.request(method, params))

    def reply(self, result: Any, *, to: Mapping[str, Any] | None = None) -> None:
        """Answer a request.

        Args:
            result: any JSON.
            to: the request; ``None`` for the one that was expected last.
        """
        self.send({"jsonrpc": "2.0", "id": self._id_of(to), "result": result})

    def reply_error(self, code: int, message: str, data: Any = None, *, to: Mapping[str, Any] | None = None) -> None:
        """Answer a request with an error; ``to`` as for :meth:`reply`."""
        error = {"code": code, "message": message, **({} if data is None else {"data": data})}
        self.send({"jsonrpc": "2.0", "id": self._id_of(to), "error": error})

    async def close(self) -> None:
        """End the stream to the host. The script may go on, until the host puts an end to the agent."""
        assert self._transport is not None
        self._closed = True
        await self._transport.close()

    def log(self, text: str) -> None:
        """Write a line to the agent's stderr."""
        self._stderr.write(f"{text}\n")
        self._stderr.flush()

    # --- what most scripts begin with, and say ----------------------------------------------------------------------

    async def handshake(
        self, capabilities: Mapping[str, Any] | None = None, *, version: int = 1, **members: Any
    ) -> dict[str, Any]:
        """Expect ``initialize`` and answer it; return its parameters.

        Args:
            capabilities: ``agentCapabilities``; in ACP v2 ``capabilities``, there with ``session`` if none are given.
            version: the version of the protocol to answer with, and in.
            members: further members of the result, or others in place of the usual ones.
        """
        message = await self.expect("initialize")
        info = {"name": "scripted-agent", "version": "1"}
        usual: dict[str, Any] = {"protocolVersion": version}
        if version == 1:
            usual |= {"agentInfo": info, "agentCapabilities": capabilities or {}}
        else:
            usual |= {"info": info, "capabilities": {"session": {}} if capabilities is None else capabilities}
        self.reply(usual | members)
        params: dict[str, Any] = message["params"]
        return params

    async def open_session(self, session_id: str = "session-1", **members: Any) -> dict[str, Any]:
        """Expect ``session/new`` and answer it, with further ``members`` of the result; return its parameters."""
        message = await self.expect("session/new")
        self.reply({"sessionId": session_id, **members})
        params: dict[str, Any] = message["params"]
        return params

    def update(self, update: Mapping[str, Any], session_id: str | None = None) -> None:
        """Send ``session/update``, to the session of the last request if none is named."""
        if session_id is None:
            asked = (self._request or {}).get("params") or {}
            session_id = asked.get("sessionId", "session-1")
        self.notify("session/update", {"sessionId": session_id, "update": update})

    def say(self, text: str, session_id: str | None = None, *, message_id: str | None = None) -> None:
        """Send a piece of the agent's message; ``session_id`` as for :meth:`update`, ``message_id`` as in ACP v2."""
        content = {"type": "text", "text": text}
        named = {} if message_id is None else {"messageId": message_id}
        self.update({"sessionUpdate": "agent_message_chunk", "content": content, **named}, session_id)

    async def accept_prompt(self, message_id: str = "user-1") -> dict[str, Any]:
        """Expect ``session/prompt`` and accept it as in ACP v2, with the echo of the message; return its parameters."""
        message = await self.expect("session/prompt")
        self.reply({"messageId": message_id})
        params: dict[str, Any] = message["params"]
        self.update({"sessionUpdate": "user_message", "messageId": message_id, "content": params["prompt"]})
        return params

    def state(self, state: str, session_id: str | None = None, **members: Any) -> None:
        """Send a ``state_update`` of ACP v2, e.g. ``state("idle", stopReason="end_turn")``."""
        self.update({"sessionUpdate": "state_update", "state": state, **members}, session_id)

    # --- the transport's callbacks ----------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Take bytes from the host."""
        for line in self._framer.feed(data):
            assert not isinstance(line, Oversized)
            self._line_received(line)
        self._news.set()

    def _line_received(self, line: bytes) -> None:
        self._take_in(json.loads(line))

    def _take_in(self, message: dict[str, Any]) -> None:
        self.received.append(message)
        self._inbox.append(message)

    def connection_lost(self, error: AcpError | None) -> None:
        """Take the end of the connection."""
        self._gone.set()
        self._news.set()

    async def _take(self, wanted: Callable[[dict[str, Any]], bool], what: str) -> dict[str, Any]:
        while True:
            for index, message in enumerate(self._inbox):
                if wanted(message):
                    return self._inbox.pop(index)
            if self._gone.is_set():
                raise ConnectionLost(f"the connection ended while the script waited for {what}")
            self._news.clear()
            await self._news.wait()

    def _id_of(self, request: Mapping[str, Any] | None) -> Any:
        request = request or self._request
        if request is None:
            raise InvalidState("the script replies, but it has not expected any request yet")
        return request["id"]

    async def _run(self) -> int | None:
        """Run the script; return its exit status, ``None`` where the script does not say."""
        try:
            if callable(self._script):
                await self._script(self)
            else:
                for step in self._script:
                    result = step(self)
                    if inspect.isawaitable(result):
                        await result
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else int(end.code is not None)
        except asyncio.CancelledError:
            self._failure = ConnectionLost("the script was still at work when the host went away")
        except Exception as error:
            self._failure = error
            return 1
        finally:
            self._done.set()
        return None


def _body(code: str) -> Script:
    """Return the script whose body is ``code``."""
    compiled = compile(code, "<script>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)

    async def script(agent: ScriptedAgent) -> None:
        result = eval(compiled, {"agent": agent})
        if inspect.isawaitable(result):
            await result

    return script


def main(argv: list[str]) -> int:
    """Run a script as an agent at stdin and stdout: ``FILE[:FUNCTION]`` or ``-c CODE``, then the script's arguments."""
    if not argv or argv == ["-c"]:
        print("usage: python -m acp_host.testing.scripted (FILE[:FUNCTION] | -c CODE) [ARGUMENT…]", file=sys.stderr)
        return 2
    script, arguments = (_body(argv[1]), argv[2:]) if argv[0] == "-c" else (load_function(argv[0]), argv[1:])
    sys.argv[1:] = arguments
    return run_on_stdio(ScriptedAgent(script).serve)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
