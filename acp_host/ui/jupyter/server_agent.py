"""A widget for an agent that the notebook's server hosts: :class:`ServerAgentWidget`."""

from __future__ import annotations

import anywidget
import traitlets

from acp_host.errors import InvalidInput
from acp_host.ui.page_files import STATIC

__all__ = ["ServerAgentWidget"]

_HEIGHT = 560


class ServerAgentWidget(anywidget.AnyWidget):
    """The conversation with an agent that the server of the notebook hosts, see :mod:`acp_host.ui.jupyter_server`. ::

        ServerAgentWidget("some-agent")

    The view talks to the server itself, with the user's own login: the agent goes on when the kernel is restarted, and
    the view as long as the notebook is open. In JupyterLab and Notebook 7; other applications have no such server.

    Args:
        agent: its name in the server's configuration, or its id; it has been started there.
        height: of the view, in pixels.

    Raises:
        InvalidInput: ``agent`` is no name.
    """

    _esm = STATIC / "view.js"
    _css = STATIC / "view-style.css"
    agent = traitlets.Unicode().tag(sync=True)
    height = traitlets.Int(_HEIGHT).tag(sync=True)

    def __init__(self, agent: str, *, height: int = _HEIGHT) -> None:
        if not isinstance(agent, str) or not agent:
            raise InvalidInput("ServerAgentWidget takes the name of an agent in the server's configuration, or its id")
        super().__init__(agent=agent, height=height)
