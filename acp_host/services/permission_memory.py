"""Answers that the user wants to be remembered: :class:`RememberedDecisions`.

What is remembered is narrow: one agent, one kind, exactly these paths, exactly this command in exactly this directory.
Nothing else is ever answered by it, and :func:`what_is_remembered` says it in a sentence that can be shown before. A
request that names neither a path nor a command, or has no known kind, or sets variables for its command, or is of a
kind of which paths do not say what is done (code that is run, something that is fetched, a file that is moved: from
where to where?), cannot be remembered at all.

Decisions for a session live in memory. Those for ``always`` are in a TOML file that only its owner can read or write;
a file that others could have written is refused.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from attrs import asdict, field, fields_dict, frozen

from acp_host.errors import InvalidInput, InvalidState
from acp_host.owned_files import read_owned, replace_owned
from acp_host.printable import printable
from acp_host.services.permission_rules import is_unknown_kind
from acp_host.services.permission_subject import PermissionSubject
from acp_host.wire.permission import RequestPermissionOutcome
from acp_host.wire.tool_calls import ToolKind

__all__ = [
    "AnswerToRemember",
    "RememberScope",
    "RememberedDecision",
    "RememberedDecisions",
    "what_is_remembered",
]

_MAX_DECISIONS = 1_000
_MEANT_BY_PATHS = frozenset({ToolKind.READ, ToolKind.SEARCH, ToolKind.EDIT, ToolKind.DELETE})
"""The kinds of which the paths say all that matters; code that is run in a directory may be any code, and of what is
moved nothing says for sure which path is the source."""
_MAX_FILE_SIZE = 4 * 2**20


class RememberScope(StrEnum):
    """How long an answer is remembered."""

    SESSION = "session"
    """Until the connection ends, in this session."""
    ALWAYS = "always"
    """Until it is forgotten, in every session with this agent."""


def _scope(value: str) -> RememberScope:
    try:
        return RememberScope(value)
    except ValueError:
        raise InvalidInput(f"an answer is remembered for the session or always, not {value!r}") from None


@frozen
class AnswerToRemember:
    """An answer to a permission request that is to be remembered; a permission handler may return it.

    Attributes:
        outcome: the answer.
        scope: how long.
    """

    outcome: RequestPermissionOutcome
    scope: RememberScope = field(converter=_scope)


@frozen(kw_only=True)
class RememberedDecision:
    """One answer, and exactly what it is an answer to.

    Attributes:
        allows: whether it was allowed.
        agent: name of the agent.
        kind: kind of the tool call.
        paths: the real paths that are named, sorted.
        command: the command line; ``None`` for none.
        directory: where the command starts; ``None`` where there is none.
        session_id: the session; ``None``: every session with this agent.
        made_at: when it was given.
    """

    allows: bool
    agent: str
    kind: str
    paths: tuple[str, ...] = ()
    command: str | None = None
    directory: str | None = None
    session_id: str | None = None
    made_at: datetime = field(factory=lambda: datetime.now(UTC), eq=False)

    @classmethod
    def of(cls, subject: PermissionSubject, *, allows: bool, session_id: str | None) -> RememberedDecision:
        """Return what is remembered when a subject was decided.

        Raises:
            InvalidInput: the subject is too vague.
        """
        problem = _too_vague(subject)
        if problem is not None:
            raise InvalidInput(f"the answer cannot be remembered: {problem}")
        return cls(
            allows=allows,
            agent=subject.agent,
            kind=str(subject.kind),
            paths=tuple(sorted(subject.paths)),
            command=subject.command,
            directory=None if subject.command is None else subject.directory or subject.cwd,
            session_id=session_id,
        )

    def answers(self, subject: PermissionSubject) -> bool:
        """Tell whether a subject is exactly what was decided."""
        if _too_vague(subject) is not None or self.session_id not in (None, subject.session_id):
            return False
        return self.same_subject(RememberedDecision.of(subject, allows=self.allows, session_id=self.session_id))

    def same_subject(self, other: RememberedDecision) -> bool:
        """Tell whether two decisions are about the same thing in the same scope."""
        return _subject_of(self) == _subject_of(other)

    def __str__(self) -> str:
        verb = "may" if self.allows else "may not"
        scope = "" if self.session_id is None else " in this session"
        return printable(f"{self.agent or 'the agent'} {verb} {_what(self.kind, self.command, self.paths)}{scope}")


def _subject_of(decision: RememberedDecision) -> tuple[Any, ...]:
    return (
        decision.agent,
        decision.kind,
        decision.paths,
        decision.command,
        decision.directory,
        decision.session_id,
    )


def what_is_remembered(subject: PermissionSubject) -> str | None:
    """Return what an answer about ``subject`` is remembered for, e.g. to show it beside a box to tick.

    ``None``: nothing can be remembered of it.
    """
    if _too_vague(subject) is not None:
        return None
    return printable(f"{subject.agent or 'the agent'}: {_what(str(subject.kind), subject.command, subject.paths)}")


def _what(kind: str, command: str | None, paths: tuple[str, ...]) -> str:
    named = [*([f"run {command!r}"] if command is not None else []), *(f"{kind} {path}" for path in paths)]
    return ", ".join(named)


def _too_vague(subject: PermissionSubject) -> str | None:
    if is_unknown_kind(subject.kind):
        return "its kind is not known"
    if not subject.readable:
        return "it could not be read as a whole"
    if subject.env:
        return "it sets variables for its command"
    if subject.hides_edit:
        return "it shows a change of a file and calls itself something else"
    if subject.command is not None or (subject.paths and subject.kind in _MEANT_BY_PATHS):
        return None
    return "it names no path and no command, or its paths do not say what is done there"


class RememberedDecisions:
    """What the user has decided once and for all. May be used from any thread; the file is read each time.

    Args:
        path: file for what is remembered ``always``; ``None``: everything is forgotten with this object.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        if not isinstance(path, str | Path | None):
            raise InvalidInput(f"what is remembered is kept in a file, and {type(path).__name__} is no path of one")
        self.path = None if path is None else Path(path)
        self._here: list[RememberedDecision] = []
        self._lock = threading.RLock()

    @classmethod
    def for_user(cls, application: str = "acp-host") -> RememberedDecisions:
        """Return those that an application keeps where the platform wants the user's state to be."""
        import platformdirs

        return cls(Path(platformdirs.user_state_path(application)) / "permissions.toml")

    @property
    def decisions(self) -> tuple[RememberedDecision, ...]:
        """All that is remembered, the oldest first.

        Raises:
            InvalidState: the file cannot be trusted or read; says why and what to do.
        """
        with self._lock:
            return (*self._read(), *self._here)

    def find(self, subject: PermissionSubject) -> RememberedDecision | None:
        """Return the newest decision about exactly this subject; raises as :attr:`decisions`."""
        found = [decision for decision in self.decisions if decision.answers(subject)]
        return max(found, key=lambda decision: decision.made_at) if found else None

    def remember(self, subject: PermissionSubject, *, allows: bool, scope: RememberScope | str) -> RememberedDecision:
        """Remember an answer in place of an earlier one about the same subject; return what is remembered.

        Raises:
            InvalidInput: the subject is too vague.
            InvalidState: the file cannot be trusted, read or written.
        """
        always = _scope(scope) is RememberScope.ALWAYS
        decision = RememberedDecision.of(subject, allows=allows, session_id=None if always else subject.session_id)
        with self._lock:
            if always and self.path is not None:
                self._write((*_without(decision, self._read()), decision)[-_MAX_DECISIONS:])
            else:
                self._here = [*_without(decision, self._here), decision][-_MAX_DECISIONS:]
        return decision

    def forget(self, decision: RememberedDecision) -> None:
        """Forget one decision; raises as :meth:`remember`."""
        with self._lock:
            self._here = _without(decision, self._here)
            kept = self._read()
            if len(left := _without(decision, kept)) < len(kept):
                self._write(left)

    def forget_session(self, session_id: str) -> None:
        """Forget what was to be remembered in one session only."""
        with self._lock:
            self._here = [decision for decision in self._here if decision.session_id != session_id]

    def forget_all(self) -> None:
        """Forget everything; raises as :meth:`remember`."""
        with self._lock:
            self._here = []
            if self._read():
                self._write(())

    # --- the file ---------------------------------------------------------------------------------------------------

    def _read(self) -> tuple[RememberedDecision, ...]:
        if self.path is None:
            return ()
        import tomllib  # a connection without such a file does not need it

        try:
            text = read_owned(self.path, _MAX_FILE_SIZE)
            return tuple(_decision(members) for members in tomllib.loads(text).get("decisions", []))
        except FileNotFoundError:
            return ()
        except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise InvalidState(
                f"what is remembered in {self.path} is not used: {error}; mend the file or remove it"
            ) from None

    def _write(self, decisions: Iterable[RememberedDecision]) -> None:
        import tomli_w

        assert self.path is not None
        document = {"decisions": [_plain(decision) for decision in decisions]}
        try:
            replace_owned(self.path, tomli_w.dumps(document).encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise InvalidState(f"{self.path} cannot be written: {error}") from None


def _without(decision: RememberedDecision, decisions: Iterable[RememberedDecision]) -> list[RememberedDecision]:
    return [other for other in decisions if not other.same_subject(decision)]


def _plain(decision: RememberedDecision) -> dict[str, Any]:
    values = asdict(decision, filter=lambda _, value: value is not None)
    return {**values, "paths": list(decision.paths)}


def _decision(members: dict[str, Any]) -> RememberedDecision:
    kinds: dict[str, type] = {"allows": bool, "paths": list, "made_at": datetime}
    for key, value in members.items():
        if key not in fields_dict(RememberedDecision) or not isinstance(value, kinds.get(key, str)):
            raise ValueError(f"{key} = {value!r} is nothing that this version writes")
    return RememberedDecision(**{**members, "paths": tuple(map(str, members.get("paths", ())))})
