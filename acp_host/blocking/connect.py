"""The way in without ``await``: :func:`connect`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from acp_host.blocking._adapted import adapted
from acp_host.blocking._callbacks import Callbacks, Dispatch
from acp_host.blocking._thread import LoopThread
from acp_host.blocking.connection import HostConnection
from acp_host.errors import InvalidInput
from acp_host.host.agent_target import AgentTarget
from acp_host.host.connect import connect as async_connect
from acp_host.transports import Transport

__all__ = ["connect"]


def connect(
    target: Sequence[str] | str | Transport | AgentTarget, *, dispatch: Dispatch | None = None, **options: Any
) -> HostConnection:
    """Connect to an agent, as :class:`acp_host.connect` does, and return when it is ready. ::

        with acp_host.blocking.connect(["some-agent", "--acp"]) as host:
            session = host.new_session(cwd=".")
            print(session.prompt("Fix the failing test").wait().text)

    The connection lives on an event loop in a thread of its own, so that the agent is served whatever the caller does.
    Handlers may be plain functions that block, e.g. ask a person with ``input()``, and may make blocking calls.

    Args:
        target: as for ``acp_host.connect``.
        dispatch: runs functions without arguments on the application's own thread, one at a time and in order, e.g. on
            the main thread of a user interface: there every callback is called. ``None``: observers are called on a
            thread for them, and each handler on one of its own. Coroutine functions run on the connection's loop.
        **options: as for ``acp_host.connect``.

    Raises:
        InvalidInput: ``dispatch`` is no function; and else what ``acp_host.connect`` raises.
    """
    if dispatch is not None and not callable(dispatch):
        raise InvalidInput(f"connect(dispatch=…) takes a function that runs functions, not {type(dispatch).__name__}")
    callbacks = Callbacks(dispatch)
    thread = LoopThread("acp_host connection")
    try:
        adapted_options = adapted(options, callbacks)
        host = thread.run(lambda: async_connect(target, **adapted_options))
    except BaseException:
        callbacks.close()
        thread.stop()
        raise
    return HostConnection(host, thread, callbacks)
