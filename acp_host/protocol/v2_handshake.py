"""The handshake of version 2 in the words of version 1, which the :class:`Agreement` and its readers use.

What a host of version 2 need not offer any more, since every agent may count on it, stands in its capabilities all the
same; what an agent of version 2 must be able to do stands in its capabilities as if it had said so. Under their own
names, version 2's capabilities are there besides.
"""

from __future__ import annotations

from typing import Any

from acp_host._version import __version__
from acp_host.wire import auth as v1_auth
from acp_host.wire import capabilities as v1
from acp_host.wire._model import UNSET, Unset
from acp_host.wire.converters import check, structure_tolerant, unstructure
from acp_host.wire.initialize import Implementation
from acp_host.wire.initialize import InitializeResponse as V1Response
from acp_host.wire.v2 import auth as v2_auth
from acp_host.wire.v2 import capabilities as v2
from acp_host.wire.v2.initialize import InitializeRequest, InitializeResponse

__all__ = ["InitializeResponse", "auth_methods_in_v1", "request_of", "response_in_v1", "told_in_v2"]


def request_of(offer: v1.ClientCapabilities, info: Implementation | None) -> dict[str, Any]:
    """Return version 2's ``initialize`` for what a host offers, as wire JSON; what has no place there is left out.

    Raises:
        InvalidInput: it does not fit the schema.
    """
    asks_in_terminal = bool(offer.auth and offer.auth.terminal)
    terminal = v2.TerminalAuthCapabilities() if asks_in_terminal else UNSET
    capabilities = v2.ClientCapabilities(
        auth=v2.ClientAuthCapabilities(terminal=terminal) if asks_in_terminal else UNSET,
        elicitation=offer.elicitation,
        meta=offer.meta,
        extra=offer.extra,
    )
    request = unstructure(InitializeRequest(2, info or Implementation("acp_host", __version__), capabilities))
    check(request, InitializeRequest, "initialize")
    return request


def told_in_v2(offer: v1.ClientCapabilities) -> v1.ClientCapabilities:
    """Return what an agent of version 2 knows of a host's offer: what it was told, and what the version promises."""
    return v1.ClientCapabilities(
        fs=v1.FileSystemCapabilities(read_text_file=False, write_text_file=False),
        terminal=False,
        session=v1.ClientSessionCapabilities(
            compaction=v1.CompactionCapabilities(),
            config_options=v1.SessionConfigOptionsCapabilities(boolean=v1.BooleanConfigOptionCapabilities()),
            notices=v1.NoticeCapabilities(),
        ),
        subagents=v1.SubagentCapabilities(),
        plan=v1.PlanCapabilities(),
        auth=offer.auth,
        elicitation=offer.elicitation,
        meta=offer.meta,
        extra=offer.extra,
    )


def response_in_v1(response: InitializeResponse) -> V1Response:
    """Return an agent's answer to ``initialize`` as version 1 has it."""
    return V1Response(
        response.protocol_version,
        _agent_capabilities(response.capabilities or v2.AgentCapabilities(), bool(response.auth_methods)),
        tuple([_auth_method(method) for method in response.auth_methods or ()]),
        response.info,
        response.meta,
        extra=response.extra,
    )


def auth_methods_in_v1(listed: list[Any]) -> tuple[v1_auth.AuthMethod, ...]:
    """Return ways to log in that stand in JSON as version 2 has them.

    Raises:
        DecodeError: they cannot be read.
    """
    read: tuple[v2_auth.AuthMethod, ...] = structure_tolerant(listed, tuple[v2_auth.AuthMethod, ...], "$")[0]
    return tuple([_auth_method(method) for method in read])


def _agent_capabilities(told: v2.AgentCapabilities, has_login: bool) -> v1.AgentCapabilities:
    session = told.session or v2.SessionCapabilities()
    prompt, mcp = session.prompt or v2.PromptCapabilities(), session.mcp or v2.McpCapabilities()
    named = {} if not told.session else {"session": unstructure(told.session)}
    auth = told.auth or v2.AgentAuthCapabilities()
    return v1.AgentCapabilities(
        load_session=True,
        prompt_capabilities=v1.PromptCapabilities(
            image=_is_there(prompt.image),
            audio=_is_there(prompt.audio),
            embedded_context=_is_there(prompt.embedded_context),
            meta=prompt.meta,
        ),
        mcp_capabilities=v1.McpCapabilities(
            http=_is_there(mcp.http),
            sse=False,
            acp=_is_there(mcp.acp),
            meta=mcp.meta,
            extra={**mcp.extra, "stdio": _is_there(mcp.stdio)},
        ),
        session_capabilities=_session_capabilities(session),
        auth=v1.AgentAuthCapabilities(
            status=auth.status,
            logout=v1.LogoutCapabilities() if has_login else UNSET,
            meta=auth.meta,
            extra=auth.extra,
        ),
        providers=told.providers,
        meta=told.meta,
        extra={**told.extra, **named},
    )


def _session_capabilities(session: v2.SessionCapabilities) -> v1.SessionCapabilities:
    known = {"prompt", "mcp"}
    return v1.SessionCapabilities(
        list=v1.SessionListCapabilities(),
        delete=session.delete,
        additional_directories=session.additional_directories,
        system_prompt=session.system_prompt,
        fork=session.fork,
        archive=session.archive,
        status=session.status,
        title=session.title,
        resume=v1.SessionResumeCapabilities(),
        close=v1.SessionCloseCapabilities(),
        meta=session.meta,
        extra={name: value for name, value in session.extra.items() if name not in known},
    )


def _auth_method(method: v2_auth.AuthMethod) -> v1_auth.AuthMethod:
    match method:
        case v2_auth.AuthMethodAgent():
            return v1_auth.AuthMethodAgent(
                method.method_id, method.name, method.description, method.meta, extra=method.extra
            )
        case v2_auth.AuthMethodTerminal():
            env: Any = method.env
            if isinstance(env, tuple):
                env = {variable.name: variable.value for variable in env}
            return v1_auth.AuthMethodTerminal(
                method.method_id, method.name, method.description, method.args, env, method.meta, extra=method.extra
            )
        case _:
            named = {"id": method.data["methodId"]} if "methodId" in method.data else {}
            return v1_auth.UnknownAuthMethod(method.tag, {**method.data, **named}, method.problem)


def _is_there(marker: object | None | Unset) -> bool:
    return marker is not None and marker is not UNSET
