"""Takes the secrets that an agent was given out of what is written down: :func:`without_secrets`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, cast

import attrs

from acp_host.host.connection import HostConnection
from acp_host.recording.redaction import secrets_of_this_process
from acp_host.redaction import HIDDEN, Redactor

__all__ = ["Hide", "hiding", "plain_without_secrets", "secrets_given", "without_secrets"]

_T = TypeVar("_T")

Hide = Callable[[str], str]
"""Returns a text without secrets."""
_DEEPEST = 64
_TOO_DEEP = "(nested too deeply to be shown)"


def secrets_given(host: HostConnection | None, environment: Mapping[str, str | None] | None = None) -> tuple[str, ...]:
    """Return the secrets that an agent was given, the longest first.

    They are those that its connection knows, and those of this program's environment, which an agent that was started
    here has inherited: values of some length whose names say that they are secrets.

    Args:
        host: its connection; ``None`` as long as there is none, or if there never was: it may have said them all the
            same, on stderr.
        environment: variables that it was given besides.
    """
    given = Redactor()
    given.add(secrets_of_this_process())
    given.add_named(environment or {})
    known = () if host is None else host.diagnostics.redactor.known
    return tuple(sorted({*known, *given.known}, key=len, reverse=True))


def hiding(secrets: Iterable[str]) -> Hide:
    """Return what replaces each of these texts; it changes nothing else: what an agent has made stays as it is."""
    known = tuple(secrets)

    def hide(text: str) -> str:
        for secret in known:
            text = text.replace(secret, HIDDEN)
        return text

    return hide


def without_secrets(value: _T, hide: Hide) -> _T:
    """Return a value made of attrs classes, tuples and plain values, with every text in it changed by ``hide``."""
    changed: Any = value
    kind: Any = type(value)
    if isinstance(value, str):
        changed = hide(value)
    elif isinstance(value, tuple):
        changed = tuple([without_secrets(item, hide) for item in value])
    elif attrs.has(kind):
        members = {each.name: getattr(value, each.name) for each in attrs.fields(kind)}
        changed = attrs.evolve(changed, **{name: without_secrets(item, hide) for name, item in members.items()})
    return cast(_T, changed)


def plain_without_secrets(value: Any, hide: Hide, depth: int = _DEEPEST) -> Any:
    """Return JSON with every text in it changed by ``hide``, and without what JSON cannot hold.

    That is what is nested too deeply to be written, and numbers that are none.
    """
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if not isinstance(value, Mapping | list | tuple):
        return value
    if depth == 0:
        return _TOO_DEEP
    if isinstance(value, Mapping):
        return {hide(str(name)): plain_without_secrets(item, hide, depth - 1) for name, item in value.items()}
    return [plain_without_secrets(item, hide, depth - 1) for item in value]
