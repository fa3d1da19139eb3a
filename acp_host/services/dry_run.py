"""What a policy would have decided in a recorded conversation: :func:`dry_run`.

It goes through a recording (:mod:`acp_host.recording.format`) and judges every permission request, every file that the
agent wants written and every command that it wants run. Nothing is run or written; links are looked up on the disk of
this machine.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from attrs import evolve, field, frozen

from acp_host.errors import DecodeError, InvalidInput
from acp_host.recording.format import RecordedDirection, RecordedLine, parse_line, read_recording
from acp_host.services.permission_answers import GivenAnswers, shown_edits
from acp_host.services.permission_options import PermissionDecision
from acp_host.services.permission_subject import (
    PermissionSubject,
    subject_of_command,
    subject_of_request,
    subject_of_write,
)
from acp_host.wire._model import UNSET
from acp_host.wire._model import evolve as evolve_wire
from acp_host.wire.converters import structure_tolerant
from acp_host.wire.files import WriteTextFileRequest
from acp_host.wire.permission import RequestPermissionRequest
from acp_host.wire.terminals import CreateTerminalRequest
from acp_host.wire.tool_calls import ToolCall, ToolCallUpdate
from acp_host.wire.updates import SessionNotification

if TYPE_CHECKING:
    from acp_host.services.permissions import Explanation, PermissionPolicy

__all__ = ["DryRunEntry", "dry_run"]

_JUDGED: Mapping[str, type] = {
    "session/request_permission": RequestPermissionRequest,
    "fs/write_text_file": WriteTextFileRequest,
    "terminal/create": CreateTerminalRequest,
}
_OPENING = ("session/new", "session/load", "session/resume", "session/fork")
_DESCRIBED = ("kind", "title", "content", "locations", "raw_input")


@frozen(kw_only=True)
class DryRunEntry:
    """What would have been decided about one recorded request.

    Attributes:
        line: number of its line in its file, from 1.
        method: wire method of the request.
        subject: what it is about.
        explanation: what the policy decides, and why.
        answer: how it was answered in the recording: the id of the chosen option, ``cancelled``, ``done`` or
            ``refused``; ``None`` if it was not answered.
    """

    line: int
    method: str
    subject: PermissionSubject
    explanation: Explanation
    answer: str | None = None

    @property
    def decision(self) -> PermissionDecision:
        """What would have been decided."""
        return self.explanation.decision


@frozen
class _Conversation:
    """What is known of the recorded conversation so far."""

    agent: list[str] = field(factory=lambda: [""])
    cwds: dict[str, str] = field(factory=dict)
    calls: dict[tuple[str, str], ToolCallUpdate | ToolCall] = field(factory=dict)
    given: dict[str, GivenAnswers] = field(factory=dict)
    sent: dict[Any, tuple[str, Mapping[str, Any]]] = field(factory=dict)


def dry_run(policy: PermissionPolicy, recording: str | os.PathLike[str] | Iterable[str]) -> tuple[DryRunEntry, ...]:
    """Return what ``policy`` would have decided about each request of a recording, in its order. Reads the disk.

    As on a connection, what a policy leaves open about a direct write or command is what it has decided in the same
    turn about the agent's own question for exactly that.

    Args:
        policy: decides.
        recording: a file, with its earlier parts, or its lines.

    Raises:
        InvalidInput: the file cannot be read, or a line is none of a recording; says which, and why.
    """
    lines = read_recording(recording) if isinstance(recording, str | os.PathLike) else _parsed(recording)
    seen, made = _Conversation(), list[DryRunEntry]()
    asked: dict[Any, int] = {}
    for line in lines:
        if line.problem is not None:
            raise InvalidInput(f"line {line.number} of the recording cannot be read: {line.problem}")
        message = line.message
        if not isinstance(message, dict):
            continue
        if line.direction == RecordedDirection.OUT and "method" not in message:
            place = asked.pop(_key(message), None)
            if place is not None:
                made[place] = evolve(made[place], answer=_answer(message))
        elif line.direction == RecordedDirection.OUT:
            _sent(seen, message)
        elif message.get("method") in _JUDGED:
            entry = _judged(policy, seen, line.number, message)
            if entry is not None:
                asked[_key(message)] = len(made)
                made.append(entry)
        else:
            _received(seen, message)
    return tuple(made)


def _parsed(lines: Iterable[str]) -> Iterator[RecordedLine]:
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield parse_line(line.encode("utf-8", "surrogatepass"), number)


def _key(message: Mapping[str, Any]) -> str:
    return json.dumps(message.get("id"))


def _params(message: Mapping[str, Any]) -> Mapping[str, Any]:
    params = message.get("params")
    return params if isinstance(params, dict) else {}


def _sent(seen: _Conversation, message: Mapping[str, Any]) -> None:
    method, params = str(message["method"]), _params(message)
    seen.sent[_key(message)] = method, params
    session_id, cwd = params.get("sessionId"), params.get("cwd")
    if method == "session/prompt":
        seen.given[str(session_id)] = GivenAnswers()
    elif method in _OPENING and isinstance(session_id, str) and isinstance(cwd, str):
        seen.cwds[session_id] = cwd


def _received(seen: _Conversation, message: Mapping[str, Any]) -> None:
    if message.get("method") == "session/update":
        _updated(seen, _params(message))
        return
    method, params = seen.sent.pop(_key(message), ("", {}))
    result = message.get("result")
    if not isinstance(result, dict):
        return
    if method == "initialize" and isinstance(result.get("agentInfo"), dict):
        seen.agent[0] = str(result["agentInfo"].get("name", ""))
    elif method in _OPENING and isinstance(result.get("sessionId"), str) and isinstance(params.get("cwd"), str):
        seen.cwds[result["sessionId"]] = params["cwd"]


def _updated(seen: _Conversation, params: Mapping[str, Any]) -> None:
    update = params.get("update")
    if not isinstance(update, dict) or update.get("sessionUpdate") not in ("tool_call", "tool_call_update"):
        return
    try:
        notification, _ = structure_tolerant(params, SessionNotification)
    except DecodeError:
        return
    call = notification.update
    if isinstance(call, ToolCall | ToolCallUpdate):
        key = notification.session_id, call.tool_call_id
        known = seen.calls.get(key)
        seen.calls[key] = call if known is None or isinstance(call, ToolCall) else _merged(known, call)


def _merged(known: ToolCall | ToolCallUpdate, update: ToolCallUpdate) -> ToolCall | ToolCallUpdate:
    said = {name: getattr(update, name) for name in _DESCRIBED}
    return evolve_wire(known, **{name: value for name, value in said.items() if value not in (UNSET, None)})


def _judged(
    policy: PermissionPolicy, seen: _Conversation, number: int, message: Mapping[str, Any]
) -> DryRunEntry | None:
    method = str(message["method"])
    try:
        request, _ = structure_tolerant(_params(message), _JUDGED[method])
    except DecodeError:
        return None  # a host refuses it before anybody decides
    cwd = seen.cwds.get(request.session_id, "/")
    about: dict[str, Any] = {"agent": seen.agent[0], "cwd": cwd}
    given = seen.given.setdefault(request.session_id, GivenAnswers())
    if isinstance(request, RequestPermissionRequest):
        known = seen.calls.get((request.session_id, request.tool_call.tool_call_id))
        subject = subject_of_request(request, **about, known=known)
    else:
        known = None
        of = subject_of_write if isinstance(request, WriteTextFileRequest) else subject_of_command
        subject = of(request, **about)
    if request.session_id not in seen.cwds:
        subject = evolve(subject, readable=False)
    told = policy.judge(subject)
    if isinstance(request, RequestPermissionRequest):
        if told.decision is not PermissionDecision.ASK:
            calls = [request.tool_call, *([known] if known is not None else [])]
            given.add(subject, allows=told.decision.allows, once=True, edits=shown_edits(calls, cwd))
    elif told.rule is None or told.decision is PermissionDecision.ASK:
        told = _as_given(told, given, request, subject)
    return DryRunEntry(line=number, method=method, subject=subject, explanation=told)


def _as_given(told: Explanation, given: GivenAnswers, request: Any, subject: PermissionSubject) -> Explanation:
    if isinstance(request, WriteTextFileRequest):
        answer = given.for_write(subject, request.content)
    else:
        answer = given.for_command(subject, (request.command, *(request.args or ())))
    if answer is None:
        return told
    decision = PermissionDecision.ALLOW_ONCE if answer else PermissionDecision.REJECT_ONCE
    return evolve(told, decision=decision, reason="the same was decided about the agent's question in this turn")


def _answer(message: Mapping[str, Any]) -> str:
    if "error" in message:
        return "refused"
    result = message.get("result")
    outcome = result.get("outcome") if isinstance(result, dict) else None
    if not isinstance(outcome, dict):
        return "done"
    return str(outcome.get("optionId", outcome.get("outcome")))
