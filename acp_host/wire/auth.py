"""Signing in and out: the methods an agent lists, ``authenticate``, ``logout`` and ``auth/status``.

Owns the messages only. Whether a request failed because nobody is signed in is told by the error's code.

Specification: Authentication.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeAlias

from acp_host.wire._model import UNSET, JsonObject, Model, Unknown, Unset, model, wire_field
from acp_host.wire._unions import tagged_union
from acp_host.wire.ids import AuthMethodId

__all__ = [
    "AuthAccount",
    "AuthMethod",
    "AuthMethodAgent",
    "AuthMethodTerminal",
    "AuthState",
    "AuthStatusRequest",
    "AuthStatusResponse",
    "AuthStatusUpdateNotification",
    "AuthenticateRequest",
    "AuthenticateResponse",
    "LogoutRequest",
    "LogoutResponse",
    "UnknownAuthMethod",
]


@model
class AuthMethodAgent(Model):
    """The agent signs the user in by itself, in ``authenticate``. It is the one method that has no ``type``."""

    id: AuthMethodId
    name: str
    description: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class AuthMethodTerminal(Model):
    """The user signs in at a second, interactive run of the agent's command; it worked if that exits with status 0.

    Its id is never sent to ``authenticate``.

    Attributes:
        args: to be appended to the agent's own command line.
        env: to be set on top of the agent's own environment.
    """

    id: AuthMethodId
    name: str
    description: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    args: tuple[str, ...] | Unset = wire_field(default=UNSET, default_on_null=True)
    env: Mapping[str, str] | Unset = wire_field(default=UNSET, default_on_null=True, secret=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class UnknownAuthMethod(Unknown):
    """A way to sign in of a type that this version does not know."""


AuthMethod: TypeAlias = AuthMethodAgent | AuthMethodTerminal | UnknownAuthMethod
"""A way to sign in, told apart by ``type``; without one it is the agent's own."""

tagged_union(
    "AuthMethod",
    tag="type",
    variants={"terminal": AuthMethodTerminal},
    unknown=UnknownAuthMethod,
    default=AuthMethodAgent,
)


@model
class AuthenticateRequest(Model):
    """Parameters of ``authenticate``: sign in with one of the methods listed at ``initialize``."""

    method_id: AuthMethodId
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class AuthenticateResponse(Model):
    """Result of ``authenticate``; it says no more than that it worked."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class LogoutRequest(Model):
    """Parameters of ``logout``. What becomes of sessions that are open is up to the agent."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class LogoutResponse(Model):
    """Result of ``logout``; it says no more than that it worked."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


class AuthState(StrEnum):
    """Unstable. Whether sessions can be started without signing in first. Read any other value as ``unknown``."""

    AUTHENTICATED = "authenticated"
    """There are credentials; they may still turn out to be invalid."""
    UNAUTHENTICATED = "unauthenticated"
    """The user has to sign in."""
    NOT_REQUIRED = "not_required"
    UNKNOWN = "unknown"
    """The agent cannot tell now."""


@model
class AuthAccount(Model):
    """Unstable. A credential that the agent holds. For display only: no field identifies it, and none belongs in a log.

    Attributes:
        label: a name that can stand alone.
        active: whether the agent uses it by default; several can be. Absent or ``null``: not told.
        name: of the user.
        organization: name of the organisation, team or workspace.
    """

    label: str
    active: bool | None | Unset = wire_field(default=UNSET, default_on_error=True)
    name: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    email: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    organization: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class AuthStatusRequest(Model):
    """Unstable. Parameters of ``auth/status``, which changes nothing and is answered while signed out, too."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class AuthStatusResponse(Model):
    """Unstable. Result of ``auth/status``.

    Attributes:
        state: one of :class:`AuthState` or another word; the only part to act on.
        accounts: to be shown; absent means the same as empty.
    """

    state: AuthState | str
    accounts: tuple[AuthAccount, ...] | Unset = wire_field(
        default=UNSET, default_on_error=True, skip_invalid_items=True
    )
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class AuthStatusUpdateNotification(Model):
    """Unstable. Parameters of ``auth/status_update``: the state changed. They read like :class:`AuthStatusResponse`."""

    state: AuthState | str
    accounts: tuple[AuthAccount, ...] | Unset = wire_field(
        default=UNSET, default_on_error=True, skip_invalid_items=True
    )
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
