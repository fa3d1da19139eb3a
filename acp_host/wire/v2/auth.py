"""Signing in and out in version 2: the methods an agent lists, ``auth/login`` and ``auth/logout``.

Owns the messages only. ``auth/status`` is as in version 1.

Specification: Authentication.
"""

from __future__ import annotations

from typing import TypeAlias

from acp_host.wire._model import UNSET, JsonObject, Model, Unset, model, wire_field
from acp_host.wire._unions import tagged_union
from acp_host.wire.auth import UnknownAuthMethod
from acp_host.wire.ids import AuthMethodId
from acp_host.wire.terminals import EnvVariable

__all__ = [
    "AuthMethod",
    "AuthMethodAgent",
    "AuthMethodTerminal",
    "LoginAuthRequest",
    "LoginAuthResponse",
    "LogoutAuthRequest",
    "LogoutAuthResponse",
]


@model
class AuthMethodAgent(Model):
    """The agent signs the user in by itself, in ``auth/login``."""

    method_id: AuthMethodId
    name: str
    description: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class AuthMethodTerminal(Model):
    """The user signs in at a second, interactive run of the agent's command; it worked if that exits with status 0.

    Its id is never sent to ``auth/login``.

    Attributes:
        args: to be appended to the agent's own command line.
        env: to be set on top of the agent's own environment.
    """

    method_id: AuthMethodId
    name: str
    description: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    args: tuple[str, ...] | Unset = wire_field(default=UNSET, default_on_null=True)
    env: tuple[EnvVariable, ...] | Unset = wire_field(default=UNSET, default_on_null=True, secret=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


AuthMethod: TypeAlias = AuthMethodTerminal | AuthMethodAgent | UnknownAuthMethod
"""A way to sign in, told apart by ``type``."""

tagged_union(
    "AuthMethod",
    tag="type",
    variants={"terminal": AuthMethodTerminal, "agent": AuthMethodAgent},
    unknown=UnknownAuthMethod,
)


@model
class LoginAuthRequest(Model):
    """Parameters of ``auth/login``: sign in with one of the methods listed at ``initialize``."""

    method_id: AuthMethodId
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class LoginAuthResponse(Model):
    """Result of ``auth/login``; it says no more than that it worked."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class LogoutAuthRequest(Model):
    """Parameters of ``auth/logout``, which every agent has that lists ways to sign in."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class LogoutAuthResponse(Model):
    """Result of ``auth/logout``; it says no more than that it worked."""

    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)
