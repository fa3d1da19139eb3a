"""What an agent can tell while it answers one prompt: :class:`Voice`, the half of a turn that asks for nothing."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable

from attrs import frozen

from acp_host.errors import NotSupported
from acp_host.state.reminder_marker import MARKER, MarkedText
from acp_host.testing._features import offered
from acp_host.testing._hands import Hands
from acp_host.testing._mcp_calls import McpCalls
from acp_host.testing._reminder_desk import ReminderDesk
from acp_host.testing._states import States
from acp_host.testing.agent_session import SWITCHES, AgentSession
from acp_host.testing.agent_side import AgentSide
from acp_host.wire._model import UNSET
from acp_host.wire.capabilities import ClientCapabilities
from acp_host.wire.content import ContentBlock, TextContent
from acp_host.wire.notices import Notice
from acp_host.wire.plans import Plan, PlanEntry, PlanEntryPriority, PlanEntryStatus
from acp_host.wire.updates import AgentMessageChunk, AgentThoughtChunk, SessionInfoUpdate, SessionUpdate
from acp_host.wire.usage import Cost, Usage, UsageUpdate

__all__ = ["PlanInProgress", "TurnContext", "Voice", "tokens"]

_WORDS = re.compile(r"(?:\S+\s*){1,3}|\s+")
_CONTEXT_SIZE = 200_000


@frozen(kw_only=True)
class TurnContext:
    """What a turn needs besides its prompt.

    Attributes:
        side: the way to the host.
        client: what the host offers.
        desk: the reminders of the sessions.
        mcp: the way to MCP servers of the host.
        hands: the way to files and commands.
        states: tells the host whether the session works or waits.
        cancels_calls: whether the host can cancel a single tool call.
        number: makes the next id out of a word.
        delay: seconds between two chunks of a message.
    """

    side: AgentSide
    client: ClientCapabilities
    desk: ReminderDesk
    mcp: McpCalls
    hands: Hands
    states: States
    cancels_calls: bool
    number: Callable[[str], str]
    delay: float


class PlanInProgress:
    """A plan that was told, and how far it has come. Made by :meth:`Voice.plan`."""

    def __init__(self, steps: tuple[str, ...], send: Callable[[SessionUpdate], None]) -> None:
        self._steps = steps
        self._done = 0
        self._send = send
        self._tell()

    def advance(self) -> None:
        """Say that the step at work is completed and the next one begins."""
        self._done += 1
        self._tell()

    def _tell(self) -> None:
        self._send(Plan(tuple(self._entry(index, step) for index, step in enumerate(self._steps))))

    def _entry(self, index: int, step: str) -> PlanEntry:
        status = PlanEntryStatus.COMPLETED if index < self._done else PlanEntryStatus.PENDING
        if index == self._done:
            status = PlanEntryStatus.IN_PROGRESS
        return PlanEntry(step, PlanEntryPriority.HIGH if index == 0 else PlanEntryPriority.MEDIUM, status)


class Voice:
    """One prompt, and the means to answer it in words.

    Attributes:
        session: the session.
        prompt: what the user sent.
        text: the text blocks of it, each on lines of its own.
        typed: the same, without the reminders that the host has marked as such.
        marked: those reminders.
        client: what the host offers.
    """

    def __init__(self, session: AgentSession, prompt: tuple[ContentBlock, ...], context: TurnContext) -> None:
        self.session = session
        self.prompt = prompt
        self.text = "\n".join(block.text for block in prompt if isinstance(block, TextContent))
        pieces = MARKER.split(self.text)
        self.typed = "\n".join(piece.text for piece in pieces if piece.reminder_id is None)
        self.marked: tuple[MarkedText, ...] = tuple(piece for piece in pieces if piece.reminder_id is not None)
        self.client = context.client
        self._context = context
        self._read, self._written, self._thought = tokens(self.text), 0, 0

    async def say(self, text: str, *, message_id: str | None = None) -> str:
        """Stream a message to the user, a few words at a time; return its id.

        Args:
            text: Markdown.
            message_id: the id of an earlier call, to go on with that message; ``None`` for a new one.
        """
        self._written += tokens(text)
        return await self._stream(AgentMessageChunk, text, message_id)

    async def think(self, text: str) -> str:
        """Stream a thought, unless the user has turned thoughts off; return its id."""
        if self.session.settings.thoughts == "off":
            return ""
        self._thought += tokens(text)
        return await self._stream(AgentThoughtChunk, text, None)

    async def show(self, content: ContentBlock) -> None:
        """Send one block of content as a message of its own."""
        self.send(AgentMessageChunk(content, message_id=self._context.number("message")))
        await self.pause(self._context.delay)

    def plan(self, *steps: str) -> PlanInProgress:
        """Tell a plan, the first step at work; nothing is sent if the user has turned plans off."""
        shown = self.session.settings.plans
        return PlanInProgress(steps, self.send if shown else lambda _: None)

    def title(self, title: str) -> None:
        """Name the session."""
        self.session.title = title
        self.send(SessionInfoUpdate(title=title, updated_at=self.session.updated_at), keep=False)

    def set_option(self, option: str, value: str | bool) -> None:
        """Change a setting of the session by the agent's own will; the mode is the option ``mode``.

        Raises:
            InvalidParams: there is no such option, or it cannot have this value.
        """
        for update in self.session.change(option, value, switches=self.offers(SWITCHES)):
            self.send(update, keep=False)

    def report_usage(self) -> None:
        """Tell how full the context is and what the session has cost, all of it made up."""
        used = self.session.tokens + self._total()
        self.send(UsageUpdate(used, _CONTEXT_SIZE, cost=Cost(round(used * 1e-5, 5), "USD")), keep=False)

    async def notice(self, severity: str, title: str, description: str | None = None) -> None:
        """Put a notice before the user; where the host shows none, say it as a message."""
        if self.offers("clientCapabilities.session.notices"):
            self.send(Notice(severity, title, UNSET if description is None else description), keep=False)
        else:
            await self.say(f"{severity}: {title}\n" if description is None else f"{severity}: {title}\n{description}\n")

    def send(self, update: SessionUpdate, *, keep: bool = True) -> None:
        """Send any update; ``keep`` puts it into the history that ``session/load`` replays."""
        if keep:
            self.session.history.append(update)
        self._context.side.update(self.session.id, update)

    async def pause(self, seconds: float) -> None:
        """Wait, first for the host to have read what was sent."""
        await self._context.side.drain()
        await asyncio.sleep(seconds)

    def new_id(self, word: str) -> str:
        """Return an id that the agent has not used yet, e.g. ``message-7``."""
        return self._context.number(word)

    def offers(self, capability: str) -> bool:
        """Tell whether the host offers a capability, by its wire path, e.g. ``clientCapabilities.fs.readTextFile``."""
        return offered(self.client, capability)

    def usage(self) -> Usage:
        """Return the tokens of this turn, and count them for the session; all made up."""
        total = self._total()
        self.session.tokens += total
        thought = self._thought or UNSET
        return Usage(total, self._read, self._written + self._thought, thought_tokens=thought)

    def _total(self) -> int:
        return self._read + self._written + self._thought

    def _require(self, capability: str, method: str) -> None:
        if not self.offers(capability):
            text = f"The host does not offer {capability}, so {method} was not sent."
            raise NotSupported(text, capability=capability, method=method)

    async def _stream(
        self, kind: type[AgentMessageChunk | AgentThoughtChunk], text: str, message_id: str | None
    ) -> str:
        message_id = message_id or self._context.number("message")
        for words in _WORDS.findall(text):
            self.send(kind(TextContent(words), message_id=message_id))
            await self.pause(self._context.delay)
        return message_id


def tokens(text: str) -> int:
    """Return how many tokens a text is taken for."""
    return (len(text) + 3) // 4
