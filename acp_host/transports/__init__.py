"""Ways to move bytes to and from an agent. None knows ACP but Streamable HTTP, which has to know to which session a
message belongs.

:class:`StdioTransport` launches an agent, :func:`memory_pair` connects two ends inside one process, and
:class:`Transport` with :class:`Receiver` is the boundary that any other way has to fit. A :class:`Launch` says what is
launched, and a ``Launcher`` may change that. :func:`remote_transport` makes the one that fits a URL, with
:class:`RemoteOptions` that say how to get there.
"""

from __future__ import annotations

from acp_host.transports._base import Receiver, Transport
from acp_host.transports._launch import Launch, Launcher
from acp_host.transports.memory import memory_pair
from acp_host.transports.remote import remote_transport
from acp_host.transports.remote_options import RemoteOptions
from acp_host.transports.stdio import StdioTransport, StopTimeouts

__all__ = [
    "Launch",
    "Launcher",
    "Receiver",
    "RemoteOptions",
    "StdioTransport",
    "StopTimeouts",
    "Transport",
    "memory_pair",
    "remote_transport",
]
