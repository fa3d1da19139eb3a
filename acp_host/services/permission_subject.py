"""What a permission is asked for, in one form whoever asks: :class:`PermissionSubject`.

A subject is made of a permission request, of a file that the agent wants written, or of a command that it wants run.
It owns which paths and which command such a request names; what is decided about them is the policy's work.

A request names paths in its locations, in its diffs, and in ``rawInput``, whose shape is the agent's own: there,
members with a name such as ``file_path`` or ``cwd`` count, and any other string that is an absolute path, but not the
text that a tool writes. A command is what ``rawInput`` has as ``command``, ``cmd`` and the like. All of it is the
agent's word.

Cost: every path is looked up on the disk, to find where links lead; call these functions in a thread.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

from attrs import frozen

from acp_host.services.command_line import command_line, paths_in, words_in
from acp_host.wire.files import WriteTextFileRequest
from acp_host.wire.permission import RequestPermissionRequest
from acp_host.wire.terminals import CreateTerminalRequest
from acp_host.wire.tool_calls import Diff, ToolKind

__all__ = [
    "DescribedCall",
    "PermissionSubject",
    "real_path",
    "subject_of_command",
    "subject_of_request",
    "subject_of_write",
]

MAX_PATHS = 1_000
"""Most paths that a subject takes from one request; one that names more cannot be read."""
_MAX_VALUES = 20_000
_MAX_DEPTH = 32
_MAX_PATH_LENGTH = 4_096
_MAX_TITLE_LENGTH = 4_096
_MAX_COMMAND_LENGTH = 65_536

_PATH_KEYS = frozenset(
    [
        "path",
        "paths",
        "filepath",
        "filepaths",
        "file",
        "files",
        "filename",
        "abspath",
        "absolutepath",
        "notebookpath",
        "cwd",
        "workdir",
        "workingdir",
        "workingdirectory",
        "directory",
        "dir",
        "folder",
        "parentdir",
        "root",
        "source",
        "src",
        "from",
        "destination",
        "dest",
        "dst",
        "to",
        "target",
        "oldpath",
        "newpath",
        "uri",
    ]
)
_DIRECTORY_KEYS = frozenset(["cwd", "workdir", "workingdir", "workingdirectory"])
_TEXT_KEYS = frozenset(
    [
        "content",
        "contents",
        "text",
        "newtext",
        "oldtext",
        "newstring",
        "oldstring",
        "newstr",
        "oldstr",
        "diff",
        "patch",
        "prompt",
        "description",
        "message",
        "newsource",
        "replacement",
    ]
)
_COMMAND_KEYS = frozenset(
    [
        "command",
        "commands",
        "cmd",
        "commandline",
        "bashcommand",
        "shellcommand",
        "script",
        "shell",
        "argv",
        "program",
        "executable",
    ]
)


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
    readable: bool = True

    @property
    def summary(self) -> str:
        """What it is about, in a line: the title, and the command or the paths where it does not say them."""
        exactly = self.command if self.command is not None else ", ".join(self.named_paths)
        return ": ".join(part for part in (self.title, exactly if exactly not in self.title else "") if part)


class DescribedCall(Protocol):
    """What is known of a tool call: a wire type, or an entry of the transcript."""

    @property
    def kind(self) -> Any: ...
    @property
    def title(self) -> Any: ...
    @property
    def content(self) -> Any: ...
    @property
    def locations(self) -> Any: ...
    @property
    def raw_input(self) -> Any: ...


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
    title = next((call.title for call in calls if call.title), "")[:_MAX_TITLE_LENGTH]
    named = _Named()
    for call in calls:
        named.take_call(call)
    return _subject(named, agent=agent, session_id=request.session_id, kind=kind, title=title, cwd=cwd)


def subject_of_write(request: WriteTextFileRequest, *, agent: str, cwd: str) -> PermissionSubject:
    """Return what ``fs/write_text_file`` is about; arguments as for :func:`subject_of_request`."""
    named = _Named()
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
    named = _Named()
    named.take_directory(request.cwd or cwd)
    args = request.args or ()
    named.take_command(shlex.quote(request.command) if is_program and not args else command_line(request.command, args))
    env = tuple(variable.name for variable in request.env or ())
    kind, title = ToolKind.EXECUTE, (named.command or "")[:_MAX_TITLE_LENGTH]
    return _subject(named, agent=agent, session_id=request.session_id, kind=kind, title=title, cwd=cwd, env=env)


def real_path(path: str, cwd: str) -> tuple[str, str]:
    """Return a path as it is named, absolute and normalised, and where it really is.

    Raises:
        ValueError: no file can have this path.
    """
    if path.startswith("file:"):
        path = unquote(urlsplit(path).path)
    named = os.path.normpath(os.path.join(cwd, os.path.expanduser(path)))
    # Not of the normalised one: `link/..` is where the link leads to, not where it stands.
    return named, os.path.realpath(os.path.join(cwd, os.path.expanduser(path)))


def _subject(named: _Named, *, cwd: str, kind: Any, **fields: Any) -> PermissionSubject:
    paths, readable, real_cwd = [], named.readable, os.path.realpath(cwd)
    for path in named.paths:
        try:
            paths.append(real_path(_below(path, cwd, real_cwd), real_cwd))
        except (ValueError, OSError):
            readable = False
    directory = _real_directory(named.directory, cwd, real_cwd)
    return PermissionSubject(
        kind=None if kind is None else str(kind),
        paths=tuple(dict.fromkeys(real for _, real in paths)),
        named_paths=tuple(dict.fromkeys(name for name, _ in paths)),
        command=named.command,
        mentioned=_mentioned(named.command, directory or real_cwd),
        directory=directory,
        cwd=real_cwd,
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


class _Named:
    """Collects the paths and commands that a request names."""

    def __init__(self) -> None:
        self.paths: dict[str, None] = {}
        self.directory: str | None = None
        self.readable = True
        self._commands: dict[str, None] = {}
        self._values = 0

    @property
    def command(self) -> str | None:
        """The command; several different ones are lines of one, which no simple rule allows."""
        return "\n".join(self._commands) if self._commands else None

    def take_call(self, call: DescribedCall) -> None:
        for location in call.locations or ():
            self.take_path(location.path)
        for item in call.content or ():
            if isinstance(item, Diff):
                self.take_path(item.path)
        raw = call.raw_input
        if isinstance(raw, Mapping):
            self._take_object(raw, 0)
        elif isinstance(raw, str) and call.kind == ToolKind.EXECUTE:
            self.take_command(raw)
        elif isinstance(raw, str | list | tuple):
            self._take_value("", raw, 0)

    def take_path(self, path: str) -> None:
        if len(self.paths) >= MAX_PATHS or len(path) > _MAX_PATH_LENGTH:
            self.readable = False
        elif path:
            self.paths[path] = None

    def take_directory(self, path: str) -> None:
        self.directory = path
        self.take_path(path)

    def take_command(self, line: str) -> None:
        if len(line) > _MAX_COMMAND_LENGTH:
            line, self.readable = line[:_MAX_COMMAND_LENGTH], False
        self._commands[line] = None
        for path in paths_in(line):
            self.take_path(path)

    def _take_object(self, members: Mapping[str, Any], depth: int) -> None:
        for key, value in members.items():
            if self._values > _MAX_VALUES:
                break
            name = re.sub(r"[^a-z]", "", key.lower())
            if name in _COMMAND_KEYS and self._take_command_of(members, value):
                continue
            self._take_value(name, value, depth)

    def _take_command_of(self, members: Mapping[str, Any], value: Any) -> bool:
        if isinstance(value, str):
            args = members.get("args") or members.get("arguments") or ()
            if isinstance(args, str):
                self.take_command(f"{value} {args}")
            else:
                self.readable = self.readable and _is_words(args)
                self.take_command(command_line(value, args if _is_words(args) else ()))
            return True
        if _is_words(value) and value:
            self.take_command(command_line(value[0], value[1:]))
            return True
        return False

    def _take_value(self, name: str, value: Any, depth: int) -> None:
        self._values += 1
        if self._values > _MAX_VALUES or depth > _MAX_DEPTH:
            self.readable = False
        elif isinstance(value, str):
            if name in _DIRECTORY_KEYS:
                self.take_directory(value)
            elif name in _PATH_KEYS or (name not in _TEXT_KEYS and _is_absolute(value)):
                self.take_path(value)
        elif isinstance(value, Mapping):
            self._take_object(value, depth + 1)
        elif isinstance(value, Sequence):
            for item in _bounded(value):
                self._take_value(name, item, depth + 1)


def _bounded(values: Sequence[Any]) -> Iterator[Any]:
    return iter(values[: _MAX_VALUES + 1])


def _is_words(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(word, str) for word in value)


def _is_absolute(text: str) -> bool:
    if "\n" in text or len(text) > _MAX_PATH_LENGTH:
        return False
    return os.path.isabs(text) or text.startswith(("~/", "file:"))
