"""A Jupyter Server extension that hosts agents: outside of any kernel, for the pages of that server.

``jupyter server extension enable acp_host.ui.jupyter_server`` switches it on, see ``docs/jupyter-server.md``. Agents
run as children of the server. Their pages, and the :mod:`feed <acp_host.ui.feed>`, lie below the server's own address,
and who may see them is decided by the server. Needs the extra ``jupyter-server``.
"""

from __future__ import annotations

from typing import Any

from acp_host.extras import brought_by

__all__: list[str] = []


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    """Tell Jupyter Server what there is to load."""
    with brought_by("jupyter-server"):
        from acp_host.ui.jupyter_server.app import AcpHostApp  # loaded where there is such a server

    return [{"module": "acp_host.ui.jupyter_server", "app": AcpHostApp}]
