"""The reducer of what an agent asks the user: :class:`Questions`."""

from __future__ import annotations

from acp_host.state import events
from acp_host.state._value import is_same
from acp_host.state.call_entries import CallEntries
from acp_host.state.changes import ChangeKind, Note
from acp_host.state.snapshot import Question
from acp_host.wire.ids import RequestId
from acp_host.wire.permission_question import PermissionQuestion

__all__ = ["Questions"]

_ASKS_PERMISSION = "session/request_permission"
_SECTION = "questions"


class Questions:
    """Folds what is asked and answered; it is true as long as a question is open.

    Args:
        session_id: whose questions they are.
        calls: the tool calls of the session, of which a question may tell something.
        note: called with each change.
    """

    def __init__(self, session_id: str, calls: CallEntries, note: Note) -> None:
        self._session_id = session_id
        self._calls = calls
        self._note = note
        self._open: dict[RequestId, Question] = {}
        self._frozen: tuple[Question, ...] = ()

    def __bool__(self) -> bool:
        return bool(self._open)

    def asked(self, event: events.QuestionAsked) -> None:
        """Take a question; one whose id is that of an open one takes its place."""
        question = Question(
            request_id=event.request_id,
            method=event.method,
            request=event.request,
            position=self._position(event),
            harn=event.harn,
        )
        known = self._open.pop(event.request_id, None)
        self._open[event.request_id] = question
        self._note(_SECTION, event.request_id, ChangeKind.ADDED if known is None else ChangeKind.CHANGED)

    def closed(self, event: events.QuestionClosed) -> bool:
        """Take the end of a question; tell whether it was open."""
        if self._open.pop(event.request_id, None) is None:
            return False
        self._note(_SECTION, event.request_id, ChangeKind.REMOVED)
        return True

    def freeze(self) -> tuple[Question, ...]:
        """Return the open questions, oldest first; the same tuple as long as they are the same."""
        questions = tuple(self._open.values())
        if not is_same(questions, self._frozen):
            self._frozen = questions
        return self._frozen

    def _position(self, event: events.QuestionAsked) -> int | None:
        """Return where the tool call stands that a question is about, after it was told what the question says."""
        request = event.request
        if isinstance(request, PermissionQuestion):  # what it says of a call was told before
            return self._calls.position_of(request.tool_call.tool_call_id)
        if event.method == _ASKS_PERMISSION and request.session_id == self._session_id:
            return self._calls.asked_about(request.tool_call, None if event.harn is None else event.harn.tool)
        tool_call_id = getattr(getattr(request, "scope", None), "tool_call_id", None)
        return self._calls.position_of(tool_call_id) if tool_call_id else None
