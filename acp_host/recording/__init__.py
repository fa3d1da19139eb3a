"""Recordings of conversations: what went over the wire in both directions, with the time.

:class:`Recording` says where and how, :class:`RecordingTransport` is the tap around a transport, and
:func:`read_recording` reads the files, whose format :mod:`~acp_host.recording.format` describes.
:class:`TranscriptArchive` keeps what a memory policy takes out of a transcript.
"""

from __future__ import annotations

from acp_host.recording.archive import TranscriptArchive
from acp_host.recording.format import (
    MetaEvent,
    RecordedDirection,
    RecordedLine,
    encode_line,
    parse_line,
    read_recording,
)
from acp_host.recording.recorder import Recorder
from acp_host.recording.redaction import Redaction
from acp_host.recording.settings import Recording
from acp_host.recording.tap import RecordingTransport

__all__ = [
    "MetaEvent",
    "RecordedDirection",
    "RecordedLine",
    "Recorder",
    "Recording",
    "RecordingTransport",
    "Redaction",
    "TranscriptArchive",
    "encode_line",
    "parse_line",
    "read_recording",
]
