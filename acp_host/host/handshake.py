"""Agreeing with an agent on one connection: :func:`agree`.

What is asked, and when again, :mod:`acp_host.protocol.versions` decides.
"""

from __future__ import annotations

import asyncio

from acp_host.errors import AcpError, RequestFailed
from acp_host.host.driver import Driver

__all__ = ["agree"]

_SECOND_ANSWER = 10.0
"""Seconds that an agent may take to answer ``initialize`` once more; some never do."""


async def agree(driver: Driver) -> Exception | None:
    """Send ``initialize``, in another form once more where that is needed.

    Returns:
        ``None`` once there is an agreement; else why the agent, which has answered, does not take the request once more
        on this connection.

    Raises:
        AcpError: as ``Driver.initialize``.
    """
    protocol = driver.protocol
    while True:
        is_repeated = protocol.half_agreed is not None
        try:
            async with asyncio.timeout(_SECOND_ANSWER if is_repeated else None):
                await driver.initialize()
        except (AcpError, TimeoutError) as error:
            if is_repeated:
                return error
            if not (isinstance(error, RequestFailed) and protocol.asks_again):
                raise
        if not protocol.asks_again:
            return None
