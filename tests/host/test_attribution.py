"""Who the audit trail says has decided: what this library has answered by itself is nobody else's decision."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from acp_host import ElicitationQueue, FileService, HostConnection, TerminalService
from acp_host.host.auditing import Auditor
from acp_host.host.incoming import IncomingRequests
from acp_host.host.tasks import TaskOwner
from acp_host.protocol.events import RequestReceived
from acp_host.scheduling import SystemClock
from acp_host.services.audit import Attribution, AuditTrail, DecidedBy
from acp_host.services.elicitation_handlers import ElicitationHandlers
from acp_host.testing import ScriptedAgent
from acp_host.wire.elicitation import ElicitationAcceptAction
from acp_host.wire.files import ReadTextFileRequest, ReadTextFileResponse
from tests.chaos.bad_agents import DONE, FORM, open_session
from tests.host.scripts import trail


async def asked(
    method: str, params: dict[str, Any], serve: Callable[[HostConnection], None] = lambda host: None, **arguments: Any
) -> HostConnection:
    """Let an agent ask the host something in a turn; return the connection, which is closed by then."""

    async def script(agent: ScriptedAgent) -> None:
        prompt = await agent.expect("session/prompt")
        await agent.call(method, params)
        agent.reply(DONE, to=prompt)

    async with open_session(script, **arguments) as (host, session):
        serve(host)
        await session.prompt("go")
    return host


def fails(_: Any) -> Any:
    raise RuntimeError("no idea")


@pytest.mark.parametrize("handler", [fails, lambda _: "yes", lambda _: ElicitationAcceptAction({"one": 1})])
async def test_a_form_whose_handler_fails_was_decided_by_the_host(handler: Any) -> None:
    host = await asked("elicitation/create", FORM, elicitation=ElicitationHandlers(form=handler))
    assert trail(host) == [("elicitation/create", "rejected", "host")]
    assert "the elicitation handler failed" in host.audit.records[0].detail


async def test_a_form_of_a_mode_without_a_handler_was_decided_by_the_host() -> None:
    host = await asked("elicitation/create", FORM, elicitation=ElicitationHandlers(url=fails))
    assert trail(host) == [("elicitation/create", "rejected", "host")]


async def test_a_form_that_nobody_answers_in_time_was_decided_by_the_host() -> None:
    host = await asked("elicitation/create", FORM, elicitation=ElicitationQueue(timeout=0.01))
    assert trail(host) == [("elicitation/create", "cancelled", "host")]
    assert host.audit.records[0].detail == "nobody has answered within 0.01 s"


async def test_a_form_that_is_answered_was_decided_by_the_user() -> None:
    handler = ElicitationHandlers(form=lambda _: ElicitationAcceptAction({"one": "x"}))
    host = await asked("elicitation/create", FORM, elicitation=handler)
    assert trail(host) == [("elicitation/create", "allowed", "user")]


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("fs/read_text_file", {"path": "/x"}),
        ("fs/write_text_file", {"path": "/x", "content": ""}),
        ("terminal/create", {"command": "true"}),
    ],
)
async def test_what_is_asked_for_an_unknown_session_was_refused_by_the_host(
    method: str, params: dict[str, Any]
) -> None:
    host = await asked(method, {"sessionId": "nobody", **params}, files=FileService(), terminals=TerminalService())
    assert trail(host) == [(method, "rejected", "host")]
    assert host.audit.records[0].detail == "there is no session nobody"


class Broken:
    """Has the editor's documents, and fails."""

    def find_document(self, path: str, /) -> Any:
        raise RuntimeError("no idea")

    def apply_edit(self, edit: Any, /) -> bool:
        return False


async def test_a_service_that_fails_has_no_other_decision_than_the_hosts() -> None:
    params = {"sessionId": "session-1", "path": str(Path.cwd() / "README.md")}
    host = await asked("fs/read_text_file", params, files=FileService(buffers=Broken()))
    assert trail(host) == [("fs/read_text_file", "failed", "host")]


async def test_an_answer_that_cannot_be_sent_is_recorded_as_the_error_that_is() -> None:
    def serve(host: HostConnection) -> None:
        host.on_request("fs/read_text_file", lambda _: object())

    params = {"sessionId": "session-1", "path": "/x"}
    host = await asked("fs/read_text_file", params, serve, files=FileService())
    assert trail(host) == [("fs/read_text_file", "failed", "host")]
    assert "is invalid" in host.audit.records[0].detail


@pytest.mark.parametrize(
    ("url", "subject"),
    [
        ("https://me:hunter2@example.org/login?code=hunter2#hunter2", "https://example.org/login"),
        ("https://hunter2@example.org", "https://example.org"),
        ("https://a@hunter2@example.org/@x", "https://example.org/@x"),
        ("https:me:hunter2@example.org", "https:example.org"),
        ("https:\\\\hunter2@example.org/", "https:\\\\example.org/"),
    ],
)
async def test_of_an_address_only_the_place_is_recorded(url: str, subject: str) -> None:
    params = {"sessionId": "session-1", "mode": "url", "message": "Log in", "url": url, "elicitationId": "e-1"}
    host = await asked("elicitation/create", params, elicitation=ElicitationHandlers(url=fails))
    assert [record.subject for record in host.audit.records] == [subject]
    assert "hunter2" not in repr(host.audit.records)


async def test_who_decided_too_late_is_not_told_of_another_request() -> None:
    """Its parameters are the same object here, as an object of later may have the address of one of before."""
    params, audit, tasks = ReadTextFileRequest(session_id="s", path="/x"), AuditTrail(), TaskOwner()
    incoming = IncomingRequests(tasks, pytest.fail, Auditor(audit, lambda: "agent", SystemClock()).answered)
    incoming.attach(Mock(is_overfull=False), Mock(owner=lambda session_id: None))
    begun, over = asyncio.Event(), asyncio.Event()

    async def stubborn(_: Any) -> ReadTextFileResponse:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            incoming.attribute(params, Attribution(DecidedBy.POLICY))
            over.set()
        return ReadTextFileResponse("")

    await tasks.open()
    incoming.serve("fs/read_text_file", stubborn)
    incoming.receive(RequestReceived(1, "fs/read_text_file", params))
    await begun.wait()
    incoming.withdraw(1)
    await over.wait()
    incoming.serve("fs/read_text_file", lambda _: ReadTextFileResponse(""))
    incoming.receive(RequestReceived(2, "fs/read_text_file", params))
    await tasks.close(1)
    assert [record.decided_by for record in audit.records] == ["host", "consent"]
