"""A host that speaks ACP v2 by hand, and holds everything that its agent sends against the upstream schema."""

from __future__ import annotations

import asyncio
import functools
import itertools
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from acp_host.errors import RequestFailed, TransportError
from acp_host.testing import ReferenceAgent, ScriptedAgent
from acp_host.transports import Transport
from tests.testing import reminder_forms

SCHEMA = Path(__file__).parents[1] / "npm/node_modules/@agentclientprotocol/sdk/schema/v2/schema.unstable.json"
INFO = {"name": "by-hand", "version": "1"}
OFFER = {"elicitation": {"form": {}, "url": {}}, "auth": {"terminal": {}}}


@functools.cache
def definitions() -> Mapping[str, Any]:
    if not SCHEMA.is_file():
        pytest.skip("the upstream schema is not installed: needs npm, then `make setup`")
    found: Mapping[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))["$defs"]
    return found


@functools.cache
def _by_method() -> Mapping[tuple[str, str], str]:
    """Return the definitions by method and by what they are: ``Request``, ``Response`` or ``Notification``."""
    kinds = ("Request", "Response", "Notification")
    return {
        (definition["x-method"], kind): name
        for name, definition in definitions().items()
        if "x-method" in definition
        for kind in kinds
        if name.endswith(kind)
    }


def validate(method: str, kind: str, value: Any) -> None:
    """Hold parameters, or a result, against the schema, unless they are an extension's."""
    name = _by_method().get((method, kind))
    if name is not None:
        _validator(name).validate(value)


@functools.cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator({"$defs": definitions(), "$ref": f"#/$defs/{name}"})


@functools.cache
def _known_updates() -> frozenset[str]:
    variants = definitions()["SessionUpdate"]["anyOf"]
    return frozenset(variant["properties"]["sessionUpdate"].get("const") for variant in variants)


Answer = Callable[[dict[str, Any]], Any]


