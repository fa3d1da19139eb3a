"""An agent built on the official Python SDK that has a mode, a model and a switch; with ``old`` only its modes.

It answers the setting of a mode with nothing, and tells of it by an update; it answers that of an option with all.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import acp
from acp import schema

OLD = "old" in sys.argv


def choices(*values: str) -> list[schema.SessionConfigSelectOption]:
    return [schema.SessionConfigSelectOption(value=value, name=value.title()) for value in values]


def about(category: str) -> dict[str, Any]:
    return {"type": "select", "name": category.title(), "category": category}


class Agent(acp.Agent):
    def __init__(self) -> None:
        self.mode, self.model, self.fast = "ask", "small", False

    def on_connect(self, conn: acp.Client) -> None:
        self.host = conn

    async def initialize(self, protocol_version: int, **kwargs: Any) -> acp.InitializeResponse:
        return acp.InitializeResponse(
            protocol_version=acp.PROTOCOL_VERSION,
            agent_capabilities=schema.AgentCapabilities(),
            agent_info=schema.Implementation(name="python-sdk-options", version="1"),
        )

    async def new_session(self, cwd: str, **kwargs: Any) -> acp.NewSessionResponse:
        names = [schema.SessionMode(id=name, name=name.title()) for name in ("ask", "code")]
        modes = schema.SessionModeState(current_mode_id=self.mode, available_modes=names)
        options = None if OLD else self.options()
        return acp.NewSessionResponse(session_id="session-1", modes=modes, config_options=options)

    def options(self) -> list[Any]:
        select, boolean = schema.SessionConfigOptionSelect, schema.SessionConfigOptionBoolean
        return [
            select(id="mode", current_value=self.mode, options=choices("ask", "code"), **about("mode")),
            select(id="model", current_value=self.model, options=choices("small", "large"), **about("model")),
            boolean(type="boolean", id="fast", name="Fast", current_value=self.fast),
        ]

    async def set_session_mode(self, session_id: str, mode_id: str, **kwargs: Any) -> None:
        if mode_id not in ("ask", "code"):
            raise acp.RequestError.invalid_params({"modeId": mode_id})
        self.mode = mode_id
        update = schema.CurrentModeUpdate(session_update="current_mode_update", current_mode_id=mode_id)
        await self.host.session_update(session_id, update)

    async def set_config_option(self, config_id: str, session_id: str, value: str | bool, **kwargs: Any) -> Any:
        setattr(self, config_id, value)
        if config_id == "mode":
            update = schema.ConfigOptionUpdate(session_update="config_option_update", config_options=self.options())
            await self.host.session_update(session_id, update)
            return None
        return schema.SetSessionConfigOptionResponse(config_options=self.options())

    async def prompt(self, session_id: str, prompt: list[Any], **kwargs: Any) -> acp.PromptResponse:
        return acp.PromptResponse(stop_reason="end_turn")


if __name__ == "__main__":
    asyncio.run(acp.run_agent(Agent()))
