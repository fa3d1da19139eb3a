"""Takes other people's words out of a recording: ``python -m tests.state.anonymise RECORDING… --to FOLDER``.

What is kept: the structure, the protocol's own words, ids, numbers, times, and the shape of every text and path. Each
letter of a free text becomes ``o`` or ``n`` and each digit ``0``, letter by letter, so that texts that were equal, or
pieces of one another, still are. Very long lists and texts are cut.

A recording that went through this comes out the same when it goes through it again.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

KEPT = frozenset(
    (
        "action",
        "audience",
        "category",
        "code",
        "compactionId",
        "configId",
        "const",
        "currency",
        "currentModeId",
        "currentModelId",
        "currentValue",
        "id",
        "jsonrpc",
        "kind",
        "messageId",
        "method",
        "mimeType",
        "mode",
        "modeId",
        "modelId",
        "optionId",
        "outcome",
        "planId",
        "positionEncodings",
        "priority",
        "protocolVersion",
        "requestId",
        "required",
        "role",
        "sessionId",
        "sessionUpdate",
        "severity",
        "status",
        "stopReason",
        "terminalId",
        "toolCallId",
        "type",
        "updatedAt",
        "value",
    )
)
"""Properties whose text is an id or a word of the protocol."""
FREE = frozenset(("_meta", "data", "rawInput", "rawOutput"))
"""Properties in which an agent writes what it likes: nothing in them is taken for an id or a word."""
NAMED = frozenset(("agentInfo", "clientInfo"))
"""Properties whose ``name`` and ``version`` say which program it is."""

MOST_ITEMS = 4
LONGEST_TEXT = 1_500

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:(?=//)")


def mask(text: str) -> str:
    """Return a text of the same shape that says nothing."""
    scheme = _SCHEME.match(text)
    kept = scheme[0] if scheme else ""
    return kept + "".join(map(_masked, text[len(kept) : LONGEST_TEXT]))


def _masked(character: str) -> str:
    if character.isdigit():
        return "0"
    if not character.isalpha():
        return character
    letter = "o" if character.lower() in "aeiou" else "n"
    return letter.upper() if character.isupper() else letter


def anonymous(value: Any, key: str = "", *, free: bool = False, named: bool = False) -> Any:
    """Return a JSON value without other people's words."""
    if isinstance(value, dict):
        free, named = free or key in FREE, key in NAMED
        return {
            (mask(name) if " " in name else name): anonymous(member, name, free=free, named=named)
            for name, member in value.items()
        }
    if isinstance(value, list):
        return [anonymous(item, key, free=free) for item in value[:MOST_ITEMS]]
    if isinstance(value, str) and not (not free and key in KEPT) and not (named and key in ("name", "version")):
        return mask(value)
    return value


def anonymous_record(record: dict[str, Any]) -> dict[str, Any]:
    """Return one line of a recording without other people's words."""
    if "msg" in record:
        return {**record, "msg": anonymous(record["msg"])}
    raw = record.get("raw")
    if raw is None or raw == "<EOF>":
        return record
    try:
        return {**record, "raw": json.dumps(anonymous(json.loads(raw)))}
    except ValueError:
        return {**record, "raw": mask(raw)}


def anonymise(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a recording without other people's words."""
    for line in lines:
        yield json.dumps(anonymous_record(json.loads(line)), separators=(",", ":"), ensure_ascii=False) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Take other people's words out of recordings.")
    parser.add_argument("recordings", nargs="+", type=Path)
    parser.add_argument("--to", type=Path, required=True, help="folder for the results")
    options = parser.parse_args()
    for path in options.recordings:
        with path.open(encoding="utf-8") as lines, (options.to / path.name).open("w", encoding="utf-8") as out:
            out.writelines(anonymise(lines))


if __name__ == "__main__":
    main()
