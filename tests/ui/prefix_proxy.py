"""A reverse proxy that shows a server below a prefix which the server does not know: :func:`below`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

__all__ = ["below"]


@asynccontextmanager
async def below(prefix: str, url: str) -> AsyncIterator[str]:
    """Serve what is at ``url`` below a prefix of another server; the value is the new address.

    As the proxies in front of notebooks do, it takes the prefix off each path, passes ``Host`` on as it came, and
    everything else untouched, WebSockets too.
    """
    target = urlsplit(url)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        method, path, rest = head.split(" ", 2)
        if not path.startswith(prefix):
            writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            writer.close()
            return
        rest = re.sub(r"(?i)^connection: keep-alive", "Connection: close", rest, flags=re.MULTILINE)
        behind, before = await asyncio.open_connection(target.hostname, target.port)
        before.write(f"{method} {target.path.rstrip('/')}{path.removeprefix(prefix)} {rest}".encode("latin-1"))
        await asyncio.gather(_pass_on(reader, before), _pass_on(behind, writer))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}{prefix}/"
    finally:
        server.close()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(2**16):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()
