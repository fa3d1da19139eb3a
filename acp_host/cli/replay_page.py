"""``acp-host replay --ui``: a recording as a page in the browser, which nobody can act in."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator

from acp_host.cli.interrupts import Interrupts
from acp_host.cli.serve import page_of, until_interrupted
from acp_host.errors import InvalidInput
from acp_host.recording.format import RecordedLine
from acp_host.replay.pace import Pace
from acp_host.replay.player import RecordingPlayer
from acp_host.ui.feed import Feed

__all__ = ["serve_recording"]

_AT_ONCE = 1e9
"""How many times faster than it was, where no pause is wanted."""


async def serve_recording(lines: Iterator[RecordedLine], options: argparse.Namespace, interrupts: Interrupts) -> None:
    """Play a recording to a host, and show that host as a page until Ctrl-C.

    Args:
        lines: of the recording.
        options: ``speed``, and where to serve the page.
        interrupts: for Ctrl-C.

    Raises:
        InvalidInput: it cannot be read, no session is in it, or nothing can listen there.
    """
    begun = asyncio.Event()
    player = RecordingPlayer(
        lines, pace=Pace(_AT_ONCE if options.speed is None else options.speed), opened=lambda _: begun.set()
    )
    playing = asyncio.create_task(player.play(), name="acp_host replay")
    playing.add_done_callback(lambda _: begun.set())
    try:
        await begun.wait()
        if player.host is None or not player.host.sessions:
            raise InvalidInput("the recording has no session to show")
        async with Feed(player.host, read_only=True) as feed, page_of(feed, options):
            await until_interrupted(interrupts)
    finally:
        playing.cancel()
        await asyncio.wait([playing])
        await player.close()
    if not playing.cancelled():
        playing.result()
