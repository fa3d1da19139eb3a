"""A transport that holds what goes over it against the schema: :class:`LintTransport`.

What comes of that is in :class:`~acp_host.host.lint_mode.LintMode`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from acp_host.diagnostics import Diagnostic, DiagnosticKind, excerpt, throttled
from acp_host.errors import AcpError, DecodeError
from acp_host.host.linter import Finding, Linter, Side
from acp_host.transports import Receiver, Transport
from acp_host.transports._around import TransportAround
from acp_host.wire.codec import Noise, Unreadable, read
from acp_host.wire.framing import LineFramer, Oversized

__all__ = ["LintTransport"]

_MAX_DISTINCT = 1_000
"""Findings that are remembered, so that each is told once."""


class LintTransport(TransportAround):
    """A tap around another transport.

    Args:
        inner: moves the bytes; not started yet.
        report: takes the diagnostics.
        strict: end the connection at the first finding about the agent.
        max_message_size: longest message that is looked at, in bytes.
    """

    def __init__(
        self, inner: Transport, report: Callable[[Diagnostic], None], *, strict: bool, max_message_size: int
    ) -> None:
        super().__init__(inner)
        self._report = report
        self._tell = throttled(report)
        self._strict = strict
        self._max_message_size = max_message_size
        self._linter = Linter()
        self._framers: dict[Side, LineFramer] = {
            "in": LineFramer(max_message_size),
            "out": LineFramer(max_message_size),
        }
        self._told: set[Finding] = set()
        self._receiver: Receiver | None = None
        self._ended = False

    def around(self, inner: Transport) -> LintTransport:
        return LintTransport(inner, self._report, strict=self._strict, max_message_size=self._max_message_size)

    async def start(self, receiver: Receiver) -> None:
        self._receiver = receiver
        await self._inner.start(self)

    # --- what goes over it ------------------------------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        self._inner.write(data)
        for line in self._framers["out"].feed(data):
            self._look("out", line)

    def data_received(self, data: bytes) -> None:
        """Take bytes from the other transport."""
        if self._ended:
            return
        assert self._receiver is not None
        lines = self._framers["in"].feed(data)
        if self._strict:
            self._pass_what_fits(lines)
            return
        for line in lines:
            self._look("in", line)
        self._receiver.data_received(data)

    def connection_lost(self, error: AcpError | None) -> None:
        """Take the end of the other transport."""
        if not self._ended:
            assert self._receiver is not None
            if self._strict:
                self._pass_what_fits(self._framers["in"].eof())
            self._end(error)

    def _pass_what_fits(self, lines: Sequence[bytes | Oversized]) -> None:
        """Pass on the messages before the first one that does not fit, and end the connection there if there is one."""
        passed: list[bytes] = []
        fault: Finding | None = None
        for line in lines:
            findings = self._look("in", line)
            if findings or isinstance(line, Oversized):
                fault = findings[0]
                break
            passed += (line, b"\n")
        if passed and self._receiver is not None:
            self._receiver.data_received(b"".join(passed))
        if fault is not None:
            about = f"{fault.method}: " if fault.method else ""
            self._end(DecodeError(f"the agent does not keep to the schema: {about}{fault.problem}", fault.path))

    def _end(self, error: AcpError | None) -> None:
        if not self._ended and self._receiver is not None:
            self._ended = True
            self._receiver.connection_lost(error)

    def _look(self, side: Side, line: bytes | Oversized) -> list[Finding]:
        findings = self._findings(side, line)
        for finding in findings:
            if finding not in self._told:
                if len(self._told) < _MAX_DISTINCT:
                    self._told.add(finding)
                self._tell(_diagnostic(finding, line))
        return findings

    def _findings(self, side: Side, line: bytes | Oversized) -> list[Finding]:
        if isinstance(line, Oversized):
            return [Finding(side, f"longer than {self._max_message_size:,} bytes")]
        if not line.strip():
            return []
        repairs: list[Diagnostic] = []
        try:
            message: Any = read(line, repairs.append)
        except (Noise, Unreadable) as error:
            return [Finding(side, f"no JSON object: {error}")]
        return [*(Finding(side, repair.message) for repair in repairs), *self._linter.check(side, message)]


def _diagnostic(finding: Finding, line: bytes | Oversized) -> Diagnostic:
    sender = "the agent" if finding.side == "in" else "this host"
    return Diagnostic(
        DiagnosticKind.SCHEMA,
        f"{sender} sent what does not fit the schema: {finding.problem}",
        path=finding.path,
        method=finding.method,
        data=excerpt(line.head if isinstance(line, Oversized) else line),
    )
