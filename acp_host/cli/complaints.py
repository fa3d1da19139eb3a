"""What the command says about an error: :func:`complaint`."""

from __future__ import annotations

import argparse
import json
from http import HTTPStatus
from typing import Any

from acp_host.cli.misplaced import told_on_failure
from acp_host.errors import AcpError, InvalidInput, RequestFailed, SessionNotReopened, StartFailed, TransportError
from acp_host.printable import printable
from acp_host.redaction import redact, redact_text

__all__ = ["complaint"]

_LONGEST_DATA = 2_000


def complaint(error: AcpError, options: argparse.Namespace) -> str:
    """Return what went wrong, made safe to print, without what looks like a secret.

    Args:
        error: what went wrong.
        options: parsed; ``start_hint``, where it is there, says more of an agent that does not start.
    """
    lines = [str(error).rstrip()]
    if isinstance(error, RequestFailed):
        said = f"({error.code}): {redact_text(error.message)}"
        lines = [f"the agent answered {error.method or 'a request'} with an error {said}"]
        lines += _details(error.data)
    if isinstance(error, TransportError) and error.http_status == HTTPStatus.UNAUTHORIZED:
        lines.append("The command takes a token with --bearer-env VAR.")
    if isinstance(error, InvalidInput):
        lines.append(f"Try acp-host {options.name} --help.")
    if isinstance(error, SessionNotReopened) and options.name == "run":
        lines.append("Without --continue and --session, a new session is begun.")
    if isinstance(error, StartFailed) and hasattr(options, "start_hint"):
        lines.append(options.start_hint)
    if isinstance(error, StartFailed | InvalidInput) and (hint := told_on_failure(options)):
        lines.append(hint)
    lines += getattr(error, "__notes__", [])
    text = "\n".join(lines)
    return f"acp-host: {printable(text)}"


def _details(data: Any) -> list[str]:
    if data is None:
        return []
    shown = redact(data)
    text = shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False)
    return [f"details: {text[:_LONGEST_DATA]}"]
