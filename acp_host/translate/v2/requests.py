"""Requests and answers of version 2 in the words of version 1: :func:`outgoing`, :func:`incoming`, :func:`answer`.

A host asks in version 1's words and is answered in them. What an agent of version 2 is asked in their place:

=================================  =====================================================================================
version 1                          version 2
=================================  =====================================================================================
``authenticate``, ``logout``       ``auth/login``, ``auth/logout``
``session/load``                   ``session/resume`` with ``replayFrom`` the start
``session/set_mode``               nothing: modes are a configuration option of the category ``mode``
``session/prompt``                 the same, but its answer only says that the prompt has its place in the conversation
all others                         the same, with other parameters and answers
=================================  =====================================================================================

What an agent asks becomes a request of version 1 in the same way, and an answer in version 1's words one of version 2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

from acp_host.errors import InvalidInput, NotSupported
from acp_host.translate.v2.values import (
    blocks_to_v2,
    commands_to_v1,
    location_to_v1,
    options_to_v1,
    produced_to_v1,
    server_to_v2,
    system_prompt_to_v2,
)
from acp_host.wire import auth as auth1
from acp_host.wire import config_options as options1
from acp_host.wire import elicitation as elicitation1
from acp_host.wire import prompt as prompt1
from acp_host.wire import session as session1
from acp_host.wire import tool_calls as calls1
from acp_host.wire._model import UNSET, Model, Unset
from acp_host.wire.converters import check, structure_tolerant, unstructure
from acp_host.wire.ids import RequestId
from acp_host.wire.methods import MethodKind, agent_method
from acp_host.wire.permission_question import AskedCall, PermissionQuestion
from acp_host.wire.v2 import auth as auth2
from acp_host.wire.v2 import config_options as options2
from acp_host.wire.v2 import elicitation as elicitation2
from acp_host.wire.v2 import prompt as prompt2
from acp_host.wire.v2 import session as session2
from acp_host.wire.v2 import tool_calls as calls2
from acp_host.wire.v2.permission import (
    CommandPermissionSubject,
    RequestPermissionRequest,
    ToolCallPermissionSubject,
    UnknownPermissionSubject,
)

__all__ = ["Outgoing", "answer", "call_told_in", "incoming", "outgoing"]


def _same(value: Any) -> Any:
    return value


@frozen
class Outgoing:
    """A message to an agent of version 2.

    Attributes:
        method: wire method.
        params: its parameters: a wire type, or plain JSON of an extension.
        back: returns its result as version 1 has it.
    """

    method: str
    params: Any
    back: Callable[[Any], Any] = _same


def outgoing(method: str, params: Any, kind: MethodKind = MethodKind.REQUEST) -> Outgoing:
    """Return what an agent of version 2 is sent for a message of version 1.

    Args:
        method: wire method of version 1; any other passes as it is.
        params: its wire type, or plain JSON of the same shape; what has the types of version 2 passes as it is.
        kind: whether it is answered.

    Raises:
        NotSupported: version 2 has no such thing.
        InvalidInput: plain JSON does not fit the schema of version 1.
    """
    if method == "session/set_mode":
        raise NotSupported(
            "ACP version 2 has no session/set_mode: a mode is a configuration option of the category 'mode', for "
            "set_config_option. Nothing was sent.",
            capability=method,
            method=method,
        )
    translator = _OUTGOING.get(method)
    entry = agent_method(method, kind)
    if translator is None or entry is None:
        return Outgoing(method, params)
    typed = _typed(params, entry.params_type, method)
    return translator(typed) if isinstance(typed, entry.params_type) else Outgoing(method, params)


def _typed(params: Any, hint: Any, method: str) -> Any:
    if isinstance(params, Model):
        return params
    members = {} if params is UNSET or params is None else params
    if not isinstance(members, Mapping):
        raise InvalidInput(f"the parameters of {method} are an object, not {type(params).__name__}")
    check(members, hint, method)
    return structure_tolerant(dict(members), hint)[0]


# --- what the host asks -----------------------------------------------------------------------------------------------


def _login(request: auth1.AuthenticateRequest) -> Outgoing:
    params = auth2.LoginAuthRequest(request.method_id, request.meta, extra=request.extra)
    return Outgoing("auth/login", params, lambda done: auth1.AuthenticateResponse(done.meta, extra=done.extra))


def _logout(request: auth1.LogoutRequest) -> Outgoing:
    params = auth2.LogoutAuthRequest(request.meta, extra=request.extra)
    return Outgoing("auth/logout", params, lambda done: auth1.LogoutResponse(done.meta, extra=done.extra))


def _setup(request: Any) -> dict[str, Any]:
    """Return what all requests that open a session have in common."""
    servers = request.mcp_servers
    return {
        "cwd": request.cwd,
        "additional_directories": request.additional_directories,
        "mcp_servers": servers if isinstance(servers, Unset) else tuple([server_to_v2(server) for server in servers]),
        "system_prompt": system_prompt_to_v2(request.system_prompt),
        "meta": request.meta,
        "extra": request.extra,
    }


def _new_session(request: session1.NewSessionRequest) -> Outgoing:
    def back(opened: session2.NewSessionResponse) -> session1.NewSessionResponse:
        return session1.NewSessionResponse(opened.session_id, **_opened(opened))

    return Outgoing("session/new", session2.NewSessionRequest(**_setup(request)), back)


def _fork_session(request: session1.ForkSessionRequest) -> Outgoing:
    def back(opened: session2.ForkSessionResponse) -> session1.ForkSessionResponse:
        return session1.ForkSessionResponse(opened.session_id, **_opened(opened))

    return Outgoing("session/fork", session2.ForkSessionRequest(request.session_id, **_setup(request)), back)


def _load_session(request: session1.LoadSessionRequest) -> Outgoing:
    params = session2.ResumeSessionRequest(
        request.session_id, replay_from=session2.ReplayFromStart(), **_setup(request)
    )
    return Outgoing("session/resume", params, lambda opened: session1.LoadSessionResponse(**_opened(opened)))


def _resume_session(request: session1.ResumeSessionRequest) -> Outgoing:
    params = session2.ResumeSessionRequest(request.session_id, **_setup(request))
    return Outgoing("session/resume", params, lambda opened: session1.ResumeSessionResponse(**_opened(opened)))


def _opened(response: Any) -> dict[str, Any]:
    """Return what all answers that open a session have in common; the commands are in ``extra``, as wire JSON."""
    options, commands = response.config_options, response.available_commands
    extra = response.extra
    if not isinstance(commands, Unset):
        extra = {**extra, "availableCommands": [unstructure(command) for command in commands_to_v1(commands)]}
    return {
        "config_options": options if isinstance(options, Unset) else options_to_v1(options),
        "meta": response.meta,
        "extra": extra,
    }


def _list_sessions(request: session1.ListSessionsRequest) -> Outgoing:
    def back(page: session2.ListSessionsResponse) -> session1.ListSessionsResponse:
        sessions = tuple([_session_info(info) for info in page.sessions])
        return session1.ListSessionsResponse(sessions, page.next_cursor, page.meta, extra=page.extra)

    return Outgoing("session/list", request, back)


def _session_info(info: session2.SessionInfo) -> session1.SessionInfo:
    return session1.SessionInfo(
        info.session_id,
        info.cwd,
        info.additional_directories,
        info.title,
        info.updated_at,
        info.archived,
        info.meta,
        extra=info.extra,
    )


def _session_status(request: session1.SessionStatusRequest) -> Outgoing:
    def back(told: session2.SessionStatusResponse) -> session1.SessionStatusResponse:
        state = unstructure(told).get("state", UNSET)
        extra = told.extra if state is UNSET else {**told.extra, "state": state}
        return session1.SessionStatusResponse(told.status, told.meta, extra=extra)

    return Outgoing("session/status", request, back)


def _set_config_option(request: options1.SetSessionConfigOptionRequest) -> Outgoing:
    is_switch = isinstance(request.value, bool)
    params = options2.SetSessionConfigOptionRequest(
        request.session_id,
        request.config_id,
        options2.ConfigValueType.BOOLEAN if is_switch else options2.ConfigValueType.ID,
        request.value,
        request.meta,
        extra=request.extra,
    )

    def back(taken: options2.SetSessionConfigOptionResponse) -> options1.SetSessionConfigOptionResponse:
        options = options_to_v1(taken.config_options)
        return options1.SetSessionConfigOptionResponse(options, taken.meta, extra=taken.extra)

    return Outgoing("session/set_config_option", params, back)


def _prompt(request: prompt1.PromptRequest) -> Outgoing:
    blocks = blocks_to_v2(request.prompt)
    _check_priorities(request.prompt)
    return Outgoing(
        "session/prompt",
        prompt2.PromptRequest(request.session_id, blocks, request.meta, extra=request.extra),
    )


def _check_priorities(blocks: Any) -> None:
    for block in blocks:
        annotations = getattr(block, "annotations", None)
        priority = getattr(annotations, "priority", None)
        if isinstance(priority, int | float) and not 0 <= priority <= 1:
            raise InvalidInput(f"the priority of a content block is from 0 to 1 in ACP version 2, not {priority}")


def _cancel(request: prompt1.CancelNotification) -> Outgoing:
    params = prompt2.CancelSessionNotification(request.session_id, request.meta, extra=request.extra)
    return Outgoing("session/cancel", params)


_OUTGOING: Mapping[str, Callable[[Any], Outgoing]] = {
    "authenticate": _login,
    "logout": _logout,
    "session/new": _new_session,
    "session/load": _load_session,
    "session/resume": _resume_session,
    "session/fork": _fork_session,
    "session/list": _list_sessions,
    "session/status": _session_status,
    "session/set_config_option": _set_config_option,
    "session/prompt": _prompt,
    "session/cancel": _cancel,
}
"""Messages of version 1 that version 2 has otherwise; all others are the same."""


# --- what the agent asks ----------------------------------------------------------------------------------------------


def call_told_in(params: Any) -> calls2.ToolCallUpdate | None:
    """Return what a permission request says anew of a tool call, which counts like an update; ``None`` if nothing."""
    subject = params.subject if isinstance(params, RequestPermissionRequest) else None
    return subject.tool_call if isinstance(subject, ToolCallPermissionSubject) else None


def incoming(params: Any, request_id: RequestId) -> Any:
    """Return the parameters of a request of version 2 as version 1 has them; what is the same there passes as it is.

    Args:
        params: its parameters.
        request_id: the agent's id of the request.
    """
    translator = _INCOMING.get(type(params))
    return params if translator is None else translator(params, request_id)


def _permission(request: RequestPermissionRequest, request_id: RequestId) -> PermissionQuestion:
    return PermissionQuestion(
        session_id=request.session_id,
        tool_call=_described(request, f"permission:{request_id}"),
        options=request.options,
        meta=request.meta,
        title=request.title,
        description=request.description or "",
        extra=request.extra,
    )


def _described(request: RequestPermissionRequest, own_id: str) -> AskedCall:
    """Return what is to be permitted in the form of a tool call; ``own_id`` names one that there is not."""
    match request.subject:
        case ToolCallPermissionSubject(tool_call):
            return _call(tool_call)
        case CommandPermissionSubject() as told:
            return AskedCall(
                told.tool_call_id or own_id,
                kind=calls1.ToolKind.EXECUTE,
                title=request.title,
                content=(calls1.Terminal(told.terminal_id),) if told.terminal_id else UNSET,
                raw_input={"command": told.command, "cwd": told.cwd},
            )
        case UnknownPermissionSubject() as unknown:
            return AskedCall(own_id, title=request.title, raw_input=unknown.data)
        case _:
            return AskedCall(own_id, title=request.title)


def _call(call: calls2.ToolCallUpdate) -> AskedCall:
    content: Any = call.content
    locations: Any = call.locations
    return AskedCall(
        call.tool_call_id,
        kind=call.kind,
        status=call.status,
        title=call.title,
        name=call.name,
        content=tuple(map(produced_to_v1, content)) if content else content,
        locations=tuple([location_to_v1(place) for place in locations]) if locations else locations,
        raw_input=call.raw_input,
        raw_output=call.raw_output,
        meta=call.meta,
        extra=call.extra,
    )


def _form(request: elicitation2.ElicitationFormMode, _: RequestId) -> elicitation1.ElicitationFormMode:
    schema = request.requested_schema
    return elicitation1.ElicitationFormMode(
        request.message,
        elicitation1.ElicitationSchema(
            type=schema.type,
            title=schema.title,
            properties=schema.properties,
            required=schema.required,
            description=schema.description,
            meta=schema.meta,
            extra=schema.extra,
        ),
        request.session_id,
        request.tool_call_id,
        request.request_id,
        request.meta,
        extra=request.extra,
    )


def _page(request: elicitation2.ElicitationUrlMode, _: RequestId) -> elicitation1.ElicitationUrlMode:
    return elicitation1.ElicitationUrlMode(
        request.message,
        request.elicitation_id,
        request.url,
        request.session_id,
        request.tool_call_id,
        request.request_id,
        request.meta,
        extra=request.extra,
    )


_INCOMING: Mapping[type, Callable[[Any, RequestId], Any]] = {
    RequestPermissionRequest: _permission,
    elicitation2.ElicitationFormMode: _form,
    elicitation2.ElicitationUrlMode: _page,
}


def answer(result: Any) -> Any:
    """Return the answer to an agent's request as version 2 has it; what is the same there passes as it is."""
    if isinstance(result, elicitation1.ElicitationAcceptAction):
        return elicitation2.ElicitationAcceptAction(result.content, result.meta, extra=result.extra)
    return result
