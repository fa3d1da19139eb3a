"""What the gallery gives: :class:`GalleryState`."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from attrs import frozen

from acp_host.diagnostics import Diagnostic
from acp_host.services.elicitation_queue import ElicitationQueue
from acp_host.services.permission_queue import PermissionQueue
from acp_host.services.permission_subject import subject_of_request
from acp_host.state.json_form import to_json
from acp_host.state.snapshot import Question, SessionSnapshot
from acp_host.wire.elicitation import ElicitationFormMode, ElicitationUrlMode
from acp_host.wire.permission import RequestPermissionRequest

__all__ = ["CWD", "GalleryState", "WaitingQuestions"]

CWD = "/work/project"
"""The working directory of every session; it is nowhere on this disk."""


@frozen(kw_only=True)
class WaitingQuestions:
    """The questions of a state in the queues that a front-end answers them from.

    Attributes:
        permissions: the permission requests.
        elicitation: the forms and web pages; opens nothing.
    """

    permissions: PermissionQueue
    elicitation: ElicitationQueue


@frozen(kw_only=True)
class GalleryState:
    """One state that a front-end has to be able to show.

    Attributes:
        name: of the state; a section and what it shows there, such as ``reminders/queued``.
        shows: the same in a line, for people.
        agent_name: what to call the agent, safe for display.
        session: everything that is shown of the session.
        diagnostics: what was dropped, repaired or unexpected on the way.
    """

    name: str
    shows: str
    agent_name: str
    session: SessionSnapshot
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def questions(self) -> tuple[Question, ...]:
        """What waits for an answer of the user."""
        return self.session.questions

    def to_json(self) -> dict[str, Any]:
        """Return the state as plain JSON: ``session`` in the form of ``acp_host.to_json``, and the rest in camelCase.

        Text may hold halves of surrogate pairs: encode it with an encoder that writes them as escapes, as
        :func:`json.dumps` does.
        """
        return {
            "name": self.name,
            "shows": self.shows,
            "agentName": self.agent_name,
            "session": to_json(self.session),
            "diagnostics": to_json([_plain(diagnostic) for diagnostic in self.diagnostics]),
        }

    @contextlib.asynccontextmanager
    async def waiting(self) -> AsyncIterator[WaitingQuestions]:
        """Let the questions wait in queues, as those of a connection do; at the end they are withdrawn.

        In a test::

            async with gallery.get("permissions/allow_once").waiting() as questions:
                [question] = questions.permissions.pending
        """
        queues = WaitingQuestions(permissions=PermissionQueue(), elicitation=ElicitationQueue(opener=lambda _: True))
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._ask(question.request, queues)) for question in self.questions]
            await asyncio.sleep(0)
            try:
                yield queues
            finally:
                for task in tasks:
                    task.cancel()

    async def _ask(self, request: Any, queues: WaitingQuestions) -> None:
        if isinstance(request, RequestPermissionRequest):
            subject = subject_of_request(request, agent=self.agent_name, cwd=CWD)
            await queues.permissions.ask(request, subject, None)
        elif isinstance(request, ElicitationFormMode | ElicitationUrlMode):
            await queues.elicitation(request)


def _plain(diagnostic: Diagnostic) -> dict[str, Any]:
    return {
        "kind": diagnostic.kind,
        "message": diagnostic.message,
        "path": diagnostic.path,
        "method": diagnostic.method,
        "sessionId": diagnostic.session_id,
        "data": diagnostic.data,
        "count": diagnostic.count,
    }
