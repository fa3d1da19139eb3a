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
from acp_host.wire import auth as v1_auth
from acp_host.wire import config_options as v1_options
from acp_host.wire import elicitation as v1_elicitation
from acp_host.wire import prompt as v1_prompt
from acp_host.wire import session as v1_session
from acp_host.wire import tool_calls as v1_calls
from acp_host.wire._model import UNSET, Model, Unset
from acp_host.wire.converters import check, structure_tolerant, unstructure
from acp_host.wire.ids import RequestId
from acp_host.wire.methods import MethodKind, agent_method
from acp_host.wire.permission_question import AskedCall, PermissionQuestion
from acp_host.wire.v2 import auth as v2_auth
from acp_host.wire.v2 import config_options as v2_options
from acp_host.wire.v2 import elicitation as v2_elicitation
from acp_host.wire.v2 import prompt as v2_prompt
from acp_host.wire.v2 import session as v2_session
from acp_host.wire.v2 import tool_calls as v2_calls
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


def _login(request: v1_auth.AuthenticateRequest) -> Outgoing:
    params = v2_auth.LoginAuthRequest(request.method_id, request.meta, extra=request.extra)
    return Outgoing("auth/login", params, lambda done: v1_auth.AuthenticateResponse(done.meta, extra=done.extra))


def _logout(request: v1_auth.LogoutRequest) -> Outgoing:
    params = v2_auth.LogoutAuthRequest(request.meta, extra=request.extra)
    return Outgoing("auth/logout", params, lambda done: v1_auth.LogoutResponse(done.meta, extra=done.extra))


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


def _new_session(request: v1_session.NewSessionRequest) -> Outgoing:
    def back(opened: v2_session.NewSessionResponse) -> v1_session.NewSessionResponse:
        return v1_session.NewSessionResponse(opened.session_id, **_opened(opened))

    return Outgoing("session/new", v2_session.NewSessionRequest(**_setup(request)), back)


def _fork_session(request: v1_session.ForkSessionRequest) -> Outgoing:
    def back(opened: v2_session.ForkSessionResponse) -> v1_session.ForkSessionResponse:
        return v1_session.ForkSessionResponse(opened.session_id, **_opened(opened))

    return Outgoing("session/fork", v2_session.ForkSessionRequest(request.session_id, **_setup(request)), back)


def _load_session(request: v1_session.LoadSessionRequest) -> Outgoing:
    params = v2_session.ResumeSessionRequest(
        request.session_id, replay_from=v2_session.ReplayFromStart(), **_setup(request)
    )
    return Outgoing("session/resume", params, lambda opened: v1_session.LoadSessionResponse(**_opened(opened)))


def _resume_session(request: v1_session.ResumeSessionRequest) -> Outgoing:
    params = v2_session.ResumeSessionRequest(request.session_id, **_setup(request))
    return Outgoing("session/resume", params, lambda opened: v1_session.ResumeSessionResponse(**_opened(opened)))


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


def _list_sessions(request: v1_session.ListSessionsRequest) -> Outgoing:
    def back(page: v2_session.ListSessionsResponse) -> v1_session.ListSessionsResponse:
        sessions = tuple([_session_info(info) for info in page.sessions])
        return v1_session.ListSessionsResponse(sessions, page.next_cursor, page.meta, extra=page.extra)

    return Outgoing("session/list", request, back)


def _session_info(info: v2_session.SessionInfo) -> v1_session.SessionInfo:
    return v1_session.SessionInfo(
        info.session_id,
        info.cwd,
        info.additional_directories,
        info.title,
        info.updated_at,
        info.archived,
        info.meta,
        extra=info.extra,
    )


def _session_status(request: v1_session.SessionStatusRequest) -> Outgoing:
    def back(told: v2_session.SessionStatusResponse) -> v1_session.SessionStatusResponse:
        state = unstructure(told).get("state", UNSET)
        extra = told.extra if state is UNSET else {**told.extra, "state": state}
        return v1_session.SessionStatusResponse(told.status, told.meta, extra=extra)

    return Outgoing("session/status", request, back)


def _set_config_option(request: v1_options.SetSessionConfigOptionRequest) -> Outgoing:
    is_switch = isinstance(request.value, bool)
    params = v2_options.SetSessionConfigOptionRequest(
        request.session_id,
        request.config_id,
        v2_options.ConfigValueType.BOOLEAN if is_switch else v2_options.ConfigValueType.ID,
        request.value,
        request.meta,
        extra=request.extra,
    )

    def back(taken: v2_options.SetSessionConfigOptionResponse) -> v1_options.SetSessionConfigOptionResponse:
        options = options_to_v1(taken.config_options)
        return v1_options.SetSessionConfigOptionResponse(options, taken.meta, extra=taken.extra)

    return Outgoing("session/set_config_option", params, back)


def _prompt(request: v1_prompt.PromptRequest) -> Outgoing:
    blocks = blocks_to_v2(request.prompt)
    _check_priorities(request.prompt)
    return Outgoing(
        "session/prompt",
        v2_prompt.PromptRequest(request.session_id, blocks, request.meta, extra=request.extra),
    )


def _check_priorities(blocks: Any) -> None:
    for block in blocks:
        annotations = getattr(block, "annotations", None)
        priority = getattr(annotations, "priority", None)
        if isinstance(priority, int | float) and not 0 <= priority <= 1:
            raise InvalidInput(f"the priority of a content block is from 0 to 1 in ACP version 2, not {priority}")


def _cancel(request: v1_prompt.CancelNotification) -> Outgoing:
    params = v2_prompt.CancelSessionNotification(request.session_id, request.meta, extra=request.extra)
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


def call_told_in(params: Any) -> v2_calls.ToolCallUpdate | None:
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
                kind=v1_calls.ToolKind.EXECUTE,
                title=request.title,
                content=(v1_calls.Terminal(told.terminal_id),) if told.terminal_id else UNSET,
                raw_input={"command": told.command, "cwd": told.cwd},
            )
        case UnknownPermissionSubject() as unknown:
            return AskedCall(own_id, title=request.title, raw_input=unknown.data)
        case _:
            return AskedCall(own_id, title=request.title)


def _call(call: v2_calls.ToolCallUpdate) -> AskedCall:
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


def _form(request: v2_elicitation.ElicitationFormMode, _: RequestId) -> v1_elicitation.ElicitationFormMode:
    schema = request.requested_schema
    return v1_elicitation.ElicitationFormMode(
        request.message,
        v1_elicitation.ElicitationSchema(
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


def _page(request: v2_elicitation.ElicitationUrlMode, _: RequestId) -> v1_elicitation.ElicitationUrlMode:
    return v1_elicitation.ElicitationUrlMode(
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
    v2_elicitation.ElicitationFormMode: _form,
    v2_elicitation.ElicitationUrlMode: _page,
}


def answer(result: Any) -> Any:
    """Return the answer to an agent's request as version 2 has it; what is the same there passes as it is."""
    if isinstance(result, v1_elicitation.ElicitationAcceptAction):
        return v2_elicitation.ElicitationAcceptAction(result.content, result.meta, extra=result.extra)
    return result
