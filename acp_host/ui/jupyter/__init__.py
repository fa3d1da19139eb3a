"""Agents in a notebook: a widget that shows a conversation. Needs the extra ``jupyter``."""

from acp_host.ui.jupyter.widget import AgentWidget

__all__ = ["AgentWidget"]
