"""What an agent can do while it answers one prompt: :class:`AgentTurn`, in whose words scripts are written.

It keeps a script honest: what the host did not offer is refused here with
:class:`~acp_host.errors.NotSupported` instead of being asked for, and whatever is shown is remembered for a later
``session/load``. The agent itself touches no file and starts no process; it can only ask the host to.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any

from acp_host.errors import NotSupported
from acp_host.testing._hands import CommandResult
from acp_host.testing._mcp_calls import McpNotified
from acp_host.testing._reminder_shelf import AgentReminder, Source
from acp_host.testing._reminder_wire import harn_form
from acp_host.testing._tool_call import ToolCallInProgress, ToolCallSkipped, TurnCancelled, announcement
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
from acp_host.wire.mcp import McpServerAcp
from acp_host.wire.permission import (
    PermissionOption,
    PermissionOptionKind,
    RequestPermissionRequest,
    RequestPermissionResponse,
    SelectedPermissionOutcome,
)
from acp_host.wire.tool_calls import ToolCallStatus, ToolKind
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

_PERMISSION_OPTIONS = (
    PermissionOption("allow", "Allow", PermissionOptionKind.ALLOW_ONCE),
    PermissionOption("always", "Always allow", PermissionOptionKind.ALLOW_ALWAYS),
    PermissionOption("reject", "Reject", PermissionOptionKind.REJECT_ONCE),
    PermissionOption("never", "Never allow", PermissionOptionKind.REJECT_ALWAYS),
)


class AgentTurn(Voice):
    """One prompt, and the means to answer it: in words, and by what the host does for the agent.

    Attributes:
        seen: the reminders that the model was shown in this turn, each time that it was asked.
    """

    def __init__(self, session: AgentSession, prompt: tuple[ContentBlock, ...], context: TurnContext) -> None:
        super().__init__(session, prompt, context)
        self.seen: list[tuple[AgentReminder, ...]] = []
        self._to_decorate: list[AgentReminder] = []
        self._hands = context.hands

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
        cancelled = "cancelled" if self._context.cancels_calls else ToolCallStatus.FAILED
        return ToolCallInProgress(
            call, self._send_of_call, lambda: shelf.wants_interrupt, self.ask_model, cancelled=cancelled
        )

    def _send_of_call(self, update: SessionUpdate) -> None:
        if self._to_decorate:
            update = evolve(update, meta={"harn": {"reminder": harn_form(self._to_decorate.pop(0))}})
        self.send(update)

    async def work_until_cancelled(self, call: ToolCallInProgress, work: Coroutine[Any, Any, None]) -> None:
        """Do the work of a tool call; where the version of the protocol has it, the host may cancel just that.

        The call says itself how it ended.
        """
        key = ("tool_call", call.id)
        task = self.session.works[key] = asyncio.create_task(work)
        if self._context.cancels_calls:
            call.update(extra={"capabilities": {"cancel": {}}})
        try:
            await task
        except asyncio.CancelledError:
            if (turn := asyncio.current_task()) is not None and turn.cancelling():
                raise
            call.cancel()
        finally:
            del self.session.works[key]
            if self._context.cancels_calls:
                call.update(extra={"capabilities": None})

    async def leave_running(self, command: str, lines: int) -> str:
        """Start a command that goes on printing when the turn is over; return the id of its terminal.

        Args:
            command: what it is; nothing is run.
            lines: how many lines it prints.

        Raises:
            NotSupported: the version of the protocol has no words for it.
        """
        return await self._hands.leave_running(command, lines)

    def later(self, script: Callable[[AgentTurn], Awaitable[str | None]]) -> None:
        """Do something when this turn is over, by the agent's own will: a turn without a prompt."""
        self.session.later.append(script)

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
        answer: RequestPermissionResponse = await self._ask_user("session/request_permission", request)
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
        """Whether the agent can read files."""
        return self._hands.can_read

    @property
    def can_write(self) -> bool:
        """Whether the agent can write files."""
        return self._hands.can_write

    @property
    def can_run(self) -> bool:
        """Whether the agent can run commands."""
        return self._hands.can_run

    async def read_file(self, path: str, *, line: int | None = None, limit: int | None = None) -> str:
        """Read a file, or ``limit`` lines of it from ``line`` on (counted from 1).

        Raises:
            NotSupported: the host reads no files.
            ResourceNotFound: there is no such file.
            RequestFailed: the host refused.
        """
        content = await self._hands.read(path, line, limit)
        self._read += tokens(content)
        return content

    async def write_file(self, path: str, content: str) -> None:
        """Write a file.

        Raises:
            NotSupported: the host writes no files.
            RequestFailed: the host refused.
        """
        await self._hands.write(path, content)

    async def run(self, command: str, *args: str, call: ToolCallInProgress | None = None) -> CommandResult:
        """Run a command in a terminal and wait for its end; it is ended with the turn.

        Args:
            command: the program.
            args: its arguments.
            call: the tool call that shows the terminal.

        Raises:
            NotSupported: the host runs no commands.
            RequestFailed: the host refused, or could not start it.
        """
        result = await self._hands.run(command, args, call)
        self._read += tokens(result.output)
        return result

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
        answer: CreateElicitationResponse = await self._ask_user("elicitation/create", question)
        return answer

    async def visit(self, message: str, url: str) -> CreateElicitationResponse:
        """Send the user to a web page, say that they are done there, and return the answer as :meth:`ask` does.

        Raises:
            NotSupported: the host opens no pages.
        """
        self._require("clientCapabilities.elicitation.url", "elicitation/create")
        id = self._context.number("elicitation")
        question = ElicitationUrlMode(message, id, url, session_id=self.session.id)
        answer: CreateElicitationResponse = await self._ask_user("elicitation/create", question)
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

    async def _ask_user(self, method: str, question: Any) -> Any:
        self._context.states.requires_action()
        answer = await self.request(method, question)
        self._context.states.running()
        return answer
