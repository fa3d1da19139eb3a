"""One prompt and what the agent does about it: :class:`Turn`."""

from __future__ import annotations

import asyncio
import itertools
from collections import deque
from collections.abc import Callable, Generator
from enum import StrEnum
from typing import Any

from attrs import evolve, field, frozen

from acp_host.errors import AcpError, InvalidState, OutcomeUnknown
from acp_host.host.interruption import Interruption, unsent
from acp_host.host.outcome import Outcome, OutcomeKind, TurnResult, with_changes
from acp_host.host.update_buffer import UpdateBuffer, UpdatesSkipped
from acp_host.services.change_verdicts import ChangeReport
from acp_host.wire._model import Unset
from acp_host.wire.chunk_runs import ChunkRun
from acp_host.wire.content import ContentBlock, TextContent
from acp_host.wire.harn.content import shown_text
from acp_host.wire.permission import RequestPermissionOutcome, RequestPermissionRequest, SelectedPermissionOutcome
from acp_host.wire.prompt import PromptResponse, StopReason
from acp_host.wire.text import join_text
from acp_host.wire.updates import AgentMessageChunk, SessionUpdate
from acp_host.wire.v2.messages import AgentMessage
from acp_host.wire.v2.messages import AgentMessageChunk as NamedMessageChunk

__all__ = ["PromptToSend", "Turn", "TurnOrigin"]

_MAX_CHOICES = 100


class TurnOrigin(StrEnum):
    """What a turn began with."""

    USER = "user"
    """A prompt of this host."""
    AGENT = "agent"
    """The agent has begun to work by itself."""


@frozen
class PromptToSend:
    """A prompt that waits for its turn.

    Attributes:
        blocks: the content.
        meta: ``_meta`` of the request; empty for none.
        idle_timeout: seconds without any update after which the turn is cancelled; ``None`` for no limit.
        follows: number of the turn without which this one is not wanted: it is dropped if that is cancelled.
    """

    blocks: tuple[ContentBlock, ...]
    meta: dict[str, Any] = field(factory=dict)
    idle_timeout: float | None = None
    follows: int | None = None


