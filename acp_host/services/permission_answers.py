"""What was answered in a turn, so that nobody is asked twice: :class:`GivenAnswers`.

An agent that has asked whether it may edit a file then asks the host to write it; one that has asked whether it may run
a command then asks the host to run it. The answer to the first question is the answer to the second, where the two are
exactly about the same thing:

* a file: the question was about changing it (its kind is ``edit`` or ``move``, or it showed a diff of the file), and
  what is written contains the new text of that diff;
* a command: the same line in the same directory, without variables set for it. A line that is only the words with
  blanks between them, as several agents show it, is the same line.

The latest answer counts. One that allowed something *once* is used up by it; a refusal holds until the turn ends.
"""

from __future__ import annotations

import shlex
from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from attrs import frozen

from acp_host.services.command_line import needs_shell
from acp_host.services.permission_subject import DescribedCall, PermissionSubject, real_path
from acp_host.wire.tool_calls import Diff, ToolKind

__all__ = ["GivenAnswers", "new_texts"]

_MAX_ANSWERS = 1_000
_CHANGING = frozenset({ToolKind.EDIT, ToolKind.MOVE})
_HARMLESS = frozenset({ToolKind.READ, ToolKind.SEARCH, ToolKind.FETCH, ToolKind.THINK})


def new_texts(calls: Iterable[DescribedCall], cwd: str) -> dict[str, tuple[str, ...]]:
    """Return the new texts of the diffs that a question shows, by the file's real path. Looks at the disk."""
    found: dict[str, tuple[str, ...]] = {}
    for call in calls:
        for item in call.content or ():
            if isinstance(item, Diff):
                try:
                    path = real_path(item.path, cwd)[1]
                except (ValueError, OSError):
                    continue
                found[path] = (*found.get(path, ()), _comparable(item.new_text))
    return found


@frozen(kw_only=True, eq=False)
class _Answer:
    subject: PermissionSubject
    allows: bool
    once: bool
    texts: Mapping[str, tuple[str, ...]]


class GivenAnswers:
    """The answers of one turn, the newest thousand of them."""

    def __init__(self) -> None:
        self._answers: deque[_Answer] = deque(maxlen=_MAX_ANSWERS)

    def add(
        self, subject: PermissionSubject, *, allows: bool, once: bool, texts: Mapping[str, tuple[str, ...]]
    ) -> None:
        """Add an answer.

        Args:
            subject: what the question was about.
            allows: whether it was allowed.
            once: what was allowed may be done once.
            texts: as :func:`new_texts` returns them.
        """
        self._answers.append(_Answer(subject=subject, allows=allows, once=once, texts=texts))

    def for_write(self, subject: PermissionSubject, content: str) -> bool | None:
        """Return what was answered about writing ``content`` to the subject's file; ``None``: nobody was asked."""
        if not subject.readable or len(subject.paths) != 1:
            return None
        [path], content = subject.paths, _comparable(content)
        for answer in reversed(self._answers):
            if path in answer.subject.paths and _concerns_write(answer, path, content):
                return self._use(answer)
        return None

    def for_command(self, subject: PermissionSubject, words: Sequence[str]) -> bool | None:
        """Return what was answered about running the subject's command; ``None``: nobody was asked.

        Args:
            subject: the command.
            words: the program and its arguments.
        """
        for answer in reversed(self._answers):
            if _same_command(answer.subject, subject, words) and (not answer.allows or not subject.env):
                return self._use(answer)
        return None

    def _use(self, answer: _Answer) -> bool:
        if answer.allows and answer.once:
            self._answers.remove(answer)
        return answer.allows


def _concerns_write(answer: _Answer, path: str, content: str) -> bool:
    if not answer.allows:
        return answer.subject.kind not in _HARMLESS or answer.subject.shows_diff
    texts = answer.texts.get(path)
    if texts is None:
        return answer.subject.kind in _CHANGING
    return all(text in content for text in texts)


def _comparable(text: str) -> str:
    return text.replace("\r\n", "\n").strip()


def _same_command(one: PermissionSubject, other: PermissionSubject, words: Sequence[str]) -> bool:
    if one.command is None or other.command is None:
        return False
    if (one.directory or one.cwd) != (other.directory or other.cwd):
        return False
    shown = " ".join(words) if " " not in words[0] else None
    return one.command in (other.command, shown) or _same_words(one.command, other.command)


def _same_words(one: str, other: str) -> bool:
    if needs_shell(one) or needs_shell(other):
        return False
    try:
        return shlex.split(one) == shlex.split(other)
    except ValueError:
        return False
