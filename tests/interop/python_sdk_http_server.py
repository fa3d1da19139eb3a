"""The agent of :mod:`tests.interop.python_sdk_agent`, served over Streamable HTTP by the official Python SDK.

Prints its port. ``h2 FOLDER``: HTTP/2 over TLS, with ``cert.pem`` and ``key.pem`` of the folder; ``http1``: plainly.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from typing import Any

import acp
import hypercorn.asyncio
import hypercorn.config
from acp.http.asgi import create_asgi_app
from python_sdk_agent import Agent


def connected(host: acp.Client) -> Agent:
    agent = Agent()
    agent.on_connect(host)
    return agent


async def main() -> None:
    config = hypercorn.config.Config()
    listener = socket.create_server(("127.0.0.1", 0))
    config.bind = [f"fd://{listener.fileno()}"]
    if sys.argv[1] == "h2":
        config.certfile, config.keyfile = f"{sys.argv[2]}/cert.pem", f"{sys.argv[2]}/key.pem"
    config.errorlog = None
    stop = asyncio.Event()

    async def wait_for_end_of_input() -> None:
        await asyncio.to_thread(sys.stdin.read)
        stop.set()

    waiting = asyncio.create_task(wait_for_end_of_input())
    print(listener.getsockname()[1], flush=True)
    app: Any = create_asgi_app(connected)
    await hypercorn.asyncio.serve(app, config, shutdown_trigger=stop.wait)
    await waiting


if __name__ == "__main__":
    asyncio.run(main())
