"""What the two sides agree on at ``initialize``: :func:`client_capabilities` and :class:`Agreement`.

The host offers what is really registered and nothing else; a capability without somebody behind it makes agents hang.
Afterwards the :class:`Agreement` answers every question about what may be used, and nothing else looks into the
capabilities.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from acp_host.errors import NotSupported
from acp_host.protocol.harn_capabilities import HarnCapabilities, harn_capabilities
from acp_host.quirks import Quirk, QuirkKind, quirks_for
from acp_host.wire._model import UNSET
from acp_host.wire.auth import AuthMethod
from acp_host.wire.capabilities import (
    AgentCapabilities,
    AuthCapabilities,
    BooleanConfigOptionCapabilities,
    ClientCapabilities,
    ClientSessionCapabilities,
    CompactionCapabilities,
    ElicitationCapabilities,
    ElicitationFormCapabilities,
    ElicitationUrlCapabilities,
    FileSystemCapabilities,
    NoticeCapabilities,
    PlanCapabilities,
    SessionConfigOptionsCapabilities,
    SubagentCapabilities,
)
from acp_host.wire.converters import unstructure
from acp_host.wire.initialize import Implementation, InitializeResponse
from acp_host.wire.methods import TABLE, Method, MethodTable

__all__ = ["Agreement", "Registered", "client_capabilities", "make_agreement"]

_AGENT_ROOT, _CLIENT_ROOT = "agentCapabilities", "clientCapabilities"

_IN_VERSION_2: Mapping[str, str | None] = {
    "authenticate": "auth/login",
    "logout": "auth/logout",
    "session/load": "session/resume",
    "session/set_mode": None,
}
"""Methods of version 1 → what they are in version 2; ``None``: nothing."""
_IN_VERSION_1 = {"auth/login": "authenticate", "auth/logout": "logout"}
"""Methods of version 2 → what they are in version 1, where that is not their name."""
_WITH_LOGINS = frozenset({"auth/login", "auth/logout"})
"""Methods of version 2 that an agent has if it lists a way to log in."""
_PATHS_IN_VERSION_1 = (
    ("session.prompt.", "promptCapabilities."),
    ("session.mcp.", "mcpCapabilities."),
    ("session.", "sessionCapabilities."),
)
"""How the paths of version 2's capabilities begin → how they do in version 1."""
_STDIO_SERVERS = f"{_AGENT_ROOT}.session.mcp.stdio"


@frozen(kw_only=True)
class Registered:
    """What an application has put behind the host's side of the protocol.

    Attributes:
        read_files: ``fs/read_text_file`` is answered.
        write_files: ``fs/write_text_file`` is answered.
        terminals: ``terminal/*`` is answered.
        elicitation_form: forms are shown to the user.
        elicitation_url: URLs are shown to the user, with consent.
        auth_terminal: the agent's command can be run in a terminal that the user sees, to log in.
        notices: short live messages reach the user.
        unstable: the application wants draft features: plan variants and subagents.
        extra: further members of ``clientCapabilities``, as wire JSON, e.g. ``{"_meta": {…}}``.
    """

    read_files: bool = False
    write_files: bool = False
    terminals: bool = False
    elicitation_form: bool = False
    elicitation_url: bool = False
    auth_terminal: bool = False
    notices: bool = True
    unstable: bool = False
    extra: Mapping[str, Any] = field(factory=dict)


def client_capabilities(registered: Registered) -> ClientCapabilities:
    """Return what the host offers, derived from what is registered."""
    form = ElicitationFormCapabilities() if registered.elicitation_form else UNSET
    url = ElicitationUrlCapabilities() if registered.elicitation_url else UNSET
    return ClientCapabilities(
        fs=FileSystemCapabilities(read_text_file=registered.read_files, write_text_file=registered.write_files),
        terminal=registered.terminals,
        session=ClientSessionCapabilities(
            compaction=CompactionCapabilities(),
            config_options=SessionConfigOptionsCapabilities(boolean=BooleanConfigOptionCapabilities()),
            notices=NoticeCapabilities() if registered.notices else UNSET,
        ),
        auth=AuthCapabilities(terminal=registered.auth_terminal),
        elicitation=UNSET if form is UNSET and url is UNSET else ElicitationCapabilities(form=form, url=url),
        plan=PlanCapabilities() if registered.unstable else UNSET,
        subagents=SubagentCapabilities() if registered.unstable else UNSET,
        extra=_extra(registered),
    )


