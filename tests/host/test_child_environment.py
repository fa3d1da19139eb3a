"""What the programs of a Harn agent's model get of its environment."""

from __future__ import annotations

from typing import Any

import pytest

import acp_host
from acp_host.errors import InvalidInput, InvalidParams, NotSupported
from acp_host.host.child_environment import ChildEnvironment
from acp_host.testing import ScriptedAgent
from acp_host.transports import Transport
from acp_host.transports._launch import Launch
from acp_host.wire.harn.refusals import refusal_reason

HARN: dict[str, Any] = {"_meta": {"harn": {}}, "sessionCapabilities": {"fork": {}}}
ISOLATED = ChildEnvironment("isolated")


async def told(*, capabilities: Any = HARN, launched: bool = False, **options: Any) -> dict[str, Any]:
    """Return the parameters of ``session/new``."""
    seen: list[dict[str, Any]] = []

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(capabilities)
        seen.append(await agent.open_session("s1"))

    transport = ScriptedAgent(script).transport()
    async with acp_host.connect(_as_launched(transport) if launched else transport) as host:
        await host.new_session(**options)
    return seen[0]


def _as_launched(transport: Transport) -> Transport:
    kind = type(transport)
    launch = Launch(("agent",), None, {"KEY": "value-of-the-key"}, True)
    transport.__class__ = type(kind.__name__, (kind,), {"launch": property(lambda self: launch)})
    return transport


async def test_an_agent_that_this_host_has_started_hands_its_environment_on() -> None:
    assert (await told(launched=True))["environmentPolicy"] == {"kind": "inherited"}


async def test_over_any_other_transport_the_application_has_to_choose() -> None:
    assert "environmentPolicy" not in await told()


async def test_no_other_agent_is_told() -> None:
    assert "environmentPolicy" not in await told(capabilities={}, launched=True)


@pytest.mark.parametrize("launched", [True, False])
async def test_the_choice_of_the_application_counts(launched: bool) -> None:
    assert (await told(launched=launched, environment=ISOLATED))["environmentPolicy"] == {"kind": "isolated"}
    grants = ({"name": "PATH"}, "HOME")
    granted = await told(launched=launched, environment=ChildEnvironment("granted", grants))
    assert granted["environmentPolicy"] == {"kind": "granted", "grants": [{"name": "PATH"}, "HOME"]}


async def test_a_choice_that_an_agent_would_not_keep_to_is_not_sent() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake()
        await agent.open_session("s1")

    agent = ScriptedAgent(script)
    async with acp_host.connect(agent.transport()) as host:
        with pytest.raises(NotSupported, match="scripted-agent is not Harn"):
            await host.new_session(environment=ISOLATED)
        assert [message["method"] for message in agent.received] == ["initialize"]
        await host.new_session(environment=ISOLATED, force=True)
        assert agent.received[-1]["params"]["environmentPolicy"] == {"kind": "isolated"}


async def test_a_fork_keeps_what_the_other_has_unless_it_is_narrowed() -> None:
    seen: list[Any] = []

    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(HARN)
        for _ in range(2):
            seen.append((await agent.expect("session/fork"))["params"].get("environmentPolicy"))
            agent.reply({"sessionId": f"s{len(seen)}"})

    async with acp_host.connect(_as_launched(ScriptedAgent(script).transport())) as host:
        await host.fork_session("s0")
        await host.fork_session("s0", environment=ISOLATED)
    assert seen == [None, {"kind": "isolated"}]


async def test_an_agent_that_wants_a_choice_says_so_by_a_word() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.handshake(HARN)
        await agent.expect("session/new")
        data = {"code": "environment_policy.missing", "field": "environmentPolicy", "accepted": ["inherited"]}
        agent.reply_error(-32602, "environmentPolicy is required", data)

    async with acp_host.connect(ScriptedAgent(script).transport()) as host:
        with pytest.raises(InvalidParams) as refused:
            await host.new_session()
    assert refusal_reason(refused.value) == "environment_policy.missing"
    assert "ChildEnvironment" in refused.value.__notes__[0]


@pytest.mark.parametrize(("kind", "grants"), [("everything", ()), ("", ()), ("inherited", ["PATH"]), ("isolated", [1])])
def test_a_choice_that_means_nothing_is_refused(kind: str, grants: Any) -> None:
    with pytest.raises(InvalidInput):
        ChildEnvironment(kind, grants)
