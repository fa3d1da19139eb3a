"""Changing the plans that an agent keeps as documents: :class:`PlanDocuments` (``session/plan_document/mutate``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from acp_host.errors import InvalidInput, RequestFailed
from acp_host.harn.calls import Calls
from acp_host.harn.errors import PlanConflict

__all__ = ["PlanDocuments"]

_METHOD = "session/plan_document/mutate"


class PlanDocuments:
    """The plan documents of one session; what they say is in the state.

    Args:
        calls: sends the requests.
    """

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def mutate(self, document_id: str, expected_revision_id: str, kind: str, **members: Any) -> Mapping[str, Any]:
        """Change a plan document, and return it as it is then, as the agent sends it.

        Args:
            document_id: the document.
            expected_revision_id: the revision that the change is meant for.
            kind: ``edit``, ``add_comment``, ``change_comment_state``, ``approve``, or another that the agent has.
            members: what else the change consists of, by their names on the wire.

        Raises:
            InvalidInput: an argument is blank.
            PlanConflict: the document has changed meanwhile.
            RequestFailed: the agent refused, e.g. since a turn runs.
            NotSupported: the agent is not Harn.
        """
        for name, given in (("document_id", document_id), ("expected_revision_id", expected_revision_id)):
            if not isinstance(given, str) or not given.strip():
                raise InvalidInput(f"{name} is a text that is not blank, not {given!r}")
        mutation = {**members, "kind": kind}
        params = {"documentId": document_id, "expectedRevisionId": expected_revision_id, "mutation": mutation}
        try:
            answer = await self._calls.answer(_METHOD, params)
        except RequestFailed as error:
            if self._is_conflict(error):
                raise PlanConflict(error) from error
            raise
        document = answer.member("planDocument").raw
        self._calls.read(_METHOD, answer)
        return document

    def _is_conflict(self, error: RequestFailed) -> bool:
        harn = self._calls.session.agreement.harn
        if harn is not None and harn.plan_conflict_code == error.code and harn.plan_conflict_code is not None:
            return True
        return isinstance(error.data, Mapping) and "currentRevisionId" in error.data
