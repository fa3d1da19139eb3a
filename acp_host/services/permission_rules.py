"""One rule of a permission policy, and what it matches: :class:`PermissionRule`.

A rule matches a subject if every condition that it has holds. What a condition needs depends on what the rule does,
since a mistake must never allow anything:

=============  ==========================================  ===================================================
condition      in a rule that allows                       in a rule that rejects or asks
=============  ==========================================  ===================================================
``paths``      every path that is named matches, where     some path matches, as it is named or where it
               it really is, and at least one is named;    really is, or a word of the command, whatever the
               nothing that runs a command                 case of its letters
``commands``   the whole line matches, it needs no shell   the line matches, or a part of it that may be a
``programs``   (unless ``shell``), and sets no variables   command of its own; where none is named, the title
               (but those of ``env``)                      of what says that it executes something counts
``kinds``      the kind is one of them; what runs a        the kind is one of them; ``execute`` is whatever
               command is ``execute`` whatever it says,    names a command too, and ``edit`` whatever shows a
               and what shows a diff is ``edit``           diff
others         one of the patterns matches                 the same
=============  ==========================================  ===================================================

A kind that is missing or not in the specification is matched by ``unknown`` and ``*`` only.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from fnmatch import fnmatchcase, translate
from functools import lru_cache
from typing import Any

from attrs import Attribute, field, frozen

from acp_host.errors import InvalidInput
from acp_host.services.command_line import needs_shell, pieces_of, program_of
from acp_host.services.permission_options import PermissionDecision, decision_of
from acp_host.services.permission_subject import PermissionSubject
from acp_host.wire.tool_calls import ToolKind

__all__ = ["ANY_KIND", "UNKNOWN_KIND", "PermissionRule", "is_unknown_kind"]

UNKNOWN_KIND = "unknown"
"""Among a rule's kinds: a kind that is missing, or not in the specification."""
ANY_KIND = "*"
"""Among a rule's kinds: every kind, unknown ones included."""


def is_unknown_kind(kind: str | None) -> bool:
    """Tell whether a kind is missing, or not in the specification."""
    return kind not in set(ToolKind)


