"""Diffs of version 2: which files a tool call has changed, and, where it can be shown, the change as a patch."""

from __future__ import annotations

import enum
from typing import TypeAlias

from acp_host.wire._model import UNSET, JsonObject, Model, Unknown, Unset, model, wire_field
from acp_host.wire._unions import tagged_union
from acp_host.wire.v2.content import AbsolutePath, MediaType

__all__ = [
    "Diff",
    "DiffChange",
    "DiffFileType",
    "DiffPatch",
    "DiffPatchFormat",
    "DiffPathChange",
    "DiffPathPairChange",
    "FileAdded",
    "FileCopied",
    "FileDeleted",
    "FileModified",
    "FileMoved",
    "UnknownDiffChange",
]


class DiffFileType(enum.StrEnum):
    """What sort of file was changed. Words that begin with ``_`` are an agent's own."""

    TEXT = "text"
    BINARY = "binary"
    DIRECTORY = "directory"
    SYMLINK = "symlink"


class DiffPatchFormat(enum.StrEnum):
    """How a patch is written. Words that begin with ``_`` are an agent's own.

    ``git_patch``: sections as ``git diff`` prints them, with absolute paths and without ``a/`` and ``b/``.
    """

    GIT_PATCH = "git_patch"


@model
class DiffPathChange(Model):
    """A change of one file in its place.

    Attributes:
        file_type: after the change, or of the deleted file; absent and ``None``: not told.
        mime_type: likewise.
    """

    path: AbsolutePath
    file_type: DiffFileType | str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    mime_type: MediaType | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class FileAdded(DiffPathChange):
    """A file is new."""


@model
class FileDeleted(DiffPathChange):
    """A file is gone."""


@model
class FileModified(DiffPathChange):
    """A file has other contents."""


@model
class DiffPathPairChange(Model):
    """A change that takes a file from one path to another.

    Attributes:
        old_path: before the change.
        path: after it.
        file_type: after the change; absent and ``None``: not told.
        mime_type: likewise.
    """

    old_path: AbsolutePath
    path: AbsolutePath
    file_type: DiffFileType | str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    mime_type: MediaType | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class FileMoved(DiffPathPairChange):
    """A file has another path."""


@model
class FileCopied(DiffPathPairChange):
    """A file is there twice."""


@model
class UnknownDiffChange(Unknown):
    """A change of a kind that this version does not know."""


DiffChange: TypeAlias = FileAdded | FileDeleted | FileModified | FileMoved | FileCopied | UnknownDiffChange
"""What has happened to one file."""
tagged_union(
    "DiffChange",
    tag="operation",
    variants={
        "add": FileAdded,
        "delete": FileDeleted,
        "modify": FileModified,
        "move": FileMoved,
        "copy": FileCopied,
    },
    unknown=UnknownDiffChange,
)


@model
class DiffPatch(Model):
    """A change as text.

    Attributes:
        format: how ``text`` is written.
    """

    format: DiffPatchFormat | str
    text: str
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class Diff(Model):
    """What a tool call has changed in files.

    Attributes:
        changes: the files and what happened to each; this is what counts.
        patch: some or all of the changes to look at; absent and ``None``: there is nothing to show.
    """

    changes: tuple[DiffChange, ...] = wire_field(skip_invalid_items=True)
    patch: DiffPatch | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
