"""From bytes on the wire to lines of a recording: :class:`LineMaker`. Pure, and the most expensive part of recording.

Cost: a message that holds nothing suspicious is written as it came, after one look for suspicious words and one check
that it is JSON; any other is taken apart, redacted and put together again.
"""

from __future__ import annotations

import json
from typing import Any

import orjson

from acp_host.recording.exact_json import loads
from acp_host.recording.format import RecordedLine, encode_line
from acp_host.recording.redaction import LineRedactor
from acp_host.wire.framing import Oversized

__all__ = ["MAX_RAW", "LineMaker"]

MAX_RAW = 64 * 1024
"""How much is kept of a line that is no message, in characters."""

_BRACE = ord("{")
_LONGEST_TEXTS = (65_536, 4_096, 256)
"""What long texts of a message that is too long are cut to, in characters; multiples of 4, as base64 needs it."""


class LineMaker:
    """Makes lines of recordings.

    Args:
        redactor: takes out what is to be hidden.
        max_line: longest line, in bytes.
    """

    def __init__(self, redactor: LineRedactor, max_line: int) -> None:
        self._redactor = redactor
        self._max_line = max_line

    def line(self, direction: str, time: float, data: bytes | Oversized) -> bytes:
        """Return the line for one line on the wire."""
        if isinstance(data, Oversized):
            return self._raw(direction, time, data.head.decode("utf-8", "replace"), data.size)
        if data[0] == _BRACE and len(data) <= self._max_line and not self._redactor.may_change(data):
            try:
                orjson.loads(data)
            except orjson.JSONDecodeError:
                pass
            else:
                return b'{"dir":"%b","t":%.6f,"msg":%b}\n' % (direction.encode(), time, data)
        return self._redacted(direction, time, data)

    def meta(self, time: float, note: str, event: str, **details: Any) -> bytes:
        """Return a ``meta`` line; texts in it are redacted."""
        shown, said = self._redactor.message(details), self._redactor.text(note)
        return encode_line(RecordedLine(direction="meta", time=time, note=said, event=event, details=shown))

    def _redacted(self, direction: str, time: float, data: bytes) -> bytes:
        text = data.decode("utf-8", "replace")
        try:
            value = loads(data)
            message = self._redactor.message(value)
            if isinstance(message, dict):
                return self._message(direction, time, message)
            if message != value:  # a batch with something to hide
                text = json.dumps(message, ensure_ascii=False)
        except (ValueError, RecursionError):
            text = self._redactor.text(text)
        return self._raw(direction, time, text, len(text))

    def _message(self, direction: str, time: float, message: dict[str, Any]) -> bytes:
        line = encode_line(RecordedLine(direction=direction, time=time, message=message))
        for longest in _LONGEST_TEXTS:
            if len(line) <= self._max_line:
                return line
            shortened, cut = _shortened(message, longest)
            line = encode_line(RecordedLine(direction=direction, time=time, message=shortened, details={"cut": cut}))
        if len(line) <= self._max_line:
            return line
        text = json.dumps(message, ensure_ascii=False)
        return self._raw(direction, time, text, len(text))

    def _raw(self, direction: str, time: float, text: str, size: int) -> bytes:
        kept = text[: min(MAX_RAW, self._max_line // 2)]
        details = {"cut": size - len(kept)} if size > len(kept) else {}
        return encode_line(RecordedLine(direction=direction, time=time, raw=kept, details=details))


def _shortened(value: Any, longest: int) -> tuple[Any, int]:
    """Return JSON with its texts cut, and how many characters were left out."""
    if isinstance(value, str):
        return value[:longest], max(0, len(value) - longest)
    if isinstance(value, list):
        items = [_shortened(item, longest) for item in value]
        return [item for item, _ in items], sum(cut for _, cut in items)
    if isinstance(value, dict):
        members = {name: _shortened(item, longest) for name, item in value.items()}
        return {name: item for name, (item, _) in members.items()}, sum(cut for _, cut in members.values())
    return value, 0
