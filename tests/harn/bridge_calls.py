"""How the tests of the bridge ask it something, and what it has for them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from acp_host import HostConnection
from acp_host.harn import HarnBridge
from acp_host.harn.bridge import (
    AttestationRequest,
    Skill,
    SkillEntry,
    ToolDenied,
)
from acp_host.testing import ScriptedAgent
from tests.host.scripts import connected

Script = Callable[[ScriptedAgent], Awaitable[Any]]

RECEIPT = {
    "authority_kind": "native",
    "event_fingerprint": "e",
    "plan_fingerprint": "p",
    "hypothesis_id": "h",
    "operation_receipt_id": "r-1",
    "run_id": None,
}


@asynccontextmanager
async def served(bridge: HarnBridge, script: Script) -> AsyncIterator[HostConnection]:
    """Connect ``script`` to a host with a bridge, and wait for its end."""
    async with connected(script, handlers=bridge.handlers()) as host:
        bridge.attach(host)
        yield host


async def ask(bridge: HarnBridge, method: str, params: Any = None) -> dict[str, Any]:
    """Return the whole answer to one request."""
    answers = []

    async def script(agent: ScriptedAgent) -> None:
        answers.append(await agent.call(method, {} if params is None else params))

    async with served(bridge, script):
        pass
    [answer] = answers
    return {name: value for name, value in answer.items() if name in ("result", "error")}


async def call(bridge: HarnBridge, name: str, args: Any = None) -> dict[str, Any]:
    return await ask(bridge, "host/call", {"sessionId": "s-1", "name": name, "args": {} if args is None else args})


def error(code: int, text: str, answer: dict[str, Any]) -> None:
    assert answer["error"]["code"] == code, answer
    assert text in answer["error"]["message"], answer


def open_file(path: str, line: int = 1) -> str:
    """Show a file
    in the editor.

    More of this.
    """
    if path == "secret":
        raise ToolDenied("this file is not for you")
    return f"{path}:{line}"


class Shelf:
    """Skills, of coroutine functions."""

    async def list(self) -> Any:
        return (
            SkillEntry(id="deploy", name="deploy", description="Ship it"),
            SkillEntry(id="acme/ops/review", name="review", description="Code review", source="acme"),
        )

    async def fetch(self, skill_id: str) -> Skill | None:
        if skill_id != "deploy":
            return None
        return Skill(name="deploy", description="Ship it", body="# Runbook", manifest={"paths": ["infra/**"]})


class Adapter:
    """Knows some receipts."""

    def __init__(self, answer: Any = True) -> None:
        self.answer = answer
        self.asked: list[AttestationRequest] = []

    async def __call__(self, request: AttestationRequest) -> Any:
        self.asked.append(request)
        return self.answer
