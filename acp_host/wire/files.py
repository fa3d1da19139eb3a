"""Files that the agent reads and writes through the host: ``fs/read_text_file`` and ``fs/write_text_file``.

Owns the messages only; which paths are allowed is the file service's to decide.

Specification: File System.
"""

from __future__ import annotations

from acp_host.wire._model import UNSET, JsonObject, Model, UInt, Unset, model, wire_field
from acp_host.wire.ids import SessionId

__all__ = ["ReadTextFileRequest", "ReadTextFileResponse", "WriteTextFileRequest", "WriteTextFileResponse"]


@model
class ReadTextFileRequest(Model):
    """Parameters of ``fs/read_text_file``.

    Attributes:
        path: absolute.
        line: the first line to read, counted from 1; absent or ``null`` means the first.
        limit: how many lines to read at most; absent or ``null`` means all.
    """

    session_id: SessionId
    path: str
    line: UInt | None | Unset = wire_field(default=UNSET)
    limit: UInt | None | Unset = wire_field(default=UNSET)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ReadTextFileResponse(Model):
    """Result of ``fs/read_text_file``: the text of the lines asked for."""

    content: str
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class WriteTextFileRequest(Model):
    """Parameters of ``fs/write_text_file``.

    Attributes:
        path: absolute; the file need not exist.
        content: the whole new text.
    """

    session_id: SessionId
    path: str
    content: str
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class WriteTextFileResponse(Model):
    """Result of ``fs/write_text_file``; it says no more than that it worked."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
