"""What a command has printed, and how it ended, as it is shown: :func:`output_text`."""

from __future__ import annotations

from rich.text import Text

from acp_host.cli.printer import plain

__all__ = ["output_text"]

_LAST_LINES = 20


def output_text(output: str, *, truncated: bool, exit_code: int | None, signal: str | None) -> Text:
    """Return the end of what a command has printed, and how it ended.

    Args:
        output: what is kept of it.
        truncated: whether more was printed before that.
        exit_code: its exit code; ``None`` where that is not known.
        signal: the signal that ended it, if one did.
    """
    said = output.replace("\r\n", "\n").removesuffix("\n").split("\n") if output else []
    lines = [plain(line) for line in said[-_LAST_LINES:]]
    if len(said) > _LAST_LINES or truncated:
        lines.insert(0, plain("(more above)", "dim"))
    lines.append(plain(_how_it_ended(exit_code, signal), "dim"))
    return Text("\n").join(lines)


def _how_it_ended(exit_code: int | None, signal: str | None) -> str:
    if signal:
        return f"ended by {signal}"
    return "ended" if exit_code is None else f"exit code {exit_code}"
