"""An agent built on the official Python SDK that has a handler for every method of an agent that the SDK has a name
for, drafts included, and calls every method of a host.

The SDK's own router takes the methods that its interface has; the others are added to it, with the SDK's types. The
prompt ``everything`` calls all that a host can do and says what came of it; ``wait`` waits for its cancellation; any
other prompt tells the notifications that have come in.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from typing import Any

import acp
from acp import schema
from acp.agent.router import build_agent_router
from acp.connection import Connection
from acp.meta import AGENT_METHODS, CLIENT_METHODS

ADDED = {
    "providers_list": schema.ListProvidersRequest,
    "providers_set": schema.SetProviderRequest,
    "providers_disable": schema.DisableProviderRequest,
    "session_delete": schema.DeleteSessionRequest,
    "logout": schema.LogoutRequest,
    "nes_start": schema.StartNesRequest,
    "nes_suggest": schema.SuggestNesRequest,
    "nes_close": schema.CloseNesRequest,
}
"""Requests that the SDK names and types, and that its router does not take."""

TOLD = {
    "mcp_message": schema.MessageMcpNotification,
    "nes_accept": schema.AcceptNesNotification,
    "nes_reject": schema.RejectNesNotification,
    "document_did_open": schema.DidOpenDocumentNotification,
    "document_did_change": schema.DidChangeDocumentNotification,
    "document_did_close": schema.DidCloseDocumentNotification,
    "document_did_save": schema.DidSaveDocumentNotification,
    "document_did_focus": schema.DidFocusDocumentNotification,
}

MODES = schema.SessionModeState(
    current_mode_id="ask",
    available_modes=[schema.SessionMode(id="ask", name="Ask"), schema.SessionMode(id="code", name="Code")],
)
MODELS = [schema.SessionConfigSelectOption(value=value, name=value) for value in ("small", "large")]


def model(value: str) -> list[Any]:
    return [
        schema.SessionConfigOptionSelect(id="model", name="Model", current_value=value, type="select", options=MODELS)
    ]


class Agent(acp.Agent):
    def __init__(self) -> None:
        self.numbers = itertools.count(1)
        self.folders: dict[str, str] = {}
        self.cancelled: dict[str, asyncio.Event] = {}
        self.provider: schema.ProviderCurrentConfig | None = None
        self.told: list[str] = []
        router = build_agent_router(self, use_unstable_protocol=True)
        for name, kind in ADDED.items():
            router.route_request(AGENT_METHODS[name], kind, self, name)
        for name, kind in TOLD.items():
            router.route_notification(AGENT_METHODS[name], kind, Hears(self.told, AGENT_METHODS[name]), "hear")
        self.router = router
        self.host: Connection

    async def initialize(self, protocol_version: int, **kwargs: Any) -> acp.InitializeResponse:
        return acp.InitializeResponse(
            protocol_version=acp.PROTOCOL_VERSION,
            agent_capabilities=schema.AgentCapabilities(
                load_session=True,
                auth=schema.AgentAuthCapabilities(logout=schema.LogoutCapabilities()),
                providers=schema.ProvidersCapabilities(),
                mcp_capabilities=schema.McpCapabilities(acp=True),
                session_capabilities=schema.SessionCapabilities(
                    list=schema.SessionListCapabilities(),
                    delete=schema.SessionDeleteCapabilities(),
                    fork=schema.SessionForkCapabilities(),
                    resume=schema.SessionResumeCapabilities(),
                    close=schema.SessionCloseCapabilities(),
                ),
            ),
            agent_info=schema.Implementation(name="python-sdk-whole-agent", version="1"),
            auth_methods=[schema.AuthMethodAgent(id="login", name="Log in")],
        )

    async def authenticate(self, method_id: str, **kwargs: Any) -> acp.AuthenticateResponse:
        return acp.AuthenticateResponse()

    async def logout(self) -> schema.LogoutResponse:
        return schema.LogoutResponse()

    async def providers_list(self) -> schema.ListProvidersResponse:
        known = schema.ProviderInfo(provider_id="p", supported=["openai"], required=False, current=self.provider)
        return schema.ListProvidersResponse(providers=[known])

    async def providers_set(self, api_type: str, base_url: str, **kwargs: Any) -> schema.SetProviderResponse:
        self.provider = schema.ProviderCurrentConfig(api_type=api_type, base_url=base_url)
        return schema.SetProviderResponse()

    async def providers_disable(self, provider_id: str) -> schema.DisableProviderResponse:
        self.provider = None
        return schema.DisableProviderResponse()

    async def new_session(self, cwd: str, **kwargs: Any) -> acp.NewSessionResponse:
        session_id = f"session-{next(self.numbers)}"
        self.folders[session_id] = cwd
        return acp.NewSessionResponse(session_id=session_id, modes=MODES, config_options=model("small"))

    async def load_session(self, cwd: str, session_id: str, **kwargs: Any) -> acp.LoadSessionResponse:
        return acp.LoadSessionResponse(modes=MODES, config_options=model("small"))

    async def resume_session(self, session_id: str, cwd: str, **kwargs: Any) -> schema.ResumeSessionResponse:
        return schema.ResumeSessionResponse()

    async def fork_session(self, session_id: str, cwd: str, **kwargs: Any) -> schema.ForkSessionResponse:
        return schema.ForkSessionResponse(session_id=f"session-{next(self.numbers)}")

    async def list_sessions(self, **kwargs: Any) -> schema.ListSessionsResponse:
        infos = [schema.SessionInfo(session_id=session_id, cwd=cwd) for session_id, cwd in self.folders.items()]
        return schema.ListSessionsResponse(sessions=infos)

    async def close_session(self, session_id: str, **kwargs: Any) -> schema.CloseSessionResponse:
        return schema.CloseSessionResponse()

    async def session_delete(self, session_id: str) -> schema.DeleteSessionResponse:
        return schema.DeleteSessionResponse()

    async def set_session_mode(self, mode_id: str, session_id: str, **kwargs: Any) -> acp.SetSessionModeResponse:
        return acp.SetSessionModeResponse()

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **kwargs: Any
    ) -> schema.SetSessionConfigOptionResponse:
        return schema.SetSessionConfigOptionResponse(config_options=model(str(value)))

    async def cancel(self, session_id: str, **kwargs: Any) -> None:
        self.cancelled[session_id].set()

    async def nes_start(self, **kwargs: Any) -> schema.StartNesResponse:
        return schema.StartNesResponse(session_id="nes")

    async def nes_suggest(self, **kwargs: Any) -> schema.SuggestNesResponse:
        return schema.SuggestNesResponse(suggestions=[])

    async def nes_close(self, session_id: str) -> schema.CloseNesResponse:
        return schema.CloseNesResponse()

    async def prompt(self, session_id: str, prompt: list[Any], **kwargs: Any) -> acp.PromptResponse:
        (block,) = prompt
        if block.text == "wait":
            self.cancelled[session_id] = asyncio.Event()
            await self.say(session_id, "Waiting.")
            await self.cancelled[session_id].wait()
            return acp.PromptResponse(stop_reason="cancelled")
        said = await self.everything(session_id) if block.text == "everything" else self.told
        await self.say(session_id, json.dumps(said))
        return acp.PromptResponse(stop_reason="end_turn")

    async def say(self, session_id: str, text: str) -> None:
        update = schema.SessionNotification(session_id=session_id, update=acp.update_agent_message_text(text))
        await self.host.send_notification(CLIENT_METHODS["session_update"], wire(update))

    async def everything(self, session_id: str) -> list[Any]:
        async def ask(name: str, kind: Any, answer: Any, **params: Any) -> Any:
            request = kind(session_id=session_id, **params)
            return answer.model_validate(await self.host.send_request(CLIENT_METHODS[name], wire(request)) or {})

        said: list[Any] = []
        path = f"{self.folders[session_id]}/whole.txt"
        await ask(
            *("fs_write_text_file", schema.WriteTextFileRequest, schema.WriteTextFileResponse),
            path=path,
            content="written by the agent\n",
        )
        read = await ask("fs_read_text_file", schema.ReadTextFileRequest, schema.ReadTextFileResponse, path=path)
        said.append(read.content)
        answer = await ask(
            *("session_request_permission", schema.RequestPermissionRequest, schema.RequestPermissionResponse),
            tool_call=schema.ToolCallUpdate(tool_call_id="c", title="Go on", kind="think"),
            options=[schema.PermissionOption(option_id="yes", name="Yes", kind="allow_once")],
        )
        said.append(answer.outcome.option_id)
        terminal = await ask(
            *("terminal_create", schema.CreateTerminalRequest, schema.CreateTerminalResponse),
            command="echo here; exec sleep 600",
        )
        this = {"terminal_id": terminal.terminal_id}
        output = ""
        while "here" not in output:
            output = (
                await ask("terminal_output", schema.TerminalOutputRequest, schema.TerminalOutputResponse, **this)
            ).output
        await ask("terminal_kill", schema.KillTerminalRequest, schema.KillTerminalResponse, **this)
        ended = await ask(
            "terminal_wait_for_exit", schema.WaitForTerminalExitRequest, schema.WaitForTerminalExitResponse, **this
        )
        said.append(ended.signal)
        await ask("terminal_release", schema.ReleaseTerminalRequest, schema.ReleaseTerminalResponse, **this)
        form = schema.CreateFormSessionElicitationRequest(
            session_id=session_id,
            mode="form",
            message="Who?",
            requested_schema=schema.ElicitationSchema(
                properties={"name": schema.ElicitationStringPropertySchema(type="string", title="Name")}
            ),
        )
        filled = await self.host.send_request(CLIENT_METHODS["elicitation_create"], wire(form))
        said.append(schema.AcceptElicitationResponse.model_validate(filled).content["name"])
        page = schema.CreateUrlSessionElicitationRequest(
            session_id=session_id, mode="url", message="Look", url="https://example.org/", elicitation_id="e"
        )
        said.append((await self.host.send_request(CLIENT_METHODS["elicitation_create"], wire(page)))["action"])
        complete = schema.CompleteElicitationNotification(elicitation_id="e")
        await self.host.send_notification(CLIENT_METHODS["elicitation_complete"], wire(complete))
        for name, request in {
            "mcp_connect": schema.ConnectMcpRequest(server_id="s"),
            "mcp_message": schema.MessageMcpRequest(connection_id="n", method="greet"),
            "mcp_disconnect": schema.DisconnectMcpRequest(connection_id="n"),
        }.items():
            try:
                await self.host.send_request(CLIENT_METHODS[name], wire(request))
            except acp.RequestError as error:
                said.append(error.code)
        return said


class Hears:
    """Notes that a notification has come in, which the SDK could read."""

    def __init__(self, told: list[str], method: str) -> None:
        self.told = told
        self.method = method

    async def hear(self, **of: Any) -> None:
        self.told.append(self.method)


def wire(model: Any) -> Any:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


async def main() -> None:
    agent = Agent()
    reader, writer = await acp.stdio_streams()
    agent.host = Connection(agent.router, writer, reader, listening=False)
    await agent.host.main_loop()


if __name__ == "__main__":
    asyncio.run(main())
