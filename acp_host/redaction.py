"""Keeps secrets out of what people, logs and errors show: :func:`redact`, :func:`redact_text`, :class:`Redactor`.

A value is taken for a secret because of its name (``apiKey``, ``GITHUB_TOKEN``, ``Authorization``), because of where it
stands (the values of ``env`` and ``headers``), because it looks like one (``sk-…``, ``Bearer …``, a password in a URL),
or because the host was told it. This is a leaf module: every layer may use it. It guards what is shown, and nothing of
what is sent; that it finds every secret cannot be promised.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

__all__ = ["CONTAINERS", "HIDDEN", "Redactor", "is_secret_name", "redact", "redact_text", "secrets_of_command"]

HIDDEN = "[redacted]"
"""What stands in the place of a secret."""

_SHORTEST = 4
"""Characters that a value told to a :class:`Redactor` has at least; shorter ones would be found everywhere."""
_NO_SECRETS = frozenset(
    [
        "none",
        "null",
        "true",
        "false",
        "empty",
        "dummy",
        "fake",
        "placeholder",
        "unused",
        "local",
        "localhost",
        "ollama",
        "lm-studio",
        "no-key",
        "not-needed",
        "not-a-key",
        "sk-no-key-required",
    ]
)
"""What stands in the place of a key where none is needed, as with models of this machine. Some are words of every text:
to hide them hides nothing, and makes what was said another."""
_DEEPEST = 64
_TOO_DEEP = "[nested too deeply to be shown]"

_SECRET_ENDS = (
    "accesskey",
    "apikey",
    "authorization",
    "cookie",
    "credential",
    "credentials",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "secret",
    "secretkey",
    "token",
)
_KEY_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*_(?:KEY|PAT)")
_NOT_IN_NAMES = re.compile(r"[^a-z0-9]")
CONTAINERS = frozenset({"env", "environment", "headers"})
"""Members whose values are secrets, whatever their names."""

# These search what an agent writes, however long it is, in linear time: none begins with backslashes, of which there
# may be any number, and a word that may go on for ever begins where nothing of it stands before.
_BY_LOOKS = re.compile(
    r"(?P<scheme>\bbearer\s+)(?=\S*\d)[\w.~+/=-]{8,}"
    r"|(?<![\w-])(?:[srp]k-|gh[opsu]_|github_pat_|glpat-|xox[abprs]-|hf_|AKIA|AIza)[\w-]{8,}"
    r"|(?<![\w-])eyJ[\w-]{8,}\.[\w-]+\.[\w-]*",
    re.IGNORECASE,
)
_USER_IN_URL = re.compile(r"(?<=://)[^\s/?#@:]{0,500}+:[^\s/?#@]{1,500}+(?=@)")
_NAME = re.compile(r"""(?<![\w.-])([\w.-]{1,200})(?:\\*["'])?\s{0,8}([:=])\s{0,8}""")
_VALUE = re.compile(
    r"""(")(?:[^"\\]|\\.){0,10000}|(')(?:[^'\\]|\\.){0,10000}|(\\+["'])[^"'\\]{0,10000}"""
    r"""|(?:(?:bearer|basic)\s+)?(?:[^\s"',;&\])}\[]++|\[redacted\]|\[)++""",
    re.IGNORECASE | re.DOTALL,
)
_NAMED_VALUE = re.compile(
    r"""(?P<head>"name\\*"\s{0,8}:\s{0,8}\\*"[^"\\]{0,500}\\*"\s{0,8},\s{0,8}\\*"value\\*"\s{0,8}:\s{0,8}\\*")"""
    r"""[^"\\]*""",
)

_CONTAINED = re.compile(r"""(?P<head>["'](?:env|environment|headers)\\*["']\s{0,8}:\s{0,8}\{)(?P<members>[^{}]*)""")
_MEMBER_VALUE = re.compile(r"""(?P<head>:\s{0,8}\\*["'])[^"'\\]*""")


def is_secret_name(name: str) -> bool:
    """Tell whether what has this name is a secret: a JSON member, a header or an environment variable.

    >>> [name for name in ("apiKey", "GITHUB_TOKEN", "tokens_used", "key") if is_secret_name(name)]
    ['apiKey', 'GITHUB_TOKEN']
    """
    return bool(_KEY_VARIABLE.fullmatch(name)) or _NOT_IN_NAMES.sub("", name.lower()).endswith(_SECRET_ENDS)


def redact(value: Any) -> Any:
    """Return JSON with its secrets replaced by :data:`HIDDEN`; values of other types come back as they are.

    >>> redact({"apiKey": "abc", "args": ["--token", "x", "Bearer abcdef0123456789"]})
    {'apiKey': '[redacted]', 'args': ['--token', 'x', 'Bearer [redacted]']}
    """
    return _redact(value, _DEEPEST)


def redact_text(text: str) -> str:
    """Return text with its secrets replaced by :data:`HIDDEN`. Cost: linear, some 15 ms for each 100 kB.

    >>> redact_text("GET https://me:secret@example.com/?api_key=0123456789")
    'GET https://[redacted]@example.com/?api_key=[redacted]'
    """
    if ":" in text or "=" in text:  # one of them stands in whatever is hidden for its name or place
        text = _USER_IN_URL.sub(HIDDEN, text)
        text = _CONTAINED.sub(_hide_members, text)
        text = _NAMED_VALUE.sub(rf"\g<head>{HIDDEN}", text)
        text = _hide_assigned(text)
    return _BY_LOOKS.sub(lambda match: f"{match['scheme'] or ''}{HIDDEN}", text)


def secrets_of_command(argv: Sequence[str]) -> list[str]:
    """Return the arguments of a command that are secrets because of the option before them: ``--api-key …``.

    >>> secrets_of_command(["some-agent", "--api-key", "abc", "--verbose"])
    ['abc']
    """
    found = []
    for before, argument in itertools.pairwise(argv):
        named = before.startswith("-") and "=" not in before and is_secret_name(before.lstrip("-"))
        if named and not argument.startswith("-"):
            found.append(argument)
    return found


class Redactor:
    """Hides the secrets that it was told, wherever they turn up, besides those that :func:`redact_text` finds."""

    def __init__(self) -> None:
        self._secrets: list[str] = []

    def __repr__(self) -> str:
        return f"Redactor({len(self._secrets)} secrets)"

    @property
    def has_secrets(self) -> bool:
        """Whether it was told any."""
        return bool(self._secrets)

    @property
    def known(self) -> Sequence[str]:
        """The secrets that it was told, as they are and as they stand in JSON; nothing to be shown."""
        return self._secrets

    def add(self, secrets: Iterable[str]) -> None:
        """Learn secrets.

        Left out are those of fewer than four characters, since they are found everywhere, and words that stand for a
        key where none is needed, such as ``none`` and ``ollama``.
        """
        known = {*self._secrets}
        for secret in secrets:
            if len(secret) >= _SHORTEST and secret.lower() not in _NO_SECRETS:
                known |= {secret, json.dumps(secret)[1:-1]}
        self._secrets = sorted(known, key=len, reverse=True)

    def add_named(self, values: Mapping[str, str | None]) -> None:
        """Learn those of some values whose names say that they are secrets, e.g. of environment variables."""
        self.add(value for name, value in values.items() if value and is_secret_name(name))

    def text(self, text: str) -> str:
        """Return text without secrets."""
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        return redact_text(text)


def _redact(value: Any, depth: int) -> Any:
    if not depth:
        return _TOO_DEEP
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, Mapping):
        return {key: _member(key, item, value, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)([_redact(item, depth - 1) for item in value]) if type(value) in (list, tuple) else value
    return value


def _member(key: Any, item: Any, parent: Mapping[Any, Any], depth: int) -> Any:
    name = key if isinstance(key, str) else ""
    if isinstance(item, str) and (is_secret_name(name) or (name == "value" and isinstance(parent.get("name"), str))):
        return HIDDEN
    if name in CONTAINERS and isinstance(item, Mapping):
        return dict.fromkeys(item, HIDDEN)
    return _redact(item, depth)


def _hide_members(match: re.Match[str]) -> str:
    return match["head"] + _MEMBER_VALUE.sub(rf"\g<head>{HIDDEN}", match["members"])


def _hide_assigned(text: str) -> str:
    """Hide the values in ``name=value`` and ``"name": "value"``; a value may begin with another such pair."""
    pieces, end = [], 0
    for name in _NAME.finditer(text):
        if name.end() < end or not is_secret_name(name[1]):
            continue
        value = _VALUE.match(text, name.end())
        if value is None or _is_prose(name[2], value):
            continue
        pieces += [text[end : name.end()], value[value.lastindex] if value.lastindex else "", HIDDEN]
        end = value.end()
    return "".join([*pieces, text[end:]])


def _is_prose(sign: str, value: re.Match[str]) -> bool:
    """Tell whether what follows a name is a word of a sentence: "unexpected token: end of line"."""
    word = value[0].replace(HIDDEN, "")  # what was hidden before says nothing
    return sign == ":" and value.lastindex is None and len(word) < 16 and not any(map(str.isdigit, word))
