"""acp_host: the host side of the Agent Client Protocol.

Start with :func:`connect`. Names are loaded when they are first used, so that importing the package costs little.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from acp_host._version import __version__

# Not when it is first used: as soon as its module is loaded, that would stand under the same name.
from acp_host.printable import printable

if TYPE_CHECKING:
    from acp_host import blocking, fleet, redaction, sandbox
    from acp_host.automation import Budget, Retries, Run, RunReason, RunResult, Timeouts, run_prompt
    from acp_host.automation.known_agents.all_agents import KnownAgent, KnownAgents, known
    from acp_host.diagnostics import Diagnostic, DiagnosticKind
    from acp_host.errors import (
        AcpError,
        AuthRequired,
        ConnectionClosed,
        ConnectionLost,
        DecodeError,
        InternalError,
        InvalidInput,
        InvalidParams,
        InvalidRequest,
        InvalidState,
        LocalError,
        LoginFailed,
        MalformedResponse,
        MethodNotFound,
        NoActivePrompt,
        NotSupported,
        OutcomeUnknown,
        ParseError,
        PeerError,
        PromptFailed,
        ProtocolVersionRefused,
        ReminderInvalid,
        ReminderNotDelivered,
        RequestCancelled,
        RequestFailed,
        ResourceNotFound,
        RunFailed,
        SessionNotFound,
        SessionNotReopened,
        StartFailed,
        StartTimeout,
        TransportError,
        UnsupportedVersion,
    )
    from acp_host.host.agent_target import AgentTarget
    from acp_host.host.authentication import Authentication, LoginRequest
    from acp_host.host.cancel_timeouts import CancelTimeouts
    from acp_host.host.child_environment import ChildEnvironment
    from acp_host.host.connect import StartTimeouts, connect
    from acp_host.host.connection import HostConnection
    from acp_host.host.diagnostic_log import DiagnosticLog
    from acp_host.host.health import ConnectionHealth, HealthSnapshot, SessionReturn
    from acp_host.host.injections import InjectActor, InjectionResult, InjectMode, InjectReceipt
    from acp_host.host.interruption import Interruption
    from acp_host.host.login_methods import AgentLogin, EnvVarLogin, TerminalLogin, UnknownLogin
    from acp_host.host.login_queue import LoginQueue, PendingLogin
    from acp_host.host.login_status import AuthenticationSnapshot
    from acp_host.host.outcome import Outcome, OutcomeKind, TurnResult
    from acp_host.host.reconnect_machine import ConnectionStatus
    from acp_host.host.reconnect_policy import ReconnectPolicy
    from acp_host.host.reopening import Lost, ReopenedSession, ReopenPolicy, ReopenStep
    from acp_host.host.session import Session
    from acp_host.host.telemetry.settings import Telemetry
    from acp_host.host.turn import Turn
    from acp_host.host.update_buffer import UpdatesSkipped
    from acp_host.json_logs import JsonLogFormatter
    from acp_host.protocol.host_protocol import HostProtocol
    from acp_host.protocol.negotiation import Agreement
    from acp_host.quirks import QUIRKS, Quirk, QuirkKind
    from acp_host.recording import (
        RecordedLine,
        Recording,
        RecordingTransport,
        Redaction,
        TranscriptArchive,
        read_recording,
    )
    from acp_host.reminders.model import Reminder
    from acp_host.reminders.policy import ReminderPolicy
    from acp_host.reminders.receipt import ReminderReceipt
    from acp_host.services.audit import AuditRecord, AuditTrail
    from acp_host.services.change_verdicts import ChangeReport, ChangeVerdict, JudgedChange
    from acp_host.services.elicitation_handlers import ElicitationHandlers
    from acp_host.services.elicitation_queue import ElicitationQueue
    from acp_host.services.files import (
        BufferEdit,
        BufferProvider,
        FileChange,
        FileService,
        MemoryBuffers,
        NotebookBuffers,
        OpenDocument,
        WriteConflict,
    )
    from acp_host.services.form_reader import read_form
    from acp_host.services.mcp import HostMcpServer
    from acp_host.services.permission_memory import RememberedDecisions
    from acp_host.services.permission_options import PermissionDecision
    from acp_host.services.permission_queue import PendingPermission, PermissionQueue
    from acp_host.services.permission_requests import HostPermissionRequest
    from acp_host.services.permission_rules import PermissionRule
    from acp_host.services.permissions import PermissionPolicy, Permissions
    from acp_host.services.terminal_environment import EnvironmentPolicy
    from acp_host.services.terminal_runner import TerminalSize
    from acp_host.services.terminals import TerminalService
    from acp_host.services.working_copy import FingerprintLimits
    from acp_host.state.change_signal import Subscription
    from acp_host.state.changes import Change, ChangeKind, ChangeSet
    from acp_host.state.deltas import DeltaMaker
    from acp_host.state.entries import (
        BlockPart,
        CompactionEntry,
        ConnectionEntry,
        HistoryEntry,
        MessageEntry,
        ReminderNote,
        SessionMessageEntry,
        Speaker,
        TextPart,
        ToolCallEntry,
        UnknownEntry,
    )
    from acp_host.state.injections import Injection, InjectionStatus
    from acp_host.state.json_form import to_json
    from acp_host.state.memory import MemoryPolicy
    from acp_host.state.notice_entries import Notice, NoticesSnapshot, NoticeState
    from acp_host.state.notice_preferences import NoticePreferences, SeverityPreferences
    from acp_host.state.notices import NoticeCenter
    from acp_host.state.option_entries import OptionChoice, OptionsSnapshot, SessionOption
    from acp_host.state.options import OptionsView
    from acp_host.state.reminder_entry import ReminderEntry, Rung
    from acp_host.state.reminders import RemindersPanel
    from acp_host.state.revocation import Revocation, RevokeResult
    from acp_host.state.session_state import SessionState
    from acp_host.state.snapshot import SessionSnapshot
    from acp_host.state.transcript import Transcript
    from acp_host.transports import RemoteOptions, StdioTransport, StopTimeouts, Transport, memory_pair
    from acp_host.wire._model import UNSET
    from acp_host.wire.permission_question import PermissionQuestion
    from acp_host.wire.text import join_text

__all__ = [
    "QUIRKS",
    "UNSET",
    "AcpError",
    "AgentLogin",
    "AgentTarget",
    "Agreement",
    "AuditRecord",
    "AuditTrail",
    "AuthRequired",
    "Authentication",
    "AuthenticationSnapshot",
    "BlockPart",
    "Budget",
    "BufferEdit",
    "BufferProvider",
    "CancelTimeouts",
    "Change",
    "ChangeKind",
    "ChangeReport",
    "ChangeSet",
    "ChangeVerdict",
    "ChildEnvironment",
    "CompactionEntry",
    "ConnectionClosed",
    "ConnectionEntry",
    "ConnectionHealth",
    "ConnectionLost",
    "ConnectionStatus",
    "DecodeError",
    "DeltaMaker",
    "Diagnostic",
    "DiagnosticKind",
    "DiagnosticLog",
    "ElicitationHandlers",
    "ElicitationQueue",
    "EnvVarLogin",
    "EnvironmentPolicy",
    "FileChange",
    "FileService",
    "FingerprintLimits",
    "HealthSnapshot",
    "HistoryEntry",
    "HostConnection",
    "HostMcpServer",
    "HostPermissionRequest",
    "HostProtocol",
    "InjectActor",
    "InjectMode",
    "InjectReceipt",
    "Injection",
    "InjectionResult",
    "InjectionStatus",
    "InternalError",
    "Interruption",
    "InvalidInput",
    "InvalidParams",
    "InvalidRequest",
    "InvalidState",
    "JsonLogFormatter",
    "JudgedChange",
    "KnownAgent",
    "KnownAgents",
    "LocalError",
    "LoginFailed",
    "LoginQueue",
    "LoginRequest",
    "Lost",
    "MalformedResponse",
    "MemoryBuffers",
    "MemoryPolicy",
    "MessageEntry",
    "MethodNotFound",
    "NoActivePrompt",
    "NotSupported",
    "NotebookBuffers",
    "Notice",
    "NoticeCenter",
    "NoticePreferences",
    "NoticeState",
    "NoticesSnapshot",
    "OpenDocument",
    "OptionChoice",
    "OptionsSnapshot",
    "OptionsView",
    "Outcome",
    "OutcomeKind",
    "OutcomeUnknown",
    "ParseError",
    "PeerError",
    "PendingLogin",
    "PendingPermission",
    "PermissionDecision",
    "PermissionPolicy",
    "PermissionQuestion",
    "PermissionQueue",
    "PermissionRule",
    "Permissions",
    "PromptFailed",
    "ProtocolVersionRefused",
    "Quirk",
    "QuirkKind",
    "ReconnectPolicy",
    "RecordedLine",
    "Recording",
    "RecordingTransport",
    "Redaction",
    "RememberedDecisions",
    "Reminder",
    "ReminderEntry",
    "ReminderInvalid",
    "ReminderNotDelivered",
    "ReminderNote",
    "ReminderPolicy",
    "ReminderReceipt",
    "RemindersPanel",
    "RemoteOptions",
    "ReopenPolicy",
    "ReopenStep",
    "ReopenedSession",
    "RequestCancelled",
    "RequestFailed",
    "ResourceNotFound",
    "Retries",
    "Revocation",
    "RevokeResult",
    "Run",
    "RunFailed",
    "RunReason",
    "RunResult",
    "Rung",
    "Session",
    "SessionMessageEntry",
    "SessionNotFound",
    "SessionNotReopened",
    "SessionOption",
    "SessionReturn",
    "SessionSnapshot",
    "SessionState",
    "SeverityPreferences",
    "Speaker",
    "StartFailed",
    "StartTimeout",
    "StartTimeouts",
    "StdioTransport",
    "StopTimeouts",
    "Subscription",
    "Telemetry",
    "TerminalLogin",
    "TerminalService",
    "TerminalSize",
    "TextPart",
    "Timeouts",
    "ToolCallEntry",
    "Transcript",
    "TranscriptArchive",
    "Transport",
    "TransportError",
    "Turn",
    "TurnResult",
    "UnknownEntry",
    "UnknownLogin",
    "UnsupportedVersion",
    "UpdatesSkipped",
    "WriteConflict",
    "__version__",
    "blocking",
    "connect",
    "fleet",
    "join_text",
    "known",
    "memory_pair",
    "printable",
    "read_form",
    "read_recording",
    "redaction",
    "run_prompt",
    "sandbox",
    "to_json",
]

_HOMES = {
    "acp_host.automation": ("Budget", "Retries", "Run", "RunReason", "RunResult", "Timeouts", "run_prompt"),
    "acp_host.diagnostics": ("Diagnostic", "DiagnosticKind"),
    "acp_host.host.authentication": ("Authentication", "LoginRequest"),
    "acp_host.host.cancel_timeouts": ("CancelTimeouts",),
    "acp_host.host.child_environment": ("ChildEnvironment",),
    "acp_host.automation.known_agents.all_agents": ("KnownAgent", "KnownAgents", "known"),
    "acp_host.host.agent_target": ("AgentTarget",),
    "acp_host.host.connect": ("connect", "StartTimeouts"),
    "acp_host.host.connection": ("HostConnection",),
    "acp_host.host.diagnostic_log": ("DiagnosticLog",),
    "acp_host.host.injections": ("InjectActor", "InjectionResult", "InjectMode", "InjectReceipt"),
    "acp_host.host.login_methods": ("AgentLogin", "EnvVarLogin", "TerminalLogin", "UnknownLogin"),
    "acp_host.host.login_queue": ("LoginQueue", "PendingLogin"),
    "acp_host.host.login_status": ("AuthenticationSnapshot",),
    "acp_host.host.outcome": ("Outcome", "OutcomeKind", "TurnResult"),
    "acp_host.host.health": ("ConnectionHealth", "HealthSnapshot", "SessionReturn"),
    "acp_host.host.interruption": ("Interruption",),
    "acp_host.host.reconnect_machine": ("ConnectionStatus",),
    "acp_host.host.reconnect_policy": ("ReconnectPolicy",),
    "acp_host.host.reopening": ("Lost", "ReopenedSession", "ReopenPolicy", "ReopenStep"),
    "acp_host.host.session": ("Session",),
    "acp_host.host.telemetry.settings": ("Telemetry",),
    "acp_host.json_logs": ("JsonLogFormatter",),
    "acp_host.host.turn": ("Turn",),
    "acp_host.host.update_buffer": ("UpdatesSkipped",),
    "acp_host.protocol.host_protocol": ("HostProtocol",),
    "acp_host.protocol.negotiation": ("Agreement",),
    "acp_host.quirks": ("Quirk", "QuirkKind", "QUIRKS"),
    "acp_host.recording": (
        "RecordedLine",
        "Recording",
        "RecordingTransport",
        "Redaction",
        "TranscriptArchive",
        "read_recording",
    ),
    "acp_host.reminders.model": ("Reminder",),
    "acp_host.reminders.policy": ("ReminderPolicy",),
    "acp_host.reminders.receipt": ("ReminderReceipt",),
    "acp_host.services.audit": ("AuditRecord", "AuditTrail"),
    "acp_host.services.change_verdicts": ("ChangeReport", "ChangeVerdict", "JudgedChange"),
    "acp_host.services.elicitation_handlers": ("ElicitationHandlers",),
    "acp_host.services.elicitation_queue": ("ElicitationQueue",),
    "acp_host.services.files": (
        "BufferEdit",
        "BufferProvider",
        "FileChange",
        "FileService",
        "MemoryBuffers",
        "NotebookBuffers",
        "OpenDocument",
        "WriteConflict",
    ),
    "acp_host.services.form_reader": ("read_form",),
    "acp_host.services.mcp": ("HostMcpServer",),
    "acp_host.services.permission_memory": ("RememberedDecisions",),
    "acp_host.services.permission_options": ("PermissionDecision",),
    "acp_host.services.permission_queue": ("PendingPermission", "PermissionQueue"),
    "acp_host.services.permission_requests": ("HostPermissionRequest",),
    "acp_host.services.permission_rules": ("PermissionRule",),
    "acp_host.services.permissions": ("PermissionPolicy", "Permissions"),
    "acp_host.services.terminal_environment": ("EnvironmentPolicy",),
    "acp_host.services.terminal_runner": ("TerminalSize",),
    "acp_host.services.terminals": ("TerminalService",),
    "acp_host.services.working_copy": ("FingerprintLimits",),
    "acp_host.wire.permission_question": ("PermissionQuestion",),
    "acp_host.state.change_signal": ("Subscription",),
    "acp_host.state.changes": ("Change", "ChangeKind", "ChangeSet"),
    "acp_host.state.deltas": ("DeltaMaker",),
    "acp_host.state.entries": (
        "BlockPart",
        "CompactionEntry",
        "ConnectionEntry",
        "HistoryEntry",
        "MessageEntry",
        "ReminderNote",
        "SessionMessageEntry",
        "Speaker",
        "TextPart",
        "ToolCallEntry",
        "UnknownEntry",
    ),
    "acp_host.state.injections": ("Injection", "InjectionStatus"),
    "acp_host.state.json_form": ("to_json",),
    "acp_host.state.memory": ("MemoryPolicy",),
    "acp_host.state.notice_entries": ("Notice", "NoticesSnapshot", "NoticeState"),
    "acp_host.state.notice_preferences": ("NoticePreferences", "SeverityPreferences"),
    "acp_host.state.notices": ("NoticeCenter",),
    "acp_host.state.option_entries": ("OptionChoice", "OptionsSnapshot", "SessionOption"),
    "acp_host.state.options": ("OptionsView",),
    "acp_host.state.reminder_entry": ("ReminderEntry", "Rung"),
    "acp_host.state.reminders": ("RemindersPanel",),
    "acp_host.state.revocation": ("Revocation", "RevokeResult"),
    "acp_host.state.session_state": ("SessionState",),
    "acp_host.state.snapshot": ("SessionSnapshot",),
    "acp_host.state.transcript": ("Transcript",),
    "acp_host.transports": ("memory_pair", "RemoteOptions", "StdioTransport", "StopTimeouts", "Transport"),
    "acp_host.wire._model": ("UNSET",),
    "acp_host.wire.text": ("join_text",),
}
_MODULES = ("blocking", "fleet", "redaction", "sandbox")
"""Modules that are reached as ``acp_host.sandbox`` without an import of their own."""
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"acp_host.{name}")
    module = _HOME_OF.get(name, "acp_host.errors" if name in __all__ else None)
    if module is None:
        raise AttributeError(f"module 'acp_host' has no attribute {name!r}")
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
