"""Connections to the reference agent on which everything it sends is held against the upstream schema."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import acp_host
from acp_host.errors import TransportError
from acp_host.testing import ReferenceAgent
from acp_host.transports import Receiver, StdioTransport, Transport
from acp_host.wire.methods import MethodKind, agent_method, client_method
from tests.testing import reminder_forms

SCHEMA = Path(__file__).parents[1] / "npm/node_modules/@agentclientprotocol/sdk/schema/v1/schema.unstable.json"


class Wiretap(Transport):
    """Passes everything on and keeps it, as decoded messages."""

    def __init__(self, inner: Transport) -> None:
        self.description = inner.description
        self.inner = inner
        self.to_agent: list[dict[str, Any]] = []
        self.to_host: list[dict[str, Any]] = []
        self._rest = b""
        self._news = asyncio.Event()

    @property
    def exit_status(self) -> int | None:
        return self.inner.exit_status

    def stderr_tail(self) -> str:
        return self.inner.stderr_tail()

    async def start(self, receiver: Receiver) -> None:
        self._receiver = receiver
        await self.inner.start(self)

    def write(self, data: bytes) -> None:
        self.to_agent += map(json.loads, data.splitlines())
        self.inner.write(data)

    async def drain(self) -> None:
        await self.inner.drain()

    async def close(self) -> None:
        await self.inner.close()

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        self.to_host += map(json.loads, lines)
        self._news.set()
        self._receiver.data_received(data)

    def connection_lost(self, error: TransportError | None) -> None:
        self._receiver.connection_lost(error)

    def answers(self, method: str) -> list[dict[str, Any]]:
        """Return the agent's answers to the host's requests of a method."""
        ids = {message["id"] for message in self.to_agent if message.get("method") == method}
        return [message for message in self.to_host if "method" not in message and message["id"] in ids]

    async def answer(self, method: str) -> dict[str, Any]:
        """Return the agent's first answer to a request of a method, waiting for it."""
        while not self.answers(method):
            self._news.clear()
            await self._news.wait()
        return self.answers(method)[0]


@pytest.fixture(scope="session")
def validators() -> Callable[[str], Draft202012Validator] | None:
    """Return what makes the validator of a definition; ``None`` where the schema is not installed."""
    if not SCHEMA.is_file():
        return None
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    kept: dict[str, Draft202012Validator] = {}

    def validator(definition: str) -> Draft202012Validator:
        if definition not in kept:
            kept[definition] = Draft202012Validator({"$defs": schema["$defs"], "$ref": f"#/$defs/{definition}"})
        return kept[definition]

    return validator


def validate(tap: Wiretap, validator: Callable[[str], Draft202012Validator]) -> None:
    asked = {message["id"]: message["method"] for message in tap.to_agent if "method" in message and "id" in message}
    for message in tap.to_host:
        assert message.pop("jsonrpc") == "2.0"
        update = message.get("params", {}).get("update", {})
        if update.get("sessionUpdate") in reminder_forms.UPDATES:
            reminder_forms.validate_update(update)
            continue
        if "result" in message and asked[message["id"]] in reminder_forms.RESULTS:
            reminder_forms.validate_result(asked[message["id"]], message["result"])
            continue
        if "method" in message:
            kind = MethodKind.REQUEST if "id" in message else MethodKind.NOTIFICATION
            entry = client_method(message["method"], kind)
            assert entry is not None, message
            definition, value = entry.params, message["params"]
        elif "error" in message:
            definition, value = ":Error", message["error"]
        else:
            entry = agent_method(asked[message["id"]])
            assert entry is not None
            definition, value = entry.result, message["result"]
        validator(definition.partition(":")[2]).validate(value)


@pytest.fixture
def taps(validators: Any) -> Iterator[list[Wiretap]]:
    """Collect the wiretaps of a test; at its end, everything that the agent sent is held against the schema."""
    taps: list[Wiretap] = []
    yield taps
    if validators is not None:
        for tap in taps:
            validate(tap, validators)


@pytest.fixture
def connect(taps: list[Wiretap]) -> Callable[..., acp_host.connect]:
    """Return what connects to a reference agent, here or as a command; options as of ``acp_host.connect``."""

    def connect(agent: ReferenceAgent | list[str] | None = None, **options: Any) -> acp_host.connect:
        inner = StdioTransport(agent) if isinstance(agent, list) else (agent or ReferenceAgent()).transport()
        taps.append(Wiretap(inner))
        return acp_host.connect(taps[-1], **options)

    return connect
