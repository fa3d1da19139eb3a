"""Saying something to an agent while it works: :class:`SessionInjections`.

==========================  ===========================================================================================
mode                        when the model gets it
==========================  ===========================================================================================
``interrupt_immediate``     at the next checkpoint; tool calls that it has asked for and that have not begun are skipped
``steer``                   at the next safe boundary of the turn that runs
``queue``                   never in this turn: the agent writes it down when its work is over, and asks no model
``after_turn``              in a turn of its own, after the one that runs; it waits here, and is dropped if that one is
                            cancelled
==========================  ===========================================================================================

The first three are the agent's (``session/inject``); where no turn runs there is nothing to put a message into, and it
is a prompt like any other. What becomes of each message is in the state, see :mod:`acp_host.state.injections`. An agent
may answer behind the turn, so no request here has a time limit.
"""

from __future__ import annotations

import asyncio
import functools
import itertools
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Any

from attrs import frozen

from acp_host.errors import AcpError, InvalidInput, MalformedResponse, NotSupported, OutcomeUnknown, RequestFailed
from acp_host.host.driver import Driver
from acp_host.host.prompt_content import PromptPart, content_blocks
from acp_host.host.turn import Turn
from acp_host.state.events import SessionEvent
from acp_host.state.injections import (
    MAX_INJECTIONS,
    Injection,
    InjectionAccepted,
    InjectionEnded,
    InjectionMade,
    InjectionReplaced,
    InjectionStatus,
    InjectionWished,
)
from acp_host.translate.reminders import PendingInjections
from acp_host.wire.content import ContentBlock
from acp_host.wire.converters import unstructure
from acp_host.wire.harn.members import harn_meta
from acp_host.wire.harn.refusals import refusal_reason

__all__ = ["InjectActor", "InjectMode", "InjectReceipt", "InjectionResult", "SessionInjections"]

_INJECT, _REVOKE, _REPLACE = "session/inject", "session/revoke_inject", "session/replace_inject"
_MODES = "session.inject.modes"
_MAX_LISTED = MAX_INJECTIONS // 2
"""How many messages are taken from an agent's list: those that were sent here are to keep their place in the state."""


class InjectMode(StrEnum):
    """When the model gets a message; see the table of the module."""

    INTERRUPT = "interrupt_immediate"
    STEER = "steer"
    QUEUE = "queue"
    AFTER_TURN = "after_turn"


_WITH_GOAL = (InjectMode.INTERRUPT, InjectMode.STEER)


class InjectionResult(StrEnum):
    """What became of the wish to take a message back, or to replace it; none of them is an error."""

    REVOKED = "revoked"
    REPLACED = "replaced"
    ALREADY_REVOKED = "already_revoked"
    ALREADY_DELIVERED = "already_delivered"
    UNKNOWN = "unknown_message_id"
    """The agent has no such message."""
    NOT_OWNER = "not_owner_or_not_authorized"
    """Another client has sent it, and this one may not touch it."""


