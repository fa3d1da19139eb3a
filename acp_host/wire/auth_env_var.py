"""A way to sign in by environment variables: a form of an earlier draft, which agents still send.

The schema has no ``env_var`` any more, so the union of ways to sign in keeps such a one as unknown;
:func:`read_env_var` reads it.
"""

from __future__ import annotations

from acp_host.errors import DecodeError
from acp_host.wire._model import UNSET, JsonObject, Model, Unset, model, wire_field
from acp_host.wire.auth import UnknownAuthMethod
from acp_host.wire.converters import structure_tolerant
from acp_host.wire.ids import AuthMethodId

__all__ = ["AuthEnvVar", "AuthMethodEnvVar", "read_env_var"]


@model
class AuthEnvVar(Model):
    """A variable to set.

    Attributes:
        label: what to call it before a person.
        secret: absent means yes.
        optional: absent means no.
    """

    name: str
    label: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    secret: bool | None | Unset = wire_field(default=UNSET, default_on_error=True)
    optional: bool | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class AuthMethodEnvVar(Model):
    """The user signs in by variables in the environment of the agent, which is started anew with them.

    Attributes:
        link: where the user gets the values.
    """

    id: AuthMethodId
    name: str
    vars: tuple[AuthEnvVar, ...] = wire_field(skip_invalid_items=True)
    description: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    link: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


def read_env_var(method: UnknownAuthMethod) -> AuthMethodEnvVar | None:
    """Return what an unknown way to sign in says if it is one by environment variables that can be read."""
    data = method.data
    if method.tag != "env_var":
        return None
    if isinstance(name := data.get("varName"), str) and "vars" not in data:  # the oldest form has one variable
        data = {**data, "vars": [{"name": name}]}
    try:
        read: AuthMethodEnvVar = structure_tolerant(data, AuthMethodEnvVar, "$")[0]
    except DecodeError:
        return None
    return read if read.vars else None
