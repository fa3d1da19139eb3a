"""Decides what a ``terminal/create`` request runs, where, and with which environment: :func:`resolve_command`.

It looks at the disk and starts nothing. The rules are told in :mod:`acp_host.services.terminals`.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping

from acp_host.errors import InvalidInput, InvalidParams
from acp_host.services._confined import Roots
from acp_host.services.shells import Shell, Shells
from acp_host.services.terminal_environment import PTY_VARIABLES, EnvironmentPolicy
from acp_host.services.terminal_runner import TerminalCommand, TerminalSize
from acp_host.transports._launch import Launch
from acp_host.wire.terminals import CreateTerminalRequest

__all__ = ["resolve_command"]

_SHELL_SIGNS = frozenset(" \t\n|&;<>()$`\"'*?~")


def resolve_command(
    request: CreateTerminalRequest,
    roots: Roots,
    default_cwd: str,
    environment: EnvironmentPolicy,
    size: TerminalSize | None,
    shells: Shells,
) -> TerminalCommand:
    """Return what the request runs.

    Args:
        request: what the agent wants.
        roots: where a command may start.
        default_cwd: where it starts if the request does not say.
        environment: decides its environment.
        size: of the pseudo-terminal that it is to run under, if any.
        shells: the shells that a request may name.

    Raises:
        InvalidParams: the request asks for what cannot, or may not, be run.
    """
    cwd = _working_directory(roots, default_cwd, request.cwd or None)
    agent_env = {variable.name: variable.value for variable in request.env or ()}
    if refused := environment.refused(agent_env):
        names = ", ".join(map(repr, refused))
        raise InvalidParams(f"this host does not let agents set {names}", data={"env": list(refused)})
    env = environment.environment(agent_env, preset=PTY_VARIABLES if size else None)
    shell = _named_shell(request, shells)
    via_shell = shell is not None and _is_read_by_platform(shell)
    argv = (request.command, *(request.args or ()))
    if shell is not None and not via_shell:
        argv = shell.invocation(request.command).argv
    try:
        "".join((*argv, *agent_env, *agent_env.values())).encode()
        launch = Launch.of(argv, cwd, env, inherit_env=False)
    except UnicodeEncodeError:
        raise InvalidParams("the command has half a surrogate pair in it") from None
    except InvalidInput as error:
        raise InvalidParams(str(error), data={"command": request.command}) from None
    return TerminalCommand(
        session_id=request.session_id,
        argv=launch.argv,
        via_shell=_is_command_line(launch) if shell is None else via_shell,
        cwd=cwd,
        agent_env=agent_env,
        env=launch.environment(),
        size=size,
        shell=shell,
    )


def _named_shell(request: CreateTerminalRequest, shells: Shells) -> Shell | None:
    """Return the shell that is to read the command line; ``None`` if the request names none."""
    name = request.extra.get("shell")
    if request.args or not isinstance(name, str | Mapping):
        return None
    shell = shells.named(name)
    if shell is None:
        known = ", ".join(shell.id for shell in shells.all() if shell.available) or "none"
        raise InvalidParams(f"this host has no such shell; it has: {known}", data={"shell": name})
    return shell


def _is_read_by_platform(shell: Shell) -> bool:
    """Whether the shell is the one that reads lines as they are on Windows: no quoting of arguments is right for it."""
    return sys.platform == "win32" and shell.default_args == ("/C",)


def _working_directory(roots: Roots, default: str, asked: str | None) -> str:
    path = default if asked is None else asked
    try:
        if asked is not None:
            return roots.directory(asked)
        if not os.path.isdir(path):
            raise NotADirectoryError
    except OSError:
        problem = f"the working directory {path} does not exist or is not a directory"
        raise InvalidParams(problem, data={"path": path}) from None
    return path


def _is_command_line(launch: Launch) -> bool:
    """Whether the whole command line stands in the place of the program."""
    (command, *args) = launch.argv
    if args or _SHELL_SIGNS.isdisjoint(command):
        return False
    if os.path.dirname(command):
        return not os.path.isfile(os.path.join(launch.cwd or "", command))
    return shutil.which(command, path=launch.environment().get("PATH", os.defpath)) is None
