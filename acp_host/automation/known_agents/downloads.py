"""Downloads that somebody asked for: :func:`download`, bounded in size and time, over HTTPS."""

from __future__ import annotations

import asyncio
import hashlib
import io
from collections.abc import AsyncIterator
from pathlib import Path
from typing import IO

from acp_host.automation.known_agents.download_address import download_address
from acp_host.errors import InvalidInput, TransportError

__all__ = ["download", "download_file"]

_MAX_REDIRECTS = 5
_PIECE = 2**20
_SILENCE = 30.0
"""Seconds without a byte after which a download has failed."""


async def download(url: str, *, limit: int, seconds: float) -> bytes:
    """Return what is at a URL; arguments and errors as for :func:`download_file`."""
    into = io.BytesIO()
    await _fetch(url, into, limit, seconds)
    return into.getvalue()


async def download_file(url: str, path: Path, *, limit: int, seconds: float) -> str:
    """Write what is at a URL into a new file, and return its SHA-256 checksum in hexadecimal.

    Args:
        url: where it is; every address that it leads on to has to be HTTPS, too, or on this machine.
        path: the file, which must not be there.
        limit: its greatest size, in bytes.
        seconds: how long it may take.

    Raises:
        InvalidInput: an address may not be downloaded from, it is too large, or the extra is not installed.
        TransportError: it did not arrive.
    """
    file = await asyncio.to_thread(open, path, "xb")
    try:
        return await _fetch(url, file, limit, seconds)
    finally:
        file.close()


async def _fetch(url: str, into: IO[bytes], limit: int, seconds: float) -> str:
    try:
        import httpx2
    except ModuleNotFoundError:
        raise InvalidInput("a download needs the extra 'http': pip install 'acp-host[http]'") from None
    # What was packed for the way would have another checksum than what is listed, and no bound.
    headers = {"Accept-Encoding": "identity", "User-Agent": "acp-host"}
    address = download_address(url)
    try:
        async with asyncio.timeout(seconds), httpx2.AsyncClient(timeout=_SILENCE, headers=headers) as client:
            for _ in range(_MAX_REDIRECTS + 1):
                async with client.stream("GET", address) as response:
                    if response.has_redirect_location:
                        address = download_address(response.headers["location"], base=address)
                        continue
                    if not response.is_success:
                        raise TransportError(
                            f"{address} was not downloaded: the server answered {response.status_code}",
                            http_status=response.status_code,
                        )
                    return await _read(response.aiter_raw(_PIECE), into, limit, address)
            raise TransportError(f"{url} was not downloaded: it leads on and on")
    except TimeoutError:
        raise TransportError(f"{address} was not downloaded within {seconds:g} seconds") from None
    except httpx2.HTTPError as error:
        raise TransportError(f"{address} was not downloaded: {error or type(error).__name__}") from None


async def _read(pieces: AsyncIterator[bytes], into: IO[bytes], limit: int, address: str) -> str:
    checksum = hashlib.sha256()
    size = 0
    async for piece in pieces:
        size += len(piece)
        if size > limit:
            raise InvalidInput(f"{address} has more than {limit} bytes, and was not kept")
        checksum.update(piece)
        await asyncio.to_thread(into.write, piece)
    return checksum.hexdigest()
