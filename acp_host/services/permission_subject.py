"""What a permission is asked for, in one form whoever asks: :class:`PermissionSubject`.

A subject is made of a permission request, of a file that the agent wants written, or of a command that it wants run.
It owns what that is about, on this disk: where the paths that are named really lead. Which are named is
:mod:`acp_host.services.named_in_call`'s work; what is decided about them, the policy's. All of it is the agent's word.

Cost: every path is looked up on the disk, to find where links lead; call these functions in a thread.
"""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from attrs import frozen

from acp_host.services.command_line import command_line, words_in
from acp_host.services.named_in_call import MAX_PATHS, DescribedCall, NamedInCall
from acp_host.wire.files import WriteTextFileRequest
from acp_host.wire.permission import RequestPermissionRequest
from acp_host.wire.permission_question import PermissionQuestion
from acp_host.wire.tool_calls import ToolKind

if TYPE_CHECKING:
    from acp_host.wire.terminals import CreateTerminalRequest

__all__ = [
    "DescribedCall",
    "PermissionSubject",
    "real_path",
    "subject_of_command",
    "subject_of_request",
    "subject_of_write",
]

_MAX_TITLE_LENGTH = 4_096
_HARMLESS = frozenset({ToolKind.READ, ToolKind.SEARCH, ToolKind.FETCH, ToolKind.THINK, ToolKind.SWITCH_MODE})
"""The kinds that change nothing."""
_CHANGING = frozenset({ToolKind.EDIT, ToolKind.MOVE, ToolKind.DELETE})
"""The kinds that change files."""


@frozen(kw_only=True)
class PermissionSubject:
    """What somebody is to decide about.

    Attributes:
        agent: name of the agent.
        session_id: the agent's id of the session.
        kind: one of :class:`~acp_host.wire.tool_calls.ToolKind` or another word; ``None`` if the agent names none.
        title: what the agent calls it, at most 4,096 characters; empty if it says nothing.
        paths: where the paths that it names really are: absolute, normalised, links resolved.
        named_paths: the same paths as they were named below ``cwd``, absolute and normalised, other links as they are.
        command: the command that it names, as one line; ``None`` if it names none.
        mentioned: words of that command as paths, absolute and normalised: files that it may be about.
        directory: where that command is to start, really; ``None`` if it does not say.
        cwd: where the session's working directory really is.
        env: names of the variables that it sets for the command.
        shows_diff: whether it shows a change of a file, whatever kind it calls itself.
        readable: whether all of it could be read; no rule on paths or commands allows what could not.
    """

    agent: str
    session_id: str
    kind: str | None
    title: str = ""
    paths: tuple[str, ...] = ()
    named_paths: tuple[str, ...] = ()
    command: str | None = None
    mentioned: tuple[str, ...] = ()
    directory: str | None = None
    cwd: str
    env: tuple[str, ...] = ()
    shows_diff: bool = False
    readable: bool = True

    @property
    def is_harmless(self) -> bool:
        """Whether it is of a kind that changes nothing, and neither runs a command nor shows a change."""
        return self.kind in _HARMLESS and self.command is None and not self.shows_diff

    @property
    def hides_edit(self) -> bool:
        """Whether it shows a change of a file, and calls itself something else."""
        return self.shows_diff and self.kind not in _CHANGING

    @property
    def summary(self) -> str:
        """What it is about, in a line: the title, and the command or the paths where it does not say them."""
        exactly = self.command if self.command is not None else ", ".join(self.named_paths)
        return ": ".join(part for part in (self.title, exactly if exactly not in self.title else "") if part)


def subject_of_request(
    request: RequestPermissionRequest, *, agent: str, cwd: str, known: DescribedCall | None = None
) -> PermissionSubject:
    """Return what a permission request is about.

    Args:
        request: the agent's request.
        agent: name of the agent.
        cwd: working directory of its session, absolute.
        known: what the agent has said of the tool call, where that is more than the request repeats.
    """
    calls: list[DescribedCall] = [request.tool_call, *([known] if known is not None else [])]
    kind = next((call.kind for call in calls if call.kind), None)
    asked = request.title if isinstance(request, PermissionQuestion) else ""
    title = next((call.title for call in calls if call.title), asked)[:_MAX_TITLE_LENGTH]
    named = NamedInCall()
    for call in calls:
        named.take_call(call)
    return _subject(named, agent=agent, session_id=request.session_id, kind=kind, title=title, cwd=cwd)


