"""What a host does while it waits for the agent, so that nobody waits for it later."""

from __future__ import annotations

import pytest

from acp_host.protocol.host_protocol import HostProtocol
from acp_host.testing import ScriptedAgent
from acp_host.wire import _strict
from acp_host.wire import updates as v1
from acp_host.wire._model import Model
from acp_host.wire.v2 import updates as v2
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


@pytest.mark.parametrize("versions, chunk", [((1, 2), v1.AgentMessageChunk), ((2,), v2.AgentMessageChunk)])
def test_it_is_for_a_version_that_the_host_speaks(versions: tuple[int, ...], chunk: type[Model]) -> None:
    for cache in (_strict._model_decoder, _strict.strict_decoder, _strict.generate_all):
        cache.cache_clear()
    HostProtocol(protocol_versions=versions).prepare()
    generated = _strict._model_decoder.cache_info().misses
    _strict._model_decoder(chunk, "sessionUpdate")
    assert generated > 40
    assert _strict._model_decoder.cache_info().misses == generated
