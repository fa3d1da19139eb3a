"""Attaching this host beside other programs, and what it may do then."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import acp_host
from acp_host import Session, harn
from acp_host.errors import InvalidInput, InvalidParams, InvalidState, NotSupported
from acp_host.testing import ScriptedAgent
from acp_host.wire.permission import RequestPermissionRequest, SelectedPermissionOutcome
from tests.harn.commands import HARN, harn_session
from tests.host.scripts import DONE, until

ASKS = {
    "sessionId": "s-1",
    "toolCall": {"toolCallId": "t-1", "title": "rm"},
    "options": [
        {"optionId": "allow", "name": "Allow", "kind": "allow_once"},
        {"optionId": "reject", "name": "Reject", "kind": "reject_once"},
    ],
}
ALLOWED = {"outcome": {"outcome": "selected", "optionId": "allow"}}


def client(client_id: str, mode: str, **members: Any) -> dict[str, Any]:
    leads = mode == "controller"
    told = {"client_id": client_id, "mode": mode, "attached_at": "1780000000", "last_seen_at": "1780000001"}
    return {**told, "prompt_injection": leads, "permission_routing": leads, "metadata": {}, **members}


def attached(*clients: dict[str, Any], me: str | None = None, before: str | None = None) -> dict[str, Any]:
    """Return the agent's answer when these clients are attached."""
    controller = next((each["client_id"] for each in clients if each["mode"] == "controller"), None)
    mine = next((each for each in clients if each["client_id"] == me), None)
    return {
        "client": mine,
        "previous_controller_id": before,
        "active_controller_id": controller,
        "clients": list(clients),
    }


def update(agent: ScriptedAgent, action: str, state: Any) -> None:
    meta = {"harn": {"action": action, "state": state}}
    agent.update({"sessionUpdate": "live_session_client", "_meta": meta}, "s-1")


OBSERVING = attached(client("a", "controller"), client("me", "observer"), me="me")
LEADING = attached(client("a", "observer"), client("me", "controller"), me="me", before="a")


def live(session: Session) -> Any:
    snapshot = session.state.snapshot().harn
    assert snapshot is not None
    return snapshot.live_clients


async def test_attach_takeover_heartbeat_detach() -> None:
    said = {"surface": "jupyter"}

    async def script(agent: ScriptedAgent) -> None:
        message = await agent.expect("session/attach")
        assert message["params"] == {
            "sessionId": "s-1",
            "clientId": "me",
            "mode": "observer",
            "takeover": False,
            "metadata": said,
        }
        update(agent, "attached", OBSERVING)
        agent.reply(OBSERVING)
        message = await agent.expect("session/takeover")
        assert message["params"] == {"sessionId": "s-1", "clientId": "me", "metadata": said}
        agent.reply(LEADING)
        message = await agent.expect("session/heartbeat")
        assert message["params"] == {"sessionId": "s-1", "clientId": "me", "metadata": said}
        agent.reply(LEADING)
        message = await agent.expect("session/heartbeat")
        assert message["params"]["metadata"] == {"busy": True}
        agent.reply(LEADING)
        message = await agent.expect("session/live_clients")
        assert message["params"] == {"sessionId": "s-1"}
        agent.reply({"object": "list", "data": LEADING["clients"]})
        message = await agent.expect("session/detach")
        assert message["params"] == {"sessionId": "s-1", "clientId": "me", "reason": "client_exit"}
        agent.reply(attached(client("a", "observer"), before="me"))

    async with harn_session(script) as session:
        commands = harn.of(session).live
        assert (commands.client_id, commands.in_control) == (None, True)
        state = await commands.attach("me", metadata=said)
        assert (commands.client_id, commands.in_control) == ("me", False)
        assert state.active_controller_id == "a"
        state = await commands.takeover()
        assert commands.in_control
        assert (state.action, state.previous_controller_id) == ("takeover", "a")
        assert (await commands.heartbeat()).action == "heartbeat"
        await commands.heartbeat({"busy": True})
        assert [each.client_id for each in await commands.clients()] == ["a", "me"]
        assert live(session).active_controller_id == "me"
        state = await commands.detach(reason="client_exit")
        assert (state.action, state.client, commands.in_control) == ("detached", None, False)
        assert harn.of(session).live is commands