def subject_of_write(request: WriteTextFileRequest, *, agent: str, cwd: str) -> PermissionSubject:
    """Return what ``fs/write_text_file`` is about; arguments as for :func:`subject_of_request`."""
    named = NamedInCall()
    named.take_path(request.path)
    kind, title = ToolKind.EDIT, f"Write {request.path}"[:_MAX_TITLE_LENGTH]
    return _subject(named, agent=agent, session_id=request.session_id, kind=kind, title=title, cwd=cwd)


def subject_of_command(
    request: CreateTerminalRequest, *, agent: str, cwd: str, is_program: bool = False
) -> PermissionSubject:
    """Return what ``terminal/create`` is about; other arguments as for :func:`subject_of_request`.

    Its paths are the directory that the command starts in, and what the command line names.

    Args:
        is_program: ``command`` is run as the name of a program, whatever blanks and signs are in it; a file can be
            called like a harmless command line.
    """
    named = NamedInCall()
    named.take_directory(request.cwd or cwd)
    args = request.args or ()
    named.take_command(shlex.quote(request.command) if is_program and not args else command_line(request.command, args))
    env = tuple(variable.name for variable in request.env or ())
    kind, title = ToolKind.EXECUTE, (named.command or "")[:_MAX_TITLE_LENGTH]
    about = {"agent": agent, "session_id": request.session_id, "title": title, "env": env}
    return _subject(named, kind=kind, cwd=cwd, is_run_here=True, **about)


def real_path(path: str, cwd: str) -> tuple[str, str]:
    """Return a path as it is named, absolute and normalised, and where it really is.

    Raises:
        ValueError: no file can have this path.
    """
    if path[:5].lower() == "file:":
        path = unquote(urlsplit(path).path)
    named = os.path.normpath(os.path.join(cwd, os.path.expanduser(path)))
    # Not of the normalised one: `link/..` is where the link leads to, not where it stands.
    return named, os.path.realpath(os.path.join(cwd, os.path.expanduser(path)))


def _subject(named: NamedInCall, *, cwd: str, kind: Any, is_run_here: bool = False, **fields: Any) -> PermissionSubject:
    paths, readable, real_cwd = [], named.readable, os.path.realpath(cwd)
    directory = _real_directory(named.directory, cwd, real_cwd)
    # Where a command starts that the agent runs itself is only what it says.
    starts = dict.fromkeys((directory or real_cwd,) if is_run_here else (real_cwd, directory or real_cwd))
    for path, base in (
        *((path, real_cwd) for path in named.paths),
        *((path, start) for path in named.paths_in_commands for start in starts),
    ):
        try:
            paths.append(real_path(_below(path, cwd, real_cwd), base))
        except (ValueError, OSError):
            readable = False
    return PermissionSubject(
        kind=None if kind is None else str(kind),
        paths=tuple(dict.fromkeys(real for _, real in paths)),
        named_paths=tuple(dict.fromkeys(name for name, _ in paths)),
        command=named.command,
        mentioned=_mentioned(named.command, directory or real_cwd),
        directory=directory,
        cwd=real_cwd,
        shows_diff=named.shows_diff,
        readable=readable,
        **fields,
    )


def _real_directory(directory: str | None, cwd: str, real_cwd: str) -> str | None:
    try:
        return None if directory is None else real_path(_below(directory, cwd, real_cwd), real_cwd)[1]
    except (ValueError, OSError):
        return None  # its path could not be read, and the subject says so


def _mentioned(command: str | None, directory: str) -> tuple[str, ...]:
    words = () if command is None else words_in(command)[:MAX_PATHS]
    return tuple(os.path.normpath(os.path.join(directory, os.path.expanduser(word))) for word in words)


def _below(path: str, cwd: str, real_cwd: str) -> str:
    """Return a path that begins with the working directory so that it begins with where that really is."""
    return real_cwd + path.removeprefix(cwd) if path == cwd or path.startswith(os.path.join(cwd, "")) else path
