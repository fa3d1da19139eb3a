"""The shells of this machine as operations of Harn's capability ``process``: :class:`ShellOperations`.

Nothing is run here: a script learns which shells there are, and how a command line is run by one. Which one is the
default is kept for each session, in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from acp_host.errors import InvalidParams, RequestFailed
from acp_host.services.shells import Shell, Shells

__all__ = ["ShellOperations"]

_MAX_SESSIONS = 1_000
_NO_SHELL = -32000


class ShellOperations:
    """Answers ``process.*``. Its operations read the disk: run them in a thread.

    Args:
        shells: the shells.
    """

    def __init__(self, shells: Shells) -> None:
        self._shells = shells
        self._selected: dict[str, str] = {}

    def operations(self) -> dict[str, Callable[[str, Mapping[str, Any]], Any]]:
        """Return the operations by name; each takes the session's id and the arguments."""
        return {
            "process.list_shells": self.list_shells,
            "process.get_default_shell": self.get_default_shell,
            "process.set_default_shell": self.set_default_shell,
            "process.shell_invocation": self.shell_invocation,
        }

    def list_shells(self, session_id: str, args: Mapping[str, Any]) -> dict[str, Any]:
        """Return all shells, and the id of the default one."""
        default = self._default(session_id)
        return {
            "shells": [shell.to_json() for shell in self._shells.all()],
            "default_shell_id": None if default is None else default.id,
        }

    def get_default_shell(self, session_id: str, args: Mapping[str, Any]) -> dict[str, Any]:
        """Return the shell that the session has chosen, else the preferred one of this machine.

        Raises:
            RequestFailed: there is none.
        """
        return self._needed_default(session_id).to_json()

    def set_default_shell(self, session_id: str, args: Mapping[str, Any]) -> dict[str, Any]:
        """Choose the session's shell, ``shell_id``, and return it.

        Raises:
            InvalidParams: there is no such shell.
        """
        shell = self._named(args.get("shell_id"))
        self._selected.pop(session_id, None)
        while len(self._selected) >= _MAX_SESSIONS:
            del self._selected[next(iter(self._selected))]
        self._selected[session_id] = shell.id
        return shell.to_json()

    def shell_invocation(self, session_id: str, args: Mapping[str, Any]) -> dict[str, Any]:
        """Return how ``command`` is run by ``shell_id``, ``shell`` or the default, ``login`` and ``interactive``.

        A ``shell_id`` that is known goes before a ``shell``.

        Raises:
            InvalidParams: there is no such shell, or an argument is wrong.
            RequestFailed: there is none at all.
        """
        command = args.get("command")
        if not isinstance(command, str):
            raise InvalidParams("command is a string")
        login, interactive = _flag(args, "login"), _flag(args, "interactive")
        return self._meant(session_id, args).invocation(command, login=login, interactive=interactive).to_json()

    def _meant(self, session_id: str, args: Mapping[str, Any]) -> Shell:
        shell_id, shell = args.get("shell_id"), args.get("shell")
        if shell_id is None and shell is None:
            return self._needed_default(session_id)
        if isinstance(shell_id, str) and (found := self._shells.named(shell_id)) is not None:
            return found
        return self._named(shell if shell is not None else shell_id)

    def _named(self, name: Any) -> Shell:
        shell = self._shells.named(name) if isinstance(name, str | Mapping) else None
        if shell is None:
            raise InvalidParams("this host has no such shell", data={"shell": name})
        return shell

    def _default(self, session_id: str) -> Shell | None:
        selected = self._selected.get(session_id)
        return (None if selected is None else self._shells.named(selected)) or self._shells.default()

    def _needed_default(self, session_id: str) -> Shell:
        shell = self._default(session_id)
        if shell is None:
            raise RequestFailed("this host has no shell", code=_NO_SHELL)
        return shell


def _flag(args: Mapping[str, Any], name: str) -> bool:
    value = args.get(name, False)
    if not isinstance(value, bool):
        raise InvalidParams(f"{name} is true or false")
    return value
