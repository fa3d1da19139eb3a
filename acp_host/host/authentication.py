"""Logging in and out: :class:`Authentication`, what an application holds as ``host.authentication``.

A call that the agent refuses with -32000 lets the application's handler choose a way to log in, and is repeated once if
that worked; calls that are refused at the same time share one login. What only looks never logs in
(:data:`NEVER_LOGS_IN`).

Specification: Authentication.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, TypeAlias, TypeVar

from attrs import evolve, field, frozen

from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.errors import AcpError, AuthRequired, ConnectionClosed, InvalidInput, InvalidState, LoginFailed
from acp_host.host.login_methods import (
    AgentLogin,
    EnvVarLogin,
    LoginMethod,
    Surroundings,
    TerminalLogin,
    login_methods,
)
from acp_host.host.login_status import LoginStatus
from acp_host.printable import printable
from acp_host.protocol.negotiation import Agreement
from acp_host.redaction import Redactor
from acp_host.services._awaiting import awaited
from acp_host.state.clock import Scheduler
from acp_host.transports._launch import Launch
from acp_host.wire.auth import (
    AuthenticateRequest,
    AuthMethod,
    AuthState,
    AuthStatusRequest,
    AuthStatusResponse,
    LogoutRequest,
)

__all__ = ["NEVER_LOGS_IN", "Authentication", "LoginHandler", "LoginLink", "LoginRequest", "LoginRunner"]

_T = TypeVar("_T")

NEVER_LOGS_IN = frozenset(
    {"initialize", "authenticate", "logout", "auth/status", "session/list", "session/status", "providers/list"}
)
"""Methods that only look, or are part of a login themselves: when they are refused nobody is asked to log in."""


@frozen(kw_only=True)
class LoginRequest:
    """What a handler is asked: how to log in.

    Attributes:
        agent: the agent's name, for a person.
        message: what the agent said, safe to print.
        method: wire method of the call that was refused.
        methods: every way that the agent lists; those that are not ``available`` say why.
    """

    agent: str
    message: str
    method: str
    methods: tuple[LoginMethod, ...]


LoginChoice: TypeAlias = LoginMethod | str | None
"""A way to log in, or its id; one by environment variables comes with its values. ``None``: not now."""
LoginHandler: TypeAlias = Callable[[LoginRequest], LoginChoice | Awaitable[LoginChoice]]
"""Asks the user; may be a coroutine function."""
LoginRunner: TypeAlias = Callable[[TerminalLogin], Awaitable[int]]
"""Runs the command in a terminal that the user sees, and returns its exit status."""


@frozen(kw_only=True)
class LoginLink:
    """What a login needs of the connection.

    Attributes:
        call: sends a request of the agent, by method and parameters.
        agreement: returns what was agreed.
        launch: returns how the agent was launched, or ``None``.
        as_started: returns what is started for another command of the agent, e.g. one in its sandbox; may block.
        against_restart: returns why the agent should not be started anew now; empty where it can be.
        restart: starts the agent anew with further variables.
        ready: waits while the connection is being made again, given the method of the call that is to be made.
        start: runs a coroutine as a task of the connection.
        is_open: tells whether tasks can be started.
        report: takes diagnostics.
        redactor: learns the secrets.
        scheduler: decides when observers are called.
    """

    call: Callable[[str, Any], Awaitable[Any]]
    agreement: Callable[[], Agreement]
    launch: Callable[[], Launch | None]
    as_started: Callable[[Launch], Launch]
    against_restart: Callable[[], str]
    restart: Callable[[Mapping[str, str]], Awaitable[Any]]
    ready: Callable[[str], Awaitable[None]]
    start: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]
    is_open: Callable[[], bool]
    report: Callable[[Diagnostic], None]
    redactor: Redactor
    scheduler: Scheduler = field(repr=False)


@frozen(eq=False)
class _SharedLogin:
    """A login that calls wait for: ``end`` has why it did not work, ``None`` if it did."""

    task: asyncio.Task[None]
    end: asyncio.Future[AcpError | None]
    waiting: list[AuthRequired] = field(factory=list)


class Authentication(LoginStatus):
    """Who is logged in with the agent, and how to log in and out; reactive.

    Its snapshot is an :class:`~acp_host.host.login_status.AuthenticationSnapshot`.

    Args:
        link: the connection.
        handler: chooses a way to log in when a call is refused; ``None``: such a call raises ``AuthRequired``.
        terminal: runs the agent's login in a terminal; ``None`` where there is none.
    """

    def __init__(self, link: LoginLink, *, handler: LoginHandler | None, terminal: LoginRunner | None) -> None:
        super().__init__(link.scheduler, self._report_observer)
        self._link = link
        self._handler = handler
        self._terminal = terminal
        self._turns = asyncio.Lock()
        self._shared: _SharedLogin | None = None
        self._is_asking = False
        self._is_restarting = False
        self._logins = 0
        self._listed_last: tuple[AuthMethod, ...] = ()

    # --- what applications ask --------------------------------------------------------------------------------------

    @property
    def methods(self) -> tuple[LoginMethod, ...]:
        """The ways to log in that the agent lists, in its order; empty where it lists none."""
        return self._choices(self._listed_last or self._link.agreement().auth_methods)

    async def log_in(self, choice: LoginMethod | str, *, values: Mapping[str, str] | None = None) -> None:
        """Log in.

        A way that needs a terminal or environment variables starts the agent anew, and opens the sessions again. That
        is possible while no turn runs, and only where the agent can open sessions again, if there are any.

        Args:
            choice: one of :attr:`methods`, or its id.
            values: of the environment variables that it asks for, by name.

        Raises:
            InvalidInput: there is no such way, or a value is missing or wrong.
            InvalidState: it is not available, and why.
            LoginFailed: the login in the terminal did not end with status 0.
            RequestFailed: the agent refused.
            StartFailed: the agent did not come up again; the connection is over then.
        """
        async with self._turns:
            method = self._chosen(choice, values)
            self._learn(logging_in=True)
            try:
                await self._perform(method)
            finally:
                self._learn(logging_in=False)
            self._logins += 1
            self._listed_last = ()
            self._learn(state=AuthState.AUTHENTICATED)

    async def log_out(self) -> None:
        """Log out (``logout``). What becomes of open sessions is up to the agent.

        Raises:
            NotSupported: the agent does not offer it.
            RequestFailed: it refused.
        """
        await self._link.call("logout", LogoutRequest())
        self._learn(state=AuthState.UNAUTHENTICATED, accounts=())

    async def refresh(self) -> AuthStatusResponse:
        """Ask the agent who is logged in (``auth/status``), and show it. Unstable.

        Raises:
            NotSupported: the agent does not offer it.
        """
        answer: AuthStatusResponse = await self._link.call("auth/status", AuthStatusRequest())
        self.told(answer)
        return answer

    # --- for the connection -----------------------------------------------------------------------------------------

    async def logged_in(self, method: str, operation: Callable[[], Awaitable[_T]]) -> _T:
        """Do something that the agent may refuse because nobody is logged in; after a login, once more.

        Args:
            method: wire method of what is done.
            operation: does it; it is called at most twice.

        Raises:
            AuthRequired: there is no handler, the login did not work (its error is the ``__cause__``), or it did and
                the agent refuses all the same.
        """
        await self._link.ready(method)
        logins = self._logins
        try:
            return await operation()
        except AuthRequired as error:
            self._refused(error)
            if self._handler is None:
                error.add_note("To log in, pass connect(authenticate=…), or call host.authentication.log_in(…) before.")
            if self._handler is None or method in NEVER_LOGS_IN or self._is_restarting:
                raise
            # A login that has ended since the call was sent is as good as one for it.
            failure = None if self._logins > logins else await self._login_for(error)
            if failure is not None:
                raise error from failure
        await self._link.ready(method)
        return await operation()

    def log_in_for(self, error: AuthRequired, then: Callable[[AcpError | None], None]) -> bool:
        """Let the user log in because of a refusal; tell whether that has begun.

        Args:
            error: the refusal.
            then: called with why it did not work, ``None`` if it did; also when the connection ends meanwhile.
        """
        self._refused(error)
        if self._handler is None or not self._link.is_open():
            return False

        async def wait() -> None:
            failure: AcpError | None = ConnectionClosed("the connection ended during the login")
            try:
                failure = await self._login_for(error)
            finally:
                then(failure)

        self._link.start(wait())
        return True

    def connection_ended(self) -> None:
        """Give up a login that waits for the user's choice; the connection is over. Any other ends by itself."""
        if self._shared is not None and self._is_asking:
            self._shared.task.cancel()

    # --- one login --------------------------------------------------------------------------------------------------

    async def _login_for(self, error: AuthRequired) -> AcpError | None:
        """Log in as the handler chooses, once for all who wait; return why it did not work."""
        if not self._link.is_open():
            return ConnectionClosed("the connection has ended")
        shared = self._shared
        if shared is None:
            end: asyncio.Future[AcpError | None] = asyncio.get_running_loop().create_future()
            shared = self._shared = _SharedLogin(self._link.start(self._ask(error, end)), end)
        shared.waiting.append(error)
        try:
            return await asyncio.shield(shared.end)
        finally:
            shared.waiting.remove(error)
            if not shared.waiting and not shared.end.done():
                shared.task.cancel()  # nobody wants it any more

    async def _ask(self, error: AuthRequired, end: asyncio.Future[AcpError | None]) -> None:
        failure: AcpError | None = ConnectionClosed("the login was given up")
        try:
            failure = await self._log_in_as_chosen(error)
        finally:
            self._shared = None
            end.set_result(failure)

    async def _log_in_as_chosen(self, error: AuthRequired) -> AcpError | None:
        logins = self._logins
        request = LoginRequest(
            agent=self._link.agreement().agent_name,
            message=printable(self._link.redactor.text(error.message)),
            method=error.method or "",
            methods=self._choices(error.methods),
        )
        try:
            choice = await self._answer(request)
            seen = {method.id: method for method in request.methods}
            choice = seen.get(choice, choice) if isinstance(choice, str) else choice
            if choice is not None:
                await self.log_in(choice)
            elif self._logins == logins:  # else the handler has done it by itself
                return LoginFailed("the user did not log in")
        except AcpError as failure:
            self._note_failure(f"the login did not work: {failure}")
            return failure
        except Exception as failure:
            self._note_failure(f"the handler for logins failed: {type(failure).__name__}: {failure}")
            return LoginFailed(f"the handler for logins failed: {type(failure).__name__}: {failure}")
        return None

    async def _answer(self, request: LoginRequest) -> LoginChoice:
        """Let the handler choose."""
        assert self._handler is not None
        self._is_asking = True
        try:
            return await awaited(self._handler(request))
        finally:
            self._is_asking = False

    async def _perform(self, method: LoginMethod) -> None:
        match method:
            case AgentLogin():
                await self._link.call("authenticate", AuthenticateRequest(method.id))
            case TerminalLogin():
                assert self._terminal is not None
                status = await self._terminal(await self._as_started(method))
                if status != 0:
                    text = f"the login in the terminal ended with status {status}"
                    raise LoginFailed(text, method_id=method.id, exit_status=status)
                await self._restart({})
            case EnvVarLogin():
                secret = {variable.name for variable in method.variables if variable.secret}
                self._link.redactor.add(value for name, value in method.values.items() if name in secret)
                await self._restart(method.values)

    async def _restart(self, env: Mapping[str, str]) -> None:
        """Start the agent anew; what it refuses meanwhile cannot wait for the login that this is a part of."""
        self._is_restarting = True
        try:
            await self._link.restart(env)
        finally:
            self._is_restarting = False

    async def _as_started(self, login: TerminalLogin) -> TerminalLogin:
        """Return a login with the command that is really started: what confines the agent confines its login too."""
        command = Launch.of(login.argv, login.cwd, login.env, inherit_env=False)
        started = await asyncio.to_thread(self._link.as_started, command)
        return evolve(login, argv=started.argv, cwd=started.cwd, env=started.environment())

    def _chosen(self, choice: LoginMethod | str, values: Mapping[str, str] | None) -> LoginMethod:
        """Return a choice as it is now, with its values."""
        method_id = choice if isinstance(choice, str) else choice.id
        known = {method.id: method for method in self.methods}
        method = known.get(method_id)
        if method is None:
            listed = ", ".join(known) or "none"
            raise InvalidInput(f"the agent lists no way to log in with the id {method_id!r}; it lists {listed}")
        if not isinstance(choice, str) and _does(choice) != _does(method):
            raise InvalidState(f"the agent has changed what the login {method.name!r} does; look at it again")
        if not method.available:
            raise InvalidState(f"the login {method.name!r} is not available: {method.unavailable}")
        given = values if values is not None else getattr(choice, "values", {})
        if isinstance(method, EnvVarLogin):
            return method.with_values(given)
        if given:
            raise InvalidInput(f"the login {method.name!r} takes no values")
        return method

    def _choices(self, listed: tuple[AuthMethod, ...]) -> tuple[LoginMethod, ...]:
        surroundings = Surroundings(
            launch=self._link.launch(),
            has_terminal=self._terminal is not None,
            against_restart=self._link.against_restart(),
        )
        return login_methods(listed, surroundings)

    def _refused(self, error: AuthRequired) -> None:
        self._listed_last = error.methods
        self._learn(state=AuthState.UNAUTHENTICATED, accounts=())

    def _note_failure(self, text: str) -> None:
        self._link.report(Diagnostic(DiagnosticKind.UNEXPECTED, text, method="authenticate"))

    def _report_observer(self, observer: Callable[..., Any], error: BaseException) -> None:
        text = f"an observer of the login failed: {type(error).__name__}: {error}"
        self._link.report(Diagnostic(DiagnosticKind.HANDLER_FAILED, text))


def _does(method: LoginMethod) -> tuple[Any, ...]:
    """Return what a user agrees to with a choice: the agent may list another way under the same id meanwhile."""
    if isinstance(method, TerminalLogin):
        return method.kind, method.argv, method.cwd, dict(method.env)
    return method.kind, method.variables if isinstance(method, EnvVarLogin) else ()
