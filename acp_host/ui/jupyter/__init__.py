"""Agents in a notebook: a widget, magics, and what results look like. Needs the extra ``jupyter``.

``%load_ext acp_host.ui.jupyter`` gives IPython the magics ``%acp`` and ``%%acp``, and has it show results, diffs and
artifacts.
"""

from __future__ import annotations

from typing import Any

from acp_host.extras import brought_by

with brought_by("jupyter"):
    from acp_host.ui.jupyter.display import enable
    from acp_host.ui.jupyter.server_agent import ServerAgentWidget
    from acp_host.ui.jupyter.usage_plot import UsageHistory
    from acp_host.ui.jupyter.widget import AgentWidget

__all__ = ["AgentWidget", "ServerAgentWidget", "UsageHistory", "enable", "load_ipython_extension"]


def load_ipython_extension(shell: Any) -> None:
    """Do what ``%load_ext`` asks for; for IPython."""
    from acp_host.ui.jupyter.magics import AcpMagics

    magics = AcpMagics(shell)
    shell.register_magics(magics)
    for name in ("%acp", "%%acp"):
        shell.set_hook("complete_command", magics.complete, str_key=name)
    enable(shell)
