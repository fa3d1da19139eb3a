"""An agent that is reached over a WebSocket: ``python remote_agent.py [wss://… [TOKEN]]``.

Without a URL, it serves the reference agent itself, on this machine.
"""

import asyncio
import sys

import acp_host
from acp_host.testing import ReferenceAgent, serve_websocket


async def converse(url, token):
    async with acp_host.connect(url, remote=acp_host.RemoteOptions(bearer=token)) as host:
        print(host.agreement.agent_name, "is", host.health.snapshot().status)
        session = await host.new_session(cwd="/workspace")  # a directory of the agent's machine
        result = await session.prompt("/say Hello from elsewhere")
        print(acp_host.printable(result.text))


async def main(url=None, token=None):
    if url is not None:
        await converse(url, token)
        return
    async with serve_websocket(ReferenceAgent().serve) as served:
        print("serving", served.url)
        await converse(served.url, served.token)
        try:
            await converse(served.url, "wrong")
        except acp_host.StartFailed as error:
            print(error)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
