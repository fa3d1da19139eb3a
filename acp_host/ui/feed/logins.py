"""What viewers are told of logging in: :func:`login_message`, :func:`login_ways`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from typing import Any

from acp_host.host.authentication import Authentication
from acp_host.host.login_methods import EnvVarLogin, LoginMethod, TerminalLogin
from acp_host.protocol.negotiation import Agreement
from acp_host.redaction import redact
from acp_host.state.json_form import to_json

__all__ = ["login_message", "login_ways"]


def login_message(authentication: Authentication, agreement: Agreement) -> dict[str, Any]:
    """Return who is logged in, as the feed's message."""
    known = authentication.snapshot()
    return {
        "type": "login",
        "state": str(known.state),
        "accounts": to_json(known.accounts),
        "loggingIn": known.logging_in,
        "canLogIn": bool(authentication.methods),
        "canLogOut": agreement.supports("logout"),
    }


def login_ways(methods: Iterable[LoginMethod]) -> list[dict[str, Any]]:
    """Return ways to log in, for people to choose from; no values of theirs are in it."""
    return [_way(method) for method in methods]


def _way(method: LoginMethod) -> dict[str, Any]:
    way: dict[str, Any] = {
        "id": method.id,
        "kind": str(method.kind),
        "name": method.name,
        "description": method.description,
        "unavailable": method.unavailable,
        "command": _command(method) if isinstance(method, TerminalLogin) else None,
        "variables": [],
        "link": "",
    }
    if isinstance(method, EnvVarLogin):
        way |= {"variables": to_json(method.variables), "link": method.link}
    return way


def _command(login: TerminalLogin) -> str | None:
    """Return what to type into a terminal; what this process's own environment has is not repeated."""
    if not login.argv:
        return None
    differing = {name: value for name, value in login.env.items() if os.environ.get(name) != value}
    return shlex.join([*(f"{name}={value}" for name, value in redact(differing).items()), *login.argv])
