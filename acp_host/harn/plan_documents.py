"""Changing the plans that an agent keeps as documents: :class:`PlanDocuments` (``session/plan_document/mutate``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from acp_host.errors import InvalidInput, RequestFailed
from acp_host.harn.calls import Calls
from acp_host.harn.errors import PlanConflict
from acp_host.state.harn.plan_documents import PlanDocument, PlanDocumentReported
from acp_host.translate.harn.payload import Payload, Unusable
from acp_host.translate.harn.plan_documents import plan_document

__all__ = ["PlanDocuments"]

_METHOD = "session/plan_document/mutate"


class PlanDocuments:
    """The plan documents of one session; what they say is in the state.

    Args:
        calls: sends the requests.
    """

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def mutate(
        self, document_id: str, expected_revision_id: str, kind: str, **members: Any
    ) -> PlanDocument | None:
        """Change a plan document, and return it as it is then; the state has it, too.

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

        Returns:
            The document; ``None`` if the answer has none that can be read.
        """
        for name, given in (("document_id", document_id), ("expected_revision_id", expected_revision_id)):
            if not isinstance(given, str) or not given.strip():
                raise InvalidInput(f"{name} is a text that is not blank, not {given!r}")
        mutation = {**members, "kind": kind}
        params = {"documentId": document_id, "expectedRevisionId": expected_revision_id, "mutation": mutation}
        documents: list[PlanDocument] = []
        try:
            await self._calls.request(_METHOD, params, on_result=lambda answer: self._take(answer, documents))
        except RequestFailed as error:
            if self._is_conflict(error):
                raise PlanConflict(error) from error
            raise
        return documents[0] if documents else None

    def _take(self, answer: Any, documents: list[PlanDocument]) -> None:
        payload = Payload(answer if isinstance(answer, Mapping) else {})
        try:
            told = payload.required("planDocument", payload.nested)
            documents.append(plan_document(told))
        except Unusable as problem:
            payload.problems.append(str(problem))
        for document in documents:
            self._calls.session.state.apply(PlanDocumentReported(document))
        self._calls.session.report_malformed(_METHOD, payload.problems)

    def _is_conflict(self, error: RequestFailed) -> bool:
        harn = self._calls.session.agreement.harn
        if harn is not None and harn.plan_conflict_code == error.code and harn.plan_conflict_code is not None:
            return True
        return isinstance(error.data, Mapping) and "currentRevisionId" in error.data
