"""Ask an agent, and read its answer as it comes: ``python ask.py [AGENT…]``."""

import asyncio
import sys

import acp_host
from acp_host.testing import ReferenceAgent
from acp_host.wire.content import TextContent
from acp_host.wire.updates import AgentMessageChunk


async def main(agent):
    async with acp_host.connect(agent) as host:
        session = await host.new_session(cwd=".")
        turn = session.prompt("What is in this folder?")
        async for update in turn:
            match update:
                case AgentMessageChunk(content=TextContent(text=text)):
                    print(acp_host.printable(text), end="", flush=True)
        result = await turn
    print(f"\n[{result.outcome.kind}]")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:] or ReferenceAgent.command("--delay", "0.03")))
