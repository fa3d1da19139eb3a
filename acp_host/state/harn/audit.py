"""Which changes an agent lets somebody make, as Harn writes it beside what they do: :class:`MutationRecord`.

It stands beside tool calls, workers and questions. Records with one ``session_id`` belong together: they are about the
same piece of work.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from acp_host.state._value import plain_json, value
from acp_host.wire._model import NO_EXTRA

__all__ = ["READ_ONLY", "ApprovalPolicy", "MutationRecord"]

READ_ONLY = "read_only"
"""The ``mutation_scope`` of work that is to change nothing."""


@value
class ApprovalPolicy:
    """Which tools an agent approves by itself; patterns as it writes them.

    Attributes:
        auto_approve: tools that need no question.
        auto_deny: tools that are refused without one.
        require_approval: tools that are asked about.
        write_path_allowlist: files that may be written.
    """

    auto_approve: tuple[str, ...] = ()
    auto_deny: tuple[str, ...] = ()
    require_approval: tuple[str, ...] = ()
    write_path_allowlist: tuple[str, ...] = ()


@value
class MutationRecord:
    """Under which rules something is done. Every member may be missing.

    Attributes:
        session_id: the piece of work that it belongs to; not the session of the protocol.
        parent_session_id: the piece of work that this is a part of.
        run_id: the run that it belongs to.
        worker_id: the worker that does it.
        execution_kind: what sort of run that is.
        mutation_scope: what may be changed: :data:`READ_ONLY`, ``apply_workspace``, or another word.
        approval_policy: which tools are approved without a question.
        extra: what else the agent wrote.
    """

    session_id: str | None = None
    parent_session_id: str | None = None
    run_id: str | None = None
    worker_id: str | None = None
    execution_kind: str | None = None
    mutation_scope: str | None = None
    approval_policy: ApprovalPolicy | None = None
    extra: Mapping[str, Any] = plain_json(default=NO_EXTRA)

    @property
    def is_read_only(self) -> bool:
        """Whether this work is to change nothing: a write under it contradicts what the agent says."""
        return self.mutation_scope == READ_ONLY
