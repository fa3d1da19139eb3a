"""Agents for the tests of runs: what a script of one connection does."""

from __future__ import annotations

from acp_host.testing import ScriptedAgent

OPTIONS = [
    {"optionId": "yes", "name": "Go ahead", "kind": "allow_once"},
    {"optionId": "no", "name": "Leave it", "kind": "reject_once"},
]


async def begin(agent: ScriptedAgent) -> str:
    """Go as far as the first prompt, and return its text."""
    await agent.handshake()
    await agent.open_session()
    message = await agent.expect("session/prompt")
    return "".join(block.get("text", "") for block in message["params"]["prompt"])


async def answers(agent: ScriptedAgent) -> None:
    """Say the prompt again."""
    agent.say(await begin(agent))
    agent.reply({"stopReason": "end_turn"})


async def stops(agent: ScriptedAgent) -> None:
    """End the turn for the reason that the prompt names."""
    prompt = await begin(agent)
    agent.reply({"stopReason": prompt.split()[-1]})


async def fails(agent: ScriptedAgent) -> None:
    """Answer the prompt with an error."""
    await begin(agent)
    agent.reply_error(-32603, "no luck")


async def dies(agent: ScriptedAgent) -> None:
    """End in the middle of the turn, with a tool call open."""
    await begin(agent)
    agent.say("I think")
    agent.update({"sessionUpdate": "tool_call", "toolCallId": "1", "title": "a tool", "status": "in_progress"})
    await agent.drain()
    raise SystemExit(7)


async def dies_at_once(agent: ScriptedAgent) -> None:
    """End before it has said anything."""
    raise SystemExit(3)


async def wants_login(agent: ScriptedAgent) -> None:
    """Refuse to open a session until somebody has signed in."""
    await agent.handshake(authMethods=[{"id": "key", "name": "API key"}])
    await agent.expect("session/new")
    agent.reply_error(-32000, "Authentication required")


async def slow(agent: ScriptedAgent) -> None:
    """Speak, then work until the turn is cancelled; say something more before it ends."""
    await begin(agent)
    agent.say("working")
    await agent.expect("session/cancel")
    agent.say(", stopped")
    agent.reply({"stopReason": "cancelled"})


async def silent(agent: ScriptedAgent) -> None:
    """Never answer anything."""
    await agent.stall()


async def asks(agent: ScriptedAgent) -> None:
    """Ask once for permission, and end the turn for the reason that the prompt names."""
    prompt = await begin(agent)
    call = {"toolCallId": "1", "title": "Remove the disk", "kind": "delete"}
    agent.update({"sessionUpdate": "tool_call", **call})
    params = {"sessionId": "session-1", "toolCall": call, "options": OPTIONS}
    answer = await agent.call("session/request_permission", params)
    agent.say(str(answer["result"]["outcome"].get("optionId")))
    agent.reply({"stopReason": prompt.split()[-1]})


async def spends(agent: ScriptedAgent) -> None:
    """Tell more and more of what was spent, until the turn is cancelled; each step is an update."""
    await begin(agent)
    for step in range(1, 4):
        cost = {"amount": float(step), "currency": "USD"}
        agent.update({"sessionUpdate": "usage_update", "used": step * 100, "size": 1000, "cost": cost})
        agent.update({"sessionUpdate": "call_start", "_meta": {"harn": {"toolCallId": f"c{step}"}}})
    agent.say("spent")
    await agent.expect("session/cancel")
    agent.reply({"stopReason": "cancelled"})


async def fails_dearly(agent: ScriptedAgent) -> None:
    """Spend a dollar, and answer the prompt with an error."""
    await begin(agent)
    cost = {"amount": 1.0, "currency": "USD"}
    agent.update({"sessionUpdate": "usage_update", "used": 100, "size": 1000, "cost": cost})
    agent.reply_error(-32603, "no luck")


async def breaks_the_protocol(agent: ScriptedAgent) -> None:
    """Answer the prompt with what is no answer to it."""
    await begin(agent)
    agent.reply({"stopReason": 7})


async def goes_on(agent: ScriptedAgent) -> None:
    """Let the host go on with a session, or begin one, and say which it was."""
    await agent.handshake({"loadSession": True, "sessionCapabilities": {"list": {}, "resume": {}}})
    opening = await agent.expect()
    if opening["method"] == "session/list":
        told = {"cwd": opening["params"]["cwd"]}
        older = {"sessionId": "older", "updatedAt": "2025-01-01T00:00:00Z", **told}
        agent.reply({"sessions": [older, {"sessionId": "newer", "updatedAt": "2025-01-02T00:00:00Z", **told}]})
        opening = await agent.expect()
    agent.reply({"sessionId": "fresh"} if opening["method"] == "session/new" else {})
    await agent.expect("session/prompt")
    agent.say(f"{opening['method']} {opening['params'].get('sessionId', 'fresh')}")
    agent.reply({"stopReason": "end_turn"})
