"""Recordings of conversations: what went over the wire in both directions, with the time.

:mod:`~acp_host.recording.format` is the file format and its reader.
"""

from __future__ import annotations

from acp_host.recording.format import (
    MetaEvent,
    RecordedDirection,
    RecordedLine,
    encode_line,
    parse_line,
    read_recording,
)

__all__ = [
    "MetaEvent",
    "RecordedDirection",
    "RecordedLine",
    "encode_line",
    "parse_line",
    "read_recording",
]