def _patterns(value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidInput(f"is a list of strings, not {value!r}")
    patterns = tuple(value)
    for pattern in patterns:
        if not isinstance(pattern, str) or not pattern:
            raise InvalidInput(f"is a list of strings that are not empty; {pattern!r} is none")
    return patterns


def _decision(value: str) -> PermissionDecision:
    decision = decision_of(value)
    if decision is PermissionDecision.CANCEL:
        raise InvalidInput("a rule does not decide to cancel: an agent may end its turn on that; reject instead")
    return decision


def _kinds(rule: Any, attribute: Attribute[Any], value: tuple[str, ...]) -> None:
    known = {*ToolKind, UNKNOWN_KIND, ANY_KIND}
    for kind in value:
        if kind not in known:
            raise InvalidInput(f"a kind is one of {', '.join(sorted(known))}, not {kind!r}")


def _aware(rule: Any, attribute: Attribute[Any], value: datetime | None) -> None:
    if value is not None and (not isinstance(value, datetime) or value.tzinfo is None):
        raise InvalidInput(f"expires is a point in time with its offset from UTC, not {value!r}")


def _pattern_field() -> Any:
    return field(default=(), converter=_patterns)


@frozen(kw_only=True)
class PermissionRule:
    """What is decided about the subjects that it matches; the table of this module says which those are.

    Attributes:
        decision: one of :class:`~acp_host.services.permission_options.PermissionDecision` or its word, not ``cancel``.
        name: what explanations and the audit trail call it.
        kinds: kinds of tool calls; ``unknown`` and ``*`` as the module says.
        titles: glob patterns for the title, which is free text of the agent.
        paths: glob patterns for paths, relative to the session's working directory or absolute, ``~`` for the home
            directory. ``*`` stays within one component, ``**`` is any number of them, ``src/`` is all below ``src``.
        commands: glob patterns for the whole command line.
        programs: glob patterns for its first word, as it is written there: ``git`` is not ``./git``.
        shell: the rule allows lines that need a shell, too.
        env: glob patterns for the names of variables that may be set for a command.
        agents: glob patterns for the agent's name.
        sessions: glob patterns for the session's id.
        expires: when the rule ends; ``None``: never.

    Raises:
        InvalidInput: an attribute is none of that.
    """

    decision: PermissionDecision = field(converter=_decision)
    name: str = ""
    kinds: tuple[str, ...] = field(default=(), converter=_patterns, validator=_kinds)
    titles: tuple[str, ...] = _pattern_field()
    paths: tuple[str, ...] = _pattern_field()
    commands: tuple[str, ...] = _pattern_field()
    programs: tuple[str, ...] = _pattern_field()
    shell: bool = False
    env: tuple[str, ...] = _pattern_field()
    agents: tuple[str, ...] = _pattern_field()
    sessions: tuple[str, ...] = _pattern_field()
    expires: datetime | None = field(default=None, validator=_aware)

    def __attrs_post_init__(self) -> None:
        if (self.shell or self.env) and not (self.commands or self.programs):
            raise InvalidInput("shell and env say which commands are allowed; they need commands or programs")

    def mismatch(self, subject: PermissionSubject, now: datetime) -> str | None:
        """Return why the rule does not match, as the end of a sentence; ``None`` if it does.

        Args:
            subject: what is to be decided.
            now: the time, with its offset.
        """
        return self._other_mismatch(subject, now) or self._kind_mismatch(subject)

    def spared_by_kind(self, subject: PermissionSubject, now: datetime) -> bool:
        """Tell whether only its unknown kind keeps the rule from a subject."""
        if not is_unknown_kind(subject.kind) or self._kind_mismatch(subject) is None:
            return False
        return self._other_mismatch(subject, now) is None

    @property
    def takes_unknown_kinds(self) -> bool:
        """Whether it says that it is for unknown kinds, too."""
        return UNKNOWN_KIND in self.kinds or ANY_KIND in self.kinds

    def _other_mismatch(self, subject: PermissionSubject, now: datetime) -> str | None:
        if self.expires is not None and now >= self.expires:
            return f"has expired at {self.expires.isoformat()}"
        if self.agents and not _any(self.agents, subject.agent):
            return f"is for other agents than {subject.agent!r}"
        if self.sessions and not _any(self.sessions, subject.session_id):
            return f"is for other sessions than {subject.session_id!r}"
        if self.titles and not _any(self.titles, subject.title):
            return "is for other titles"
        return self._command_mismatch(subject) or self._path_mismatch(subject)

    def _kind_mismatch(self, subject: PermissionSubject) -> str | None:
        if not self.kinds or ANY_KIND in self.kinds:
            return None
        kinds = [UNKNOWN_KIND if is_unknown_kind(subject.kind) else str(subject.kind)]
        if _runs_command(subject) and ToolKind.EXECUTE not in kinds:
            kinds.append(ToolKind.EXECUTE)
        if subject.hides_edit:
            kinds.append(ToolKind.EDIT)
        other = [kind for kind in kinds if kind not in self.kinds]
        matches = not other if self.decision.allows else len(other) < len(kinds)
        return None if matches else f"is not for the kind {' or '.join(other)}"

    def _command_mismatch(self, subject: PermissionSubject) -> str | None:
        if not self.decision.allows:
            return self._uncaught_command(subject)
        if self.commands or self.programs:
            return self._unsafe_command(subject)
        if _runs_command(subject) and self.paths:
            return "is about paths, and paths do not confine a command"
        if _runs_command(subject) and self.titles and not self.kinds:
            return "does not say that it is for what runs a command"
        return None

    def _unsafe_command(self, subject: PermissionSubject) -> str | None:
        line = subject.command
        if line is None:
            return "is for commands, and none is named"
        if not subject.readable:
            return "allows nothing that could not be read as a whole"
        if self.commands and not _any(self.commands, line):
            return "is for other commands"
        if self.programs and not _any(self.programs, program_of(line) or ""):
            return "is for other programs"
        if not self.shell and needs_shell(line):
            return "is not for commands with signs of a shell in them"
        foreign = [name for name in subject.env if not _any(self.env, name)]
        return f"is not for commands with the variable {foreign[0]}" if foreign else None

    def _uncaught_command(self, subject: PermissionSubject) -> str | None:
        if not (self.commands or self.programs):
            return None
        if not _runs_command(subject):
            return "is for commands, and none is named"
        pieces = pieces_of(subject.title if subject.command is None else subject.command)
        if self.commands and not any(_any(self.commands, piece) for piece in pieces):
            return "is for other commands"
        if self.programs and not any(_any(self.programs, name) for piece in pieces for name in _names_of(piece)):
            return "is for other programs"
        return None

    def _path_mismatch(self, subject: PermissionSubject) -> str | None:
        if not self.paths:
            return None
        matches: Callable[[str], bool] = _matcher(self.paths, subject.cwd, self.decision.allows)
        if not self.decision.allows:
            named = (*subject.paths, *subject.named_paths, *subject.mentioned)
            caught = not subject.readable or any(map(matches, named))
            return None if caught else "is for other paths"
        if not subject.paths:
            return "is for paths, and none is named"
        if not subject.readable:
            return "allows nothing that could not be read as a whole"
        outside = next((path for path in subject.paths if not matches(path)), None)
        return None if outside is None else f"is not for the path {outside}"


def _runs_command(subject: PermissionSubject) -> bool:
    return subject.command is not None or subject.kind == ToolKind.EXECUTE


def _names_of(piece: str) -> tuple[str, ...]:
    program = program_of(piece) or piece.partition(" ")[0]
    return program, os.path.basename(program)


def _any(patterns: Sequence[str], text: str) -> bool:
    return any(fnmatchcase(text, pattern) for pattern in patterns)


def _matcher(patterns: Sequence[str], cwd: str, exactly: bool) -> Callable[[str], bool]:
    globs = [_components(_absolute(pattern, cwd), exactly) for pattern in patterns]

    def matches(path: str) -> bool:
        parts = _split(path, exactly)
        return any(_match_parts(parts, glob) for glob in globs)

    return matches


def _absolute(pattern: str, cwd: str) -> str:
    below = "**" if pattern.endswith(("/", os.sep)) else ""
    return os.path.normpath(os.path.join(cwd, os.path.expanduser(pattern), below))


def _split(path: str, exactly: bool) -> list[str]:
    path = os.path.normcase(path)
    return (path if exactly else path.casefold()).split(os.sep)


@lru_cache(maxsize=1024)
def _components(pattern: str, exactly: bool) -> tuple[Callable[[str], Any] | None, ...]:
    """Return a function for each component of a pattern, and ``None`` for ``**``."""
    parts = _split(pattern, exactly)
    return tuple(None if part == "**" else re.compile(translate(part)).match for part in parts)


def _match_parts(parts: Sequence[str], glob: Sequence[Callable[[str], Any] | None]) -> bool:
    """Match component by component; ``reached`` are the ends of the beginnings of ``parts`` that match so far."""
    reached = {0}
    for match in glob:
        if match is None:
            reached = set(range(min(reached), len(parts) + 1))
        else:
            reached = {end + 1 for end in reached if end < len(parts) and match(parts[end])}
        if not reached:
            return False
    return len(parts) in reached
