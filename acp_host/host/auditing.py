"""Fills the audit trail: :class:`Auditor`.

It is told of every answer to the agent where answers are sent, so there is no way around it: what was served, refused,
withdrawn, cancelled, or never reached a handler leaves one record. Who decides a request says so beforehand, by
:meth:`~acp_host.host.incoming.IncomingRequests.attribute`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.errors import InvalidParams, MethodNotFound, RequestCancelled, RequestFailed
from acp_host.host.incoming import OpenRequest
from acp_host.redaction import redact_text
from acp_host.services.audit import Attribution, AuditDecision, AuditRecord, AuditTrail, DecidedBy
from acp_host.services.command_line import command_line
from acp_host.services.permission_options import chosen_option
from acp_host.state.clock import Clock
from acp_host.wire.permission import PermissionOptionKind, RequestPermissionResponse

__all__ = ["Auditor", "decision_of"]


_USER = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*:[/\\]*)[^/\\]*@")
"""The beginning of an address, up to the host; who is named there may be a key."""


def _permission_subject(params: Any) -> str:
    return str(params.tool_call.title or params.tool_call.tool_call_id)


def _elicitation_subject(params: Any) -> str:
    from acp_host.wire.elicitation import ElicitationUrlMode  # loaded for agents that ask something

    if isinstance(params, ElicitationUrlMode):  # the address may have a secret in it
        return _USER.sub(r"\1", params.url.partition("?")[0].partition("#")[0])
    return str(getattr(params, "message", "") or "")


_SUBJECTS: Mapping[str, Callable[[Any], str]] = {
    "fs/read_text_file": lambda params: params.path,
    "fs/write_text_file": lambda params: params.path,
    "terminal/create": lambda params: command_line(params.command, params.args or ()),
    "session/request_permission": _permission_subject,
    "elicitation/create": _elicitation_subject,
}
"""The methods that leave a record → what such a request is about."""

_KINDS: Mapping[str, AuditDecision] = {
    PermissionOptionKind.ALLOW_ONCE: AuditDecision.ALLOWED,
    PermissionOptionKind.ALLOW_ALWAYS: AuditDecision.ALLOWED,
    PermissionOptionKind.REJECT_ONCE: AuditDecision.REJECTED,
    PermissionOptionKind.REJECT_ALWAYS: AuditDecision.REJECTED,
}


class Auditor:
    """Makes a record of each answer to the agent.

    Args:
        trail: where the records go.
        agent_name: says who the agent is.
        clock: says when.
        redact: takes secrets out of a text; an agent may put one into a command or a title.
        peer: says where the agent is, if it is elsewhere.
    """

    def __init__(
        self,
        trail: AuditTrail,
        agent_name: Callable[[], str],
        clock: Clock,
        redact: Callable[[str], str] = redact_text,
        peer: Callable[[], str | None] = lambda: None,
    ) -> None:
        self._trail = trail
        self._agent_name = agent_name
        self._clock = clock
        self._redact = redact
        self._peer = peer

    def answered(self, request: OpenRequest, answer: Any) -> None:
        """Take the answer to a request: a result, or the error that it is answered with."""
        told = request.attribution
        read = decision_of(request, answer)
        if read is None:
            return
        decision, by, detail = read
        subject_of = _SUBJECTS[request.method]
        session_id = getattr(request.params, "session_id", None) or None
        subject = told.subject if told is not None and told.subject else subject_of(request.params)
        self._add(session_id, request.method, subject, decision, by, None if told is None else told.rule, detail)

    def refused(self, diagnostic: Diagnostic) -> None:
        """Take a request that was refused before it reached a handler: not offered, or not readable."""
        method, kinds = diagnostic.method, (DiagnosticKind.UNKNOWN_METHOD, DiagnosticKind.MALFORMED)
        if method in _SUBJECTS and diagnostic.kind in kinds:
            session_id, decision = diagnostic.session_id, AuditDecision.REJECTED
            self._add(session_id, str(method), "", decision, DecidedBy.HOST, None, diagnostic.message)

    def _add(
        self,
        session_id: str | None,
        action: str,
        subject: str,
        decision: AuditDecision,
        by: DecidedBy,
        rule: str | None,
        detail: str,
    ) -> None:
        self._trail.add(
            AuditRecord(
                time=self._clock.now(),
                session_id=None if session_id is None else self._redact(session_id),
                agent=self._agent_name(),
                action=action,
                subject=self._redact(subject),
                decision=decision,
                decided_by=by,
                rule=rule,
                detail=self._redact(detail),
                peer=self._peer(),
            )
        )


def decision_of(request: OpenRequest, answer: Any) -> tuple[AuditDecision, DecidedBy, str] | None:
    """Return how a request ended, who decided it, and in which words; ``None`` for one that needs no decision."""
    return _read(request, answer) if request.method in _SUBJECTS else None


def _read(request: OpenRequest, answer: Any) -> tuple[AuditDecision, DecidedBy, str]:
    """Return how a request ended, who decided it, and in which words."""
    if request.by_host or isinstance(answer, RequestCancelled):
        return _kind_of(request, answer), DecidedBy.HOST, _message(answer) or "nobody needed the answer any more"
    told = request.attribution
    if told is None:
        told = Attribution(DecidedBy.HOST if request.handler_failed else _usual(request.method))
    if told.decision is not None:
        return told.decision, told.by, told.detail or _message(answer)
    if isinstance(answer, RequestFailed):
        return _read_error(answer, told.by)
    return _kind_of(request, answer), told.by, told.detail


def _usual(method: str) -> DecidedBy:
    """Return who decides about requests of a method where nobody says otherwise."""
    by = {"elicitation/create": DecidedBy.USER, "session/request_permission": DecidedBy.HOST}
    return by.get(method, DecidedBy.CONSENT)


def _kind_of(request: OpenRequest, answer: Any) -> AuditDecision:
    """Return what a result says."""
    if isinstance(answer, RequestFailed):
        return AuditDecision.CANCELLED
    if isinstance(answer, RequestPermissionResponse):
        option = chosen_option(request.params, answer.outcome)
        return AuditDecision.CANCELLED if option is None else _KINDS.get(option.kind, AuditDecision.ANSWERED)
    return _kind_of_answer(answer) if request.method == "elicitation/create" else AuditDecision.ALLOWED


def _kind_of_answer(answer: Any) -> AuditDecision:
    from acp_host.wire.elicitation import ElicitationAcceptAction, ElicitationCancelAction

    if isinstance(answer, ElicitationCancelAction):
        return AuditDecision.CANCELLED
    return AuditDecision.ALLOWED if isinstance(answer, ElicitationAcceptAction) else AuditDecision.REJECTED


def _read_error(error: RequestFailed, by: DecidedBy) -> tuple[AuditDecision, DecidedBy, str]:
    if isinstance(error, InvalidParams):
        return AuditDecision.REJECTED, DecidedBy.CONFINEMENT, error.message
    if isinstance(error, MethodNotFound):
        return AuditDecision.REJECTED, DecidedBy.HOST, error.message
    return AuditDecision.FAILED, by, error.message


def _message(answer: Any) -> str:
    return answer.message if isinstance(answer, RequestFailed) else ""
