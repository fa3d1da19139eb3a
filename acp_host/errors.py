"""The exceptions this library raises on purpose; those of one part alone are in that part, and below ``AcpError``, too.

::

    AcpError
    ├── LocalError                 the caller asked for something that cannot be done; nothing was sent
    │   ├── InvalidInput           an argument is wrong (also a ValueError)
    │   │   └── ReminderInvalid    a field of a reminder or of its policy is wrong
    │   ├── NotSupported           the agent and host did not agree on the capability this needs
    │   ├── InvalidState           the connection, session or turn is not in a state that allows this
    │   └── ConnectionClosed       this side has closed the connection
    ├── PeerError                  the agent broke the protocol
    │   ├── DecodeError            a message does not have the shape the schema gives it
    │   ├── MalformedResponse      the answer to a request is not a JSON-RPC response
    │   └── UnsupportedVersion     no protocol version that both sides speak
    ├── TransportError             bytes could not be moved
    │   ├── StartFailed            the agent could not be launched, or ended before it answered
    │   ├── StartTimeout           the agent was launched but never answered ``initialize``
    │   └── ConnectionLost         the agent, or the way to it, is gone
    ├── RequestFailed              the agent answered with a JSON-RPC error (``code``, ``message``, ``data``)
    │   ├── ParseError             -32700
    │   ├── InvalidRequest         -32600
    │   ├── MethodNotFound         -32601
    │   ├── InvalidParams          -32602
    │   ├── InternalError          -32603
    │   ├── RequestCancelled       -32800
    │   ├── AuthRequired           -32000
    │   ├── ResourceNotFound       -32002
    │   ├── ProtocolVersionRefused -32022
    │   ├── PromptFailed           -32000 of Harn: what went wrong in a turn, and whether to try again
    │   ├── SessionNotFound        -32004 of Harn
    │   └── NoActivePrompt         -32004 of Harn: the session is there, and no turn runs in it
    ├── LoginFailed                the user could not log in, or did not want to
    ├── SessionNotReopened         no way that a policy allows opened a session of earlier again
    ├── ExternalAgentError         work given to an agent elsewhere was not done
    ├── OutcomeUnknown             a request was written, and the connection ended before its answer
    ├── RunFailed                  a run of a script did not complete, and its caller wants that raised
    └── ReminderNotDelivered       the rung that a reminder's policy requires did not take it

``LocalError`` is the caller's fault and leaves the connection usable. ``PeerError`` and ``TransportError`` name what
happened, to what, and what to do. Faults of an agent that a session survives are not exceptions but
:class:`acp_host.diagnostics.Diagnostic` values. What an agent said is in the text of an error without what looks like a
secret in it (:mod:`acp_host.redaction`); attributes such as ``data`` are as sent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from acp_host.printable import printable
from acp_host.redaction import redact_text

__all__ = [
    "AcpError",
    "AuthRequired",
    "ConnectionClosed",
    "ConnectionLost",
    "DecodeError",
    "ExternalAgentError",
    "InternalError",
    "InvalidInput",
    "InvalidParams",
    "InvalidRequest",
    "InvalidState",
    "LocalError",
    "LoginFailed",
    "MalformedResponse",
    "MethodNotFound",
    "NoActivePrompt",
    "NotSupported",
    "OutcomeUnknown",
    "ParseError",
    "PeerError",
    "PromptFailed",
    "ProtocolVersionRefused",
    "ReminderInvalid",
    "ReminderNotDelivered",
    "RequestCancelled",
    "RequestFailed",
    "ResourceNotFound",
    "RunFailed",
    "SessionNotFound",
    "SessionNotReopened",
    "StartFailed",
    "StartTimeout",
    "TransportError",
    "UnsupportedVersion",
]

_LONGEST_SHOWN = 16_384
"""Characters of an agent's message that the text of an error has at most."""
_LONGEST_READ = 4_096
"""Characters of an agent's message, and of its data, that are searched for words at most."""


class AcpError(Exception):
    """Base of every error this library raises on purpose. Not raised itself.

    Its text may repeat what an agent said, and ends up on terminals: what could steer one is spelled out in it. It can
    be pickled, with its attributes, for pools of processes.
    """

    def __str__(self) -> str:
        return printable(super().__str__())

    def __reduce__(self) -> tuple[Any, ...]:
        return _as_it_was, (type(self), self.args), self.__dict__


