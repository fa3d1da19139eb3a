"""Who was allowed what, and by whom: :class:`AuditTrail`, a list of :class:`AuditRecord`.

Every file that an agent reads or writes through the host, every command, every permission and every form leaves one
record here, also and above all those that were refused. Secrets never get in: no content of files, no value of a
variable, nothing that was typed into a form.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import threading
from collections import deque
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Any

from attrs import asdict, field, frozen

from acp_host.diagnostics import excerpt
from acp_host.errors import InvalidInput
from acp_host.state.observers import Observers

__all__ = ["Attribution", "AuditDecision", "AuditRecord", "AuditTrail", "DecidedBy"]

_logger = logging.getLogger("acp_host.audit")


class AuditDecision(StrEnum):
    """How a request ended."""

    ALLOWED = "allowed"
    """It was permitted, or done."""
    REJECTED = "rejected"
    """It was refused, or a form was declined."""
    CANCELLED = "cancelled"
    """Nobody decided: it was withdrawn, or its turn was cancelled."""
    ANSWERED = "answered"
    """The user chose an option whose meaning this version does not know."""
    FAILED = "failed"
    """It was permitted and did not work, e.g. because there is no such file."""
    VIOLATED = "violated"
    """It was done without asking, and the policy does not allow it; found out after the turn."""


class DecidedBy(StrEnum):
    """Who or what decided."""

    POLICY = "policy"
    USER = "user"
    """The application's handler or queue."""
    REMEMBERED = "remembered"
    """An earlier answer of the user, which was to be remembered."""
    APPROVAL = "approval"
    """An answer to the agent's own question about the same thing, in the same turn."""
    CONSENT = "consent"
    """The application offers the service and has no policy for it."""
    CONFINEMENT = "confinement"
    """The file or terminal service: it is outside of what the session may touch, or cannot be done."""
    HOST = "host"
    """This library: the turn was cancelled, the session is unknown, the time was up, a handler failed."""


@frozen
class Attribution:
    """Who decided about a request, and what its answer does not say of that.

    Attributes:
        by: who decided.
        decision: what, where the answer does not say it.
        subject: what the request is about, where it does not say all of it.
        rule: name of the rule that decided.
        detail: more words.
    """

    by: DecidedBy
    decision: AuditDecision | None = field(default=None, kw_only=True)
    subject: str = field(default="", kw_only=True)
    rule: str | None = field(default=None, kw_only=True)
    detail: str = field(default="", kw_only=True)


@frozen(kw_only=True)
class AuditRecord:
    """One request of the agent and what became of it.

    Attributes:
        time: when it was decided, in seconds since the epoch.
        session_id: the session that the agent named; ``None`` if it named none.
        agent: name of the agent.
        action: wire method of the request.
        subject: the path, the command or the title that it was about; at most 2,048 characters.
        decision: how it ended.
        decided_by: who decided.
        rule: name of the policy's rule that decided, if one did.
        detail: more words, e.g. the reason of a refusal or the id of the chosen option.
        peer: where the agent is, if it is elsewhere: its URL without secrets; ``None`` on this machine.
    """

    time: float
    session_id: str | None
    agent: str
    action: str
    subject: str = field(converter=excerpt)
    decision: AuditDecision
    decided_by: DecidedBy
    rule: str | None = None
    detail: str = field(default="", converter=excerpt)
    peer: str | None = None


class AuditTrail:
    """The newest records, oldest first, and optionally a file that keeps them all.

    Args:
        capacity: how many records are kept here.
        file: each record is added to it as a line of JSON; made readable to its owner only. Writing happens in a
            thread; a file that cannot be written is logged to ``acp_host.audit``, and the records are kept here.

    Raises:
        InvalidInput: an argument is of another type.
    """

    def __init__(self, *, capacity: int = 10_000, file: str | Path | None = None) -> None:
        if not isinstance(capacity, int) or capacity < 0:
            raise InvalidInput(f"capacity is a number of records, not {capacity!r}")
        if not isinstance(file, str | Path | None):
            raise InvalidInput(f"AuditTrail(file=…) takes a path, not {type(file).__name__}")
        self._records: deque[AuditRecord] = deque(maxlen=capacity)
        self._observers: Observers[AuditRecord] = Observers(_log_failure)
        self.file = None if file is None else Path(file)
        self._writer = None if self.file is None else _AuditFile(self.file)

    @property
    def records(self) -> tuple[AuditRecord, ...]:
        """The records, oldest first."""
        return tuple(self._records)

    def on_record(self, observer: Callable[[AuditRecord], None]) -> Callable[[], None]:
        """Call ``observer`` with every record from now on; return a function that ends this.

        It is called at once and must not block; what it raises is logged.
        """
        return self._observers.connect(observer)

    def add(self, record: AuditRecord) -> None:
        """Add a record."""
        self._records.append(record)
        if self._writer is not None:
            self._writer.write(record)
        self._observers.tell(record)

    def close(self, timeout: float = 5.0) -> None:
        """Wait until the file has every record, at most so many seconds. Records may be added afterwards, too."""
        if self._writer is not None:
            self._writer.close(timeout)


def _log_failure(observer: Callable[[AuditRecord], None], error: BaseException) -> None:
    _logger.error("an observer of the audit trail failed: %r", observer, exc_info=error)


class _AuditFile:
    """Appends records to a file, in a thread that lives while there is something to write."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def write(self, record: AuditRecord) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, name="acp_host audit", daemon=True)
            self._thread.start()
        self._lines.put(json.dumps(asdict(record), ensure_ascii=True).encode() + b"\n")

    def close(self, timeout: float) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            self._lines.put(None)
            thread.join(timeout)

    def _run(self) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        while (line := self._lines.get()) is not None:
            try:
                descriptor = os.open(self._path, flags, 0o600)
                try:
                    self._write(descriptor, line)
                finally:
                    os.close(descriptor)
            except OSError as error:
                _logger.error("a record could not be written to %s: %s", self._path, error)

    @staticmethod
    def _write(descriptor: int, line: bytes) -> None:
        rest: Any = memoryview(line)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
