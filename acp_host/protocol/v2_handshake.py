"""The handshake of version 2 in the words of version 1, which the :class:`Agreement` and its readers use.

What a host of version 2 need not offer any more, since every agent may count on it, stands in its capabilities all the
same; what an agent of version 2 must be able to do stands in its capabilities as if it had said so. Under their own
names, version 2's capabilities are there besides.
"""

from __future__ import annotations

from typing import Any

from acp_host._version import __version__
from acp_host.wire import auth as auth1
from acp_host.wire import capabilities as first
from acp_host.wire._model import UNSET, Unset
from acp_host.wire.converters import check, structure_tolerant, unstructure
from acp_host.wire.initialize import Implementation
from acp_host.wire.initialize import InitializeResponse as FirstResponse
from acp_host.wire.v2 import auth as auth2
from acp_host.wire.v2 import capabilities as second
from acp_host.wire.v2.initialize import InitializeRequest, InitializeResponse

__all__ = ["InitializeResponse", "auth_methods_in_v1", "request_of", "response_in_v1", "told_in_v2"]


def request_of(offer: first.ClientCapabilities, info: Implementation | None) -> dict[str, Any]:
    """Return version 2's ``initialize`` for what a host offers, as wire JSON; what has no place there is left out.

    Raises:
        InvalidInput: it does not fit the schema.
    """
    asks_in_terminal = bool(offer.auth and offer.auth.terminal)
    terminal = second.TerminalAuthCapabilities() if asks_in_terminal else UNSET
    capabilities = second.ClientCapabilities(
        auth=second.ClientAuthCapabilities(terminal=terminal) if asks_in_terminal else UNSET,
        elicitation=offer.elicitation,
        meta=offer.meta,
        extra=offer.extra,
    )
    request = unstructure(InitializeRequest(2, info or Implementation("acp_host", __version__), capabilities))
    check(request, InitializeRequest, "initialize")
    return request


def told_in_v2(offer: first.ClientCapabilities) -> first.ClientCapabilities:
    """Return what an agent of version 2 knows of a host's offer: what it was told, and what the version promises."""
    return first.ClientCapabilities(
        fs=first.FileSystemCapabilities(read_text_file=False, write_text_file=False),
        terminal=False,
        session=first.ClientSessionCapabilities(
            compaction=first.CompactionCapabilities(),
            config_options=first.SessionConfigOptionsCapabilities(boolean=first.BooleanConfigOptionCapabilities()),
            notices=first.NoticeCapabilities(),
        ),
        subagents=first.SubagentCapabilities(),
        plan=first.PlanCapabilities(),
        auth=offer.auth,
        elicitation=offer.elicitation,
        meta=offer.meta,
        extra=offer.extra,
    )


def response_in_v1(response: InitializeResponse) -> FirstResponse:
    """Return an agent's answer to ``initialize`` as version 1 has it."""
    return FirstResponse(
        response.protocol_version,
        _agent_capabilities(response.capabilities or second.AgentCapabilities(), bool(response.auth_methods)),
        tuple([_auth_method(method) for method in response.auth_methods or ()]),
        response.info,
        response.meta,
        extra=response.extra,
    )


def auth_methods_in_v1(listed: list[Any]) -> tuple[auth1.AuthMethod, ...]:
    """Return ways to log in that stand in JSON as version 2 has them.

    Raises:
        DecodeError: they cannot be read.
    """
    read: tuple[auth2.AuthMethod, ...] = structure_tolerant(listed, tuple[auth2.AuthMethod, ...], "$")[0]
    return tuple([_auth_method(method) for method in read])


def _agent_capabilities(told: second.AgentCapabilities, has_login: bool) -> first.AgentCapabilities:
    session = told.session or second.SessionCapabilities()
    prompt, mcp = session.prompt or second.PromptCapabilities(), session.mcp or second.McpCapabilities()
    named = {} if not told.session else {"session": unstructure(told.session)}
    auth = told.auth or second.AgentAuthCapabilities()
    return first.AgentCapabilities(
        load_session=True,
        prompt_capabilities=first.PromptCapabilities(
            image=_is_there(prompt.image),
            audio=_is_there(prompt.audio),
            embedded_context=_is_there(prompt.embedded_context),
            meta=prompt.meta,
        ),
        mcp_capabilities=first.McpCapabilities(
            http=_is_there(mcp.http),
            sse=False,
            acp=_is_there(mcp.acp),
            meta=mcp.meta,
            extra={**mcp.extra, "stdio": _is_there(mcp.stdio)},
        ),
        session_capabilities=_session_capabilities(session),
        auth=first.AgentAuthCapabilities(
            status=auth.status,
            logout=first.LogoutCapabilities() if has_login else UNSET,
            meta=auth.meta,
            extra=auth.extra,
        ),
        providers=told.providers,
        meta=told.meta,
        extra={**told.extra, **named},
    )


def _session_capabilities(session: second.SessionCapabilities) -> first.SessionCapabilities:
    known = {"prompt", "mcp"}
    return first.SessionCapabilities(
        list=first.SessionListCapabilities(),
        delete=session.delete,
        additional_directories=session.additional_directories,
        system_prompt=session.system_prompt,
        fork=session.fork,
        archive=session.archive,
        status=session.status,
        title=session.title,
        resume=first.SessionResumeCapabilities(),
        close=first.SessionCloseCapabilities(),
        meta=session.meta,
        extra={name: value for name, value in session.extra.items() if name not in known},
    )


def _auth_method(method: auth2.AuthMethod) -> auth1.AuthMethod:
    match method:
        case auth2.AuthMethodAgent():
            return auth1.AuthMethodAgent(
                method.method_id, method.name, method.description, method.meta, extra=method.extra
            )
        case auth2.AuthMethodTerminal():
            env: Any = method.env
            if isinstance(env, tuple):
                env = {variable.name: variable.value for variable in env}
            return auth1.AuthMethodTerminal(
                method.method_id, method.name, method.description, method.args, env, method.meta, extra=method.extra
            )
        case _:
            named = {"id": method.data["methodId"]} if "methodId" in method.data else {}
            return auth1.UnknownAuthMethod(method.tag, {**method.data, **named}, method.problem)


def _is_there(marker: object | None | Unset) -> bool:
    return marker is not None and marker is not UNSET
