"""Which paths and which command a tool call names, in whatever shape its agent says it: :class:`NamedInCall`.

A call names paths in its locations, in its diffs, and in ``rawInput``, whose shape is the agent's own. There these are
paths: strings in members with a name such as ``file_path``, ``targetFile`` or ``cwd``; any other string, and any name
of a member, that is an absolute path or leads upwards (``../x``), but not the text that a tool writes; and the files
that a patch says it is for. A string that is JSON in itself is read too, as some agents write arguments. A command is
what is called ``command``, ``cmd`` and the like.

Where it cannot be sure it takes too many paths: rules that allow need all of them to match.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum, auto
from functools import lru_cache
from typing import Any, Protocol

import orjson

from acp_host.services.command_line import command_line, paths_in
from acp_host.wire._model import Unknown
from acp_host.wire.tool_calls import Diff, ToolKind
from acp_host.wire.v2.diffs import Diff as FilesDiff
from acp_host.wire.v2.diffs import DiffPathPairChange

__all__ = ["MAX_PATHS", "DescribedCall", "NamedInCall"]

MAX_PATHS = 1_000
"""Most paths that are taken from one call; one that names more cannot be read."""
_MAX_VALUES = 20_000
_MAX_DEPTH = 32
_MAX_PATH_LENGTH = 4_096
_MAX_COMMAND_LENGTH = 65_536
_MAX_JSON_LENGTH = 1_048_576

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_PATH_KEYS = frozenset(
    [
        "cwd",
        "dest",
        "destination",
        "dst",
        "from",
        "infile",
        "outdir",
        "outfile",
        "parentdir",
        "root",
        "source",
        "src",
        "target",
        "to",
    ]
)
_PATH_WORDS = frozenset(
    [
        "dir",
        "directories",
        "directory",
        "dirs",
        "file",
        "files",
        "folder",
        "folders",
        "path",
        "paths",
        "root",
        "uri",
        "uris",
    ]
)
_PATH_ENDINGS = ("path", "paths", "filename", "filenames")
_DIRECTORY_KEYS = frozenset(["cwd", "workdir", "workingdir", "workingdirectory"])
_TEXT_KEYS = frozenset(["newstr", "oldstr", "newsource", "prompt", "description", "message", "replacement"])
_TEXT_WORDS = frozenset(["content", "contents", "text", "string", "diff", "patch"])
_TEXT_ENDINGS = ("text", "string")
_COMMAND_KEYS = frozenset(["argv", "commandline", "executable", "program", "script", "shell"])
_COMMAND_WORDS = frozenset(["cmd", "command", "commands"])
_COMMAND_ENDINGS = ("command",)

# An agent's text is as long as it likes, so that both take a line in one go and never look for another end of it.
_IN_PATCH = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): *+(.*[^ \n])", re.MULTILINE)
_IN_DIFF = re.compile(r"^--- (\S[^\t\r\n]*+).*+\n\+\+\+ (\S[^\t\r\n]*+)", re.MULTILINE)


class _Role(Enum):
    COMMAND = auto()
    DIRECTORY = auto()
    PATH = auto()
    TEXT = auto()
    OTHER = auto()


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


class NamedInCall:
    """Collects what tool calls name.

    Attributes:
        paths: the paths as they are named, each once; but for those in commands.
        paths_in_commands: those: what they mean depends on where the command starts.
        directory: where a command is to start; ``None`` if nothing says so.
        shows_diff: there is a diff of a file among what is shown.
        readable: all of it could be read.
    """

    def __init__(self) -> None:
        self.paths: dict[str, None] = {}
        self.paths_in_commands: dict[str, None] = {}
        self.directory: str | None = None
        self.shows_diff = False
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
                self.shows_diff = True
                self.take_path(item.path)
            elif isinstance(item, FilesDiff):
                self.shows_diff = True
                self._take_changes(item)
        raw = call.raw_input
        if isinstance(raw, Mapping):
            self._take_object(raw, 0)
        elif isinstance(raw, str) and call.kind == ToolKind.EXECUTE:
            self.take_command(raw)
        elif isinstance(raw, str | list | tuple):
            self._take_value(_Role.OTHER, raw, 0)

    def _take_changes(self, diff: FilesDiff) -> None:
        """Take the files that a diff of version 2 is about."""
        for change in diff.changes:
            if isinstance(change, Unknown):
                self._take_object(change.data, 0)
                continue
            self.take_path(change.path)
            if isinstance(change, DiffPathPairChange):
                self.take_path(change.old_path)

    def take_path(self, path: str) -> None:
        self._note(path, self.paths)

    def _note(self, path: str, paths: dict[str, None]) -> None:
        if len(paths) >= MAX_PATHS or len(path) > _MAX_PATH_LENGTH:
            self.readable = False
        elif path:
            paths[path] = None

    def take_directory(self, path: str) -> None:
        self.directory = path
        self.take_path(path)

    def take_command(self, line: str) -> None:
        if len(line) > _MAX_COMMAND_LENGTH:
            line, self.readable = line[:_MAX_COMMAND_LENGTH], False
        self._commands[line] = None
        for path in paths_in(line):
            self._note(path, self.paths_in_commands)

    def _take_object(self, members: Mapping[str, Any], depth: int) -> None:
        for key, value in members.items():
            if self._values > _MAX_VALUES:
                break
            if _leads_away(key):
                self.take_path(key.strip())
            role = _role(key)
            if role is not _Role.COMMAND or not self._take_command_of(members, value):
                self._take_value(role, value, depth)

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

    def _take_value(self, role: _Role, value: Any, depth: int) -> None:
        self._values += 1
        if self._values > _MAX_VALUES or depth > _MAX_DEPTH:
            self.readable = False
        elif isinstance(value, str):
            self._take_text(role, value, depth)
        elif isinstance(value, Mapping):
            self._take_object(value, depth + 1)
        elif isinstance(value, Sequence):
            for item in _bounded(value):
                self._take_value(role, item, depth + 1)

    def _take_text(self, role: _Role, text: str, depth: int) -> None:
        if role is _Role.DIRECTORY:
            self.take_directory(text)
        elif role is _Role.PATH:
            self.take_path(text)
        elif role is not _Role.TEXT and _leads_away(text):
            self.take_path(text.strip())
        elif role is not _Role.TEXT and text.lstrip()[:1] in ("{", "["):
            self._take_json(text, depth)
        elif "\n" in text:
            for path in _patched(text):
                self.take_path(path)

    def _take_json(self, text: str, depth: int) -> None:
        if len(text) > _MAX_JSON_LENGTH:
            self.readable = False
            return
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError:
            return
        self._take_value(_Role.OTHER, value, depth + 1)


@lru_cache(maxsize=1024)
def _role(key: str) -> _Role:
    """Return what a member with such a name is likely to hold."""
    words = [word.lower() for word in _WORD.findall(key)] or [""]
    last, joined = words[-1], "".join(words)
    if last in _COMMAND_WORDS or joined in _COMMAND_KEYS or joined.endswith(_COMMAND_ENDINGS):
        return _Role.COMMAND
    if joined in _DIRECTORY_KEYS:
        return _Role.DIRECTORY
    if last in _PATH_WORDS or joined in _PATH_KEYS or joined.endswith(_PATH_ENDINGS):
        return _Role.PATH
    if last in _TEXT_WORDS or joined in _TEXT_KEYS or joined.endswith(_TEXT_ENDINGS):
        return _Role.TEXT
    return _Role.OTHER


def _leads_away(text: str) -> bool:
    """Whether a string can be meant as a path that does not stay below the directory where it is used."""
    if len(text) > _MAX_PATH_LENGTH + 2:
        return False
    text = text.strip()
    if "\n" in text or not text:
        return False
    return os.path.isabs(text) or text[:5].lower() in ("~", "file:") or text.startswith("~/") or _goes_up(text)


def _goes_up(text: str) -> bool:
    return ".." in text and ".." in re.split(r"[/\\]", text)


def _patched(text: str) -> Iterator[str]:
    """Return the files that a patch is for."""
    yield from _IN_PATCH.findall(text)
    for old, new in _IN_DIFF.findall(text):
        is_git = (old.startswith("a/") or old == "/dev/null") and (new.startswith("b/") or new == "/dev/null")
        for path in (old, new):
            if path != "/dev/null":
                yield path[2:] if is_git else path


def _bounded(values: Sequence[Any]) -> Iterator[Any]:
    return iter(values[: _MAX_VALUES + 1])


def _is_words(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(word, str) for word in value)
