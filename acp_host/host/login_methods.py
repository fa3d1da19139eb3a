"""The ways to log in that an agent lists, as choices for a person: :data:`LoginMethod` and its kinds.

==================  ===================================================  =============================================
kind                how the agent lists it                               what choosing it does
==================  ===================================================  =============================================
``agent``           without a ``type``                                   ``authenticate``; the agent does the rest
``terminal``        ``type: "terminal"``, or ``_meta["terminal-auth"]``  its command runs in a terminal that the user
                    or ``_meta.type: "terminal"``                        sees; then the agent is started anew
``env_var``         ``type: "env_var"`` with ``vars``                    the agent is started anew with the variables
``unknown``         any other ``type``                                   nothing: it is shown, and cannot be chosen
==================  ===================================================  =============================================

Owns how a way is read and whether it can be taken here; :mod:`acp_host.host.authentication` takes it.

Specification: Authentication.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

from attrs import evolve, field, frozen

from acp_host.errors import InvalidInput
from acp_host.transports._launch import Launch
from acp_host.wire._model import Unknown
from acp_host.wire.auth import AuthMethod, AuthMethodTerminal

if TYPE_CHECKING:
    from acp_host.wire.auth_env_var import AuthMethodEnvVar

__all__ = [
    "AgentLogin",
    "EnvVarLogin",
    "LoginKind",
    "LoginMethod",
    "LoginVariable",
    "Surroundings",
    "TerminalLogin",
    "UnknownLogin",
    "login_methods",
]


class LoginKind(StrEnum):
    """What logging in takes."""

    AGENT = "agent"
    TERMINAL = "terminal"
    ENV_VAR = "env_var"
    UNKNOWN = "unknown"


@frozen(kw_only=True)
class _Login:
    """What every way to log in has.

    Attributes:
        id: the agent's id of it.
        name: for a person.
        description: for a person; empty where the agent says nothing.
        unavailable: why it cannot be chosen now, in words; empty where it can.
    """

    id: str
    name: str
    description: str = ""
    unavailable: str = ""

    @property
    def available(self) -> bool:
        """Whether it can be chosen."""
        return not self.unavailable


@frozen(kw_only=True)
class AgentLogin(_Login):
    """The agent does it by itself, e.g. by opening a browser."""

    kind = LoginKind.AGENT


@frozen(kw_only=True)
class TerminalLogin(_Login):
    """The user logs in at a second run of the agent's program, in a terminal; it worked if that exits with status 0.

    Attributes:
        argv: the whole command.
        own_command: it is the agent's own command with more arguments; else another program that the agent names, and
            the user should see which.
        cwd: its working directory; ``None`` for this process's.
        env: its whole environment; may hold secrets.
    """

    kind = LoginKind.TERMINAL
    argv: tuple[str, ...] = ()
    own_command: bool = True
    cwd: str | None = None
    env: Mapping[str, str] = field(factory=dict, repr=False)


@frozen(kw_only=True)
class LoginVariable:
    """An environment variable that the user is asked for.

    Attributes:
        name: its name.
        label: what to call it before a person.
        secret: not to be shown while it is typed.
        optional: may be left out.
    """

    name: str
    label: str
    secret: bool = True
    optional: bool = False


@frozen(kw_only=True)
class EnvVarLogin(_Login):
    """The agent is started anew with values that the user gives.

    Attributes:
        variables: what to ask for.
        link: where the user gets the values; empty where the agent does not say. Not to be opened without asking.
        values: what the user gave, see :meth:`with_values`.
    """

    kind = LoginKind.ENV_VAR
    variables: tuple[LoginVariable, ...] = ()
    link: str = ""
    values: Mapping[str, str] = field(factory=dict, repr=False)

    def with_values(self, values: Mapping[str, str]) -> EnvVarLogin:
        """Return this choice with the values of its variables, by name.

        Raises:
            InvalidInput: one that is not optional is missing or empty, is no text, or is none of its variables.
        """
        names = {variable.name for variable in self.variables}
        if unknown := sorted(values.keys() - names):
            raise InvalidInput(f"{self.name} has no variable {', '.join(unknown)}; it has {', '.join(sorted(names))}")
        for name, value in values.items():
            if not isinstance(value, str) or "\0" in value:
                raise InvalidInput(f"the value of {name} must be text without NUL")
        given = {name: value for name, value in values.items() if value}
        missing = [variable.name for variable in self.variables if not variable.optional and variable.name not in given]
        if missing:
            raise InvalidInput(f"{self.name} needs a value for {', '.join(missing)}")
        return evolve(self, values=given)


@frozen(kw_only=True)
class UnknownLogin(_Login):
    """A way of a kind that this version does not know.

    Attributes:
        data: what the agent says about it, as decoded.
    """

    kind = LoginKind.UNKNOWN
    data: Mapping[str, Any] = field(factory=dict, repr=False)


LoginMethod: TypeAlias = AgentLogin | TerminalLogin | EnvVarLogin | UnknownLogin
"""A way to log in."""


@frozen(kw_only=True)
class Surroundings:
    """What decides whether a way can be taken.

    Attributes:
        launch: how the agent was launched; ``None`` where it is no process of this host.
        has_terminal: there is somebody to run a command in a terminal.
        against_restart: why the agent should not be started anew now; empty where it can be.
    """

    launch: Launch | None
    has_terminal: bool
    against_restart: str

    def against_new_process(self) -> str:
        """Return why the agent cannot be started anew; empty where it can."""
        if self.launch is None:
            return "the agent is not a process that this host started"
        return self.against_restart


def login_methods(listed: Iterable[AuthMethod], where: Surroundings) -> tuple[LoginMethod, ...]:
    """Return the choices for what an agent lists, in its order."""
    return tuple([_choice(method, where) for method in listed])


def _choice(method: AuthMethod, where: Surroundings) -> LoginMethod:
    if isinstance(method, Unknown):
        from acp_host.wire.auth_env_var import read_env_var  # loaded for agents of an earlier draft

        read = read_env_var(method)
        return _unknown(method) if read is None else _env_var(read, where)
    about: dict[str, Any] = {"id": method.id, "name": method.name, "description": method.description or ""}
    if isinstance(method, AuthMethodTerminal):
        command = _Command(tuple(method.args or ()), method.env or {})
        return _terminal(command, about, where)
    older = _older_terminal(method.meta or {})
    # Such a way is also one of the agent's own: without a terminal, it is that.
    return _terminal(older, about, where) if older and where.has_terminal else AgentLogin(**about)


@frozen
class _Command:
    """What a login in a terminal runs: the agent's own command with more arguments, or another ``program``."""

    args: tuple[str, ...]
    env: Mapping[str, str]
    program: str | None = None


