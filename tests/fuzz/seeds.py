"""Examples to begin with: what real agents sent, what Harn sends, and a few odd things."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).parents[2] / "fixtures"
LONG = 600
"""Bytes that an example has about, if its first line is not longer: short ones are changed and run more often."""


def recorded_lines() -> Iterator[bytes]:
    """Yield what agents sent in the recordings, a line each."""
    for path in sorted((FIXTURES / "recordings").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            recorded = json.loads(line)
            if recorded.get("dir") == "in" and "msg" in recorded:
                yield compact(recorded["msg"])


def conversations() -> Iterator[bytes]:
    """Yield pieces of the recordings, some lines each."""
    for piece in pieces(recorded_lines()):
        yield piece + b"\n"


def pieces(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines that follow each other, some together."""
    piece = b""
    for line in lines:
        if piece and len(piece) + len(line) >= LONG:
            yield piece
            piece = b""
        piece += b"\n" + line if piece else line
    if piece:
        yield piece


def harn_messages() -> Iterator[dict[str, Any]]:
    """Yield every message in Harn's wire data."""
    for path in sorted((FIXTURES / "harn").glob("*.json")):
        yield from _messages(json.loads(path.read_text(encoding="utf-8")))


def compact(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _messages(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict) and "jsonrpc" in value:
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _messages(each)
    elif isinstance(value, list):
        for each in value:
            yield from _messages(each)
