"""What a user is told when an agent wants a login first."""

from __future__ import annotations

import argparse
from typing import Any

from acp_host.cli.complaints import complaint
from acp_host.cli.login import login_text
from acp_host.errors import AuthRequired, RequestFailed
from acp_host.protocol.negotiation import make_agreement
from acp_host.wire.capabilities import ClientCapabilities
from acp_host.wire.converters import structure
from acp_host.wire.initialize import InitializeResponse


def told(*listed: Any, message: str = "no") -> str:
    response = structure({"protocolVersion": 1, "authMethods": list(listed)}, InitializeResponse)
    agreement = make_agreement(response, ClientCapabilities(), ())
    return login_text(agreement, ["agent", "--acp"], AuthRequired(message)).plain


def test_each_way_says_what_to_do() -> None:
    text = told(
        {"id": "b", "name": "Browser", "description": "Opens one"},
        {"type": "terminal", "id": "t", "name": "Terminal", "args": ["login"], "env": {"TTY": "1"}},
        {"type": "env_var", "id": "k", "name": "Key", "vars": [{"name": "KEY"}, {"name": "HINT", "optional": True}]},
        {"type": "card", "id": "c", "name": "Card"},
    )
    assert "- Browser (b)\n  Opens one\n" in text
    assert "- Terminal (t)\n  run: TTY=1 agent --acp login\n" in text
    assert "- Key (env_var)\n  set in the environment, and start anew: KEY\n" in text
    assert text.endswith("- Card (card)")


def test_secrets_are_not_shown() -> None:
    login = {"type": "terminal", "id": "t", "name": "T", "args": [], "env": {"A_TOKEN": "swordfish"}}
    assert "swordfish" not in told(login, message="password=swordfish")
    error = RequestFailed.from_code(-32603, "api_key=swordfish", {"headers": {"X": "swordfish"}}, "session/new")
    assert "swordfish" not in complaint(error, argparse.Namespace(name="run"))
