"""What a host does while it waits for the agent, so that nobody waits for it later."""

from __future__ import annotations

from acp_host.testing import ScriptedAgent
from acp_host.wire import _strict
from tests.host.scripts import DONE, in_session


async def test_what_reads_updates_is_generated_while_the_agent_starts() -> None:
    async def script(agent: ScriptedAgent) -> None:
        await agent.expect("session/prompt")
        agent.say("t")
        agent.update({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t", "locations": [{"path": "/p"}]})
        agent.update({"sessionUpdate": "plan", "entries": [{"content": "c", "priority": "low", "status": "pending"}]})
        agent.reply(DONE)

    for cache in (_strict._model_decoder, _strict.strict_decoder, _strict.generate_all):
        cache.cache_clear()
    async with in_session(script) as session:
        generated = _strict._model_decoder.cache_info().misses
        updates = [update async for update in session.prompt("go")]
        assert len(updates) == 3
        later = _strict._model_decoder.cache_info().misses - generated
    assert (generated > 50, later) == (True, 2), "later, only the prompt and its answer"
