"""The host's own questions: :class:`HostPermissionRequest`.

An agent may ask the host to write a file or to run a command without having asked for permission. Where somebody is to
be asked, the host asks in the agent's place, in the same form. A user interface tells the two apart by the class of the
request; nothing that an agent sends is of this class.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from acp_host.services.permission_subject import PermissionSubject
from acp_host.wire._model import UNSET, model
from acp_host.wire.files import WriteTextFileRequest
from acp_host.wire.permission import PermissionOption, PermissionOptionKind, RequestPermissionRequest
from acp_host.wire.tool_calls import ToolCallLocation, ToolCallUpdate

if TYPE_CHECKING:
    from acp_host.wire.terminals import CreateTerminalRequest

__all__ = ["HostPermissionRequest", "asks_for"]

_OPTIONS = (
    PermissionOption("allow_once", "Allow", PermissionOptionKind.ALLOW_ONCE),
    PermissionOption("allow_always", "Allow for this session", PermissionOptionKind.ALLOW_ALWAYS),
    PermissionOption("reject_once", "Reject", PermissionOptionKind.REJECT_ONCE),
    PermissionOption("reject_always", "Reject for this session", PermissionOptionKind.REJECT_ALWAYS),
)
_numbers = itertools.count(1)


@model
class HostPermissionRequest(RequestPermissionRequest):
    """A permission request that the host made itself, for what the agent did not ask about.

    Attributes:
        method: wire method of the request that waits for the answer.
    """

    method: str = ""


def asks_for(
    request: WriteTextFileRequest | CreateTerminalRequest, subject: PermissionSubject
) -> HostPermissionRequest:
    """Return the question whether the agent's ``request`` may be done."""
    locations = tuple(ToolCallLocation(path) for path in subject.named_paths)
    if isinstance(request, WriteTextFileRequest):
        method, given = "fs/write_text_file", {"path": request.path, "content": request.content}
    else:
        method, given = "terminal/create", {"command": subject.command or "", "cwd": request.cwd or subject.cwd}
    call = ToolCallUpdate(
        tool_call_id=f"acp_host:{next(_numbers)}",
        kind=subject.kind,
        title=subject.title,
        locations=locations or UNSET,
        raw_input=given,
    )
    return HostPermissionRequest(session_id=request.session_id, tool_call=call, options=_OPTIONS, method=method)
