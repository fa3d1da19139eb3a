"""A command that the agent runs by itself, as a person sees it: :class:`AgentTerminal`.

Its output comes in pieces of bytes, each of which may end in the midst of a character or of an escape sequence; the
rest of a character is waited for, and an escape sequence is whole again in the joined text. What is no UTF-8 becomes
U+FFFD. As of any command, only the newest output is kept.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Mapping
from typing import Any

from acp_host.state import events
from acp_host.state.members import patched
from acp_host.state.snapshot import TerminalView
from acp_host.state.terminal_output import TerminalOutput
from acp_host.wire._model import NO_EXTRA, Unset

__all__ = ["AgentTerminal"]

_new_decoder = codecs.getincrementaldecoder("utf-8")


class AgentTerminal:
    """A command of the agent, as far as it is told; a view is made when somebody looks."""

    def __init__(self, terminal_id: str) -> None:
        self.ended = False
        self._terminal_id = terminal_id
        self._command: str | None = None
        self._cwd: str | None = None
        self._size: tuple[int, int] | None = None
        self._exit_code: int | None = None
        self._signal: str | None = None
        self._cancellable = False
        self._meta: Mapping[str, Any] = NO_EXTRA
        self._decoder = _new_decoder("replace")
        self._output = TerminalOutput()
        self._view: TerminalView | None = None

    def report(self, event: events.AgentTerminalReported, problem: Callable[[str], None] = lambda _: None) -> None:
        """Take what has changed about it; ``problem`` is called with what is left out."""
        self._view = None
        if not isinstance(event.command, Unset):
            self._command = event.command
        if not isinstance(event.cwd, Unset):
            self._cwd = event.cwd
        if not isinstance(event.size, Unset):
            self._size = event.size
        if not isinstance(event.cancellable, Unset):
            self._cancellable = event.cancellable
        self._meta = patched(self._meta, event.meta, problem)
        if not isinstance(event.output, Unset):
            self._decoder.reset()
            self._output = TerminalOutput()
            self._output.append(self._decoder.decode(event.output or b""))
        if not isinstance(event.exited, Unset):
            self.ended = event.exited
            self._exit_code, self._signal = event.exit_code, event.signal
            if event.exited:
                self._output.append(self._decoder.decode(b"", final=True))

    def print(self, data: bytes) -> None:
        """Take what it has printed next."""
        self._view = None
        self._output.append(self._decoder.decode(data))

    def view(self) -> TerminalView:
        """Return the command as it is now."""
        if self._view is None:
            self._view = TerminalView(
                terminal_id=self._terminal_id,
                command=self._command or "",
                output=self._output.segments(),
                truncated=self._output.truncated,
                ended=self.ended,
                exit_code=self._exit_code,
                signal=self._signal,
                owner="agent",
                cwd=self._cwd,
                cols=None if self._size is None else self._size[0],
                rows=None if self._size is None else self._size[1],
                cancellable=self._cancellable,
                meta=self._meta,
            )
        return self._view
