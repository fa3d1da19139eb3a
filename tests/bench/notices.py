"""A burst of notices in a stream: what becomes of the screen, the count and the speed.

``python notices.py TURNS LENGTH NOTICES``. The turns are iterated over; the state and the notices have an observer
each, as in a front-end. Prints the time that all turns took, burst included.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import time
from pathlib import Path
from typing import Any

from session import read

import acp_host

AGENT = Path(__file__).with_name("stream_agent.py")


async def main(turns: int, length: int, notices: int) -> None:
    logging.disable()
    async with acp_host.connect([sys.executable, str(AGENT), str(turns), str(length), str(notices)]) as host:
        session = await host.new_session(cwd="/")
        most = 0

        def observe_notices(changes: Any) -> None:
            nonlocal most
            most = max(most, len(changes.snapshot.toasts))

        session.state.changed.connect(lambda changes: None)
        session.notices.changed.connect(observe_notices)
        started, processor = time.perf_counter(), time.process_time()
        updates = await read(host, session, turns)
        report = {"updates": updates, "seconds": time.perf_counter() - started, "cpu": time.process_time() - processor}
        snapshot = session.notices.snapshot()
        limit = session.notices.preferences.max_toasts
    print(json.dumps({**report, "notices": snapshot.total, "most_toasts": most, "limit": limit}))


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:])))
