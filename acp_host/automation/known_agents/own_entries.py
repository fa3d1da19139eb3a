"""The user's own agents, in ``agents.toml``: :func:`read_own`, :func:`add_own`, :func:`remove_own`.

The file holds no secrets: variables are named in it, and their values are taken from the environment when the agent is
started. An entry that cannot be used keeps its name, so that nothing else is started in its place. ::

    [agents.work]
    command = ["opencode", "acp"]
    env_from = { OPENAI_API_KEY = "WORK_OPENAI_KEY" }

    [agents.lab]
    url = "wss://agents.example/acp"
    bearer_env = "LAB_TOKEN"
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from acp_host.automation.known_agents.manifest import VARIABLE_NAME
from acp_host.automation.known_agents.ways import Readiness, Way, WayKind
from acp_host.errors import InvalidInput
from acp_host.owned_files import read_owned, replace_owned
from acp_host.recording.redaction import command_without_secrets
from acp_host.transports.remote_address import RemoteAddress

__all__ = ["OwnEntry", "add_own", "check_name", "read_own", "remove_own"]

_MAX_SIZE = 2**20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_MEMBERS = frozenset({"title", "description", "command", "url", "env_from", "bearer_env"})


@frozen(kw_only=True)
class OwnEntry:
    """An agent as the user describes it.

    Attributes:
        title: its name for people; empty for none.
        description: what it is; empty for none.
        command: its command; empty for an agent elsewhere.
        url: the URL of an agent elsewhere, else ``None``.
        env_from: variables of the agent → the variables of this process that they are taken from.
        bearer_env: the variable with the token for ``url``; ``None``: there is none.

    Raises:
        InvalidInput: it is no entry that can be used, or would keep a secret.
    """

    title: str = ""
    description: str = ""
    command: tuple[str, ...] = ()
    url: str | None = None
    env_from: Mapping[str, str] = {}
    bearer_env: str | None = None

    def __attrs_post_init__(self) -> None:
        if bool(self.command) == (self.url is not None):
            raise InvalidInput("an agent has either a command or a url")
        if self.url is not None:
            address = RemoteAddress.of(self.url)
            if address.has_user or address.secrets:
                raise InvalidInput(
                    "its url has a password or a query in it; name a variable with the token: bearer_env"
                )
            if self.env_from:
                raise InvalidInput("env_from is for a command; an agent elsewhere has its own environment")
        elif self.bearer_env is not None:
            raise InvalidInput("bearer_env is for a url")
        for name in (*self.env_from, *self.env_from.values(), *([self.bearer_env] if self.bearer_env else ())):
            if not VARIABLE_NAME.fullmatch(name):  # somebody may have put the secret itself there: not shown
                raise InvalidInput("env_from and bearer_env hold names of variables, and never values")

    def way(self, source: str) -> Way:
        """Return how it is started or reached."""
        return Way(
            kind=WayKind.OWN,
            source=source,
            readiness=Readiness.READY,
            command=self.command,
            url=self.url,
            env_from=self.env_from,
            bearer_env=self.bearer_env,
        )


def check_name(name: str) -> str:
    """Return a name that an entry can have; raise ``InvalidInput`` for others."""
    if not _NAME.fullmatch(name):
        raise InvalidInput(f"{name!r} cannot be the name of an agent: letters, digits, '.', '_' and '-', 64 at most")
    return name


def read_own(path: Path) -> dict[str, OwnEntry | InvalidInput]:
    """Return the user's entries by name, and the error in place of one that cannot be used.

    Raises:
        InvalidInput: the file cannot be trusted or read; says what to do.
    """
    try:
        agents = tomllib.loads(read_owned(path, _MAX_SIZE, private=False)).get("agents", {})
        if not isinstance(agents, dict):
            raise ValueError("agents is no table")
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{path} cannot be used: {error}; mend it or remove it") from None
    return {name: _entry(name, members) for name, members in agents.items()}


def _entry(name: str, members: Any) -> OwnEntry | InvalidInput:
    try:
        check_name(name)
        if not isinstance(members, dict):
            raise InvalidInput("it is no table")
        unknown = sorted(members.keys() - _MEMBERS)
        if unknown:
            hint = "; variables are named in env_from, their values are not kept here" if "env" in unknown else ""
            raise InvalidInput(f"it has {', '.join(unknown)}, which no entry has{hint}")
        return OwnEntry(**{member: _value(member, value) for member, value in members.items()})
    except InvalidInput as error:
        return InvalidInput(f"the entry {name} in agents.toml cannot be used: {error}")


def _value(member: str, value: Any) -> Any:
    if member == "command" and isinstance(value, list) and value and all(map(_is_word, value)):
        return tuple(value)
    if member == "env_from" and isinstance(value, dict) and all(map(_is_word, value.values())):
        return value
    if member not in ("command", "env_from") and _is_word(value):
        return value
    wanted = {"command": "a list of texts", "env_from": "a table of names"}.get(member, "a text")
    raise InvalidInput(f"{member} is {wanted}")


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and value != "" and "\0" not in value


def add_own(path: Path, name: str, entry: OwnEntry, *, replace: bool = False) -> None:
    """Write an entry into the user's file, and leave the rest of it as it is, comments too.

    Raises:
        InvalidInput: the name cannot be or is taken, the command has a secret in it, or the file cannot be used.
    """
    check_name(name)
    if command_without_secrets(entry.command) != list(entry.command):
        raise InvalidInput("the command has a secret in it, which would be kept; put it into a variable of its own")
    if name in read_own(path) and not replace:
        raise InvalidInput(f"{name} is there already; remove it first, or replace it with --replace")
    document = _document(path)
    agents = document.setdefault("agents", _toml().table(is_super_table=True))
    agents[name] = _table(entry)
    _write(path, document)


def remove_own(path: Path, name: str) -> None:
    """Take an entry out of the user's file, and leave the rest of it as it is.

    Raises:
        InvalidInput: there is none of that name, or the file cannot be used.
    """
    if name not in read_own(path):
        raise InvalidInput(f"{path} has no agent {name!r}")
    document = _document(path)
    del document["agents"][name]
    _write(path, document)


def _table(entry: OwnEntry) -> Any:
    table = _toml().table()
    for member in ("title", "description", "command", "url", "env_from", "bearer_env"):
        value = getattr(entry, member)
        if isinstance(value, Mapping) and value:
            inline = _toml().inline_table()
            inline.update(value)
            table[member] = inline
        elif value:
            table[member] = list(value) if isinstance(value, tuple) else value
    return table


def _toml() -> Any:
    try:
        import tomlkit
    except ModuleNotFoundError:
        raise InvalidInput("writing agents.toml needs the extra 'cli': pip install 'acp-host[cli]'") from None
    return tomlkit


def _document(path: Path) -> Any:
    toml = _toml()
    try:
        return toml.parse(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return toml.document()


def _write(path: Path, document: Any) -> None:
    real = path.resolve()  # a link to a file that is kept elsewhere stays one
    try:
        replace_owned(real, document.as_string().encode())
    except OSError as error:
        raise InvalidInput(f"{real} cannot be written: {error.strerror or error}") from None
