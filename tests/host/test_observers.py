"""Observers and handlers of the application: what may be one is checked at once, and what fails in one is seen."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

import acp_host
from acp_host import InvalidInput
from acp_host.testing import ReferenceAgent


async def coroutine_function(*news: Any) -> None:
    raise AssertionError("nobody awaits an observer")


async def test_every_observer_is_a_plain_function() -> None:
    async with acp_host.connect(ReferenceAgent().transport()) as host:
        session = await host.new_session()
        places: list[Callable[[Any], Any]] = [
            acp_host.FileService().on_change,
            acp_host.AuditTrail().on_record,
            acp_host.PermissionQueue().changed.connect,
            host.diagnostics.connect,
            host.on_diagnostic,
            session.on_update,
            session.on_file_written,
            host.on_sessions_changed,
            session.state.changed.connect,
            lambda observer: host.on_notification("_example/told", observer),
        ]
        for place in places:
            with pytest.raises(InvalidInput, match="a coroutine function is not awaited"):
                place(coroutine_function)
            with pytest.raises(InvalidInput, match="an observer is a function, not int"):
                place(5)
        with pytest.raises(InvalidInput, match="answered by a function, not int"):
            host.on_request("_example/asked", 5)
        host.on_request("_example/asked", coroutine_function)


async def test_the_failure_of_a_handler_is_logged_where_everybody_sees_it(caplog: pytest.LogCaptureFixture) -> None:
    def decide(request: Any) -> str:
        raise ZeroDivisionError("\x1b[2J")

    async with acp_host.connect(ReferenceAgent().transport(), files=True, permissions=decide) as host:
        await (await host.new_session()).prompt("/write notes.txt")
    [record] = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert record.name == "acp_host.diagnostics"
    first, *place = record.getMessage().splitlines()
    assert first == r"the permission handler failed, so the agent was refused: ZeroDivisionError: \x1b[2J"
    assert any(f'"{__file__}", line' in line and "in decide" in line for line in place)


async def test_a_diagnostic_is_told_until_that_is_ended() -> None:
    told: list[str] = []
    async with acp_host.connect(ReferenceAgent().transport()) as host:
        end = host.on_diagnostic(lambda diagnostic: told.append(diagnostic.message))
        for message in ("one", "two"):
            host.diagnostics.add(acp_host.Diagnostic(acp_host.DiagnosticKind.UNEXPECTED, message))
        end()
        host.diagnostics.add(acp_host.Diagnostic(acp_host.DiagnosticKind.UNEXPECTED, "three"))
    assert told == ["one", "two"]


async def test_a_flood_of_failures_is_not_a_flood_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async with acp_host.connect(ReferenceAgent().transport()) as host:
        for _ in range(1_000):
            host.diagnostics.add(acp_host.Diagnostic(acp_host.DiagnosticKind.HANDLER_FAILED, "again"))
    assert 20 <= sum(record.levelno == logging.WARNING for record in caplog.records) < 30


async def test_sessions_that_are_opened_and_let_go_are_told_of() -> None:
    told: list[tuple[str, bool]] = []
    async with acp_host.connect(ReferenceAgent().transport()) as host:

        def fails(_: acp_host.Session) -> None:
            raise ZeroDivisionError

        host.on_sessions_changed(fails)
        end = host.on_sessions_changed(lambda session: told.append((session.id, session in host.sessions)))
        one = await host.new_session()
        await one.close()
        await host.load_session(one.id)
        end()
        await host.new_session()
        assert told == [(one.id, True), (one.id, False), (one.id, True)]
        assert [diagnostic.kind for diagnostic in host.diagnostics][:1] == ["handler_failed"]
