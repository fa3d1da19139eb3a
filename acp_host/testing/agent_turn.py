"""What an agent can do while it answers one prompt: :class:`AgentTurn`, in whose words scripts are written.

It keeps a script honest: what the host did not offer is refused here with
:class:`~acp_host.errors.NotSupported` instead of being asked for, and whatever is shown is remembered for a later
``session/load``. The agent itself touches no file and starts no process; it can only ask the host to.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import Any

from attrs import frozen

from acp_host.errors import AcpError, NotSupported
from acp_host.testing._mcp_calls import McpNotified
from acp_host.testing._reminder_shelf import AgentReminder, Source
from acp_host.testing._reminder_wire import harn_form
from acp_host.testing._tool_call import ToolCallInProgress, ToolCallSkipped, announcement
from acp_host.testing._voice import PlanInProgress, TurnContext, Voice, tokens
from acp_host.testing.agent_session import AUTO, AgentSession
from acp_host.wire._model import UNSET, evolve
from acp_host.wire.content import ContentBlock
from acp_host.wire.elicitation import (
    CompleteElicitationNotification,
    CreateElicitationResponse,
    ElicitationFormMode,
    ElicitationPropertySchema,
    ElicitationSchema,
    ElicitationUrlMode,
)
from acp_host.wire.files import ReadTextFileRequest, ReadTextFileResponse, WriteTextFileRequest
from acp_host.wire.mcp import McpServerAcp
from acp_host.wire.permission import (
    PermissionOption,
    PermissionOptionKind,
    RequestPermissionRequest,
    RequestPermissionResponse,
    SelectedPermissionOutcome,
)
from acp_host.wire.terminals import (
    CreateTerminalRequest,
    CreateTerminalResponse,
    ReleaseTerminalRequest,
    TerminalOutputRequest,
    TerminalOutputResponse,
    WaitForTerminalExitRequest,
    WaitForTerminalExitResponse,
)
from acp_host.wire.tool_calls import Terminal, ToolKind
from acp_host.wire.updates import SessionUpdate

__all__ = [
    "AgentReminder",
    "AgentTurn",
    "CommandResult",
    "PlanInProgress",
    "ToolCallInProgress",
    "ToolCallSkipped",
    "TurnCancelled",
    "TurnContext",
]

_CLEANUP = 1.0
"""Seconds that the end of a turn waits for the host to release a terminal."""

_PERMISSION_OPTIONS = (
    PermissionOption("allow", "Allow", PermissionOptionKind.ALLOW_ONCE),
    PermissionOption("always", "Always allow", PermissionOptionKind.ALLOW_ALWAYS),
    PermissionOption("reject", "Reject", PermissionOptionKind.REJECT_ONCE),
    PermissionOption("never", "Never allow", PermissionOptionKind.REJECT_ALWAYS),
)


class TurnCancelled(Exception):
    """The host answered a permission request with ``cancelled``: the turn is over. Scripts let it pass."""


@frozen
class CommandResult:
    """How a command ended.

    Attributes:
        output: what it printed.
        truncated: whether the host dropped the beginning of it.
        exit_code: its status, ``None`` where a signal ended it.
        signal: that signal's name.
    """

    output: str
    truncated: bool
    exit_code: int | None
    signal: str | None


class AgentTurn(Voice):
    """One prompt, and the means to answer it: in words, and by what the host does for the agent.

    Attributes:
        seen: the reminders that the model was shown in this turn, each time that it was asked.
    """

    def __init__(self, session: AgentSession, prompt: tuple[ContentBlock, ...], context: TurnContext) -> None:
        super().__init__(session, prompt, context)
        self.seen: list[tuple[AgentReminder, ...]] = []
        self._to_decorate: list[AgentReminder] = []

    def ask_model(self) -> tuple[AgentReminder, ...]:
        """Ask the model, as it were, and return the reminders that it is shown.

        That happens by itself when the turn begins, and after each tool call.
        """
        shown = self._context.desk.show(self.session)
        self.seen.append(shown)
        if self._context.desk.decorates:
            self._to_decorate += shown
        return shown

    def remind(self, body: str, **fields: Any) -> AgentReminder:
        """Let the agent remind its model of something by itself.

        Args:
            body: the text.
            fields: further attributes of :class:`AgentReminder`.
        """
        given = {"source": Source.PROVIDER, "provider_id": "reference", "fired_at_turn": self.session.turns, **fields}
        reminder = AgentReminder(id=self.new_id("reminder"), body=body, **given)
        self._context.desk.put(self.session, reminder)
        return reminder

    def forget(self, tag: str | None = None) -> int:
        """Clear the reminders, or those with a tag; return how many there were."""
        return self._context.desk.clear(self.session, tag)

    def shorten_context(self) -> None:
        """Shorten the context, which some reminders do not survive."""
        self.session.tokens //= 10
        self._context.desk.compacted(self.session)

    def tool_call(
        self,
        title: str,
        *,
        kind: str = ToolKind.OTHER,
        path: str | None = None,
        line: int | None = None,
        name: str | None = None,
        raw_input: Any = None,
    ) -> ToolCallInProgress:
        """Return a tool call, to be used as an ``async with`` block.

        Args:
            title: what it does, for people.
            kind: one of :class:`~acp_host.wire.tool_calls.ToolKind`.
            path: the file it concerns, absolute.
            line: the line of it, counted from 1.
            name: the tool's name.
            raw_input: what the tool is given, any JSON.
        """
        id = self._context.number("call")
        call = announcement(id, title, kind=kind, path=path, line=line, name=name, raw_input=raw_input)
        shelf = self.session.shelf
        return ToolCallInProgress(call, self._send_of_call, lambda: shelf.wants_interrupt, self.ask_model)

    def _send_of_call(self, update: SessionUpdate) -> None:
        if self._to_decorate:
            update = evolve(update, meta={"harn": {"reminder": harn_form(self._to_decorate.pop(0))}})
        self.send(update)

    async def permitted(self, call: ToolCallInProgress) -> bool:
        """Ask the user to allow a tool call, unless that is settled: by the mode, or by an earlier "always".

        Raises:
            TurnCancelled: the host answered that the turn is cancelled.
        """
        if self.session.settings.mode == AUTO and call.kind == ToolKind.EDIT:
            return True
        if call.kind in self.session.always:
            return self.session.always[call.kind]
        request = RequestPermissionRequest(self.session.id, call.described(), _PERMISSION_OPTIONS)
        answer: RequestPermissionResponse = await self.request("session/request_permission", request)
        if not isinstance(answer.outcome, SelectedPermissionOutcome):
            raise TurnCancelled
        option = answer.outcome.option_id
        if option in ("always", "never"):
            self.session.always[call.kind] = option == "always"
        return option in ("allow", "always")

    def path(self, name: str) -> str:
        """Return the absolute path of a file of the session."""
        return os.path.join(self.session.cwd, name)

    @property
    def can_read(self) -> bool:
        """Whether the host reads files for the agent."""
        return self.offers("clientCapabilities.fs.readTextFile")

    @property
    def can_write(self) -> bool:
        """Whether the host writes files for the agent."""
        return self.offers("clientCapabilities.fs.writeTextFile")

    @property
    def can_run(self) -> bool:
        """Whether the host runs commands for the agent."""
        return self.offers("clientCapabilities.terminal")

    async def read_file(self, path: str, *, line: int | None = None, limit: int | None = None) -> str:
        """Read a file, or ``limit`` lines of it from ``line`` on (counted from 1), through the host.

        Raises:
            NotSupported: the host reads no files.
            ResourceNotFound: there is no such file.
            RequestFailed: the host refused.
        """
        self._require("clientCapabilities.fs.readTextFile", "fs/read_text_file")
        request = ReadTextFileRequest(
            self.session.id, path, UNSET if line is None else line, UNSET if limit is None else limit
        )
        answer: ReadTextFileResponse = await self.request("fs/read_text_file", request)
        self._read += tokens(answer.content)
        return answer.content

    async def write_file(self, path: str, content: str) -> None:
        """Write a file through the host.

        Raises:
            NotSupported: the host writes no files.
            RequestFailed: the host refused.
        """
        self._require("clientCapabilities.fs.writeTextFile", "fs/write_text_file")
        await self.request("fs/write_text_file", WriteTextFileRequest(self.session.id, path, content))

    async def run(self, command: str, *args: str, call: ToolCallInProgress | None = None) -> CommandResult:
        """Run a command in a terminal of the host and wait for its end; it is ended with the turn.

        Args:
            command: the program.
            args: its arguments.
            call: the tool call that shows the terminal.

        Raises:
            NotSupported: the host runs no commands.
            RequestFailed: the host refused, or could not start it.
        """
        self._require("clientCapabilities.terminal", "terminal/create")
        session_id = self.session.id
        create = CreateTerminalRequest(session_id, command, args, cwd=self.session.cwd, output_byte_limit=100_000)
        created: CreateTerminalResponse = await self.request("terminal/create", create)
        terminal_id = created.terminal_id
        try:
            if call is not None:
                call.show(Terminal(terminal_id))
            wait = WaitForTerminalExitRequest(session_id, terminal_id)
            end: WaitForTerminalExitResponse = await self.request("terminal/wait_for_exit", wait)
            printed: TerminalOutputResponse = await self.request(
                "terminal/output", TerminalOutputRequest(session_id, terminal_id)
            )
        finally:
            await self._release(terminal_id)
        self._read += tokens(printed.output)
        exit_code = end.exit_code if isinstance(end.exit_code, int) else None
        return CommandResult(printed.output, printed.truncated, exit_code, end.signal or None)

    async def ask(
        self, message: str, properties: Mapping[str, ElicitationPropertySchema], *, required: tuple[str, ...] = ()
    ) -> CreateElicitationResponse:
        """Show the user a form and return the answer.

        Args:
            message: what is needed.
            properties: the fields by name.
            required: names of the fields that must be filled in.

        Raises:
            NotSupported: the host shows no forms.
        """
        self._require("clientCapabilities.elicitation.form", "elicitation/create")
        schema = ElicitationSchema("object", properties=properties, required=required)
        question = ElicitationFormMode(message, schema, session_id=self.session.id)
        answer: CreateElicitationResponse = await self.request("elicitation/create", question)
        return answer

    async def visit(self, message: str, url: str) -> CreateElicitationResponse:
        """Send the user to a web page, say that they are done there, and return the answer as :meth:`ask` does.

        Raises:
            NotSupported: the host opens no pages.
        """
        self._require("clientCapabilities.elicitation.url", "elicitation/create")
        id = self._context.number("elicitation")
        question = ElicitationUrlMode(message, id, url, session_id=self.session.id)
        answer: CreateElicitationResponse = await self.request("elicitation/create", question)
        self._context.side.notify("elicitation/complete", CompleteElicitationNotification(id))
        return answer

    async def call_mcp(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        server: str | None = None,
        told: McpNotified = lambda method, params: None,
    ) -> Any:
        """Send a request to an MCP server of the host, and return its result.

        Args:
            method: MCP's method.
            params: its parameters.
            server: the server's name; ``None`` for the first one.
            told: called with the method and the parameters of each notification that belongs to the request.

        Raises:
            NotSupported: the host serves none of this name.
            RequestFailed: the server, or the host, answered with an error.
        """
        servers = [one for one in self.session.mcp_servers if isinstance(one, McpServerAcp)]
        server_id = next((one.server_id for one in servers if server in (None, one.name)), None)
        if server_id is None:
            raise NotSupported("the host serves no MCP server", capability="mcpServers", method="mcp/message")
        return await self._context.mcp.request(server_id, method, params or {}, told)

    async def request(self, method: str, params: Any = UNSET) -> Any:
        """Send any request to the host; see :meth:`~acp_host.testing.agent_side.AgentSide.request`."""
        return await self._context.side.request(method, params)

    async def _release(self, terminal_id: str) -> None:
        try:
            async with asyncio.timeout(_CLEANUP):
                await self.request("terminal/release", ReleaseTerminalRequest(self.session.id, terminal_id))
        except (AcpError, TimeoutError):
            pass  # the host ends what it runs with the session, or with the connection
