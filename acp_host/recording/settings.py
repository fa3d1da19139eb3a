"""How a conversation is recorded: :class:`Recording`."""

from __future__ import annotations

import os
from typing import Any

import attrs
from attrs import field, frozen

from acp_host.errors import InvalidInput
from acp_host.recording.redaction import Redaction
from acp_host.validators import number

__all__ = ["Recording"]

_SMALLEST_FILE = 64 * 1024


def _check_redaction(instance: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if not isinstance(value, Redaction):  # a plain False would be too easily written
        raise InvalidInput(
            "Recording(redact=…) takes a Redaction; one that hides no secrets is Redaction(secrets=False)"
        )


@frozen
class Recording:
    """Where and how a conversation is recorded, for ``connect(record=…)``.

    Attributes:
        path: the file; one that exists is continued if it is a recording. Of a folder that exists, a new file in it.
        redact: what is taken out before anything is written.
        max_bytes: how large a file becomes before the recording goes on in a new one.
        max_files: how many files there are at most; the first one and the newest are kept.
        max_line: longest line, in bytes; of a longer message the long texts are cut, and the line says so.

    Raises:
        InvalidInput: a value is none that this can work with.
    """

    path: str | os.PathLike[str]
    redact: Redaction = field(factory=Redaction, kw_only=True, validator=_check_redaction)
    max_bytes: int = field(default=64 * 2**20, kw_only=True, validator=number(least=_SMALLEST_FILE, whole=True))
    max_files: int = field(default=8, kw_only=True, validator=number(least=2, whole=True))
    max_line: int = field(default=4 * 2**20, kw_only=True, validator=number(least=1024, whole=True))

    @staticmethod
    def of(value: Recording | str | os.PathLike[str]) -> Recording:
        """Return the recording that a user means: by its path alone, with all defaults."""
        return value if isinstance(value, Recording) else Recording(value)
