"""How the Harn-like agent opens, replays and closes sessions: :class:`SessionMethods`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any

from acp_host.errors import InvalidParams, RequestFailed
from acp_host.testing.agent_side import Handler
from acp_host.testing.harn._params import text_member
from acp_host.testing.harn._session import MODES, HarnSession
from acp_host.wire.config_options import SetSessionConfigOptionRequest, SetSessionModeRequest
from acp_host.wire.session import CloseSessionRequest, LoadSessionRequest, NewSessionRequest, ResumeSessionRequest

if TYPE_CHECKING:
    from acp_host.testing.harn._connection import Connection

__all__ = ["SessionMethods"]

_POLICIES = ("inherited", "isolated", "granted")
_COMMANDS = [{"name": "review", "description": "Review the working copy", "input": {"hint": "what to look at"}}]


class SessionMethods:
    """The life of sessions on one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._agent = connection.agent

    def handlers(self) -> dict[str, Handler]:
        """Return the handlers by wire method."""
        behind = self._connection.queue.behind
        return {
            "session/new": behind(self.new),
            "session/load": behind(self.load),
            "session/resume": behind(self.resume),
            "session/list": behind(self.list),
            "session/fork": behind(self.fork),
            "session/close": self.close,
            "session/stop": self.close,
            "session/set_mode": behind(self.set_mode),
            "session/set_config_option": behind(self.set_config_option),
        }

    def new(self, request: NewSessionRequest) -> dict[str, Any]:
        """Start a session."""
        policy = request.extra.get("environmentPolicy")
        self._check_environment(policy)
        session = self._add(request.cwd)
        session.environment = policy
        self._announce_later(session)
        return {"sessionId": session.id, "session": {"id": session.id}, **self._settings(session)}

    def load(self, request: LoadSessionRequest) -> dict[str, Any]:
        """Open a session and replay its history before the answer."""
        session = self._known(request.session_id)
        session.readers.add(self._connection)
        for method, params in session.history:
            self._connection.side.notify(method, {"sessionId": session.id, **_marked(method, params)})
        self._announce_later(session)
        return self._settings(session)

    def resume(self, request: ResumeSessionRequest) -> dict[str, Any]:
        """Open a session without a replay."""
        session = self._known(request.session_id)
        session.readers.add(self._connection)
        self._announce_later(session)
        return self._settings(session)

    def list(self, request: Any) -> dict[str, Any]:
        """Return all sessions."""
        return {
            "sessions": [
                {
                    "sessionId": session.id,
                    "cwd": session.cwd,
                    "liveState": "live" if session.readers else "persisted",
                    "attachableRoles": ["observer", "controller"],
                    "activePrompt": session.prompt is not None,
                    "currentModeId": session.mode,
                }
                for session in self._agent.sessions.values()
            ]
        }

    def fork(self, request: Any) -> dict[str, Any]:
        """Start a session with the history of another; its first updates come before the answer."""
        origin = self._known(request.session_id)
        session = self._add(request.cwd or origin.cwd)
        session.history = list(origin.history)
        told = {"state": "forked", "parent_id": origin.id}
        info = {"sessionUpdate": "session_info_update", "_meta": told}
        self._connection.side.notify("session/update", {"sessionId": session.id, "update": info})
        self._announce(session)
        return {"sessionId": session.id, **told, **self._settings(session)}

    def close(self, request: CloseSessionRequest | Mapping[str, Any]) -> Awaitable[Any]:
        """Cancel what a session does at once, and put it out of memory when that is over."""
        session_id = (
            request.session_id if isinstance(request, CloseSessionRequest) else text_member(request, "sessionId")
        )
        session = self._agent.sessions.get(session_id)
        if session is None:
            raise RequestFailed(f"Session not found: {session_id}", code=-32004)
        if session.prompt is not None:
            session.prompt.cancel()
        return self._connection.queue.behind_all(lambda: self._closed(session))

    def _closed(self, session: HarnSession) -> dict[str, Any]:
        session.readers.clear()
        return {}

    def set_mode(self, request: SetSessionModeRequest) -> dict[str, Any]:
        """Turn a mode on; it is told after the answer."""
        self._change(self._known(request.session_id), "mode", request.mode_id)
        return {}

    def set_config_option(self, request: SetSessionConfigOptionRequest) -> dict[str, Any]:
        """Set an option; it is told after the answer too."""
        session = self._known(request.session_id)
        self._change(session, request.config_id, request.value)
        return {"configOptions": self._settings(session)["configOptions"]}

    def _change(self, session: HarnSession, option: str, value: Any) -> None:
        if option != "mode" or value not in MODES:
            raise InvalidParams(f"{option} cannot be set to {value!r}")
        session.mode = value
        asyncio.get_running_loop().call_soon(self._tell_settings, session)

    def _tell_settings(self, session: HarnSession) -> None:
        host, options = self._connection.host, self._settings(session)["configOptions"]
        host.update(session, {"sessionUpdate": "current_mode_update", "modeId": session.mode})
        host.update(session, {"sessionUpdate": "config_option_update", "configOptions": options})

    def _check_environment(self, policy: Any) -> None:
        kind = policy.get("kind") if isinstance(policy, Mapping) else None
        if policy is None and not self._agent.requires_environment:
            return
        if kind not in _POLICIES:
            problem = "missing" if policy is None else "invalid"
            text = f"environmentPolicy is {problem}"
            data = {"code": f"environment_policy.{problem}", "message": text, "field": "environmentPolicy"}
            raise InvalidParams(text, data={**data, "accepted": list(_POLICIES)})

    def _add(self, cwd: str) -> HarnSession:
        session = HarnSession(self._agent.number("session"), cwd)
        session.readers.add(self._connection)
        self._agent.sessions[session.id] = session
        return session

    def _known(self, session_id: str) -> HarnSession:
        session = self._agent.sessions.get(session_id)
        if session is None:
            raise InvalidParams(f"unknown session: {session_id}")
        return session

    def _settings(self, session: HarnSession) -> dict[str, Any]:
        modes = [{"id": mode, "name": mode.title()} for mode in MODES]
        values = [{"value": mode, "name": mode.title()} for mode in MODES]
        option = {"id": "mode", "name": "Mode", "type": "select", "currentValue": session.mode, "options": values}
        return {
            "modes": {"currentModeId": session.mode, "availableModes": modes},
            "configOptions": [{**option, "category": "mode"}],
        }

    def _announce_later(self, session: HarnSession) -> None:
        asyncio.get_running_loop().call_soon(self._announce, session)

    def _announce(self, session: HarnSession) -> None:
        update = {"sessionUpdate": "available_commands_update", "availableCommands": _COMMANDS}
        self._connection.side.notify("session/update", {"sessionId": session.id, "update": update})


def _marked(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with the mark of a replay, which has two places."""
    if method != "session/update":
        return {**params, "replayed": True}
    update = dict(params["update"])
    meta = dict(update.get("_meta") or {})
    update["_meta"] = {**meta, "harn": {**meta.get("harn", {}), "replayed": True}}
    return {**params, "update": update}
