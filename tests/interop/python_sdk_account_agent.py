"""An agent built on the official Python SDK that wants a login, and keeps its sessions in a file.

Run as ``python_sdk_account_agent.py FOLDER``: the sessions are kept there, and whoever logs in at a terminal, with a
further ``--login``, leaves a file there. The variable ``SDK_AGENT_KEY`` logs in too. It reads every message by the
SDK's own types, and answers with its errors.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import acp
from acp import schema

FOLDER = Path(sys.argv[1])
LOGGED_IN, SESSIONS = FOLDER / "logged-in", FOLDER / "sessions.json"

LOGINS = [
    schema.AuthMethodAgent(id="agent", name="Log in"),
    schema.EnvVarAuthMethod(
        type="env_var",
        id="key",
        name="Use a key",
        vars=[schema.AuthEnvVar(name="SDK_AGENT_KEY", label="Key"), schema.AuthEnvVar(name="SDK_HINT", optional=True)],
    ),
]
IN_TERMINAL = schema.TerminalAuthMethod(type="terminal", id="terminal", name="In a terminal", args=["--login"])


class Agent(acp.Agent):
    def __init__(self) -> None:
        self.logged_in = bool(os.environ.get("SDK_AGENT_KEY")) or LOGGED_IN.exists()
        self.sessions: dict[str, list[str]] = json.loads(SESSIONS.read_text()) if SESSIONS.exists() else {}

    def on_connect(self, conn: acp.Client) -> None:
        self.host = conn

    async def initialize(self, protocol_version: int, client_capabilities: Any = None, **kwargs: Any) -> Any:
        in_terminal = client_capabilities is not None and client_capabilities.auth and client_capabilities.auth.terminal
        return acp.InitializeResponse(
            protocol_version=acp.PROTOCOL_VERSION,
            agent_capabilities=schema.AgentCapabilities(
                load_session=True,
                session_capabilities=schema.SessionCapabilities(
                    list=schema.SessionListCapabilities(),
                    resume=schema.SessionResumeCapabilities(),
                    close=schema.SessionCloseCapabilities(),
                ),
            ),
            agent_info=schema.Implementation(name="python-sdk-account-agent", version="1"),
            auth_methods=[*LOGINS, *([IN_TERMINAL] if in_terminal else [])],
        )

    async def authenticate(self, method_id: str, **kwargs: Any) -> acp.AuthenticateResponse:
        if method_id != "agent":
            raise acp.RequestError.invalid_params({"methodId": method_id})
        self.logged_in = True
        return acp.AuthenticateResponse()

    async def new_session(self, cwd: str, **kwargs: Any) -> acp.NewSessionResponse:
        self._require_login()
        session_id = f"session-{len(self.sessions) + 1}"
        self.sessions[session_id] = []
        self._save()
        return acp.NewSessionResponse(session_id=session_id)

    async def load_session(self, cwd: str, session_id: str, **kwargs: Any) -> acp.LoadSessionResponse:
        for text in self._known(session_id):
            await self.host.session_update(session_id, acp.update_user_message_text(text))
        if "break" in self.sessions[session_id]:
            raise acp.RequestError.internal_error({"details": "the history is broken"})
        return acp.LoadSessionResponse()

    async def resume_session(self, session_id: str, cwd: str, **kwargs: Any) -> schema.ResumeSessionResponse:
        self._known(session_id)
        return schema.ResumeSessionResponse()

    async def close_session(self, session_id: str, **kwargs: Any) -> schema.CloseSessionResponse:
        self._known(session_id)
        return schema.CloseSessionResponse()

    async def list_sessions(self, cwd: str | None = None, cursor: str | None = None, **kwargs: Any) -> Any:
        first = int(cursor or 0)
        infos = [schema.SessionInfo(session_id=session_id, cwd=str(FOLDER)) for session_id in self.sessions]
        more = str(first + 2) if first + 2 < len(infos) else None
        return schema.ListSessionsResponse(sessions=infos[first : first + 2], next_cursor=more)

    async def prompt(self, session_id: str, prompt: list[Any], **kwargs: Any) -> acp.PromptResponse:
        self._require_login()
        text = "".join(block.text for block in prompt if block.type == "text")
        if text == "log out":
            self.logged_in = False
            raise acp.RequestError.auth_required()
        if text == "forget":
            del self.sessions[session_id]
            self._save()
            raise acp.RequestError.internal_error({"details": f"Session {session_id} not found"})
        self.sessions[session_id].append(text)
        self._save()
        await self.host.session_update(session_id, acp.update_agent_message_text(text))
        return acp.PromptResponse(stop_reason="end_turn")

    def _require_login(self) -> None:
        if not self.logged_in:
            raise acp.RequestError.auth_required({"reason": "nobody is logged in"})

    def _known(self, session_id: str) -> list[str]:
        self._require_login()
        if session_id not in self.sessions:
            raise acp.RequestError.resource_not_found(session_id)
        return self.sessions[session_id]

    def _save(self) -> None:
        SESSIONS.write_text(json.dumps(self.sessions))


if __name__ == "__main__":
    if "--login" in sys.argv:
        LOGGED_IN.touch()
    else:
        asyncio.run(acp.run_agent(Agent(), use_unstable_protocol=True))
