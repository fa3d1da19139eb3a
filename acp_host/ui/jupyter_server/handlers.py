"""What the extension answers below ``<base_url>acp/``: :func:`handlers`.

=============================  =====================================================================================
address                        what is there
=============================  =====================================================================================
``acp/``                       a page that lists the agents, to start and to stop them
``acp/start``, ``acp/stop``    where its forms lead
``acp/api/agents``             the same for programs, as JSON: ``GET``, ``POST``
``acp/api/agents/ID``          one agent: ``GET``, ``DELETE``
``acp/agents/ID/``             the page of an agent, with its files
``acp/agents/ID/feed``         its feed, see :mod:`~acp_host.ui.jupyter_server.feed_socket`
=============================  =====================================================================================

Who is let in is the server's part: its users and its login, its authorizer (resource ``acp``: ``read`` to look,
``execute`` to act, ``write`` to start and to stop), its checks of ``Host``, ``Origin`` and XSRF tokens. No page and no
redirect of ours names an absolute path, so that all of it works behind any prefix.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler, JupyterHandler
from tornado import web

from acp_host.errors import AcpError, InvalidInput
from acp_host.ui.jupyter_server.agent_list import agent_list
from acp_host.ui.jupyter_server.feed_socket import FeedSocket
from acp_host.ui.jupyter_server.hosted_agent import AgentStatus, HostedAgent
from acp_host.ui.jupyter_server.hosted_agents import HostedAgents
from acp_host.ui.jupyter_server.resource import RESOURCE
from acp_host.ui.page_files import HTML, PageFiles, page_headers

__all__ = ["handlers"]

_PATIENCE = 20.0
"""Seconds that an answer waits for an agent to start; proxies give up later."""
_LONGEST_NAME = 1_024


def handlers(agents: HostedAgents, left_out: Sequence[str] = ()) -> list[tuple[Any, ...]]:
    """Return what the server is to answer, by patterns relative to its base URL.

    Args:
        agents: what they are about.
        left_out: what is wrong with agents that are configured and cannot be started.
    """
    ours = {"agents": agents}
    listed = {**ours, "left_out": left_out}
    agent_id = r"(?P<agent_id>[0-9a-f]+)"
    return [
        (r"/acp", _Slash),
        (r"/acp/", _ListPage, listed),
        (r"/acp/start", _StartForm, listed),
        (r"/acp/stop", _StopForm, ours),
        (r"/acp/api/agents", _AgentsApi, ours),
        (rf"/acp/api/agents/{agent_id}", _AgentApi, ours),
        (rf"/acp/agents/{agent_id}", _Slash),
        (rf"/acp/agents/{agent_id}/feed", FeedSocket, ours),
        (rf"/acp/agents/{agent_id}/(?P<name>[\w.-]*)", _AgentPage, {**ours, "files": PageFiles()}),
    ]


class _Slash(JupyterHandler):
    """Goes on to the address with a slash, from which relative ones count."""

    @web.authenticated
    def get(self, **_: str) -> None:
        self.redirect(self.request.path.rpartition("/")[2] + "/")


class _Page(JupyterHandler):
    """A page of ours, or what its forms lead to."""

    auth_resource = RESOURCE

    def initialize(self, agents: HostedAgents) -> None:
        self.agents = agents

    def answer(self, body: bytes | str, kind: str, *, has_forms: bool = False) -> None:
        """Answer with a body under the policy of our pages, in which forms may lead to this server."""
        rules = {"frame-ancestors": self._frame_ancestors()}
        for name, value in page_headers(kind, {**rules, "form-action": "'self'"} if has_forms else rules):
            self.set_header(name, value)
        if has_forms:  # without any referrer, browsers send forms with an Origin of "null"
            self.set_header("Referrer-Policy", "same-origin")
        self.finish(body)

    def _frame_ancestors(self) -> str:
        """Return which pages may frame ours: those of this server, or those that its configuration allows."""
        rules = [rule.strip().partition(" ") for rule in self.content_security_policy.split(";")]
        return next((value.strip() for name, _, value in rules if name.lower() == "frame-ancestors"), "'self'")


class _ListPage(_Page):
    def initialize(self, agents: HostedAgents, left_out: Sequence[str]) -> None:  # type: ignore[override]  # tornado's own way
        super().initialize(agents)
        self.left_out = left_out

    @web.authenticated
    @authorized
    async def get(self) -> None:
        await self.show()

    async def show(self, problem: str = "") -> None:
        """Answer with the page."""
        problems = [problem, *self.left_out] if problem else self.left_out
        page = agent_list(self.agents.names, await self.agents.described(), self.xsrf_token.decode(), problems)
        self.answer(page, HTML, has_forms=True)


class _StartForm(_ListPage):
    @web.authenticated
    @authorized
    async def post(self) -> None:
        try:
            agent = await self.agents.start(self.get_body_argument("agent"), self.get_body_argument("folder", ""))
        except AcpError as error:
            self.set_status(409)
            await self.show(str(error))
            return
        await self.agents.started(agent, _PATIENCE)
        failed = agent.status is AgentStatus.FAILED
        self.redirect("./" if failed else f"agents/{agent.id}/", status=303)

    @web.authenticated
    def get(self) -> None:
        self.redirect("./")


class _StopForm(_Page):
    @web.authenticated
    @authorized
    async def post(self) -> None:
        await self.agents.stop(self.get_body_argument("id"))
        self.redirect("./", status=303)

    @web.authenticated
    def get(self) -> None:
        self.redirect("./")


class _AgentPage(_Page):
    def initialize(self, agents: HostedAgents, files: PageFiles) -> None:  # type: ignore[override]  # tornado's own way
        self.agents = agents
        self.files = files

    @web.authenticated
    @authorized
    async def get(self, agent_id: str, name: str) -> None:
        found = self.files.find(f"/{name}") if self.agents.find(agent_id) is not None else None
        if found is None:
            raise web.HTTPError(404, "there is no such agent, or not any more")
        self.answer(*found)


class _Api(APIHandler):
    auth_resource = RESOURCE

    def initialize(self, agents: HostedAgents) -> None:
        self.agents = agents

    async def described(self, agent: HostedAgent) -> dict[str, Any]:
        """Return what there is to tell of an agent; raises 404 where it is gone."""
        told = next((told for told in await self.agents.described() if told["id"] == agent.id), None)
        if told is None:
            raise web.HTTPError(404, "there is no such agent, or not any more")
        return told


class _AgentsApi(_Api):
    @web.authenticated
    @authorized
    async def get(self) -> None:
        self.finish({"configured": list(self.agents.names), "running": await self.agents.described()})

    @web.authenticated
    @authorized
    async def post(self) -> None:
        body = self.get_json_body()
        name, folder = _start_request(body)
        try:
            agent = await self.agents.start(name, folder)
        except InvalidInput as error:
            raise web.HTTPError(400, str(error)) from None
        except AcpError as error:
            raise web.HTTPError(409, str(error)) from None
        await self.agents.started(agent, _PATIENCE)
        self.set_status(201)
        self.set_header("Location", f"agents/{agent.id}")
        self.finish(await self.described(agent))


class _AgentApi(_Api):
    @web.authenticated
    @authorized
    async def get(self, agent_id: str) -> None:
        self.finish(await self.described(self._agent(agent_id)))

    @web.authenticated
    @authorized
    async def delete(self, agent_id: str) -> None:
        await self.agents.stop(self._agent(agent_id).id)
        self.set_status(204)
        self.finish()

    def _agent(self, agent_id: str) -> HostedAgent:
        agent = self.agents.find(agent_id)
        if agent is None:
            raise web.HTTPError(404, "there is no such agent, or not any more")
        return agent


def _start_request(body: Any) -> tuple[str, str]:
    """Return the name and the folder that a program asks for."""
    name, folder = (body.get("agent"), body.get("folder", "")) if isinstance(body, dict) else (None, None)
    if not (isinstance(name, str) and isinstance(folder, str) and len(name) + len(folder) <= _LONGEST_NAME):
        raise web.HTTPError(400, 'the body is a JSON object with "agent", a name, and perhaps "folder", a path')
    return name, folder