class Turn:
    """One prompt and what the agent does about it.

    Iterate for the updates, in order; await for the :class:`~acp_host.host.outcome.TurnResult`; do both, or neither:
    the prompt is sent when its turn comes, whether or not anyone looks. ::

        async for update in (turn := session.prompt("Fix the failing test")):
            ...
        result = await turn

    Leaving the loop early, or dropping the turn, cancels nothing. A task cancelled *while* it awaits or iterates the
    turn cancels the turn too; :meth:`wait` waits without owning it. There is one iterator: several loops share the
    updates. A turn that is awaited before anyone iterates keeps no updates. What ends a turn or brings something to it
    is for its session to call; an application has :meth:`cancel`.

    Attributes:
        number: counts the session's turns, from 1.
        prompt: what was, or will be, sent.
        origin: one of :class:`TurnOrigin`; a turn that the agent has begun has an empty prompt.
        cancel_requested: :meth:`cancel` was called, or the turn was cancelled in another way.
        choices: in words, which options its permission requests were answered with, the newest hundred.
        sent_at: when its prompt was written, in seconds since the epoch; ``None`` before.
    """

    def __init__(
        self,
        number: int,
        prompt: PromptToSend,
        cancel: Callable[[Turn, str], None],
        origin: TurnOrigin = TurnOrigin.USER,
        turn_of_message: Callable[[str], int | None] = lambda _: None,
    ) -> None:
        self.number = number
        self.prompt = prompt
        self.origin = origin
        self.cancel_requested = False
        self.cancel_reason = ""
        self.sent_at: float | None = None
        self.choices: deque[str] = deque(maxlen=_MAX_CHOICES)
        self._cancel = cancel
        self._text: list[str] = []
        self._turn_of_message = turn_of_message
        self._messages: dict[str, list[str]] = {}
        """The agent's messages, by id, where any of them may be told more of, or anew."""
        self._updates: UpdateBuffer | None = UpdateBuffer()
        self._iterated = False
        self._has_dropped = False
        self._changes: ChangeReport | None = None
        self._unsent: Interruption | None = None
        self._result: asyncio.Future[TurnResult] = asyncio.get_running_loop().create_future()

    # --- for applications -------------------------------------------------------------------------------------------

    def __aiter__(self) -> Turn:
        """Return the one iterator.

        Raises:
            InvalidState: the turn was awaited before anyone iterated, and there were updates, which were not kept.
        """
        if self._has_dropped and not self._iterated:
            raise InvalidState("the turn was awaited before anyone iterated, so it kept no updates: iterate first")
        self._iterated = True
        return self

    def __repr__(self) -> str:
        status = "over" if self.done else "cancelling" if self.cancel_requested else "under way or waiting"
        return f"<Turn {self.number}, {status}>"

    async def __anext__(self) -> SessionUpdate | UpdatesSkipped:
        """Return the next update.

        Raises:
            AcpError: after the last update, if the turn failed; the same error as awaiting it.
        """
        self._iterated = True
        while self._updates is not None:
            update = self._updates.take()
            if update is not None:
                return update
            try:
                if not await self._updates.wait():
                    break
            except asyncio.CancelledError:
                self.cancel("the task that read the turn was cancelled")
                raise
        await self._own()
        raise StopAsyncIteration

    async def next_updates(self) -> list[SessionUpdate | UpdatesSkipped] | None:
        """Return all updates that are there, after waiting for one; ``None`` at the end of the turn.

        As iterating does it, for readers to whom each step costs something.

        Raises:
            AcpError: after the last update, if the turn failed; the same error as awaiting it.
        """
        try:
            updates = [await anext(self)]
        except StopAsyncIteration:
            return None
        if self._updates is not None:
            updates += iter(self._updates.take, None)
        return updates

    def __await__(self) -> Generator[Any, None, TurnResult]:
        return self._own().__await__()

    async def wait(self) -> TurnResult:
        """Wait for the result without owning the turn: cancelling the wait leaves the turn alone.

        Raises:
            RequestFailed: the agent answered the prompt with an error.
            OutcomeUnknown: the connection ended while the turn ran; its ``interruption`` says what is known of it.
        """
        if not self._iterated and self._updates is not None:
            self._has_dropped = self._updates.take() is not None
            self._updates = None
        return await asyncio.shield(self._result)

    def cancel(self, reason: str = "the application asked for it") -> None:
        """Cancel the turn; at once if it has not been sent yet. Does nothing to a finished turn.

        Every question that the agent has open in this session is answered first, in the same write. What was already
        received is kept, and the agent may still send updates; await the turn for its end.

        Args:
            reason: for people; goes into ``outcome.detail``.
        """
        if not self._result.done():
            self._cancel(self, reason)

    @property
    def done(self) -> bool:
        """Whether the turn is over."""
        return self._result.done()

    @property
    def stop_reason(self) -> str | None:
        """The stop reason of a finished turn; ``None`` while it runs, or if it failed."""
        return self.result.stop_reason if self.result else None

    @property
    def result(self) -> TurnResult | None:
        """The result of a finished turn; ``None`` while it runs, or if it failed."""
        return self._result.result() if self._result.done() and not self._result.exception() else None

    @property
    def outcome(self) -> Outcome | None:
        """How the turn ended, also if it failed; ``None`` while it runs."""
        if not self._result.done():
            return None
        error = self._result.exception()
        if error is None:
            return self._result.result().outcome
        violations = () if self._changes is None else self._changes.violations
        interruption = error.interruption if isinstance(error, OutcomeUnknown) else self._unsent
        return Outcome(OutcomeKind.FAILED, detail=str(error), violations=violations, interruption=interruption)

    @property
    def text(self) -> str:
        """The agent's message text so far, without thoughts."""
        return join_text([*self._text, *itertools.chain.from_iterable(self._messages.values())])

    async def _own(self) -> TurnResult:
        try:
            return await self.wait()
        except asyncio.CancelledError:
            self.cancel("the task that awaited the turn was cancelled")
            raise

    async def over(self) -> None:
        """Wait until it is over, whatever it ends with; neither owns nor reads it."""
        await asyncio.wait([self._result])

    # --- for the session --------------------------------------------------------------------------------------------

    def note_choice(self, request: RequestPermissionRequest, outcome: RequestPermissionOutcome) -> None:
        """Remember which option a permission request of this turn was answered with."""
        if isinstance(outcome, SelectedPermissionOutcome):
            offered = ", ".join(repr(option.option_id) for option in request.options)
            call = request.tool_call.tool_call_id
            self.choices.append(f"{outcome.option_id!r} of {offered} for the tool call {call!r}")

    def receive(self, update: Any) -> None:
        """Take an update of this turn."""
        kind = update.__class__
        if kind is AgentMessageChunk:
            content = update.content
            if content.__class__ is TextContent:
                self._text.append(shown_text(content) if content.meta or content.extra else content.text)
        elif kind is AgentMessage:
            if not isinstance(update.content, Unset):
                texts = [block.text for block in update.content or () if isinstance(block, TextContent)]
                self._texts_of(update.message_id)[:] = texts
        elif kind is NamedMessageChunk and isinstance(update.content, TextContent):
            self._texts_of(update.message_id).append(update.content.text)
        if self._updates is not None:
            self._updates.push(update)
        else:
            self._has_dropped = True

    def receive_run(self, run: ChunkRun) -> None:
        """Take chunks of this turn."""
        if run.kind is AgentMessageChunk:
            self._text += run.texts
        elif run.kind is NamedMessageChunk and run.message_id:
            self._texts_of(run.message_id).extend(run.texts)
        if self._updates is not None:
            self._updates.extend(run.updates())
        else:
            self._has_dropped = True

    def _texts_of(self, message_id: str) -> list[str]:
        """Return where the texts of a message go; those of another turn's message, told anew, are not of this one."""
        texts = self._messages.get(message_id)
        if texts is None:
            texts = []
            if self._turn_of_message(message_id) in (None, self.number):
                self._messages[message_id] = texts
        return texts

    def finish(self, response: PromptResponse, outcome: Outcome) -> None:
        """Take the agent's answer to the prompt, and what it means."""
        if self.cancel_requested and outcome.kind is OutcomeKind.CANCELLED:
            outcome = evolve(outcome, detail=self.cancel_reason)
        self._end(
            TurnResult(
                stop_reason=response.stop_reason,
                text=self.text,
                outcome=outcome,
                cancel_requested=self.cancel_requested,
                usage=response.usage or None,
                meta=response.meta or {},
            )
        )

    def finish_without_reason(self, error: AcpError) -> None:
        """End a turn whose answer came but cannot be read: the turn is over either way."""
        outcome = Outcome(OutcomeKind.INCOMPLETE, detail=str(error))
        self._end(TurnResult(stop_reason=None, text=self.text, outcome=outcome, error=error))

    def finish_cancelled(self, error: AcpError | None = None) -> None:
        """End a turn that this side cancelled and the agent did not answer as it should.

        Args:
            error: what the agent answered instead; ``None`` if it answered nothing or never got the prompt.
        """
        outcome = Outcome(OutcomeKind.CANCELLED, detail=self.cancel_reason)
        self._end(
            TurnResult(
                stop_reason=StopReason.CANCELLED, text=self.text, outcome=outcome, cancel_requested=True, error=error
            )
        )

    def judged(self, changes: ChangeReport) -> None:
        """Take what has changed in the turn, before its end is told."""
        self._changes = changes

    def fail_unsent(self, error: AcpError) -> None:
        """End a turn whose prompt was not sent, and will not be."""
        self._unsent = unsent("session/prompt")
        self.fail(error)

    def fail(self, error: AcpError) -> None:
        """End a turn whose prompt failed."""
        if not self._result.done():
            self._result.set_exception(error)
            self._result.exception()  # a turn that nobody awaits must not log "exception was never retrieved"
            self._close_updates()

    def _end(self, result: TurnResult) -> None:
        if not self._result.done():
            self._result.set_result(result if self._changes is None else with_changes(result, self._changes))
            self._close_updates()

    def _close_updates(self) -> None:
        if self._updates is not None:
            self._updates.close()
