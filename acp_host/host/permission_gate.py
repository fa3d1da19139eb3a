"""Between the agent's wishes and what is done: :class:`PermissionGate`.

It puts what :mod:`acp_host.services` has together for one connection: the policy decides, what is remembered answers,
a person is asked, and what was answered in a turn holds for what the agent then asks the host to do.

==================  ==================================  =====================================================
``permissions=``    what the agent asks permission for  files it writes and commands it runs through the host
==================  ==================================  =====================================================
nothing             rejected                            done, but for what was refused in this turn
a policy            as the policy says; it rejects      as the policy says; ``ask`` and the default give way
                    what it would ask                   to what was answered in this turn
a handler or queue  asked                               asked, unless it was answered in this turn
``Permissions``     as its policy says                  as its policy says, in the same way
==================  ==================================  =====================================================
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from attrs import evolve, frozen

from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.errors import AcpError, InvalidParams
from acp_host.host.harn_decisions import decided
from acp_host.host.incoming import IncomingRequests
from acp_host.host.session import Session
from acp_host.host.session_table import SessionTable
from acp_host.host.turn import Turn
from acp_host.services._awaiting import awaited
from acp_host.services.audit import Attribution, AuditDecision, DecidedBy
from acp_host.services.permission_answers import GivenAnswers, ShownEdit, shown_edits
from acp_host.services.permission_memory import RememberedDecisions, RememberScope
from acp_host.services.permission_options import ALLOWING, REJECTING, PermissionDecision, chosen_option, outcome_for
from acp_host.services.permission_queue import PermissionQueue
from acp_host.services.permission_requests import HostPermissionRequest, asks_for
from acp_host.services.permission_subject import (
    DescribedCall,
    PermissionSubject,
    subject_of_command,
    subject_of_request,
    subject_of_write,
)
from acp_host.services.permissions import Explanation, Permissions, checked_answer
from acp_host.wire.files import WriteTextFileRequest
from acp_host.wire.permission import (
    CancelledPermissionOutcome,
    PermissionOptionKind,
    RequestPermissionOutcome,
    RequestPermissionRequest,
    RequestPermissionResponse,
)

if TYPE_CHECKING:
    from acp_host.services.permission_memory import RememberedDecision
    from acp_host.wire.terminals import CreateTerminalRequest

__all__ = ["PermissionGate"]

_ALWAYS = (PermissionOptionKind.ALLOW_ALWAYS, PermissionOptionKind.REJECT_ALWAYS)


@frozen(kw_only=True)
class _Verdict:
    """An answer and where it comes from.

    Attributes:
        outcome: the answer.
        by: who gave it.
        kind: kind of the chosen option; ``None`` if none was chosen.
        refused: it was meant as a refusal, although no option says so.
        rule: name of the rule that decided.
        detail: more words.
        scope: how long the user wants it to be remembered.
    """

    outcome: RequestPermissionOutcome
    by: DecidedBy
    kind: str | None = None
    refused: bool = False
    rule: str | None = None
    detail: str = ""
    scope: RememberScope | None = None

    @property
    def allows(self) -> bool:
        return self.kind in ALLOWING

    def response(self, *, is_harn: bool) -> RequestPermissionResponse:
        if not is_harn:
            return RequestPermissionResponse(self.outcome)
        refuses = self.kind in REJECTING
        return decided(self.outcome, self.by, allows=self.allows, refuses=refuses, reason=self.detail)


class PermissionGate:
    """Decides for one connection.

    Args:
        permissions: how.
        incoming: shows that the user is asked about a request, and keeps who decided about it.
        sessions: says whose a request is.
        agent_name: says who the agent is.
        is_harn: tells whether it is Harn.
        text_of: returns the text that a file has now, which an agent wants to write; ``None`` if there is none.
        report: takes diagnostics.
    """

    def __init__(
        self,
        permissions: Permissions,
        *,
        incoming: IncomingRequests,
        sessions: SessionTable,
        agent_name: Callable[[], str],
        is_harn: Callable[[], bool],
        text_of: Callable[[WriteTextFileRequest], Awaitable[str | None]],
        report: Callable[[Diagnostic], None],
    ) -> None:
        self._permissions = permissions
        self._memory = permissions.remember or RememberedDecisions()
        self._incoming = incoming
        self._sessions = sessions
        self._agent_name = agent_name
        self._is_harn = is_harn
        self._text_of = text_of
        self._report = report
        self._given: WeakKeyDictionary[Turn, GivenAnswers] = WeakKeyDictionary()

    async def answer(self, request: RequestPermissionRequest) -> RequestPermissionResponse:
        """Return the answer to the agent's own question; it never raises."""
        session = self._sessions.owner(request.session_id)
        if session is not None and not session.standing.may_decide:
            outcome = await self._decided_elsewhere(request, session)
            if outcome is not None:
                return RequestPermissionResponse(outcome)
        turn = None if session is None else session.current_turn
        known = None if session is None else _known_call(session, request)
        subject, edits, told = await asyncio.to_thread(self._look_at_question, request, session, known)
        verdict = await self._decide(request, subject, told)
        decision = AuditDecision.REJECTED if verdict.refused else None
        attribution = Attribution(
            verdict.by, decision=decision, subject=subject.summary, rule=verdict.rule, detail=verdict.detail
        )
        self._incoming.attribute(request, attribution)
        if turn is not None:
            turn.note_choice(request, verdict.outcome)
            if verdict.kind in (None, *ALLOWING, *REJECTING):  # what another kind means, nobody here knows
                once = verdict.kind != PermissionOptionKind.ALLOW_ALWAYS
                self._given_in(turn).add(subject, allows=verdict.allows, once=once, edits=edits)
        if session is not None and verdict.allows:
            always = verdict.kind == PermissionOptionKind.ALLOW_ALWAYS and verdict.by is DecidedBy.USER
            session.permitted(subject, always=always)
        elif session is not None:
            session.refused(subject)
        return verdict.response(is_harn=self._is_harn())

    async def _decided_elsewhere(
        self, request: RequestPermissionRequest, session: Session
    ) -> RequestPermissionOutcome | None:
        """Return the answer to a question that another client is to decide; ``None`` once it is this host's."""
        by, detail = DecidedBy.HOST, "another client controls the session"
        try:
            runs_here = session.current_turn is not None
            outcome = await session.standing.decide_elsewhere(request, runs_here=runs_here)
            if outcome is not None:
                outcome = checked_answer(request, outcome)[0]
        except Exception as error:
            outcome, detail = CancelledPermissionOutcome(), f"{type(error).__name__}: {error}"
            text = f"the handler for another client's permission request failed, so it was cancelled: {detail}"
            self._say(DiagnosticKind.HANDLER_FAILED, text, request)
        if outcome is None:
            self._incoming.show_question(request)
        else:
            self._incoming.attribute(request, Attribution(by, detail=detail))
        return outcome

    async def admit(self, request: WriteTextFileRequest | CreateTerminalRequest, *, is_program: bool = False) -> None:
        """Return if the agent may do what it wants the host to do.

        Args:
            request: what it wants.
            is_program: a command is the name of a program, as for
                :func:`~acp_host.services.permission_subject.subject_of_command`.

        Raises:
            InvalidParams: it may not.
            RequestCancelled: the turn was cancelled before anybody had answered.
        """
        session = self._sessions.owner(request.session_id)
        subject, told = await asyncio.to_thread(self._look_at_wish, request, session, is_program)
        if told is None or told.rule is None or told.decision is PermissionDecision.ASK:
            given = await self._given_answer(session, request, subject)
            if given is not None:
                self._conclude(request, subject, given, DecidedBy.APPROVAL, detail="as was answered in this turn")
                return
        if told is None:
            self._conclude(request, subject, True, DecidedBy.CONSENT)
            return
        question = asks_for(request, subject)
        if told.decision is PermissionDecision.ASK and self._permissions.ask is not None:
            with self._incoming.asking(request, question):
                verdict = await self._by_asking(question, subject, told)
        else:
            verdict = await self._decide(question, subject, told)
        self._conclude(request, subject, verdict.allows, verdict.by, verdict.rule, verdict.detail)

    def _look_at_question(
        self, request: RequestPermissionRequest, session: Session | None, known: DescribedCall | None
    ) -> tuple[PermissionSubject, dict[str, tuple[ShownEdit, ...]], Explanation]:
        """Return what a question is about, the edits it shows, and what the policy says. Reads the disk."""
        cwd, calls = _cwd_of(session), [request.tool_call, *([known] if known is not None else [])]
        subject = subject_of_request(request, agent=self._agent_name(), cwd=cwd, known=known)
        if session is None:  # where it works is not known, so neither is what its paths mean
            subject = evolve(subject, readable=False)
        return subject, shown_edits(calls, cwd), self._permissions.policy.judge(subject)

    def _look_at_wish(
        self, request: WriteTextFileRequest | CreateTerminalRequest, session: Session | None, is_program: bool
    ) -> tuple[PermissionSubject, Explanation | None]:
        """Return what the host is asked to do, and what the policy says if that is to decide. Reads the disk."""
        agent, cwd = self._agent_name(), _cwd_of(session)
        if isinstance(request, WriteTextFileRequest):
            subject = subject_of_write(request, agent=agent, cwd=cwd)
        else:
            subject = subject_of_command(request, agent=agent, cwd=cwd, is_program=is_program)
        return subject, self._permissions.policy.judge(subject) if self._permissions.direct else None

    def _conclude(
        self,
        request: WriteTextFileRequest | CreateTerminalRequest,
        subject: PermissionSubject,
        allows: bool,
        by: DecidedBy,
        rule: str | None = None,
        detail: str = "",
    ) -> None:
        decision = None if allows else AuditDecision.REJECTED
        attribution = Attribution(by, decision=decision, subject=subject.command or "", rule=rule, detail=detail)
        self._incoming.attribute(request, attribution)
        session = self._sessions.owner(request.session_id)
        if session is not None:
            (session.permitted if allows else session.refused)(subject)
        if not allows:
            what = f"writing {request.path}" if isinstance(request, WriteTextFileRequest) else "running this command"
            raise InvalidParams(f"{what} was not permitted", data={"permission": "rejected", "title": subject.title})

    def _given_in(self, turn: Turn) -> GivenAnswers:
        return self._given.setdefault(turn, GivenAnswers())

    async def _given_answer(
        self,
        session: Session | None,
        request: WriteTextFileRequest | CreateTerminalRequest,
        subject: PermissionSubject,
    ) -> bool | None:
        if session is None or session.current_turn is None:
            return None
        given = self._given_in(session.current_turn)
        if isinstance(request, WriteTextFileRequest):
            current = await self._text_of(request) if given.depends_on_text(subject) else None
            return given.for_write(subject, request.content, current)
        return given.for_command(subject, (request.command, *(request.args or ())))

    # --- deciding ---------------------------------------------------------------------------------------------------

    async def _decide(
        self, request: RequestPermissionRequest, subject: PermissionSubject, told: Explanation
    ) -> _Verdict:
        if not request.options:
            text = "the agent asks for permission and offers no answer to choose"
            self._say(DiagnosticKind.UNEXPECTED, text, request)
            if isinstance(self._permissions.ask, PermissionQueue):  # a person is to be informed, whatever is decided
                return await self._by_asking(request, subject, told)
        if told.decision is PermissionDecision.ASK:
            return await self._by_asking(request, subject, told)
        rule = None if told.rule is None else told.rule.name
        return _verdict(request, outcome_for(told.decision, request.options), DecidedBy.POLICY, rule, told.reason)

    async def _by_asking(
        self, request: RequestPermissionRequest, subject: PermissionSubject, told: Explanation
    ) -> _Verdict:
        remembered = await self._remembered(subject) if request.options else None
        rule = None if told.rule is None else told.rule.name
        if remembered is not None:
            decision = PermissionDecision.ALLOW_ONCE if remembered.allows else PermissionDecision.REJECT_ONCE
            outcome = outcome_for(decision, request.options)
            return _verdict(request, outcome, DecidedBy.REMEMBERED, rule, str(remembered))
        if self._permissions.ask is None:
            outcome = outcome_for(PermissionDecision.REJECT_ONCE, request.options)
            return _verdict(request, outcome, DecidedBy.POLICY, rule, "it asks, and nobody is there to be asked")
        verdict = await self._by_person(request, subject, told, rule)
        await self._remember(request, subject, verdict)
        return verdict

    async def _by_person(
        self, request: RequestPermissionRequest, subject: PermissionSubject, told: Explanation, rule: str | None
    ) -> _Verdict:
        ask, rejected = self._permissions.ask, outcome_for(PermissionDecision.REJECT_ONCE, request.options)
        assert ask is not None
        try:
            answer = ask.ask(request, subject, told) if isinstance(ask, PermissionQueue) else ask(request)
            outcome, scope = checked_answer(request, await awaited(answer))
        except TimeoutError as error:
            return _verdict(request, rejected, DecidedBy.HOST, rule, str(error) or "nobody has answered in time")
        except Exception as error:
            # Fail closed: whatever went wrong here, nobody has allowed anything.
            text = f"the permission handler failed, so the agent was refused: {type(error).__name__}: {error}"
            self._say(DiagnosticKind.HANDLER_FAILED, text, request)
            return _verdict(request, rejected, DecidedBy.HOST, rule, text)
        verdict = _verdict(request, outcome, DecidedBy.USER, rule, "")
        return evolve(verdict, scope=scope, refused=False)

    # --- remembering ------------------------------------------------------------------------------------------------

    async def _remembered(self, subject: PermissionSubject) -> RememberedDecision | None:
        try:
            return await asyncio.to_thread(self._memory.find, subject)
        except AcpError as error:
            self._say_of(subject, str(error))
            return None

    async def _remember(self, request: RequestPermissionRequest, subject: PermissionSubject, verdict: _Verdict) -> None:
        scope = verdict.scope
        if scope is None and isinstance(request, HostPermissionRequest) and verdict.kind in _ALWAYS:
            scope = RememberScope.SESSION  # nobody else hears this answer who could remember it
        if scope is None or verdict.kind not in (*ALLOWING, *REJECTING):
            return
        try:
            await asyncio.to_thread(self._memory.remember, subject, allows=verdict.allows, scope=scope)
            self._announce_memory(request, scope)
        except AcpError as error:
            self._say_of(subject, str(error))

    def _announce_memory(self, request: RequestPermissionRequest, scope: RememberScope | str) -> None:
        session = self._sessions.owner(request.session_id)
        if session is not None and scope == RememberScope.ALWAYS and self._memory.path is not None:
            session.announce_change(str(self._memory.path))  # the file may lie where the agent works

    def _say(self, kind: DiagnosticKind, text: str, request: RequestPermissionRequest) -> None:
        method = "session/request_permission"
        self._report(Diagnostic(kind, text, method=method, session_id=request.session_id))

    def _say_of(self, subject: PermissionSubject, text: str) -> None:
        self._report(Diagnostic(DiagnosticKind.PERMISSION, text, session_id=subject.session_id))


def _verdict(
    request: RequestPermissionRequest,
    outcome: RequestPermissionOutcome,
    by: DecidedBy,
    rule: str | None,
    detail: str,
) -> _Verdict:
    option = chosen_option(request, outcome)
    refused = isinstance(outcome, CancelledPermissionOutcome) and bool(request.options)
    kind = None if option is None else str(option.kind)
    return _Verdict(outcome=outcome, by=by, kind=kind, refused=refused, rule=rule, detail=detail)


def _cwd_of(session: Session | None) -> str:
    return os.path.abspath(os.sep) if session is None else session.cwd


def _known_call(session: Session, request: RequestPermissionRequest) -> DescribedCall | None:
    """Return what the transcript has of the call that a question is about."""
    snapshot = session.state.snapshot()
    question = next((question for question in snapshot.questions if question.request is request), None)
    if question is None or question.position is None:
        return None
    entry: Any = snapshot.entry(question.position)
    return entry if hasattr(entry, "raw_input") else None