async def test_control_that_is_refused_can_be_taken() -> None:
    async def script(agent: ScriptedAgent) -> None:
        for method in ("session/attach", "session/attach", "session/takeover"):
            await agent.expect(method)
            agent.reply_error(-32602, "no")
        await agent.expect("session/attach")
        agent.reply(LEADING)
        await agent.expect("session/heartbeat")
        agent.reply_error(-32602, "client 'me' is not attached")

    async with harn_session(script) as session:
        commands = harn.of(session).live
        with pytest.raises(harn.AttachRefused) as refused:
            await commands.attach("me", mode="controller")
        assert refused.value.may_take_over
        with pytest.raises(harn.AttachRefused) as refused:
            await commands.attach("me")
        assert not refused.value.may_take_over
        with pytest.raises(harn.AttachRefused):
            await commands.takeover("me")
        for wrong in (lambda: commands.attach(" "), lambda: commands.attach("me", mode="owner")):
            with pytest.raises(InvalidInput):
                await wrong()
        with pytest.raises(InvalidInput):
            await commands.attach("me", metadata=[1])
        for unattached in (commands.heartbeat, commands.detach, commands.takeover):
            with pytest.raises(InvalidState):
                await unattached()
        assert commands.in_control
        rights = await commands.attach("me", mode="controller", takeover=True, prompt_injection=True)
        assert rights.controls("me")
        with pytest.raises(InvalidParams):
            await asyncio.wait_for(commands.keep_alive(every=0), 5)


async def test_another_agent_is_sent_nothing() -> None:
    async def script(agent: ScriptedAgent) -> None:
        pass

    async with harn_session(script, {}) as session:
        with pytest.raises(NotSupported, match="is not Harn"):
            await harn.of(session).live.attach("me")


async def test_an_observer_does_not_speak() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/attach")
        agent.reply(OBSERVING)
        await agent.expect("session/takeover")
        agent.reply(LEADING)
        prompt = await agent.expect("session/prompt")
        await agent.expect("_demote")
        update(agent, "takeover", OBSERVING)
        agent.reply({})
        await agent.expect("_end")
        agent.reply(DONE, to=prompt)
        agent.reply({})

    async with harn_session(script) as session:
        commands = harn.of(session).live
        await commands.attach("me")
        with pytest.raises(InvalidState, match="client 'a' does"):
            session.prompt("go")
        with pytest.raises(InvalidState):
            await session.inject("go")
        await commands.takeover()
        turn, waiting = session.prompt("go"), session.prompt("and then")
        await session.ext_request("_demote")
        await session.ext_request("_end")
        await turn
        with pytest.raises(InvalidState, match="does not control the session"):
            await waiting


async def test_who_is_attached_speaks_by_that_name() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/attach")
        agent.reply(LEADING)
        prompt = await agent.expect("session/prompt")
        inject = await agent.expect("session/inject")
        assert inject["params"]["_meta"] == {"harn": {"actor": {"clientId": "me", "role": "host_owner"}}}
        agent.reply({"messageId": "m-1"})
        agent.reply(DONE, to=prompt)

    async with harn_session(script, {**HARN, "session": {"inject": {"modes": ["steer"]}}}) as session:
        await harn.of(session).live.attach("me", mode="controller")
        turn = session.prompt("go")
        await session.inject("x")
        await turn


async def test_rights_that_a_controller_does_not_have() -> None:
    mute = attached(client("me", "controller", prompt_injection=False, permission_routing=False), me="me")

    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/attach")
        agent.reply(mute)

    async with harn_session(script) as session:
        await harn.of(session).live.attach("me", mode="controller", prompt_injection=False)
        assert (session.standing.may_speak, session.standing.may_decide) == (False, False)
        with pytest.raises(InvalidState, match="has no right to speak"):
            session.prompt("go")


async def test_a_malformed_answer_is_told_and_gives_no_rights() -> None:
    answers: list[Any] = []

    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/attach")
        agent.reply("attached")
        left = agent.request("session/request_permission", ASKS)
        agent.notify("$/cancel_request", {"requestId": left})
        answers.append(await agent.response(left))

    diagnostics: list[acp_host.Diagnostic] = []
    async with harn_session(script, permissions=allow) as session:
        session._report = diagnostics.append
        await harn.of(session).live.attach("me", mode="controller")
        assert [each.message for each in diagnostics] == [
            "the answer to session/attach is malformed: the answer is no object"
        ]
        assert not session.standing.may_speak
        assert str(session.standing.refusal()).startswith("this host ('me') does not control the session: nobody does")
        await until(lambda: answers)
        assert answers[0]["error"]["code"] == -32800


