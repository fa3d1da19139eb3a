"""What belongs together by the rules that it is done under: :func:`pieces_of_work`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from acp_host.state._value import value
from acp_host.state.entries import ToolCallEntry
from acp_host.state.harn.audit import MutationRecord
from acp_host.state.harn.workers import Worker
from acp_host.state.snapshot import Question, SessionSnapshot

__all__ = ["PieceOfWork", "pieces_of_work"]


@value
class PieceOfWork:
    """What has records with one ``session_id``: with parallel workers, the unit to review or to undo.

    Attributes:
        record: the rules, as they were last written.
        workers: who works on it.
        tool_calls: what was done for it, the oldest first.
        questions: what the user is asked about one of those.
    """

    record: MutationRecord
    workers: tuple[Worker, ...] = ()
    tool_calls: tuple[ToolCallEntry, ...] = ()
    questions: tuple[Question, ...] = ()

    @property
    def contradictions(self) -> tuple[ToolCallEntry, ...]:
        """The tool calls that have changed something although nothing was to be changed."""
        return tuple(call for call in self.tool_calls if call.harn is not None and call.harn.contradicts_audit)


def pieces_of_work(snapshot: SessionSnapshot) -> Mapping[str, PieceOfWork]:
    """Return what was done, by the ``session_id`` of the records beside it; goes through the whole transcript."""
    records: dict[str, MutationRecord] = {}
    workers: dict[str, list[Worker]] = defaultdict(list)
    calls: dict[str, list[ToolCallEntry]] = defaultdict(list)
    questions: dict[str, list[Question]] = defaultdict(list)
    of_call: dict[int, str] = {}
    for worker in snapshot.harn.workers.values() if snapshot.harn is not None else ():
        if (record := worker.audit) is not None and record.session_id is not None:
            records[record.session_id] = record
            workers[record.session_id].append(worker)
    for call in snapshot.tool_calls:
        if call.harn is not None and (record := call.harn.audit) is not None and record.session_id is not None:
            records[record.session_id] = record
            calls[record.session_id].append(call)
            of_call[call.position] = record.session_id
    for question in snapshot.questions:
        if question.position in of_call:
            questions[of_call[question.position]].append(question)
    return {
        key: PieceOfWork(
            record=record,
            workers=tuple(workers[key]),
            tool_calls=tuple(calls[key]),
            questions=tuple(questions[key]),
        )
        for key, record in records.items()
    }
