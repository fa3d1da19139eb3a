"""What a host does for an agent: files, terminals and the answers to permission requests.

Each service takes and returns the wire types of its methods and raises the
:class:`~acp_host.errors.RequestFailed` that the agent is to be told. None of them knows the connection.
"""

from __future__ import annotations

from acp_host.services.files import MAX_FILE_SIZE, FileService
from acp_host.services.permissions import (
    PermissionDecision,
    PermissionHandler,
    PermissionPolicy,
    answer_permission,
    validate_outcome,
)
from acp_host.services.terminals import MAX_OUTPUT, MAX_TERMINALS, TerminalProcess, TerminalService

__all__ = [
    "MAX_FILE_SIZE",
    "MAX_OUTPUT",
    "MAX_TERMINALS",
    "FileService",
    "PermissionDecision",
    "PermissionHandler",
    "PermissionPolicy",
    "TerminalProcess",
    "TerminalService",
    "answer_permission",
    "validate_outcome",
]
