"""What was answered in a turn, so that nobody is asked twice: :class:`GivenAnswers`.

An agent that has asked whether it may edit a file then asks the host to write it; one that has asked whether it may run
a command then asks the host to run it. The answer to the first question is the answer to the second, where the two are
exactly about the same thing:

* a file: the question was about changing it (its kind is ``edit`` or ``move``), or it showed diffs of the file; then
  what is written is what they make of the text that is there, and nothing else;
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

__all__ = ["GivenAnswers", "ShownEdit", "shown_edits"]

_MAX_ANSWERS = 1_000
_MAX_RESULTS = 8
_CHANGING = frozenset({ToolKind.EDIT, ToolKind.MOVE})
_HARMLESS = frozenset({ToolKind.READ, ToolKind.SEARCH, ToolKind.FETCH, ToolKind.THINK})


@frozen
class ShownEdit:
    """A diff that a question shows, with plain line ends.

    Attributes:
        old: the text that is replaced, the whole one or a part; empty where a whole new text is shown.
        new: the text in its place.
    """

    old: str
    new: str


def shown_edits(calls: Iterable[DescribedCall], cwd: str) -> dict[str, tuple[ShownEdit, ...]]:
    """Return the diffs that a question shows, each once, by the file's real path. Looks at the disk."""
    found: dict[str, dict[ShownEdit, None]] = {}
    for call in calls:
        for item in call.content or ():
            if isinstance(item, Diff):
                try:
                    path = real_path(item.path, cwd)[1]
                except (ValueError, OSError):
                    continue
                edit = ShownEdit(_plain(item.old_text or ""), _plain(item.new_text))
                found.setdefault(path, {})[edit] = None
    return {path: tuple(edits) for path, edits in found.items()}


@frozen(kw_only=True, eq=False)
class _Answer:
    subject: PermissionSubject
    allows: bool
    once: bool
    edits: Mapping[str, tuple[ShownEdit, ...]]


class GivenAnswers:
    """The answers of one turn, the newest thousand of them."""

    def __init__(self) -> None:
        self._answers: deque[_Answer] = deque(maxlen=_MAX_ANSWERS)

    def add(
        self, subject: PermissionSubject, *, allows: bool, once: bool, edits: Mapping[str, tuple[ShownEdit, ...]]
    ) -> None:
        """Add an answer.

        Args:
            subject: what the question was about.
            allows: whether it was allowed.
            once: what was allowed may be done once.
            edits: as :func:`shown_edits` returns them.
        """
        self._answers.append(_Answer(subject=subject, allows=allows, once=once, edits=edits))

    def depends_on_text(self, subject: PermissionSubject) -> bool:
        """Tell whether the answer about writing the subject's file depends on the text that is there."""
        shown = (answer.edits.get(path, ()) for answer in self._answers for path in subject.paths)
        return any(edit.old for edits in shown for edit in edits)

    def for_write(self, subject: PermissionSubject, content: str, current: str | None = None) -> bool | None:
        """Return what was answered about writing the subject's file; ``None``: nobody was asked about just that.

        Args:
            subject: the file.
            content: what is to be written.
            current: the text that is there; ``None`` if that is not known, or nothing is.
        """
        if not subject.readable or len(subject.paths) != 1:
            return None
        [path] = subject.paths
        for answer in reversed(self._answers):
            if path in answer.subject.paths and _concerns_write(answer, path, content, current):
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


def _concerns_write(answer: _Answer, path: str, content: str, current: str | None) -> bool:
    if not answer.allows:
        return answer.subject.kind not in _HARMLESS or answer.subject.shows_diff
    edits = answer.edits.get(path)
    if edits is None:
        return answer.subject.kind in _CHANGING
    wanted = _plain(content).strip()
    return any(wanted == text.strip() for text in _results(edits, None if current is None else _plain(current)))


def _results(edits: Iterable[ShownEdit], current: str | None) -> set[str]:
    """Return what edits can make of a text, one after the other; some agents mean every place by one edit."""
    texts = set() if current is None else {current}
    for edit in edits:
        if not edit.old:
            texts = {edit.new}
        else:
            found = {text for text in texts if edit.old in text}
            texts = {text.replace(edit.old, edit.new, count) for text in found for count in (1, -1)}
            texts = set(sorted(texts)[:_MAX_RESULTS])
    return texts


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")


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
