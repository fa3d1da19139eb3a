"""What recordings do not hold: :class:`Redaction`, and :class:`LineRedactor`, which carries it out.

Secrets are found as :mod:`acp_host.redaction` finds them, and by their place in a message of ACP: what a login sends,
values of variables and headers, and the secrets that the connection knows. Only texts change, so that a recording that
was redacted is folded as before. That every secret is found cannot be promised: one that is streamed in two pieces is
not.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from attrs import field, frozen

from acp_host.errors import InvalidInput
from acp_host.given_files import absolute
from acp_host.redaction import CONTAINERS, HIDDEN, Redactor, is_secret_name, redact_text, secrets_of_command

__all__ = ["LineRedactor", "Redaction", "command_without_secrets", "secrets_of_this_process"]

_LOGINS = frozenset(("authenticate", "auth/login"))
"""Methods whose parameters are the business of the login alone, but for its kind."""
_NOT_SECRET = frozenset(("methodId",))
_SHORTEST_INHERITED = 8
"""Characters of an inherited variable that may be a secret: ``USE_TOKEN=true`` is none."""
_DEEPEST = 200
_TOO_DEEP = "[nested too deeply to be recorded]"

_SUSPICIOUS = (
    # What names of secrets end with, whatever stands between the words of a name.
    *("key", "token", "secret", "pass", "authorization", "cookie", "credential", "_pat"),
    *("env", "header"),
    # How secrets look.
    *("bearer", "k-", "gho_", "ghp_", "ghs_", "ghu_", "glpat-", "xox", "hf_", "akia", "aiza", "eyj"),
)
"""What a text has somewhere, in lower case, if it may hold a secret; most have none of it."""
_SUSPICIOUS_LINE = (*_SUSPICIOUS, '"auth', "\\u00")
"""The same for a line of JSON, in which letters may be written as escapes."""
_PLAIN = re.compile(r"[^\x00-\x1f/\x7f-\U0010ffff]*")
"""What every writer of JSON writes alike, but for escapes of ASCII, which are suspicious anyway."""


def _names(names: Sequence[str]) -> tuple[str, ...]:
    if isinstance(names, str) or not all(isinstance(name, str) and name.strip("$. ") for name in names):
        raise InvalidInput('Redaction(fields=…) takes names of members, such as ("rawOutput", "params.prompt")')
    return tuple(names)


def _folders(folders: Sequence[str | os.PathLike[str]]) -> tuple[str, ...]:
    if isinstance(folders, str | os.PathLike):
        raise InvalidInput("Redaction(folders=…) takes a sequence of folders, such as (Path.home(),)")
    found = tuple(absolute(os.path.expanduser(folder)) for folder in folders)
    for folder in found:
        if len(Path(folder).parts) < 2:
            raise InvalidInput(f"Redaction(folders=…): {folder} is the root of all paths; name a folder in it")
    return found


@frozen(kw_only=True)
class Redaction:
    """What is taken out of a recording before it is written.

    Attributes:
        secrets: whether secrets are hidden. Without it, a recording holds passwords and keys as they were sent.
        fields: members whose texts are hidden, at any depth: by name (``"rawOutput"``), by names one within the other
            (``"params.prompt"``; arrays in between do not count), or from the message down (``"$.params._meta"``).
        folders: folders whose paths are replaced by ``/hidden/1``, ``/hidden/2``, … wherever they stand in a text;
            ``~`` is the home directory.

    Raises:
        InvalidInput: a name is empty, or a folder is the root.
    """

    secrets: bool = True
    fields: tuple[str, ...] = field(default=(), converter=_names)
    folders: tuple[str, ...] = field(default=(), converter=_folders)


class LineRedactor:
    """Carries out a redaction on the lines of a recording.

    Args:
        redaction: what is hidden.
        known: secrets of the connection, hidden wherever they stand.
    """

    def __init__(self, redaction: Redaction, known: Redactor | None = None) -> None:
        self._secrets = redaction.secrets
        self._known = known or Redactor()
        self._inherited = secrets_of_this_process()
        self._fields = tuple((name.startswith("$"), tuple(name.strip("$.").split("."))) for name in redaction.fields)
        self._folders = _FolderNames(redaction.folders)
        self._marked: Sequence[str] | None = None
        self._marks = _Marks(())
        self._names = _Marks(names[-1] for _, names in self._fields)

    def may_change(self, line: bytes) -> bool:
        """Tell whether a line of JSON may hold something to hide; far cheaper than to look for it."""
        text = line.decode("latin-1")  # in a short text words are found several times faster than in bytes
        if self._names.may_be_in(text) or self._folders.may_be_in(text):
            return True
        if not self._secrets:
            return False
        small = text.lower()
        for word in _SUSPICIOUS_LINE:  # a generator would cost half as much again
            if word in small:
                return True
        if "@" in text and ("//" in text or "\\/" in text):
            return True
        return self._marks_of_known().may_be_in(text)

    def message(self, message: Any) -> Any:
        """Return a message, as decoded, without what is to be hidden."""
        return self._value(message, (), _DEEPEST)

    def text(self, text: str) -> str:
        """Return a text without what is to be hidden."""
        text = self._folders.hide(text)
        if not self._secrets:
            return text
        for secret in (*self._known.known, *self._inherited):
            text = text.replace(secret, HIDDEN)
        small = text.lower()
        if any(word in small for word in _SUSPICIOUS) or ("://" in text and "@" in text):
            return redact_text(text)
        return text

    def _marks_of_known(self) -> _Marks:
        known = self._known.known
        if known is not self._marked:  # the connection has learnt some since
            self._marked, self._marks = known, _Marks((*known, *self._inherited))
        return self._marks

    def _value(self, value: Any, path: tuple[str, ...], depth: int) -> Any:
        if not depth:
            return _TOO_DEEP
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self._value(item, path, depth - 1) for item in value]
        if isinstance(value, dict):
            if self._secrets and isinstance(value.get("method"), str) and value["method"] in _LOGINS and not path:
                value = {**value, "params": _hidden(value.get("params"), _DEEPEST)} if "params" in value else value
            return {self.text(name): self._member(name, item, value, path, depth) for name, item in value.items()}
        return value

    def _member(self, name: str, item: Any, parent: Mapping[str, Any], path: tuple[str, ...], depth: int) -> Any:
        inner = (*path, name)
        if any(_leads_to(inner, names, anchored) for anchored, names in self._fields):
            return _hidden(item, depth)
        if self._secrets and (
            is_secret_name(name)
            or (name in CONTAINERS and isinstance(item, dict))
            or (name == "value" and _is_secret_value(parent, path))
        ):
            return _hidden(item, depth)
        return self._value(item, inner, depth - 1)


def command_without_secrets(argv: Sequence[str]) -> list[str]:
    """Return a command without secrets: neither behind such options nor in what looks like one."""
    secrets = secrets_of_command(argv)
    return [HIDDEN if argument in secrets else _url_without_query(redact_text(argument)) for argument in argv]


_QUERY = re.compile(r"(?<=://)([^\s?#]*)[?#]\S*")


def _url_without_query(text: str) -> str:
    return _QUERY.sub(rf"\1?{HIDDEN}", text)


def secrets_of_this_process() -> tuple[str, ...]:
    """Return the secrets in this process's environment, which agents inherit, the longest first.

    They are values whose names say that they are secrets; those of fewer than eight characters would be found
    everywhere.
    """
    values = {value for name, value in os.environ.items() if is_secret_name(name) and len(value) >= _SHORTEST_INHERITED}
    return tuple(sorted(values, key=len, reverse=True))


def _hidden(value: Any, depth: int) -> Any:
    """Return JSON of the same structure in which every text is hidden."""
    if not depth:
        return _TOO_DEEP
    if isinstance(value, str):
        return HIDDEN
    if isinstance(value, list):
        return [_hidden(item, depth - 1) for item in value]
    if isinstance(value, dict):
        return {name: item if name in _NOT_SECRET else _hidden(item, depth - 1) for name, item in value.items()}
    return value


def _is_secret_value(parent: Mapping[str, Any], path: tuple[str, ...]) -> bool:
    """Tell whether ``{"name": …, "value": …}`` is a variable or a header, or named like a secret."""
    name = parent.get("name")
    return isinstance(name, str) and (is_secret_name(name) or bool(path and path[-1] in CONTAINERS))


def _leads_to(path: tuple[str, ...], names: tuple[str, ...], anchored: bool) -> bool:
    return path == names if anchored else path[-len(names) :] == names


class _Marks:
    """Finds texts in a line of JSON, however its writer has written them; may find one that is not there."""

    def __init__(self, texts: Iterable[str]) -> None:
        forms = {form for text in texts for form in (text, json.dumps(text, ensure_ascii=False)[1:-1])}
        self._forms = tuple({form.encode(errors="replace").decode("latin-1") for form in forms})
        self._may_be_escaped = not all(map(_PLAIN.fullmatch, forms))
        self._has_forms = bool(forms)

    def may_be_in(self, line: str) -> bool:
        """Tell whether one of the texts may be in a line, whose bytes are given as characters."""
        for form in self._forms:
            if form in line:
                return True
        escapes = "\\u" if self._may_be_escaped else "\\u00"
        return self._has_forms and (escapes in line or (self._may_be_escaped and "\\/" in line))


class _FolderNames:
    """Finds folders in texts: as paths, in ``file:`` URIs, and with slashes of either kind."""

    def __init__(self, folders: Sequence[str]) -> None:
        self._stand_ins: dict[str, str] = {}
        for number, folder in enumerate(sorted(folders, key=len, reverse=True), 1):
            drive = Path(folder).drive
            for written in (folder, Path(folder).as_posix(), quote(Path(folder).as_posix())):
                slash = "\\" if "\\" in written else "/"
                self._stand_ins.setdefault(written, f"{drive}{slash}hidden{slash}{number}")
        ordered = sorted(self._stand_ins, key=len, reverse=True)
        pattern = "|".join(map(re.escape, ordered))
        self._pattern = re.compile(rf"(?:{pattern})(?![\w.-]*\w)") if ordered else None
        # Whatever the slashes look like in JSON, the longest name is found.
        self._marks = _Marks({max(re.split(r"[\\/]", name), key=len) for name in ordered})

    def may_be_in(self, line: str) -> bool:
        return self._marks.may_be_in(line)

    def hide(self, text: str) -> str:
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda match: self._stand_ins[match[0]], text)
