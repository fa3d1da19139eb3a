"""Which of a session's files an agent may not read or write: :class:`FileRules`.

Owns what a pattern means. Patterns are held against a file's *real* path, so that no link, no ``..`` and no other
spelling gets around them; who walks to the file (:mod:`acp_host.services._confined`) asks before anything is opened or
made.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from attrs import define, field

from acp_host.errors import InvalidInput

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

__all__ = ["FileRules"]


def _patterns(given: Any) -> tuple[str, ...]:
    if isinstance(given, str) or not all(isinstance(pattern, str) for pattern in given):
        raise InvalidInput(f"patterns for files are a sequence of strings, not {given!r}")
    return tuple(given)


@define(frozen=True, slots=False)
class FileRules:
    """Which files are kept from an agent, or from being written by it.

    A pattern is written as in a ``.gitignore`` file and is relative to each of the session's directories: ``.env``
    means files and directories of that name at any depth, ``/build`` only the one at the top, ``docs/**/*.md`` any
    depth below ``docs``; a directory that matches stands for all that is in it. A pattern for directories (``.git/``)
    is also for a file of that name, which can stand for one. ``"**"`` matches everything. Case does not count, since on
    some systems it does not count in names either. There are no exceptions (``!``).

    Attributes:
        deny: files that the agent may neither read nor write.
        read_only: files that it may not write.

    Raises:
        InvalidInput: a pattern is none.
    """

    deny: tuple[str, ...] = field(default=(), converter=_patterns)
    read_only: tuple[str, ...] = field(default=(), converter=_patterns)

    def __attrs_post_init__(self) -> None:
        _ = self._specs  # a pattern that is wrong is found here, and not when an agent asks

    @cached_property
    def _specs(self) -> tuple[GitIgnoreSpec | None, GitIgnoreSpec | None]:
        return _compile(self.deny), _compile(self.read_only)

    def refusal(self, path: str, roots: Sequence[str], *, writing: bool) -> str | None:
        """Return why a file may not be read or written, as the end of a sentence; ``None`` if it may.

        Args:
            path: the real path of the file.
            roots: the real paths of the session's directories.
            writing: whether it is to be written.
        """
        deny, read_only = self._specs
        if deny is not None and any(deny.match_file(name) for name in _names(path, roots)):
            return "is kept from agents by this host"
        if writing and read_only is not None and any(read_only.match_file(name) for name in _names(path, roots)):
            return "is read-only for agents on this host"
        return None


def _compile(patterns: tuple[str, ...]) -> GitIgnoreSpec | None:
    if not patterns:
        return None
    from pathspec import GitIgnoreSpec  # loaded only where there are rules

    compiled = []
    for pattern in patterns:
        try:
            [single] = GitIgnoreSpec.from_lines([_folded(pattern)]).patterns
        except ValueError:
            raise InvalidInput(f"{pattern!r} is no pattern for files") from None
        if not single.include:
            raise InvalidInput(f"{pattern!r} is no pattern for files: it is empty, a comment or an exception")
        compiled.append(single)
    return GitIgnoreSpec(compiled)


def _names(path: str, roots: Sequence[str]) -> Iterator[str]:
    """Return what a file is called in each of the directories that it lies in, and what it would be as a directory."""
    path = _folded(path)
    for root in map(_folded, roots):
        if path.startswith(root.rstrip("/") + "/"):
            name = path[len(root.rstrip("/")) + 1 :]
            yield from (name, f"{name}/")


def _folded(name: str) -> str:
    """Return the one spelling of a name that stands for all that a file system may take for the same."""
    return unicodedata.normalize("NFC", name.replace(os.sep, "/") if os.name == "nt" else name).casefold()
