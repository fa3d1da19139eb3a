"""A host of the simplest kind, made with the official Python SDK: ``python python_sdk_host.py AGENT…``.

It connects, opens a session, sends one prompt and prints the agent's text; permissions are refused.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

import acp
from acp.schema import DeniedOutcome, Implementation, RequestPermissionResponse


class Client(acp.Client):
    async def request_permission(self, options: Any, session_id: str, tool_call: Any, **_: Any) -> Any:
        return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        content = getattr(update, "content", None)
        if getattr(update, "session_update", None) == "agent_message_chunk" and hasattr(content, "text"):
            print(content.text, end="", flush=True)


async def main(agent: list[str]) -> int:
    async with acp.spawn_agent_process(Client(), *agent) as (connection, _):
        info = Implementation(name="simple-host", version="1")
        await connection.initialize(protocol_version=acp.PROTOCOL_VERSION, client_info=info)
        session = await connection.new_session(cwd=os.getcwd(), mcp_servers=[])
        result = await connection.prompt(prompt=[acp.text_block("hi")], session_id=session.session_id)
        return 0 if result.stop_reason == "end_turn" else 3


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
