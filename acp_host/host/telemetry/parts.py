"""What makes the parts of a connection: :class:`Parts`, and :data:`PLAIN` for one that nobody watches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from attrs import frozen

from acp_host.host.driver import Driver
from acp_host.host.incoming import IncomingRequests
from acp_host.state.session_state import SessionState

__all__ = ["PLAIN", "Parts"]


@frozen
class Parts:
    """Makes the parts that can be watched; each takes the arguments of the class that it returns an object of."""

    make_driver: Callable[..., Driver]
    make_requests: Callable[..., IncomingRequests]
    make_state: Callable[..., SessionState]


PLAIN: Final = Parts(Driver, IncomingRequests, SessionState)
"""Parts that tell nobody anything."""
