"""Wire data of Harn agents: every frame is read, in whichever form it comes, and none costs more than itself."""

from __future__ import annotations

import json
from typing import Any

import pytest

import acp_host
from acp_host.diagnostics import DiagnosticKind
from acp_host.state.reminder_events import ReminderEmitted
from acp_host.testing import ScriptedAgent
from acp_host.translate.harn.audit import mutation_record
from acp_host.translate.harn.kinds import KINDS
from acp_host.translate.harn.live_clients import live_clients_answer
from acp_host.translate.harn.payload import Payload
from acp_host.translate.reminders import translate_reminder
from acp_host.wire.converters import structure, unstructure
from acp_host.wire.permission import RequestPermissionRequest
from acp_host.wire.updates import SessionUpdate
from tests.harn.harness import FIXTURES, Desk, at_root, events_of, example, frames, updates

NAMED = ("round_trip_envelopes.json", "protocol_examples.json")
FILES = sorted(path.name for path in FIXTURES.glob("*.json") if path.name not in NAMED)
PRESENT, OLDER = "session_update_extensions.json", "legacy_root_session_update_extensions.json"
READ = [
    pytest.param(update, id=f"{name.removesuffix('.json')}-{update['sessionUpdate']}-{number}")
    for name in FILES
    for number, update in enumerate(updates(name))
    if update.get("sessionUpdate") in KINDS and not name.startswith("invalid_")
]


def test_there_is_something_to_read() -> None:
    assert len(FILES) >= 19
    assert len(READ) >= 30


@pytest.mark.parametrize("update", READ)
def test_every_update_has_its_events_and_nothing_wrong_with_it(update: dict[str, Any]) -> None:
    assert events_of(update) != ()


@pytest.mark.parametrize("update", [each for each in READ if "harn" in each.values[0].get("_meta", {})])
def test_the_older_form_of_every_update_says_the_same(update: dict[str, Any]) -> None:
    members = dict(update["_meta"]["harn"])
    members.pop("replayed", None)
    assert events_of(at_root({**update, "_meta": {"harn": members}})) == events_of(update)


def test_the_older_file_says_the_same_as_the_present_one() -> None:
    told = list(updates(OLDER))
    shared = [update["sessionUpdate"] for update in told]
    again = [update for update in updates(PRESENT) if update["sessionUpdate"] in shared]
    assert [update["sessionUpdate"] for update in again] == shared
    older, present = Desk().take(*told), Desk().take(*again)
    assert older.harn == present.harn
    assert older.problems == present.problems == []
    older.assert_exact()


def test_all_of_it_leads_to_a_state_with_exact_deltas() -> None:
    desk = Desk()
    for name in FILES:
        for update in updates(name):
            if update.get("sessionUpdate") in KINDS:
                desk.take(update)
                desk.assert_exact()


@pytest.mark.parametrize("name", FILES)
async def test_on_a_connection_every_frame_is_taken(name: str) -> None:
    told = [frame for frame in frames(name) if "method" in frame and "id" not in frame]

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(agentInfo={"name": "harn", "version": "1"})
        await agent.open_session("s-1")
        await agent.expect("session/prompt")
        for frame in told:
            params = frame["params"]
            agent.notify(frame["method"], {**params, "sessionId": "s-1"} if "sessionId" in params else params)
        agent.say("Done")
        agent.reply({"stopReason": "end_turn"})

    agent = ScriptedAgent(script)
    async with acp_host.connect(agent.transport()) as host:
        session = await host.new_session()
        result = await session.prompt("Hi")
        assert result.text.endswith("Done")
        acp_host.to_json(session.state.snapshot())
        found = [each for each in host.diagnostics if each.kind is DiagnosticKind.HANDLER_FAILED]
        assert found == []
    await agent.finished()


def test_the_examples_of_the_protocol_say_what_they_should() -> None:
    (worker,) = events_of(example("worker_update_notification")["params"]["update"])
    assert (worker.worker_id, worker.name, worker.status) == ("worker_abc", "review_captain", "awaiting_input")
    (clients,) = live_clients_answer(example("attach_result"), "attached").events
    assert clients.state.client.metadata == {"surface": "portal"}
    assert clients.state.active_controller_id == "tui"
    audit = mutation_record(Payload(example("audit_meta")["_meta"]["harn"]["audit"]))
    assert (audit.worker_id, audit.mutation_scope) == ("worker_3", "apply_workspace")
    reminder = translate_reminder(structure(example("reminder_emitted_update"), SessionUpdate))
    assert reminder is not None
    assert isinstance(reminder.event, ReminderEmitted)
    assert (reminder.event.reminder_id, reminder.event.rendered_role) == ("reminder-1", "user")
    asked = structure(example("permission_request_params"), RequestPermissionRequest)
    assert [option.option_id for option in asked.options] == ["allow", "reject"]


def test_round_trips_are_round() -> None:
    envelopes = json.loads((FIXTURES / "round_trip_envelopes.json").read_text(encoding="utf-8"))
    update = envelopes["sessionUpdateNotification"]["params"]["update"]
    assert unstructure(structure(update, SessionUpdate), SessionUpdate) == update
