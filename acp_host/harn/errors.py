"""Errors that only Harn's methods end with.

::

    RequestFailed
    ├── AttachRefused        somebody controls the session, or it cannot be controlled
    ├── CheckpointRefused    a session was not rolled back or redone; ``status`` says why
    └── PlanConflict         a plan document has changed meanwhile: load it, merge, and try again
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from acp_host.errors import RequestFailed

__all__ = ["AttachRefused", "CheckpointRefused", "PlanConflict"]


class AttachRefused(RequestFailed, by_code=False):
    """The agent did not let this host attach itself; its code and data do not say why.

    Attributes:
        may_take_over: it was to control the session: taking it over may work, if the user wants that.
    """

    default_code = -32602

    def __init__(self, cause: RequestFailed, *, may_take_over: bool) -> None:
        super().__init__(cause.message, code=cause.code, data=cause.data, method=cause.method)
        self.may_take_over = may_take_over


class CheckpointRefused(RequestFailed, by_code=False):
    """A session was not rolled back or redone.

    Attributes:
        status: the agent's word for why, e.g. ``prompt_active``, ``fs_restore_error``.
    """

    default_code = -32000

    def __init__(self, cause: RequestFailed, status: str) -> None:
        super().__init__(cause.message, code=cause.code, data=cause.data, method=cause.method)
        self.status = status


class PlanConflict(RequestFailed, by_code=False):
    """A plan document is at another revision than the one that was to be changed.

    Attributes:
        document_id: the document, if said.
        expected_revision_id: the revision that was to be changed, if said.
        current_revision_id: the one it is at, if said.
    """

    default_code = -32000

    def __init__(self, cause: RequestFailed) -> None:
        super().__init__(cause.message, code=cause.code, data=cause.data, method=cause.method)
        self.document_id = _text(cause.data, "documentId")
        self.expected_revision_id = _text(cause.data, "expectedRevisionId")
        self.current_revision_id = _text(cause.data, "currentRevisionId")


def _text(data: Any, name: str) -> str | None:
    text = data.get(name) if isinstance(data, Mapping) else None
    return text if isinstance(text, str) else None
