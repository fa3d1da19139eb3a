"""The newest output of a command, in segments as for any text: :class:`TerminalOutput`."""

from __future__ import annotations

from acp_host.state.text import TextBuilder

__all__ = ["MAX_SEGMENTS", "TerminalOutput"]

MAX_SEGMENTS = 64
"""Most segments of output that are kept of a command: 256 Ki characters."""


class TerminalOutput:
    """Output that grows at its end and is cut off at its beginning.

    Attributes:
        truncated: whether older output was dropped.
    """

    __slots__ = ("_text", "truncated")

    def __init__(self) -> None:
        self.truncated = False
        self._text = TextBuilder()

    def append(self, printed: str) -> None:
        """Add what was printed."""
        if not printed:
            return
        self._text.append(printed)
        segments = self._text.segments()
        if len(segments) > MAX_SEGMENTS:
            self._text = TextBuilder(segments[-MAX_SEGMENTS:])
            self.truncated = True

    def segments(self) -> tuple[str, ...]:
        """Return what is kept."""
        return self._text.segments()
