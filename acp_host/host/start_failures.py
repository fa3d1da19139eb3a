"""What to raise when an agent does not come up, with everything that is known of why: :class:`StartFailures`."""

from __future__ import annotations

from typing import TypeVar

from acp_host.diagnostics import DiagnosticKind
from acp_host.errors import AcpError, OutcomeUnknown, PeerError, StartFailed, StartTimeout, TransportError
from acp_host.host.diagnostic_log import DiagnosticLog
from acp_host.printable import printable
from acp_host.transports import Transport

__all__ = ["StartFailures"]

_E = TypeVar("_E", bound=BaseException)

_ERROR_TAIL = 8 * 1024
"""Most characters of stderr that an error carries."""


class StartFailures:
    """Makes the errors of one start.

    Args:
        transport: the way to the agent.
        diagnostics: what was noticed until then.
    """

    def __init__(self, transport: Transport, diagnostics: DiagnosticLog) -> None:
        self._transport = transport
        self._diagnostics = diagnostics

    def timeout(self, seconds: float) -> StartTimeout:
        """Return the error for an agent that did not answer ``initialize`` in time."""
        return StartTimeout(
            f"{self._transport.description} did not answer initialize within {seconds:g} s; "
            f"it may not be an ACP agent, may need a flag to speak ACP, or may need longer to start{self._noise()}",
            exit_status=self._transport.exit_status,
            stderr_tail=self._stderr(),
        )

    def ended_early(self, error: AcpError) -> AcpError:
        """Return the error for an agent that was lost before it answered ``initialize``."""
        cause = error.cause if isinstance(error, OutcomeUnknown) else error
        if isinstance(cause, PeerError):
            return cause
        lost = cause if isinstance(cause, TransportError) else TransportError("")
        status, agent = lost.exit_status, self._transport.description
        why = str(cause).partition("\n")[0].removeprefix(f"{agent}: ")
        if status is not None:
            what = f"{agent} ended before it answered initialize (exit status {status})"
        elif self._transport.remote and lost.close_code is None:
            what = f"cannot connect to {agent}: {why}"
        else:
            what = f"{agent} was lost before it answered initialize: {why}"
        text = f"{what}{self._noise()}"
        return self.complete(
            StartFailed(
                text,
                exit_status=status,
                stderr_tail=self._stderr(),
                http_status=lost.http_status,
                close_code=lost.close_code,
                retryable=lost.retryable,
            )
        )

    def complete(self, error: _E) -> _E:
        """Return an error with the diagnostics on it, if it has a place for them."""
        if isinstance(error, StartFailed):
            error.diagnostics = tuple(self._diagnostics)
        return error

    def _stderr(self) -> str:
        return self._diagnostics.redactor.text(self._transport.stderr_tail()[-_ERROR_TAIL:])

    def _noise(self) -> str:
        """Return what came and was no message: often a program's own word, on stdout, on why it does not start."""
        lines = [str(note.data)[:200] for note in self._diagnostics if note.kind is DiagnosticKind.NOISE]
        said = [printable(line) for line in lines[-5:]]
        source = "from it" if self._transport.remote else "from its stdout"
        return "\n".join(["", f"--- {source} ---", *said]) if said else ""
