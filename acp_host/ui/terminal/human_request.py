"""What a Harn agent wants from a person, as a form: :class:`HumanRequestForm`, for a :class:`PersonWanted`."""

from __future__ import annotations

import json
from typing import Any

from attrs import field, frozen
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Button, Input, Static

from acp_host.host.session import Session
from acp_host.state.harn.human_requests import HumanRequest
from acp_host.state.snapshot import SessionSnapshot
from acp_host.ui.terminal.answerable import Answerable
from acp_host.ui.terminal.text import lines_of, one_line, plain, stacked

__all__ = ["HumanRequestForm", "PersonWanted", "persons_wanted"]

_DECISIONS = {
    "approval": ("Approve", "Reject"),
    "dual_control": ("Approve", "Reject"),
    "escalation": ("Accept", "Decline"),
}
_MOST_LINES = 20


@frozen
class PersonWanted:
    """A request that waits; two are the same one where their ids are.

    Attributes:
        session: where it waits.
        request_id: its id.
        request: what is wanted.
    """

    session: Session = field(eq=id)
    request_id: str
    request: HumanRequest = field(eq=False)


def persons_wanted(session: Session, snapshot: SessionSnapshot) -> list[PersonWanted]:
    """Return what a session wants from a person and can still be answered, oldest first."""
    if snapshot.harn is None:
        return []
    requests: Any = snapshot.harn.human_requests
    return [
        PersonWanted(session, request_id, request)
        for request_id, request in requests.items()
        if request.status in ("open", "unanswered") and (request.kind in _DECISIONS or request.kind == "question")
    ]


class HumanRequestForm(Answerable):
    """The agent's words, and a yes and a no, or a line for an answer."""

    question: PersonWanted

    def __init__(self, question: PersonWanted, agent_name: str) -> None:
        super().__init__(question, f"{agent_name} wants something from you")
        self._text = Input(compact=True, placeholder="a reason, if you like" if self._decides else "the answer")

    def compose(self) -> ComposeResult:
        """Make the parts."""
        request = self.question.request
        yield Static(stacked(_about(request)))
        yield self._text
        yield self.remark
        with Horizontal(classes="buttons"):
            if self._decides:
                yes, no = _DECISIONS[request.kind or ""]
                yield Button(yes, name="yes", variant="primary", compact=True)
                yield Button(no, name="no", compact=True)
            else:
                yield Button("Send", name="send", variant="primary", compact=True)

    async def press(self, deed: str) -> None:
        """Send the answer."""
        from acp_host import harn  # loaded for such agents only

        wanted, text = self.question, self._text.value.strip()
        people = harn.of(wanted.session).people
        if deed == "send":
            await people.answer(wanted.request_id, _answer(text, wanted.request.schema))
        elif wanted.request.kind == "escalation":
            await people.accept(wanted.request_id, deed == "yes", reason=text or None)
        else:
            await people.approve(wanted.request_id, deed == "yes", reason=text or None)

    @property
    def _decides(self) -> bool:
        return self.question.request.kind in _DECISIONS


def _about(request: HumanRequest) -> list[Content]:
    lines = [one_line(str(request.kind or "request"), 40, "dim"), *lines_of(request.prompt, _MOST_LINES)]
    if request.quorum > 1:
        lines.append(plain(f"{request.quorum} people have to agree", "dim"))
    if request.status == "unanswered":
        lines.append(plain("its turn is over; an answer may come too late", "$text-warning"))
    return lines


def _answer(text: str, schema: Any) -> Any:
    """Return the text, or the JSON that it is where the agent wants something else than text."""
    if not isinstance(schema, dict) or schema.get("type") in (None, "string"):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
