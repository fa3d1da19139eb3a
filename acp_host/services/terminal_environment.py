"""What commands find in their environment: :class:`EnvironmentPolicy`.

A policy decides three things: which variables of this program a command inherits, what the host adds, and which names
the agent may not set. The agent's own variables come last and win.

Nothing else is set, nor has to be, to keep tools from asking: a command without a pseudo-terminal has an empty input,
no terminal that it could open, and an output that no pager takes over. Under a pseudo-terminal somebody may answer a
question, but nobody turns pages: there, :data:`PTY_VARIABLES` are set over what is inherited.

Names are compared as the platform does: on Windows, case counts for nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Final

from attrs import Factory, field, frozen

from acp_host.errors import InvalidInput

__all__ = ["ISOLATED_NAMES", "LOADER_NAMES", "PTY_VARIABLES", "SECRET_NAMES", "EnvironmentPolicy"]

_POSIX_NAMES = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TERM", "TZ", "TMPDIR")
_IGNORES_CASE = sys.platform == "win32"
# fmt: off
_WINDOWS_NAMES = (
    "PATH", "PATHEXT", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "TEMP", "TMP", "USERNAME", "USERPROFILE",
    "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES*", "OS", "NUMBER_OF_PROCESSORS",
    "PROCESSOR_ARCHITECTURE",
)
ISOLATED_NAMES: Final[tuple[str, ...]] = _WINDOWS_NAMES if sys.platform == "win32" else _POSIX_NAMES
"""What :meth:`EnvironmentPolicy.isolated` inherits: what programs need to start and to find their files."""

SECRET_NAMES: Final[tuple[str, ...]] = (
    "*SECRET*", "*TOKEN*", "*PASSWORD*", "*PASSWD*", "*PASSPHRASE*", "*CREDENTIAL*", "*COOKIE*", "*AUTHORIZATION*",
    "*API_KEY*", "*APIKEY*", "*ACCESS_KEY*", "*PRIVATE_KEY*", "*ENCRYPTION_KEY*", "*SIGNING_KEY*", "*_PAT", "*_PWD",
    "*_DSN", "*_AUTH", "*DATABASE_URL", "*CONNECTION_STRING*",
)
"""Names that look like secrets, for ``deny=``. A guess by name: a secret by another name passes."""

LOADER_NAMES: Final[tuple[str, ...]] = (
    "LD_*", "DYLD_*", "GCONV_PATH", "GLIBC_TUNABLES", "BASH_ENV", "BASH_FUNC_*", "BASHOPTS", "SHELLOPTS", "PS4",
    "PROMPT_COMMAND", "IFS", "ZDOTDIR", "COMSPEC", "PATHEXT", "SYSTEMROOT",
)
"""What an agent may not set by default: names that make any program, or any shell, run other code than its own."""
# fmt: on

PTY_VARIABLES: Final[Mapping[str, str]] = {"TERM": "xterm-256color", "PAGER": "cat", "GIT_PAGER": "cat"}
"""What is set over the inherited variables for a command under a pseudo-terminal."""


def _names(value: Iterable[str]) -> tuple[str, ...]:
    if isinstance(value, str):
        raise InvalidInput(f"names are a tuple of names and patterns, not one string: {value!r}")
    names = tuple(value)
    for name in names:
        if not isinstance(name, str) or not name or "=" in name or "\0" in name:
            raise InvalidInput(f"{name!r} cannot be the name of an environment variable, or a pattern for names")
    return names


def _copy(variables: Mapping[str, str]) -> Mapping[str, str]:
    if not isinstance(variables, Mapping):
        raise InvalidInput(f"variables are a mapping of names to values, not {type(variables).__name__}")
    return dict(variables)


@frozen(kw_only=True)
class EnvironmentPolicy:
    """Which environment commands get. A name matches a pattern as file names do (``*``, ``?``, ``[…]``).

    The default inherits everything. :meth:`inherit`, :meth:`isolated` and :meth:`only` name the usual choices.

    Attributes:
        allow: names and patterns of this program's variables that are inherited.
        deny: names and patterns that are not, whatever ``allow`` says.
        variables: what the host sets over what is inherited; ``deny`` is not asked.
        refuse: names and patterns that the agent may not set; a command for which it tries is not run. This keeps a
            rule that allows one program from running another by ``LD_PRELOAD``; it is no sandbox, since many programs
            take orders from variables of their own.

    Raises:
        InvalidInput: a name, a pattern or a value can be none.
    """

    allow: tuple[str, ...] = field(default=("*",), converter=_names)
    deny: tuple[str, ...] = field(default=(), converter=_names)
    variables: Mapping[str, str] = field(default=Factory(dict), converter=_copy, repr=False)
    refuse: tuple[str, ...] = field(default=LOADER_NAMES, converter=_names)

    def __attrs_post_init__(self) -> None:
        _names(self.variables)
        for name, value in self.variables.items():
            if not isinstance(value, str) or "\0" in value:
                raise InvalidInput(f"the value of the environment variable {name} must be text without NUL")

    @classmethod
    def inherit(
        cls,
        *,
        deny: Iterable[str] = (),
        variables: Mapping[str, str] | None = None,
        refuse: Iterable[str] = LOADER_NAMES,
    ) -> EnvironmentPolicy:
        """Inherit everything but what ``deny`` names, e.g. :data:`SECRET_NAMES`."""
        return cls(deny=_names(deny), variables=variables or {}, refuse=_names(refuse))

    @classmethod
    def isolated(
        cls, *, variables: Mapping[str, str] | None = None, refuse: Iterable[str] = LOADER_NAMES
    ) -> EnvironmentPolicy:
        """Inherit no more than :data:`ISOLATED_NAMES`."""
        return cls(allow=ISOLATED_NAMES, variables=variables or {}, refuse=_names(refuse))

    @classmethod
    def only(
        cls,
        *allow: str,
        deny: Iterable[str] = (),
        variables: Mapping[str, str] | None = None,
        refuse: Iterable[str] = LOADER_NAMES,
    ) -> EnvironmentPolicy:
        """Inherit what the names and patterns in ``allow`` match, and nothing else."""
        return cls(allow=allow, deny=_names(deny), variables=variables or {}, refuse=_names(refuse))

    def inherits(self, name: str) -> bool:
        """Tell whether a command gets this program's variable ``name``."""
        return _matches(name, self.allow) and not _matches(name, self.deny)

    def refused(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return those of ``names`` that the agent may not set."""
        return tuple(name for name in names if _matches(name, self.refuse))

    def environment(
        self,
        agent: Mapping[str, str] | None = None,
        *,
        preset: Mapping[str, str] | None = None,
        inherited: Mapping[str, str] | None = None,
    ) -> dict[str, str]:
        """Return the whole environment of a command.

        Args:
            agent: the agent's own variables; they win over all others.
            preset: what is set over the inherited variables, and under the host's own.
            inherited: what is there to inherit; ``None``: the environment of this program.
        """
        source = os.environ if inherited is None else inherited
        merged = {name: value for name, value in source.items() if self.inherits(name)}
        for layer in (preset or {}, self.variables, agent or {}):
            if _IGNORES_CASE:
                given = {name.upper() for name in layer}
                merged = {name: value for name, value in merged.items() if name.upper() not in given}
            merged |= layer
        return merged


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    if _IGNORES_CASE:
        return any(fnmatchcase(name.upper(), pattern.upper()) for pattern in patterns)
    return any(fnmatchcase(name, pattern) for pattern in patterns)
