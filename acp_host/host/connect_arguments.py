"""What :func:`acp_host.connect` says about arguments that it cannot use: :func:`check`, :func:`target_of`."""

from __future__ import annotations

import importlib.util
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from acp_host.errors import InvalidInput
from acp_host.host.connection_options import ConnectionOptions
from acp_host.host.services import ServiceSet
from acp_host.transports import RemoteOptions, Transport
from acp_host.transports.remote_address import RemoteAddress, has_scheme

__all__ = ["check", "check_remote", "check_telemetry", "target_of"]

_WORDS = {
    None: "None",
    Callable: "a function",
    Mapping: "a mapping",
    bool: "True, False",
    os.PathLike: "a path",
}
"""What the kinds of arguments are called in errors, where it is not the name of the class."""
_HINTS = {
    "permissions": "PermissionPolicy.load(path) reads a policy from a file, PermissionPolicy.allow_once() is one",
    "audit": "a file for the records is AuditTrail(file=path)",
    "elicitation": "an ElicitationQueue() holds the questions for your user interface",
    "memory": "so many turns are MemoryPolicy(keep_turns=…)",
    "authenticate": "lambda request: request.methods[0] takes the first way to log in",
    "record": 'record="talk.jsonl" is a file, Recording(path, …) says more about it',
    "launcher": "acp_host.sandbox.sandbox_here(writable=[…]) makes one",
    "remote": "a token alone is RemoteOptions(bearer=…)",
}
"""What an argument of a wrong type was probably meant to be."""
_COMMANDS_ONLY = {"timeouts": "stop_timeouts", "records": "process_records"}
"""Arguments for a command that the transport calls otherwise → their names here."""


def check(name: str, value: object, *kinds: Any) -> None:
    """Raise ``InvalidInput`` unless an argument is of one of the kinds that it can be."""
    if isinstance(value, type):  # a class can be called, but would take no request
        raise InvalidInput(
            f"connect({name}=…) takes an object, not the class {value.__name__}: write {value.__name__}(…)"
        )
    if not any(value is None if kind is None else isinstance(value, kind) for kind in kinds):
        *others, last = (_WORDS.get(kind) or kind.__name__ for kind in kinds)
        allowed = f"{', '.join(others)} or {last}" if others else last
        hint = f"; {_HINTS[name]}" if name in _HINTS else ""
        raise InvalidInput(f"connect({name}=…) takes {allowed}, not {type(value).__name__}{hint}")


def target_of(
    target: Sequence[str] | str | Transport, launch: Mapping[str, Any], remote: RemoteOptions | None
) -> Transport | str | list[str]:
    """Return the transport, the URL, or the command as a list.

    Raises:
        InvalidInput: it is none of them, or an argument does not go with it.
    """
    is_url = isinstance(target, str) and has_scheme(target)
    if remote is not None and not is_url:
        raise InvalidInput("connect(remote=…) is for the URL of an agent elsewhere")
    if isinstance(target, Transport):
        return target
    if not is_url:
        return _argv(target)
    assert isinstance(target, str)
    url = target.strip()
    shown = RemoteAddress.of(url).shown
    for name, value in launch.items():
        if value is not None:
            raise InvalidInput(f"connect({_COMMANDS_ONLY.get(name, name)}=…) is for a command, and {shown} is a URL")
    return url


def check_remote(services: ServiceSet, options: ConnectionOptions, allowed: bool) -> None:
    """Raise ``InvalidInput`` if an agent elsewhere would be served what belongs to this machine."""
    if options.login_terminal is not None:
        raise InvalidInput(
            "connect(auth_terminal=…) runs the agent's own command, and an agent elsewhere has none here"
        )
    if allowed:
        return
    for name, service in (("files", services.files), ("terminals", services.terminals)):
        if service is not None:
            raise InvalidInput(
                f"connect({name}=…) was not offered: over a network it lets whoever controls the agent act on this "
                "machine; if that is what you want, add allow_remote_services=True"
            )
    if services.permissions.check_changes:
        raise InvalidInput(
            "Permissions(check_changes=…) looks at the files of this machine, and the agent works elsewhere; if its "
            "directories are here too, add allow_remote_services=True"
        )


def check_telemetry() -> None:
    """Raise ``InvalidInput`` if OpenTelemetry is not there to be told anything."""
    if importlib.util.find_spec("opentelemetry") is None:
        raise InvalidInput("connect(telemetry=…) needs OpenTelemetry: pip install 'acp-host[otel]'")


def _argv(target: Sequence[str] | str) -> list[str]:
    if isinstance(target, str):
        try:
            target = shlex.split(target)
        except ValueError as error:
            raise InvalidInput(f"the agent's command cannot be split: {error}") from error
    if callable(getattr(target, "transport", None)):
        raise InvalidInput("connect(…) takes a command or a Transport; of an agent for tests, pass its transport()")
    if not isinstance(target, Sequence) or not target or not all(isinstance(part, str) for part in target):
        raise InvalidInput("the agent's command is a non-empty sequence of strings, or one string that is split")
    if has_scheme(target[0]):
        raise InvalidInput("the URL of an agent elsewhere is one string, and not an item of a command")
    return list(target)