def _extra(registered: Registered) -> Mapping[str, Any]:
    """Return the further members of what is offered; agents of an earlier draft look there for logins in terminals."""
    if not registered.auth_terminal:
        return registered.extra
    return {**registered.extra, "_meta": {"terminal-auth": True, **registered.extra.get("_meta", {})}}


@frozen(kw_only=True)
class Agreement:
    """What host and agent agreed on; the one place to ask whether something may be used.

    Attributes:
        protocol_version: the version that is spoken.
        agent_info: the agent's name and version, or ``None`` where it did not say.
        agent_capabilities: what the agent offers, as version 1 says it; what an agent of version 2 says by other names
            is there besides.
        client_capabilities: what the agent was told the host offers, likewise; of version 2 also what every host must.
        auth_methods: ways to sign in; empty where none are needed.
        quirks: the rows of the quirks table that are for this agent.
        meta: ``_meta`` of the agent's answer; empty when absent.
        harn: what the agent offers beyond ACP if it is Harn; ``None`` for every other agent.
    """

    protocol_version: int
    agent_info: Implementation | None
    agent_capabilities: AgentCapabilities
    client_capabilities: ClientCapabilities
    auth_methods: tuple[AuthMethod, ...] = ()
    quirks: tuple[Quirk, ...] = ()
    meta: Mapping[str, Any] = field(factory=dict)
    _offers: Mapping[str, Any] = field(init=False, eq=False, repr=False)
    harn: HarnCapabilities | None = field(init=False, eq=False, repr=False)

    @_offers.default
    def _both_offers(self) -> Mapping[str, Any]:
        return {
            _AGENT_ROOT: unstructure(self.agent_capabilities),
            _CLIENT_ROOT: unstructure(self.client_capabilities),
        }

    @harn.default
    def _read_harn(self) -> HarnCapabilities | None:
        if self.quirk(QuirkKind.SPEAKS_HARN) is None and not isinstance(self.offer("_meta.harn"), Mapping):
            return None
        return harn_capabilities(self._offers[_AGENT_ROOT])

    @property
    def agent_name(self) -> str:
        """What to call the agent before a person: its title, else its name, else ``"agent"``."""
        if self.agent_info is None:
            return "agent"
        return self.agent_info.title or self.agent_info.name

    def supports(self, capability: str) -> bool:
        """Tell whether a capability was agreed.

        Args:
            capability: a wire method of the agent (``"session/load"``), or the wire path of a capability:
                ``"promptCapabilities.image"`` (of the agent), ``"clientCapabilities.fs.readTextFile"`` (of the host).
                Extensions count: ``"reminders.inject"`` is read like any other. The names of both versions of the
                protocol are understood, whichever is spoken.
        """
        if "/" in capability or TABLE.agent_method(capability) is not None:
            return self._method_works(capability)
        path = self._path(capability)
        if path == _STDIO_SERVERS and self.protocol_version == 1:
            return True  # no agent of version 1 does without
        return self._offered(path) or self._offered(self._path_in_v1(path))

    def require(self, method: str) -> None:
        """Check that a request or notification may be sent to the agent.

        Raises:
            NotSupported: its capability was not agreed; names the capability.
        """
        if self._method_works(method):
            return
        entry = self._method(method)
        capability = (entry.capability if entry else None) or method
        quirk = self.quirk(QuirkKind.ABSENT_THOUGH_ADVERTISED, method)
        reason = f"a known quirk ({quirk.why})" if quirk else f"it does not offer {capability}"
        raise NotSupported(
            f"{self.agent_name} does not support {method}: {reason}. "
            "Nothing was sent; pass force=True to send it all the same.",
            capability=capability,
            method=method,
        )

    def require_capability(self, capability: str, what: str) -> None:
        """Check that the agent offers what something needs.

        Args:
            capability: as for :meth:`supports`.
            what: what needs it, for the message.

        Raises:
            NotSupported: it does not.
        """
        if not self.supports(capability):
            raise NotSupported(
                f"{self.agent_name} does not take {what}: it does not offer {capability}. Nothing was sent.",
                capability=f"{_AGENT_ROOT}.{capability}",
            )

    def offer(self, capability: str) -> Any:
        """Return what is offered under the wire path of a capability, as plain JSON; ``None`` where nothing is.

        For extensions whose capability says more than yes or no; paths as for :meth:`supports`.
        """
        path = self._path(capability)
        found = self._at(path)
        return self._at(self._path_in_v1(path)) if found is None else found

    def quirk(self, kind: QuirkKind, subject: str = "") -> Quirk | None:
        """Return the row of this kind (and subject) for this agent, or ``None``."""
        return next((quirk for quirk in self.quirks if quirk.kind is kind and quirk.subject == subject), None)

    @property
    def methods(self) -> MethodTable:
        """The methods of the version that is spoken."""
        if self.protocol_version != 2:
            return TABLE
        from acp_host.wire.v2.methods import TABLE as V2_TABLE  # loaded for agents of version 2 only

        return V2_TABLE

    def _method(self, name: str) -> Method | None:
        """Return a method, under the name that it has in the version that is spoken or in the other one."""
        names = _IN_VERSION_2 if self.protocol_version == 2 else _IN_VERSION_1
        here = names.get(name, name)
        return None if here is None else self.methods.agent_method(here)

    def _method_works(self, name: str) -> bool:
        if self.quirk(QuirkKind.WORKS_UNADVERTISED, name):
            return True
        if self.quirk(QuirkKind.ABSENT_THOUGH_ADVERTISED, name):
            return False
        entry = self._method(name)
        if entry is None:
            return False
        if entry.name in _WITH_LOGINS:
            return bool(self.auth_methods)
        return entry.capability is None or self._offered(entry.capability)

    def _path(self, capability: str) -> str:
        """Return where a capability is; without a root it is the agent's."""
        root = capability.partition(".")[0]
        return capability if root in self._offers else f"{_AGENT_ROOT}.{capability}"

    def _path_in_v1(self, path: str) -> str:
        """Return where version 1 has what version 2 has elsewhere."""
        told = path.removeprefix(f"{_AGENT_ROOT}.")
        for begins, begins_in_v1 in _PATHS_IN_VERSION_1:
            if told.startswith(begins):
                return f"{_AGENT_ROOT}.{begins_in_v1}{told.removeprefix(begins)}"
        return path

    def _offered(self, path: str) -> bool:
        """Walk the wire form; a boolean says yes or no, an object says yes by being there."""
        value = self._at(path)
        return value is True or isinstance(value, Mapping)

    def _at(self, path: str) -> Any:
        value: Any = self._offers
        for name in path.split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
        return value


def make_agreement(response: InitializeResponse, offered: ClientCapabilities, quirks: tuple[Quirk, ...]) -> Agreement:
    """Return the agreement that an agent's answer to ``initialize`` makes.

    Args:
        response: the answer, as version 1 has it.
        offered: what the agent was told, likewise.
        quirks: the table of quirks in force.
    """
    info = response.agent_info or None
    return Agreement(
        protocol_version=response.protocol_version,
        agent_info=info,
        agent_capabilities=response.agent_capabilities or AgentCapabilities(),
        client_capabilities=offered,
        auth_methods=response.auth_methods or (),
        quirks=quirks_for(info.name, info.version, quirks) if info else (),
        meta=response.meta or {},
    )
