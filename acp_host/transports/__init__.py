"""Ways to move bytes to and from an agent; nothing here knows ACP.

:class:`StdioTransport` launches an agent, :func:`memory_pair` connects two ends inside one process, and
:class:`Transport` with :class:`Receiver` is the boundary that any other way has to fit. A :class:`Launch` says what is
launched, and a ``Launcher`` may change that.
"""

from __future__ import annotations

from acp_host.transports._base import Receiver, Transport
from acp_host.transports._launch import Launch, Launcher
from acp_host.transports.memory import memory_pair
from acp_host.transports.stdio import StdioTransport, StopTimeouts

__all__ = ["Launch", "Launcher", "Receiver", "StdioTransport", "StopTimeouts", "Transport", "memory_pair"]
