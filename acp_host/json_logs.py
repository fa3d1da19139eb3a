"""Log records as JSON Lines: :class:`JsonLogFormatter`, for a handler of :mod:`logging`.

The library logs below ``acp_host``, mostly at DEBUG. What a record has besides its message stands in members of its
own; what an agent or a user has said does not, unless it is asked for.
"""

from __future__ import annotations

import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any

import orjson

from acp_host.diagnostics import Diagnostic
from acp_host.printable import printable
from acp_host.redaction import redact, redact_text

__all__ = ["JsonLogFormatter"]

_NOTICES = "acp_host.notices"
"""The logger of what agents tell their users."""
_LONGEST = 4_096
"""Most characters of one text."""
_LARGEST_INTEGER = 2**53
"""Beyond it many readers of JSON lose digits, and from 64 bits on orjson writes none; such a number is a text."""
_OF_RECORDS = frozenset({*vars(logging.makeLogRecord({})), "asctime", "message", "taskName", "diagnostic"})


class JsonLogFormatter(logging.Formatter):
    """Formats each record as one JSON object on one line. ::

        handler = logging.StreamHandler()
        handler.setFormatter(acp_host.JsonLogFormatter())
        logging.getLogger("acp_host").addHandler(handler)

    Members: ``time`` (ISO 8601, UTC), ``level``, ``logger``, ``message``; of a diagnostic ``diagnostic`` (its kind),
    ``method``, ``session_id`` and ``path``; of an exception ``error`` (its class) and ``where`` (the innermost calls);
    ``trace_id`` and ``span_id`` within a span of OpenTelemetry; and what an application has passed as ``extra``. Texts
    are cut at 4,096 characters, and are without secrets that can be told as such and without control characters.

    Args:
        content: also write what may hold words of the user or the agent: the text of an exception, the offending data
            of a diagnostic, and what an agent tells the user.
    """

    def __init__(self, *, content: bool = False) -> None:
        super().__init__()
        self._content = content

    def format(self, record: logging.LogRecord) -> str:
        told: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": self._message_of(record),
        }
        diagnostic = getattr(record, "diagnostic", None)
        if isinstance(diagnostic, Diagnostic):
            told |= self._of_diagnostic(diagnostic)
        if record.exc_info and record.exc_info[1] is not None:
            told |= self._of_error(record.exc_info[1])
        told |= _trace_ids()
        given = {name: value for name, value in vars(record).items() if name not in _OF_RECORDS}
        told |= {name: _plain(value) for name, value in redact(given).items() if name not in told}
        return orjson.dumps(told, default=repr).decode()

    def _message_of(self, record: logging.LogRecord) -> str:
        if record.name == _NOTICES and not self._content:
            return "the agent has told the user something"
        return _shown(record.getMessage())

    def _of_diagnostic(self, diagnostic: Diagnostic) -> dict[str, Any]:
        members: dict[str, Any] = {
            "diagnostic": str(diagnostic.kind),
            "method": diagnostic.method,
            "session_id": diagnostic.session_id,
            "path": diagnostic.path,
        }
        if self._content:
            members["data"] = diagnostic.data
        return {name: _plain(value) for name, value in members.items() if value is not None}

    def _of_error(self, error: BaseException) -> dict[str, Any]:
        frames = traceback.extract_tb(error.__traceback__)[-5:]
        members: dict[str, Any] = {
            "error": type(error).__name__,
            "where": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
        }
        return {**members, "error_text": _shown(str(error))} if self._content else members


def _shown(text: str) -> str:
    return redact_text(printable(text[:_LONGEST]))


def _plain(value: Any) -> Any:
    is_plain = isinstance(value, bool | float | None) or (isinstance(value, int) and abs(value) <= _LARGEST_INTEGER)
    return value if is_plain else _shown(str(value))


def _trace_ids() -> dict[str, str]:
    """Return where a record belongs, if this program has loaded OpenTelemetry and is within a span."""
    trace = sys.modules.get("opentelemetry.trace")
    context = None if trace is None else trace.get_current_span().get_span_context()
    if context is None or not context.is_valid:
        return {}
    return {"trace_id": f"{context.trace_id:032x}", "span_id": f"{context.span_id:016x}"}
