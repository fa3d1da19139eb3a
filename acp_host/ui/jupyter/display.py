"""Results, diffs and artifacts as a notebook shows them: :func:`enable`.

Each becomes a MIME bundle: words for everybody, and HTML that is safe whatever the agent says, see
:mod:`acp_host.ui.jupyter.safe_html`. IPython is told only where somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from acp_host.automation.result import RunResult
from acp_host.host.outcome import TurnResult
from acp_host.printable import printable
from acp_host.state.harn.artifacts import Artifact
from acp_host.state.harn.mime_bundle import mime_bundle
from acp_host.ui.changed_lines import ChangedLine, LineKind, changed_lines, patched_lines
from acp_host.ui.jupyter.safe_html import clean, markdown_html, text_html
from acp_host.wire.tool_calls import Diff
from acp_host.wire.v2.diffs import Diff as PatchedFiles

__all__ = ["BUNDLES", "enable", "show_diff", "show_result", "show_run"]

Bundle = dict[str, Any]

_GROUNDS = {
    LineKind.ADDED: "background: rgba(46, 160, 67, 0.2)",
    LineKind.REMOVED: "background: rgba(248, 81, 73, 0.2)",
    LineKind.PLACE: "opacity: 0.7",
    LineKind.REMARK: "opacity: 0.7",
}
"""Of lines of a diff; they can be seen on light and dark grounds."""


def show_result(result: TurnResult) -> Bundle:
    """Return a turn's result: how it ended, what the agent said, and what has changed."""
    outcome, report = result.outcome, result.changes
    why = "" if outcome.detail == result.stop_reason else outcome.detail
    changes = [] if report is None else [f"{each.kind} {each.path} ({each.verdict})" for each in report.changes]
    problem = [] if report is None or report.problem is None else [report.problem]
    tokens = None if result.usage is None else result.usage.total_tokens
    return _ended(_head(outcome.kind, why, tokens), result.text, [*changes, *problem])


def show_run(result: RunResult) -> Bundle:
    """Return the result of a run, likewise."""
    outcome = result.outcome
    tokens = None if result.usage is None else result.usage.total_tokens
    changes = [f"{change.kind} {change.path}" for change in result.changes]
    return _ended(_head(outcome.kind, outcome.reason or outcome.detail, tokens), result.text, changes)


def show_diff(diff: Diff | PatchedFiles) -> Bundle:
    """Return a diff: its files, and the lines that change."""
    lines = changed_lines(diff) if isinstance(diff, Diff) else patched_lines(diff)
    return _bundle("\n".join(line.text for line in lines), f"<div>{''.join(map(_line, lines))}</div>")


def enable(shell: Any = None) -> None:
    """Have IPython show these from now on.

    Args:
        shell: the ``InteractiveShell``; ``None``: the one that runs this.
    """
    if shell is None:
        from IPython.core.getipython import get_ipython

        shell = get_ipython()
    if shell is not None:
        for kind, show in BUNDLES.items():
            shell.display_formatter.mimebundle_formatter.for_type(kind, show)


BUNDLES: Mapping[type, Callable[[Any], Bundle]] = {
    TurnResult: show_result,
    RunResult: show_run,
    Diff: show_diff,
    PatchedFiles: show_diff,
    Artifact: mime_bundle,
}
"""What is shown, and how."""


def _bundle(words: str, document: str) -> Bundle:
    return {"text/plain": words, "text/html": clean(document)}


def _ended(head: str, text: str, changes: Sequence[str]) -> Bundle:
    """Return how something ended, what was said, and a list of what has changed."""
    words = "\n".join(printable(part) for part in (f"[{head}]", text, *changes) if part)
    said = f'<div style="border-left: 3px solid #888; padding: 0 0 0 12px">{markdown_html(text)}</div>' if text else ""
    items = "".join(f"<li><code>{text_html(change)}</code></li>" for change in changes)
    return _bundle(words, f"<p><small>{text_html(head)}</small></p>{said}" + (f"<ul>{items}</ul>" if items else ""))


def _head(kind: str, why: str, tokens: int | None) -> str:
    return f"{kind}{f': {why}' if why else ''}{'' if tokens is None else f', {tokens:,} tokens'}"


def _line(line: ChangedLine) -> str:
    style = f"margin: 0; padding: 0 8px; white-space: pre-wrap; {_GROUNDS.get(line.kind, '')}"
    text = text_html(line.text) or " "
    return f'<pre style="{style}">{f"<strong>{text}</strong>" if line.kind is LineKind.HEADING else text}</pre>'