class LocalError(AcpError):
    """The caller asked for something that cannot be done; nothing was sent."""


class InvalidInput(LocalError, ValueError):
    """An argument is wrong; the message names it and the values that are allowed."""


class ReminderInvalid(InvalidInput):
    """A field of a reminder, or of the policy for one, is wrong.

    Attributes:
        field: name of the field.
        allowed: the values that are allowed, where they can be listed; else empty.
    """

    def __init__(self, message: str, *, field: str, allowed: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.field = field
        self.allowed = allowed


class NotSupported(LocalError):
    """The capability that a call needs was not agreed.

    Attributes:
        capability: the dotted wire path of the missing capability, e.g. ``agentCapabilities.loadSession``.
        method: the wire method that was not sent, or ``None`` where the capability governs content.
    """

    def __init__(self, message: str, *, capability: str, method: str | None = None) -> None:
        super().__init__(message)
        self.capability = capability
        self.method = method


class InvalidState(LocalError):
    """The connection, session or turn is not in a state that allows the call."""


class ConnectionClosed(LocalError):
    """This side has closed the connection."""


class PeerError(AcpError):
    """The agent broke the protocol."""


class DecodeError(PeerError):
    """A message does not have the shape that the schema gives it.

    Attributes:
        path: the JSON path of the offending value, rooted at ``$``, e.g. ``$.params.update.content.text``.
        problem: what is wrong there, without the path.
    """

    def __init__(self, problem: str, path: str = "$") -> None:
        super().__init__(f"{problem} at {path}")
        self.problem = problem
        self.path = path


class MalformedResponse(PeerError):
    """The answer to a request cannot be used: it is not a JSON-RPC response, or its result does not fit the schema.

    Attributes:
        has_result: the answer is a response with a result, so what was asked for is over.
        result: the result as sent; ``None`` where there is none.
    """

    def __init__(self, message: str, *, has_result: bool = False, result: Any = None) -> None:
        super().__init__(message)
        self.has_result = has_result
        self.result = result


class UnsupportedVersion(PeerError):
    """The agent answered ``initialize`` with a protocol version that this host does not speak."""


class TransportError(AcpError):
    """Bytes could not be moved.

    Attributes:
        exit_status: exit code of the agent's process; negative for a signal; ``None`` if it runs or is unknown.
        stderr_tail: the end of what the agent wrote to stderr, decoded, possibly empty.
        http_status: status of the server's answer over HTTP, the upgrade to WebSocket included; ``None`` for others.
        close_code: code with which a WebSocket was closed (RFC 6455 §7.4), 1006 for none; ``None`` for others.
        retryable: whether the same may work later; ``False`` where somebody has to do something first, e.g. to give
            another token.
    """

    def __init__(
        self,
        message: str,
        *,
        exit_status: int | None = None,
        stderr_tail: str = "",
        http_status: int | None = None,
        close_code: int | None = None,
        retryable: bool = True,
    ) -> None:
        whole = message if not stderr_tail else f"{message}\n--- end of the agent's stderr ---\n{stderr_tail}"
        super().__init__(redact_text(whole))
        self.exit_status = exit_status
        self.stderr_tail = stderr_tail
        self.http_status = http_status
        self.close_code = close_code
        self.retryable = retryable


class StartFailed(TransportError):
    """The agent could not be launched, or ended before it answered ``initialize``.

    Attributes:
        diagnostics: what :func:`acp_host.connect` has noticed until then, as
            :class:`acp_host.diagnostics.Diagnostic` values, the oldest first.
    """

    diagnostics: tuple[Any, ...] = ()


class StartTimeout(StartFailed):
    """The agent was launched but did not answer ``initialize`` in time: it may not speak ACP."""


class ConnectionLost(TransportError):
    """The agent, or the way to it, is gone."""


class RequestFailed(AcpError):
    """The agent answered a request with a JSON-RPC error.

    Attributes:
        code: the JSON-RPC error code.
        message: the agent's message, as sent.
        data: the agent's ``data`` member, as sent; ``None`` when absent.
        method: the method that failed, when known.
    """

    default_code: ClassVar[int] = -32603
    _by_code: ClassVar[dict[int, type[RequestFailed]]] = {}

    def __init__(self, message: str, *, code: int | None = None, data: Any = None, method: str | None = None) -> None:
        self.code = self.default_code if code is None else code
        self.message = message
        self.data = data
        self.method = method
        shown = message if len(message) <= _LONGEST_SHOWN else f"{message[:_LONGEST_SHOWN]}…"
        super().__init__(f"{method or 'the request'} failed with {self.code}: {redact_text(shown)}")

    def __init_subclass__(cls, *, by_code: bool = True) -> None:
        super().__init_subclass__()
        if by_code:
            RequestFailed._by_code.setdefault(cls.default_code, cls)

    @property
    def words(self) -> str:
        """The message and the data, a bounded part of each, for what an agent says in words alone."""
        return f"{self.message[:_LONGEST_READ]}\n{_text_of(self.data)}"

    @staticmethod
    def from_code(code: int, message: str, data: Any = None, method: str | None = None) -> RequestFailed:
        """Return an instance of the class that stands for ``code`` (``RequestFailed`` itself for unlisted codes)."""
        kind = RequestFailed._by_code.get(code, RequestFailed)
        return kind(message, code=code, data=data, method=method)


class ParseError(RequestFailed):
    """-32700: the peer could not read the message as JSON."""

    default_code = -32700


class InvalidRequest(RequestFailed):
    """-32600: the message is JSON but not a request."""

    default_code = -32600


class MethodNotFound(RequestFailed):
    """-32601: the peer does not know the method."""

    default_code = -32601


class InvalidParams(RequestFailed):
    """-32602: the parameters are wrong."""

    default_code = -32602


class InternalError(RequestFailed):
    """-32603: the peer failed while it handled the request."""

    default_code = -32603


class RequestCancelled(RequestFailed):
    """-32800: the request was cancelled with ``$/cancel_request``."""

    default_code = -32800


class AuthRequired(RequestFailed):
    """-32000: the agent wants the user to log in first.

    Attributes:
        methods: the ways to log in that the agent lists, as ``AuthMethod`` wire types; empty where it lists none.
    """

    default_code = -32000

    def __init__(self, message: str, *, code: int | None = None, data: Any = None, method: str | None = None) -> None:
        super().__init__(message, code=code, data=data, method=method)
        self.methods: tuple[Any, ...] = ()


class ResourceNotFound(RequestFailed):
    """-32002: a session, file or other resource does not exist."""

    default_code = -32002

    @property
    def session_id(self) -> str | None:
        """The session that does not exist, or is not open; ``None`` where the agent does not say that it is one."""
        session_id = self.data.get("sessionId") if isinstance(self.data, Mapping) else None
        return session_id if isinstance(session_id, str) else None


class ProtocolVersionRefused(RequestFailed):
    """-32022: the agent speaks no version of the protocol that is as old as the one that was asked for."""

    default_code = -32022

    @property
    def supported(self) -> tuple[int, ...]:
        """The versions that the agent says it speaks; empty where it does not say."""
        listed = self.data.get("supported") if isinstance(self.data, Mapping) else None
        return tuple([version for version in listed if type(version) is int]) if isinstance(listed, list) else ()


class PromptFailed(RequestFailed, by_code=False):
    """-32000 of a Harn agent for a prompt: the turn failed, and the error says how.

    Attributes:
        failure: what the error says, as :class:`~acp_host.wire.harn.prompt.PromptFailure`; decide by this, and never
            by the message.
        terminal_class: sort of the failure, one of :class:`~acp_host.wire.harn.prompt.TerminalClass` or another word.
        retryable: whether the same prompt may work later; ``None`` if the agent does not say.
        retry_after: seconds to wait before it; ``None`` likewise.
    """

    default_code = -32000

    def __init__(self, message: str, *, failure: Any, code: int, data: Any = None, method: str | None = None) -> None:
        super().__init__(message, code=code, data=data, method=method)
        self.failure = failure
        self.terminal_class: str = failure.terminal_class
        self.retryable: bool | None = failure.retryable
        self.retry_after: float | None = failure.retry_after


class SessionNotFound(RequestFailed, by_code=False):
    """-32004 of a Harn agent: it does not know the session."""

    default_code = -32004


class NoActivePrompt(RequestFailed, by_code=False):
    """-32004 of a Harn agent: it knows the session, but what was asked needs a turn that runs, and none does."""

    default_code = -32004


class LoginFailed(AcpError):
    """The user could not log in, or did not want to.

    Attributes:
        method_id: the way to log in; ``None`` where none was chosen.
        exit_status: how the agent's own login in a terminal ended; ``None`` for the other ways.
    """

    def __init__(self, message: str, *, method_id: str | None = None, exit_status: int | None = None) -> None:
        super().__init__(redact_text(message))
        self.method_id = method_id
        self.exit_status = exit_status


class SessionNotReopened(AcpError):
    """No way that a policy allows opened a session of earlier again; nothing is known to be lost.

    Attributes:
        session_id: the session.
        attempts: what was tried, in order, as :class:`acp_host.host.reopening.ReopenAttempt` values.
    """

    def __init__(self, session_id: str, attempts: tuple[Any, ...]) -> None:
        tried = "; ".join(f"{attempt.step}: {attempt.reason}" for attempt in attempts)
        super().__init__(f"session {session_id} was not opened again ({tried or 'nothing was tried'})")
        self.session_id = session_id
        self.attempts = attempts


class ExternalAgentError(AcpError):
    """Work given to an agent elsewhere was not done, or what came of it cannot be used.

    Attributes:
        kind: ``invalid_request``, ``discovery``, ``denied``, ``timeout``, ``cancelled``, ``transport`` or ``protocol``.
        category: what to do about it is decided by this; the peer's own word where it says one.
        data: what the peer sent, as sent; ``None`` where it sent nothing.
    """

    _CATEGORIES: ClassVar[dict[str, str]] = {
        "discovery": "tool_error",
        "denied": "tool_rejected",
        "transport": "transient_network",
        "protocol": "tool_error",
    }

    def __init__(self, message: str, *, kind: str, category: str | None = None, data: Any = None) -> None:
        super().__init__(f"the external agent ({kind}): {redact_text(message)}")
        self.kind = kind
        self.category = category or self._CATEGORIES.get(kind, kind)
        self.data = data

    def to_wire(self) -> dict[str, str]:
        """Return it in Harn's form."""
        return {"error": "external_agent_error", "kind": self.kind, "category": self.category, "message": str(self)}


class OutcomeUnknown(AcpError):
    """A request was written and the connection ended before its answer came.

    The agent may have acted on it. It is never sent again by itself.

    Attributes:
        method: the wire method of the request.
        cause: why the connection ended.
        interruption: whether it had begun, what was done meanwhile, and whether it is safe to send it again, as
            :class:`acp_host.host.interruption.Interruption`; ``None`` only below the host, see
            :class:`acp_host.HostProtocol`.
    """

    def __init__(self, method: str, cause: AcpError) -> None:
        super().__init__(f"{method} was sent, but the connection ended before its answer: {cause}")
        self.method = method
        self.cause = cause
        self.interruption: Any = None


class RunFailed(AcpError):
    """A run did not complete; raised by :meth:`RunResult.check` only.

    Attributes:
        result: what it was, as :class:`acp_host.automation.RunResult`.
    """

    def __init__(self, result: Any) -> None:
        outcome = result.outcome
        why = outcome.detail or outcome.reason or ""
        super().__init__(redact_text(f"the run did not complete: {outcome.kind}" + (f" ({why})" if why else "")))
        self.result = result


class ReminderNotDelivered(AcpError):
    """The rung that a reminder's policy requires cannot take it, or did not; no other rung was tried.

    Attributes:
        rung: name of the required rung.
        reason: why it did not take the reminder.
        reminder_id: the reminder's host-local id; ``None`` if it was refused before it had one.
    """

    def __init__(self, rung: str, reason: str, *, reminder_id: str | None = None) -> None:
        super().__init__(f"the reminder was not delivered by {rung}, which its policy requires: {reason}")
        self.rung = rung
        self.reason = reason
        self.reminder_id = reminder_id


def _as_it_was(kind: type[AcpError], args: tuple[Any, ...]) -> AcpError:
    """Return an error without what its ``__init__`` does, for :mod:`pickle`."""
    return kind.__new__(kind, *args)


def _text_of(data: Any) -> str:
    if isinstance(data, str):
        return data[:_LONGEST_READ]
    try:
        return "" if data is None else json.dumps(data, ensure_ascii=False)[:_LONGEST_READ]
    except (TypeError, ValueError, RecursionError):
        return ""
