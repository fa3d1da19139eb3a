"""What recorders say of themselves, which stays in an anonymous recording; any other remark may be somebody's words."""

from __future__ import annotations

import re

from acp_host.recording.format import CLOSED_BY_HOST, RecordedDirection
from acp_host.recording.stand_ins import masked

__all__ = ["OWN_NAMES", "is_own_detail", "is_own_note", "is_version", "platform_without_words"]

OWN_NAMES = frozenset(
    (
        *("at", "acp_host", "python", "platform", "number", "agent", "exit_status", "stderr"),
        *("count", "of", "part", "first", "cut"),
    )
)
"""Members that this library's recorder writes beside a note."""

_NOTE = re.compile(
    rf"the recording begins|{CLOSED_BY_HOST}|the agent has ended|not started"
    r"|(?:up to )?\d+ (?:lines|messages?) not recorded: (?:they could not be written|the recording could not keep up)"
    r"|continues part \d+ of this recording|\d+ parts? of the recording that stood here were deleted to make room"
    r"|agent process ended; a new one is started"
)
_VERSION = re.compile(r"v?\d+(?:\.\d+)*(?:(?:a|b|rc|\.dev|\.post|\+)\d+)*")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)?)?")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_PLATFORM_TEXT = """
aarch64 amd64 android arm64 armv7l azure bit cygwin darwin debian freebsd generic glibc i686 linux macos musl ppc64le
riscv64 s390x ubuntu win32 windows with wsl2 x86 x86_64
"""
_PLATFORM = frozenset(_PLATFORM_TEXT.split())


def is_own_note(note: str) -> bool:
    """Tell whether a note is this library's words alone, or those of a recorder that it knows."""
    return _NOTE.fullmatch(note) is not None


def is_own_detail(name: str, value: str) -> bool:
    """Tell whether a text beside a note says what its name promises, and nothing else."""
    match name:
        case "at":
            return _DATE.fullmatch(value) is not None
        case "acp_host" | "python":
            return is_version(value)
        case "of":
            return value in tuple(RecordedDirection)
    return False


def is_version(text: str) -> bool:
    """Tell whether a text is the number of a version."""
    return _VERSION.fullmatch(text) is not None


def platform_without_words(text: str) -> str:
    """Return the name of a platform with what everybody's have in it; who built it may have added words."""
    return _WORD.sub(lambda word: word[0] if word[0].lower() in _PLATFORM else masked(word[0]), text)
