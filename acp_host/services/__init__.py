"""What a host does for an agent: files, terminals, and the answers to permission requests and other questions.

Each service takes and returns the wire types of its methods and raises the
:class:`~acp_host.errors.RequestFailed` that the agent is to be told. None of them knows the connection.

Names are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_host.lazy_names import lazy_names

if TYPE_CHECKING:
    from acp_host.services.audit import AuditRecord, AuditTrail
    from acp_host.services.elicitation import answer_elicitation
    from acp_host.services.elicitation_handlers import ElicitationHandler, ElicitationHandlers
    from acp_host.services.elicitation_queue import ElicitationQueue, FormQuestion, PageQuestion, PageVisit
    from acp_host.services.files import MAX_FILE_SIZE, FileService
    from acp_host.services.form_answers import (
        FieldError,
        FormReview,
        ReviewLine,
        check_answer,
        parse_value,
        review_answer,
    )
    from acp_host.services.form_reader import read_form
    from acp_host.services.forms import Choice, FieldKind, FieldValue, Form, FormField
    from acp_host.services.page_address import PageAddress, read_address
    from acp_host.services.permission_memory import RememberedDecisions
    from acp_host.services.permission_queue import PendingPermission, PermissionQueue
    from acp_host.services.permission_rules import PermissionRule
    from acp_host.services.permissions import (
        PermissionDecision,
        PermissionHandler,
        PermissionPolicy,
        Permissions,
        answer_permission,
        validate_outcome,
    )
    from acp_host.services.terminal_environment import SECRET_NAMES, EnvironmentPolicy
    from acp_host.services.terminal_runner import (
        RunningCommand,
        TerminalCommand,
        TerminalEvents,
        TerminalRunner,
        TerminalSize,
    )
    from acp_host.services.terminals import MAX_OUTPUT, MAX_TERMINALS, TerminalProcess, TerminalService

_HOMES = {
    "audit": ("AuditRecord", "AuditTrail"),
    "elicitation": ("answer_elicitation",),
    "elicitation_handlers": ("ElicitationHandler", "ElicitationHandlers"),
    "elicitation_queue": ("ElicitationQueue", "FormQuestion", "PageQuestion", "PageVisit"),
    "files": ("MAX_FILE_SIZE", "FileService"),
    "form_answers": ("FieldError", "FormReview", "ReviewLine", "check_answer", "parse_value", "review_answer"),
    "form_reader": ("read_form",),
    "forms": ("Choice", "FieldKind", "FieldValue", "Form", "FormField"),
    "page_address": ("PageAddress", "read_address"),
    "permission_memory": ("RememberedDecisions",),
    "permission_queue": ("PendingPermission", "PermissionQueue"),
    "permission_rules": ("PermissionRule",),
    "permissions": (
        "PermissionDecision",
        "PermissionHandler",
        "PermissionPolicy",
        "Permissions",
        "answer_permission",
        "validate_outcome",
    ),
    "terminal_environment": ("SECRET_NAMES", "EnvironmentPolicy"),
    "terminal_runner": ("RunningCommand", "TerminalCommand", "TerminalEvents", "TerminalRunner", "TerminalSize"),
    "terminals": ("MAX_OUTPUT", "MAX_TERMINALS", "TerminalProcess", "TerminalService"),
}

__all__ = [
    "MAX_FILE_SIZE",
    "MAX_OUTPUT",
    "MAX_TERMINALS",
    "SECRET_NAMES",
    "AuditRecord",
    "AuditTrail",
    "Choice",
    "ElicitationHandler",
    "ElicitationHandlers",
    "ElicitationQueue",
    "EnvironmentPolicy",
    "FieldError",
    "FieldKind",
    "FieldValue",
    "FileService",
    "Form",
    "FormField",
    "FormQuestion",
    "FormReview",
    "PageAddress",
    "PageQuestion",
    "PageVisit",
    "PendingPermission",
    "PermissionDecision",
    "PermissionHandler",
    "PermissionPolicy",
    "PermissionQueue",
    "PermissionRule",
    "Permissions",
    "RememberedDecisions",
    "ReviewLine",
    "RunningCommand",
    "TerminalCommand",
    "TerminalEvents",
    "TerminalProcess",
    "TerminalRunner",
    "TerminalService",
    "TerminalSize",
    "answer_elicitation",
    "answer_permission",
    "check_answer",
    "parse_value",
    "read_address",
    "read_form",
    "review_answer",
    "validate_outcome",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
