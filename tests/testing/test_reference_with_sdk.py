"""The reference agent is an agent for others, too: a host built on the official Python SDK talks to it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import acp
import pytest
from acp import schema

from acp_host.testing import ReferenceAgent


class Host(acp.Client):
    """Allows everything, has one file and one terminal, and keeps what it is told."""

    def __init__(self, notes: Path) -> None:
        self.notes = notes
        self.updates: list[Any] = []
        self.asked: list[str] = []
        self.spoken_to = asyncio.Event()

    async def session_update(self, session_id: str, update: Any, **kwargs: Any) -> None:
        self.updates.append(update)
        if update.session_update == "agent_message_chunk":
            self.spoken_to.set()

    async def request_permission(
        self, session_id: str, tool_call: Any, options: Any, **kwargs: Any
    ) -> schema.RequestPermissionResponse:
        self.asked.append(tool_call.kind)
        option = next(option for option in options if option.kind == "allow_once")
        return schema.RequestPermissionResponse(
            outcome=schema.AllowedOutcome(outcome="selected", option_id=option.option_id)
        )

    async def read_text_file(self, session_id: str, path: str, **kwargs: Any) -> schema.ReadTextFileResponse:
        assert path == str(self.notes)
        return schema.ReadTextFileResponse(content=self.notes.read_text())

    async def write_text_file(
        self, session_id: str, path: str, content: str, **kwargs: Any
    ) -> schema.WriteTextFileResponse:
        assert path == str(self.notes)
        self.notes.write_text(content)
        return schema.WriteTextFileResponse()

    async def create_terminal(self, session_id: str, command: str, **kwargs: Any) -> schema.CreateTerminalResponse:
        return schema.CreateTerminalResponse(terminal_id="terminal-1")

    async def wait_for_terminal_exit(
        self, session_id: str, terminal_id: str, **kwargs: Any
    ) -> schema.WaitForTerminalExitResponse:
        return schema.WaitForTerminalExitResponse(exit_code=0)

    async def terminal_output(self, session_id: str, terminal_id: str, **kwargs: Any) -> schema.TerminalOutputResponse:
        return schema.TerminalOutputResponse(output="checked\n", truncated=False)

    async def release_terminal(
        self, session_id: str, terminal_id: str, **kwargs: Any
    ) -> schema.ReleaseTerminalResponse:
        return schema.ReleaseTerminalResponse()


CAPABILITIES = schema.ClientCapabilities(
    fs=schema.FileSystemCapabilities(read_text_file=True, write_text_file=True), terminal=True
)


@pytest.fixture
def host(tmp_path: Path) -> Host:
    notes = tmp_path / "notes.md"
    notes.write_text("# Notes\n")
    return Host(notes)


async def test_a_whole_conversation(host: Host, tmp_path: Path) -> None:
    async with acp.spawn_agent_process(host, *ReferenceAgent.command()) as (agent, process):
        agreed = await agent.initialize(protocol_version=acp.PROTOCOL_VERSION, client_capabilities=CAPABILITIES)
        assert agreed.agent_capabilities.load_session
        session = await agent.new_session(cwd=str(tmp_path), mcp_servers=[])
        answer = await agent.prompt(session_id=session.session_id, prompt=[acp.text_block("Show me")])
        assert answer.stop_reason == "end_turn"
    assert process.returncode == 0
    assert host.notes.read_text() == "# Notes\n- The reference agent was here.\n"
    assert host.asked == ["edit", "execute"]
    kinds = {update.session_update for update in host.updates}
    assert kinds == {
        *("agent_thought_chunk", "agent_message_chunk", "plan", "tool_call", "tool_call_update"),
        *("available_commands_update", "session_info_update", "usage_update"),
    }
    text = "".join(update.content.text for update in host.updates if update.session_update == "agent_message_chunk")
    assert text.endswith("I added the line. The check ended with status 0.")


async def test_settings_load_and_cancel(host: Host, tmp_path: Path) -> None:
    async with acp.spawn_agent_process(host, *ReferenceAgent.command()) as (agent, _):
        await agent.initialize(protocol_version=acp.PROTOCOL_VERSION, client_capabilities=CAPABILITIES)
        session_id = (await agent.new_session(cwd=str(tmp_path), mcp_servers=[])).session_id
        await agent.set_session_mode(session_id=session_id, mode_id="auto")
        options = await agent.set_config_option(session_id=session_id, config_id="model", value="large")
        assert options is not None
        assert {option.id: option.current_value for option in options.config_options} == {
            "mode": "auto",
            "model": "large",
            "thoughts": "shown",
        }
        prompt = asyncio.create_task(agent.prompt(session_id=session_id, prompt=[acp.text_block("/slow 1000")]))
        await host.spoken_to.wait()
        await agent.cancel(session_id=session_id)
        assert (await prompt).stop_reason == "cancelled"
        before = len(host.updates)
        await agent.load_session(cwd=str(tmp_path), session_id=session_id, mcp_servers=[])
        assert [update.session_update for update in host.updates[before:]][:2] == [
            "user_message_chunk",
            "agent_message_chunk",
        ]
        assert [info.session_id for info in (await agent.list_sessions()).sessions] == [session_id]