class HostV2:
    """One connection.

    Attributes:
        updates: every update so far, of all sessions.
        asked: every request of the agent: method and parameters.
        answers: what to answer, by method; permission is given unless a test says otherwise.
    """

    def __init__(self, transport: Transport) -> None:
        self.updates: list[dict[str, Any]] = []
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.told: list[tuple[str, dict[str, Any]]] = []
        self.answers: dict[str, Answer] = {"session/request_permission": chosen("allow")}
        self._transport = transport
        self._ids = itertools.count()
        self._calls: dict[int, tuple[str, asyncio.Future[Any]]] = {}
        self._news = asyncio.Event()
        self._rest = b""
        self._version = 2

    # --- to the agent -----------------------------------------------------------------------------------------------

    def send(self, message: dict[str, Any]) -> None:
        self._transport.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def call(self, method: str, **params: Any) -> Any:
        """Send a request and return its result; raises ``RequestFailed``."""
        id = next(self._ids)
        answer = asyncio.get_running_loop().create_future()
        self._calls[id] = method, answer
        self.send({"id": id, "method": method, "params": params})
        return await answer

    def notify(self, method: str, **params: Any) -> None:
        self.send({"method": method, "params": params})

    async def initialize(self, version: int = 2, **params: Any) -> Any:
        return await self.call(
            "initialize", **{"protocolVersion": version, "info": INFO, "capabilities": OFFER} | params
        )

    async def open(self, cwd: str = "/project", **params: Any) -> str:
        session_id: str = (await self.call("session/new", cwd=cwd, **params))["sessionId"]
        return session_id

    async def prompt(self, session_id: str, text: str) -> list[dict[str, Any]]:
        """Send a prompt, wait for its end, and return its updates."""
        start = len(self.updates)
        await self.call("session/prompt", sessionId=session_id, prompt=[{"type": "text", "text": text}])
        end = await self.until(lambda update: update.get("state") == "idle", start)
        return self.updates[start : self.updates.index(end, start) + 1]

    async def until(self, wanted: Callable[[dict[str, Any]], bool], start: int = 0) -> dict[str, Any]:
        """Return the first update, from ``start`` on, that is wanted, waiting for it."""
        while True:
            for update in self.updates[start:]:
                if wanted(update):
                    return update
            self._news.clear()
            await self._news.wait()

    # --- from the agent ---------------------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            try:
                self._take(json.loads(line))
            except Exception as error:  # what waits is told, since nobody else hears of it
                for _, answer in self._calls.values():
                    answer.set_exception(error)
                self._calls.clear()
                raise

    def connection_lost(self, error: TransportError | None) -> None:
        for _, answer in self._calls.values():
            answer.cancel()

    def _take(self, message: dict[str, Any]) -> None:
        assert message["jsonrpc"] == "2.0"
        if "method" not in message:
            self._take_answer(message)
        elif "id" in message:
            method, params = message["method"], message["params"]
            self._validate(method, "Request", params)
            self.asked.append((method, params))
            answer = self.answers[method](params)
            if answer is not None:
                self.send({"id": message["id"], "result": answer})
        elif message["method"] == "session/update":
            self._take_update(message["params"])
        else:
            self._validate(message["method"], "Notification", message["params"])
            self.told.append((message["method"], message["params"]))
        self._news.set()

    def _take_answer(self, message: dict[str, Any]) -> None:
        method, answer = self._calls.pop(message["id"])
        if "error" in message:
            error = message["error"]
            _validator("Error").validate(error)
            answer.set_exception(RequestFailed(error["message"], code=error["code"], data=error.get("data")))
            return
        if method == "initialize":
            self._version = message["result"]["protocolVersion"]
        self._validate(method, "Response", message["result"])
        answer.set_result(message["result"])

    def _take_update(self, params: dict[str, Any]) -> None:
        update = params["update"]
        if update["sessionUpdate"] in reminder_forms.UPDATES:
            reminder_forms.validate_update(update)
        elif self._version == 2:
            self._validate("session/update", "Notification", params)
            assert update["sessionUpdate"] in _known_updates(), "no update that v2 does not know"
        self.updates.append(update)

    def _validate(self, method: str, kind: str, value: Any) -> None:
        if self._version == 2:
            validate(method, kind, value)


def chosen(option: str) -> Answer:
    """Return what chooses an option of a permission request."""
    return lambda _: {"outcome": {"outcome": "selected", "optionId": option}}


def kinds(updates: list[dict[str, Any]]) -> list[str]:
    """Return what the updates are, states by their names, each once where it comes several times in a row."""
    names = (update.get("state", update["sessionUpdate"]) for update in updates)
    return [name for name, _ in itertools.groupby(names)]


def texts(updates: list[dict[str, Any]], kind: str = "agent_message_chunk") -> str:
    """Return the text of all chunks of a kind."""
    return "".join(update["content"]["text"] for update in updates if update["sessionUpdate"] == kind)


def merged(updates: list[dict[str, Any]], call_id: str) -> dict[str, Any]:
    """Return a tool call as a host has it after the updates, by the rules of the draft."""
    call: dict[str, Any] = {}
    for update in updates:
        if update.get("toolCallId") != call_id:
            continue
        if update["sessionUpdate"] == "tool_call_content_chunk":
            call.setdefault("content", []).append(update["content"])
        else:
            call |= update
    return call


@asynccontextmanager
async def connected(
    agent: ReferenceAgent | ScriptedAgent | None = None, *, initialized: bool = True
) -> AsyncIterator[HostV2]:
    """Connect to an agent that speaks v2."""
    transport = (agent or ReferenceAgent(protocol_versions=[2])).transport()
    host = HostV2(transport)
    await transport.start(host)
    try:
        if initialized:
            await host.initialize()
        yield host
    finally:
        await transport.close()


def calls(updates: list[dict[str, Any]]) -> Iterator[str]:
    """Return the ids of the tool calls, in order."""
    return iter(dict.fromkeys(update["toolCallId"] for update in updates if "toolCallId" in update))
