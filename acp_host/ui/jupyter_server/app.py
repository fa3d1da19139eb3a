"""The extension itself: :class:`AcpHostApp`, with what the server's configuration says about agents."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jupyter_server.extension.application import ExtensionApp
from traitlets import Any as AnyTrait
from traitlets import Dict, Float, Int, Unicode
from traitlets.config import Config

from acp_host._version import __version__
from acp_host.errors import InvalidInput
from acp_host.services.files import NotebookBuffers
from acp_host.ui.jupyter_server.agent_settings import AgentSettings
from acp_host.ui.jupyter_server.contents_notebooks import ContentsNotebooks
from acp_host.ui.jupyter_server.handlers import handlers
from acp_host.ui.jupyter_server.hosted_agents import HostedAgents, HostingRules

__all__ = ["AcpHostApp"]

_FOR_LAB = str(Path(__file__).parent / "labextension")
"""What JupyterLab and Notebook 7 load: a command that opens the agents."""


class AcpHostApp(ExtensionApp):
    """Hosts agents in a Jupyter Server."""

    name = "acp_host"
    description = "Hosts agents that speak the Agent Client Protocol, with pages to talk to them."
    version = __version__
    extension_url = "/acp/"
    load_other_extensions = True

    agents = Dict(
        key_trait=Unicode(),
        value_trait=AnyTrait(),
        help="""The agents that can be started, by name: a command as a list of words or as one text, a URL, or a
        mapping of `target`, one of these, and arguments of `acp_host.connect`, e.g.
        {"target": ["some-agent", "--acp"], "files": True, "terminals": True}.""",
    ).tag(config=True)
    max_agents = Int(8, min=1, help="Agents that may run at a time.").tag(config=True)
    idle_timeout = Float(
        0.0, min=0.0, help="Seconds after which an agent is ended that does nothing and that nobody looks at; 0: never."
    ).tag(config=True)

    def _link_jupyter_server_extension(self, serverapp: Any) -> None:
        super()._link_jupyter_server_extension(serverapp)
        # JupyterLab and Notebook are linked later, in the order of names, and read this then.
        paths = [*serverapp.config.LabServerApp.get("extra_labextensions_path", []), _FOR_LAB]
        serverapp.update_config(Config(LabServerApp={"extra_labextensions_path": paths}))

    def initialize_settings(self) -> None:
        """Make what answers requests."""
        server = self._server
        rules = HostingRules(
            root=_root(server),
            process_records=os.path.join(server.runtime_dir, "acp-agents"),
            max_agents=self.max_agents,
            idle_timeout=self.idle_timeout,
        )
        self.hosted = HostedAgents(
            self._settings(),
            rules,
            lambda: [NotebookBuffers(ContentsNotebooks(server.contents_manager, rules.root))],
            self._used,
        )

    def initialize_handlers(self) -> None:
        """Tell the server what answers requests."""
        self.handlers.extend(handlers(self.hosted, self.left_out))

    def current_activity(self) -> list[str] | None:
        """Return which agents run: as with kernels, a server that has some does not end by itself."""
        return [agent.settings.name for agent in self.hosted.living] or None

    async def stop_extension(self) -> None:
        """End all agents, with the server."""
        await self.hosted.close()

    def _settings(self) -> dict[str, AgentSettings]:
        """Return what is configured; an entry that is wrong is left out, and told of."""
        found: dict[str, AgentSettings] = {}
        self.left_out: list[str] = []
        for name, given in self.agents.items():
            try:
                found[name] = AgentSettings.of(name, given)
            except InvalidInput as error:
                self.left_out.append(str(error))
                self.log.error("left out: %s", error)
        return found

    @property
    def _server(self) -> Any:
        return self.serverapp

    def _used(self) -> None:
        # Read by the server's own check for activity, and so by JupyterHub.
        self._server.web_app.settings["acp_host_last_activity"] = datetime.now(UTC)


def _root(server: Any) -> str:
    """Return the directory that the server shows; contents managers without one leave the server's own."""
    return str(getattr(server.contents_manager, "root_dir", "") or server.root_dir)