@frozen(kw_only=True)
class InjectActor:
    """Who puts messages into turns; a host that says so should be the same one for all of a session.

    Attributes:
        client_id: its id.
        role: ``host_owner`` may take back and replace other clients' messages, too.
        source: what it is, e.g. ``"jupyter"``.
    """

    client_id: str
    role: str = "host_owner"
    source: str | None = None

    def meta(self, other: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return ``_meta`` with this in it, beside what else is to be there."""
        actor = {"clientId": self.client_id, "role": self.role, **({"source": self.source} if self.source else {})}
        return {**(other or {}), "harn": {**harn_meta(other), "actor": actor}}


@frozen(kw_only=True)
class InjectReceipt:
    """What became of a message when it was handed over.

    Attributes:
        mode: how it went: not always as was asked, see ``adjustments``.
        id: its host-local id, a key of the state's ``injections``; ``None`` where it became a turn of its own.
        message_id: the agent's id of it.
        turn: the turn that it became, if no other one ran or it has to wait for that.
        adjustments: what was done otherwise than was asked, and why; for people.
    """

    mode: InjectMode
    id: str | None = None
    message_id: str | None = None
    turn: Turn | None = None
    adjustments: tuple[str, ...] = ()


class SessionInjections:
    """The messages that a session's user puts into running turns.

    Attributes:
        actor: who this host is to the agent; ``None``: the client that it is attached by, or, if it is not, the agent's
            own name for a host that does not say.

    Args:
        session_id: the agent's id of the session.
        cwd: returns its working directory; ``None`` where that is on another machine.
        driver: sends the requests.
        running: returns the turn that a message can be put into, if there is one.
        prompt: makes a turn of a message, which waits for another turn if that is given.
        apply: takes what happens, for the state.
        known: returns the messages that the state has.
        client_id: returns the id that this host is attached by; ``None`` if it is not.
    """

    def __init__(
        self,
        session_id: str,
        *,
        cwd: Callable[[], str | None],
        driver: Driver,
        running: Callable[[], Turn | None],
        prompt: Callable[..., Turn],
        apply: Callable[[SessionEvent], None],
        known: Callable[[], Mapping[str, Injection]],
        client_id: Callable[[], str | None],
    ) -> None:
        self.actor: InjectActor | None = None
        self._session_id = session_id
        self._cwd = cwd
        self._driver = driver
        self._running = running
        self._prompt = prompt
        self._apply = apply
        self._known = known
        self._client_id = client_id
        self._numbers = itertools.count(1)
        self._answered: dict[str, asyncio.Event] = {}

    async def inject(
        self,
        content: PromptPart | Iterable[PromptPart],
        *,
        mode: str = InjectMode.STEER,
        goal: str | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> InjectReceipt:
        """Put a message into the running turn; see :meth:`Session.inject`."""
        wanted = _mode(mode)
        if goal is not None and (wanted not in _WITH_GOAL or not goal.strip()):
            raise InvalidInput(f"a goal is a text, and goes with {' or '.join(_WITH_GOAL)}; here with {wanted}")
        running = self._running()
        if wanted is InjectMode.AFTER_TURN or running is None:
            lost = ("the goal was not sent: no turn runs that could have another one",) if goal else ()
            turn = self._prompt(content, meta=meta, follows=running)
            return InjectReceipt(mode=wanted, turn=turn, adjustments=lost)
        sent, adjustments = self._fitting(wanted)
        blocks = content_blocks(content, self._driver.agreement, self._cwd())
        params: dict[str, Any] = {**self._params(meta), "mode": str(sent), "content": _plain(blocks)}
        if goal is not None:
            params["goal"] = {"objective": goal}
        entry_id = f"inj-{next(self._numbers)}"
        message_id = await self._send(entry_id, params, InjectionMade(entry_id, sent, blocks))
        return InjectReceipt(mode=sent, id=entry_id, message_id=message_id, adjustments=adjustments)

    async def revoke(self, injection_id: str) -> InjectionResult:
        """Take a message back (``session/revoke_inject``).

        Some agents answer only when the turn is over, and then that it was delivered.

        Args:
            injection_id: its local id or the agent's.

        Raises:
            InvalidInput: there is no such message.
            RequestFailed: the agent refused for a reason that is none of the results; ``data`` has it.
            OutcomeUnknown: the connection ended before the answer.
        """
        entry = await self._settled(injection_id)
        if isinstance(entry, InjectionResult):
            return entry
        try:
            answer = await self._ask(entry, _REVOKE, {}, InjectionEnded(entry.id, InjectionStatus.REVOKED))
        except RequestFailed as error:
            return self._refused(entry, error)
        already = isinstance(answer, Mapping) and answer.get("status") == InjectionResult.ALREADY_REVOKED
        return InjectionResult.ALREADY_REVOKED if already else InjectionResult.REVOKED

    async def replace(self, injection_id: str, content: PromptPart | Iterable[PromptPart]) -> InjectionResult:
        """Have a message say something else (``session/replace_inject``); its id, mode and place in line stay.

        Args:
            injection_id: its local id or the agent's.
            content: as for :meth:`Session.prompt`.

        Raises:
            NotSupported: the agent does not offer it; nothing was sent.
            InvalidInput: there is no such message, or ``content`` is none that a prompt can take.
            RequestFailed: as for :meth:`revoke`.
            OutcomeUnknown: likewise.
        """
        agreement = self._driver.agreement
        agreement.require_capability("session.inject.pending.replace", "another text for a message that waits")
        blocks = content_blocks(content, agreement, self._cwd())
        entry = await self._settled(injection_id)
        if isinstance(entry, InjectionResult):
            return entry
        try:
            await self._ask(entry, _REPLACE, {"content": _plain(blocks)}, InjectionReplaced(entry.id, blocks))
        except RequestFailed as error:
            return self._refused(entry, error)
        return InjectionResult.REPLACED

    # --- what the agent holds ---------------------------------------------------------------------------------------

    def asked(self) -> Callable[[PendingInjections], None]:
        """Learn that the agent is asked for its list; return what takes the answer."""
        held = frozenset(entry.id for entry in self._open() if entry.message_id is not None)
        return functools.partial(self._listed, held)

    def _listed(self, asked: frozenset[str], pending: PendingInjections) -> None:
        known = {entry.message_id: entry for entry in self._known().values() if entry.message_id is not None}
        for row in pending.messages[:_MAX_LISTED]:
            entry = known.get(row.message_id)
            if entry is None:
                number = f"inj-{next(self._numbers)}"
                self._apply(InjectionMade(number, row.mode or "", row.content, listed_as=row.message_id))
            elif entry.is_open:
                self._apply(InjectionAccepted(entry.id, row.message_id))
                self._apply(InjectionReplaced(entry.id, row.content or entry.content))
        if pending.problem is None:
            present = {row.message_id for row in pending.messages}
            for entry in self._open():
                if entry.id in asked and entry.message_id not in present:
                    self._apply(InjectionEnded(entry.id, InjectionStatus.GONE))

    def continue_from(self, earlier: SessionInjections) -> None:
        """Take over what the agent may still have of an earlier connection."""
        self._numbers, self.actor = earlier._numbers, earlier.actor
        for entry in earlier._open():
            if entry.message_id is not None:
                self._apply(InjectionMade(entry.id, entry.mode, entry.content, listed_as=entry.message_id))
                self._apply(InjectionEnded(entry.id, InjectionStatus.UNCERTAIN, entry.problem))

    def ended(self, why: str) -> None:
        """Learn that nobody will hear what becomes of what the agent has: the connection or the session is over."""
        for entry in self._open():
            self._apply(InjectionEnded(entry.id, InjectionStatus.UNCERTAIN, why))

    def _open(self) -> tuple[Injection, ...]:
        return tuple([entry for entry in self._known().values() if entry.is_open])

    # --- sending ----------------------------------------------------------------------------------------------------

    def _fitting(self, mode: InjectMode) -> tuple[InjectMode, tuple[str, ...]]:
        """Return the mode that the agent has in place of a wanted one, and what to say about that."""
        agreement = self._driver.agreement
        offered = agreement.offer(_MODES)
        modes = offered if isinstance(offered, list | tuple) else ()
        if mode in modes:
            return mode, ()
        if mode is InjectMode.INTERRUPT and InjectMode.STEER in modes:
            text = f"{agreement.agent_name} does not offer {mode}: the message was sent as {InjectMode.STEER}"
            return InjectMode.STEER, (text,)
        raise NotSupported(
            f"{agreement.agent_name} does not take messages by {mode} while it works: it does not offer that in "
            f"{_MODES}. Nothing was sent; {InjectMode.AFTER_TURN} works with every agent.",
            capability=f"agentCapabilities.{_MODES}",
            method=_INJECT,
        )

    async def _send(self, entry_id: str, params: dict[str, Any], made: InjectionMade) -> str:
        """Send a message and return the agent's id of it; the state learns of it in the same step as it is read."""

        def accepted(answer: Any) -> None:
            self._apply(InjectionAccepted(entry_id, _message_id(answer)))

        self._apply(made)
        self._answered[entry_id] = asyncio.Event()
        try:
            answer = await self._driver.call(_INJECT, params, on_result=accepted, on_late=accepted)
        except asyncio.CancelledError:
            self._apply(InjectionEnded(entry_id, InjectionStatus.UNCERTAIN, "given up before the agent answered"))
            raise
        except AcpError as error:
            unknown = isinstance(error, OutcomeUnknown | MalformedResponse)
            status = InjectionStatus.UNCERTAIN if unknown else InjectionStatus.REFUSED
            self._apply(InjectionEnded(entry_id, status, str(error)))
            raise
        finally:
            self._answered.pop(entry_id).set()
        return _message_id(answer)

    async def _ask(self, entry: Injection, method: str, members: Mapping[str, Any], taken: SessionEvent) -> Any:
        """Ask the agent about a message, and return its answer; ``taken`` is what has happened if it does as asked."""

        def answered(_: Any) -> None:
            self._apply(taken)

        params = {**self._params(None), "messageId": entry.message_id, **members}
        self._apply(InjectionWished(entry.id, "revoke" if method == _REVOKE else "replace"))
        try:
            return await self._driver.call(method, params, on_result=answered, on_late=answered)
        finally:
            self._apply(InjectionWished(entry.id, None))

    def _params(self, meta: Mapping[str, Any] | None) -> dict[str, Any]:
        if not isinstance(meta, Mapping | None):
            raise InvalidInput(f"meta is a JSON object, not {type(meta).__name__}")
        actor, client_id = self.actor, self._client_id()
        if actor is None and client_id is not None:
            actor = InjectActor(client_id=client_id)
        whole = dict(meta or {}) if actor is None else actor.meta(meta)
        return {"sessionId": self._session_id, **({"_meta": whole} if whole else {})}

    async def _settled(self, injection_id: str) -> Injection | InjectionResult:
        """Return a message that the agent may be asked about, or what there is to say without that."""
        entry = self._entry(injection_id)
        answered = self._answered.get(entry.id)
        if answered is not None:
            await answered.wait()
            entry = self._entry(entry.id)
        if entry.status == InjectionStatus.DELIVERED:
            return InjectionResult.ALREADY_DELIVERED
        if entry.status == InjectionStatus.REVOKED:
            return InjectionResult.ALREADY_REVOKED
        return InjectionResult.UNKNOWN if entry.message_id is None else entry

    def _entry(self, injection_id: str) -> Injection:
        known = self._known()
        entry = known.get(injection_id) or next(
            (each for each in known.values() if each.message_id == injection_id), None
        )
        if entry is None:
            raise InvalidInput(f"there is no message {injection_id!r} among what was said while the agent works")
        return entry

    def _refused(self, entry: Injection, error: RequestFailed) -> InjectionResult:
        """Return what a refusal amounts to.

        Raises:
            RequestFailed: ``error``, where it is none of the races that are part of the matter.
        """
        try:
            result = InjectionResult(refusal_reason(error) or "")
        except ValueError:
            raise error from None
        if result is InjectionResult.ALREADY_REVOKED:
            self._apply(InjectionEnded(entry.id, InjectionStatus.REVOKED))
        elif result in (InjectionResult.ALREADY_DELIVERED, InjectionResult.UNKNOWN):
            # Where it was delivered, the agent has told so by now, or does so soon; that counts more.
            self._apply(InjectionEnded(entry.id, InjectionStatus.GONE, error.message))
        return result


def _mode(mode: str) -> InjectMode:
    try:
        return InjectMode(mode)
    except ValueError:
        raise InvalidInput(f"mode is one of {', '.join(InjectMode)}, not {mode!r}") from None


def _plain(blocks: Iterable[ContentBlock]) -> list[dict[str, Any]]:
    return [unstructure(block, ContentBlock) for block in blocks]


def _message_id(answer: Any) -> str:
    message_id = answer.get("messageId") if isinstance(answer, Mapping) else None
    if not isinstance(message_id, str) or not message_id:
        raise MalformedResponse("the answer to session/inject has no messageId", has_result=True, result=answer)
    return message_id