def _older_terminal(meta: Mapping[str, Any]) -> _Command | None:
    """Read the two forms that were used before there was a type for it; what cannot be read is none."""
    named = meta.get("terminal-auth")
    if isinstance(named, Mapping) and isinstance(named.get("command"), str) and named["command"]:
        return _command(named, program=named["command"])
    return _command(meta, program=None) if meta.get("type") == "terminal" else None


def _command(data: Mapping[str, Any], program: str | None) -> _Command | None:
    args, env = data.get("args") or [], data.get("env") or {}
    if not isinstance(args, list) or not all(isinstance(arg, str) for arg in args):
        return None
    if not isinstance(env, Mapping) or not all(isinstance(value, str) for value in env.values()):
        return None
    return _Command(tuple(args), dict(env), program)


def _terminal(command: _Command, about: Mapping[str, Any], where: Surroundings) -> TerminalLogin:
    unavailable = where.against_new_process()
    if not where.has_terminal:
        unavailable = "it needs a terminal, and the application has none to show"
    if where.launch is None:
        return TerminalLogin(**about, unavailable=unavailable, own_command=command.program is None)
    launch, program = where.launch, command.program
    argv = (*launch.argv, *command.args) if program is None else (program, *command.args)
    try:
        whole = Launch.of(argv, launch.cwd, {**launch.env, **command.env}, launch.inherit_env)
    except InvalidInput as error:
        return TerminalLogin(**about, unavailable=str(error), own_command=program is None)
    return TerminalLogin(
        **about,
        unavailable=unavailable,
        argv=whole.argv,
        own_command=program is None,
        cwd=whole.cwd,
        env=whole.environment(),
    )


def _env_var(method: AuthMethodEnvVar, where: Surroundings) -> EnvVarLogin:
    variables = tuple(
        LoginVariable(
            name=variable.name,
            label=variable.label or variable.name,
            secret=variable.secret is not False,
            optional=variable.optional is True,
        )
        for variable in method.vars
    )
    unsettable = [variable.name for variable in variables if not _can_be_set(variable.name)]
    return EnvVarLogin(
        id=method.id,
        name=method.name,
        description=method.description or "",
        unavailable=f"{unsettable[0]!r} cannot be set" if unsettable else where.against_new_process(),
        variables=variables,
        link=method.link or "",
    )


def _can_be_set(name: str) -> bool:
    return bool(name) and "=" not in name and "\0" not in name


def _unknown(method: Unknown) -> UnknownLogin:
    data = method.data
    about = {key: value if isinstance(value := data.get(key), str) else "" for key in ("id", "name", "description")}
    return UnknownLogin(
        id=about["id"],
        name=about["name"] or about["id"] or method.tag,
        description=about["description"],
        unavailable=method.problem or f"this host does not know logins of the kind {method.tag!r}",
        data=data,
    )
