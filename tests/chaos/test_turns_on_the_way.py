"""Turns of version 2 over a network, where the end of a turn is a message that can be lost (R295)."""

from __future__ import annotations

from pathlib import Path

import pytest

import acp_host
from acp_host import OutcomeUnknown, ReconnectPolicy, RemoteOptions
from acp_host.testing import ReferenceAgent, serve_http, serve_websocket
from tests.faults.proxy import proxy_to


@pytest.mark.parametrize("serve", [serve_http, serve_websocket], ids=["HTTP", "WebSocket"])
async def test_r295_a_stream_breaks_while_an_agent_of_version_2_works(serve, tmp_path: Path) -> None:
    agent = ReferenceAgent(protocol_versions=[2])
    again = ReconnectPolicy(first_delay=0.01, jitter=0.0)
    async with serve(agent.serve) as place, proxy_to(place.url) as proxy:
        options = {"remote": RemoteOptions(bearer=place.token), "reconnect": again, "protocol_versions": (2,)}
        async with acp_host.connect(proxy.url, **options) as host:
            session = await host.new_session(tmp_path)
            turn = session.prompt("/wait")
            async for snapshot in session.state.watch():
                if snapshot.turn.agent_state == "running":
                    break
            proxy.cut()
            with pytest.raises(OutcomeUnknown):
                await turn
            assert (await session.prompt("/say And on")).text == "And on"