# --- permission requests ----------------------------------------------------------------------------------------------


def allow(request: RequestPermissionRequest) -> SelectedPermissionOutcome:
    return SelectedPermissionOutcome("allow")


async def test_an_observers_own_prompt_is_refused_and_others_are_left_to_the_controller() -> None:
    answers: list[Any] = []

    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/attach")
        agent.reply(LEADING)
        prompt = await agent.expect("session/prompt")
        update(agent, "takeover", OBSERVING)
        answers.append(await agent.call("session/request_permission", ASKS))
        agent.reply(DONE, to=prompt)
        left = agent.request("session/request_permission", ASKS)
        await agent.expect("_looked")
        agent.reply({})
        agent.notify("$/cancel_request", {"requestId": left})
        answers.append(await agent.response(left))

    async with harn_session(script, permissions=allow) as session:
        await harn.of(session).live.attach("me", mode="controller")
        await session.prompt("go")
        await session.ext_request("_looked")
        assert session.state.snapshot().questions == ()
        await until(lambda: len(answers) == 2)
    assert answers[0]["result"] == {"outcome": {"outcome": "cancelled"}}
    assert answers[1]["error"]["code"] == -32800


async def test_a_request_that_was_left_to_another_is_asked_once_this_host_takes_over() -> None:
    answers: list[Any] = []
    asked = asyncio.Event()

    async def handler(request: RequestPermissionRequest) -> SelectedPermissionOutcome:
        assert [each.method for each in session.state.snapshot().questions] == ["session/request_permission"]
        asked.set()
        return SelectedPermissionOutcome("allow")

    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/attach")
        agent.reply(OBSERVING)
        left = agent.request("session/request_permission", ASKS)
        await agent.expect("session/takeover")
        assert not asked.is_set()
        agent.reply(LEADING)
        answers.append(await agent.response(left))

    async with harn_session(script, permissions=handler) as session:
        commands = harn.of(session).live
        await commands.attach("me")
        await commands.takeover()
        await until(lambda: answers)
        assert session.state.snapshot().questions == ()
    assert answers[0]["result"] == ALLOWED


@pytest.mark.parametrize("handler", ["answers", "leaves it", "fails"])
async def test_a_handler_for_other_clients_requests(handler: str) -> None:
    answers: list[Any] = []

    async def decide(request: RequestPermissionRequest) -> SelectedPermissionOutcome | None:
        if handler == "fails":
            raise RuntimeError("oh")
        return SelectedPermissionOutcome("allow") if handler == "answers" else None

    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/attach")
        agent.reply(LEADING)
        prompt = await agent.expect("session/prompt")
        update(agent, "takeover", OBSERVING)
        answers.append(await agent.call("session/request_permission", ASKS))
        agent.reply(DONE, to=prompt)

    async with harn_session(script) as session:
        commands = harn.of(session).live
        commands.on_permission = decide
        assert commands.on_permission is decide
        await commands.attach("me", mode="controller")
        await session.prompt("go")
    wanted = ALLOWED if handler == "answers" else {"outcome": {"outcome": "cancelled"}}
    assert answers[0]["result"] == wanted


async def test_permissions_are_as_ever_in_control() -> None:
    answers: list[Any] = []

    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/attach")
        agent.reply(LEADING)
        prompt = await agent.expect("session/prompt")
        answers.append(await agent.call("session/request_permission", ASKS))
        agent.reply(DONE, to=prompt)

    async with harn_session(script, HARN, permissions=allow) as session:
        await harn.of(session).live.attach("me", mode="controller")
        await session.prompt("go")
    assert answers[0]["result"] == ALLOWED


async def test_a_host_that_does_not_wait_for_the_answer_is_attached_all_the_same() -> None:
    async def script(agent: ScriptedAgent) -> None:
        sent = await agent.expect("session/attach")
        await agent.expect("$/cancel_request")
        agent.reply(OBSERVING, to=sent)

    async with harn_session(script) as session:
        attaching = asyncio.ensure_future(harn.of(session).live.attach("me"))
        await asyncio.sleep(0)
        attaching.cancel()
        await until(lambda: session.state.snapshot().harn)
        assert harn.of(session).live.client_id == "me"
        with pytest.raises(InvalidState, match="does not control"):
            session.prompt("x")
