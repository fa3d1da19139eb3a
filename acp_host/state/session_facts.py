"""The reducer of what an agent tells of a session beside its conversation: :class:`SessionFacts`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from acp_host.state import events
from acp_host.state.changes import ChangeKind, Note
from acp_host.state.members import merged, patched
from acp_host.state.snapshot import ContextUsage, Plan, SessionInfo
from acp_host.wire._model import NO_EXTRA, UNSET, Unset, evolve
from acp_host.wire.commands import AvailableCommand
from acp_host.wire.content import ContentBlock, TextContent
from acp_host.wire.subagents import SubagentUpdate
from acp_host.wire.usage import Usage

__all__ = ["MAX_PLANS", "MAX_SUBAGENTS", "SessionFacts"]

MAX_PLANS = 100
"""Most plans that are kept of a session, the newest ones."""
MAX_SUBAGENTS = 1_000
"""Most subagents that are kept of those that one session has announced, the newest ones."""

_TITLE_LENGTH = 60
_SECTIONS = ("plans", "commands", "info", "usage", "subagents")
_SAID_OF_SUBAGENT = ("title", "description", "capabilities", "state", "cwd", "additional_directories", "meta")


class SessionFacts:
    """Folds plans, commands, information, usage and subagents; one immutable value takes the place of another.

    Attributes:
        plans: the plans, the oldest first.
        commands: what the user can call by name.
        info: the title and what else is known of the session as a whole.
        usage: how full the model's context is, and what it costs.
        subagents: what is told of the sessions below this one, by their ids.

    Args:
        note: called with each change.
        problem: called with what was forgotten because there is too much.
    """

    def __init__(self, note: Note, problem: Callable[[str], None] = lambda _: None) -> None:
        self.plans: tuple[Plan, ...] = ()
        self.commands: tuple[AvailableCommand, ...] = ()
        self.info = SessionInfo()
        self.usage = ContextUsage()
        self.subagents: Mapping[str, SubagentUpdate] = NO_EXTRA
        self._note = note
        self._problem = problem

    def reducers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the method for each class of event that tells such facts."""
        return {
            events.PlanReplaced: self._plan_replaced,
            events.PlanRemoved: self._plan_removed,
            events.CommandsReplaced: self._commands_replaced,
            events.SessionInfoChanged: self._session_info_changed,
            events.UsageReported: self._usage_reported,
            events.SubagentReported: self._subagent_reported,
        }

    def name_after(self, prompt: tuple[ContentBlock, ...]) -> None:
        """Call a session that has no title by the beginning of a prompt."""
        title = _provisional_title(prompt) if self.info.title is None else None
        if title is not None:
            self.info = evolve(self.info, title=title, provisional=True)
            self._note("info", None, ChangeKind.CHANGED)

    def turn_used(self, usage: Usage) -> None:
        """Take what the latest turn has used."""
        self.usage = evolve(self.usage, last_turn=usage)
        self._note("usage", None, ChangeKind.CHANGED)

    def known(self) -> dict[str, Any]:
        """Return all that is known, for :meth:`restore`."""
        return {section: getattr(self, section) for section in _SECTIONS}

    def restore(self, known: Mapping[str, Any]) -> None:
        """Know again what was known at an earlier moment."""
        for section, value in known.items():
            told = getattr(self, section)
            if told is not value:
                setattr(self, section, value)
                for key in {**told, **value} if isinstance(value, Mapping) else (None,):
                    self._note(section, key, ChangeKind.CHANGED)

    def _plan_replaced(self, event: events.PlanReplaced) -> None:
        plan = Plan(plan_id=event.plan_id, content=event.content)
        ids = [other.plan_id for other in self.plans]
        known = event.plan_id in ids
        if known:
            place = ids.index(event.plan_id)
            self.plans = (*self.plans[:place], plan, *self.plans[place + 1 :])
        else:
            self.plans = (*self.plans, plan)
        self._note("plans", event.plan_id, ChangeKind.CHANGED if known else ChangeKind.ADDED)
        if len(self.plans) > MAX_PLANS:
            oldest, *newest = self.plans
            self.plans = tuple(newest)
            self._note("plans", oldest.plan_id, ChangeKind.REMOVED)
            self._problem(f"more than {MAX_PLANS} plans: the oldest of them is forgotten")

    def _plan_removed(self, event: events.PlanRemoved) -> None:
        left = tuple([plan for plan in self.plans if plan.plan_id != event.plan_id])
        if len(left) < len(self.plans):
            self.plans = left
            self._note("plans", event.plan_id, ChangeKind.REMOVED)

    def _commands_replaced(self, event: events.CommandsReplaced) -> None:
        self.commands = event.commands
        self._note("commands", None, ChangeKind.CHANGED)

    def _session_info_changed(self, event: events.SessionInfoChanged) -> None:
        info = self.info
        if not isinstance(event.title, Unset):
            info = evolve(info, title=event.title, provisional=False)
        if not isinstance(event.updated_at, Unset):
            info = evolve(info, updated_at=event.updated_at)
        if not isinstance(event.meta, Unset):
            meta = patched(info.meta, event.meta, self._problem) if event.patches_meta else event.meta or NO_EXTRA
            info = evolve(info, meta=meta)
        if info is not self.info:
            self.info = info
            self._note("info", None, ChangeKind.CHANGED)

    def _usage_reported(self, event: events.UsageReported) -> None:
        cost = self.usage.cost if event.cost is UNSET else event.cost
        self.usage = ContextUsage(used=event.used, size=event.size, cost=cost, last_turn=self.usage.last_turn)
        self._note("usage", None, ChangeKind.CHANGED)

    def _subagent_reported(self, event: events.SubagentReported) -> None:
        update = event.update
        known = self.subagents.get(update.session_id)
        child = update if known is None else _said_last(known, update, self._problem)
        if event.patches_meta and update.meta is not UNSET:
            before = NO_EXTRA if known is None else known.meta or NO_EXTRA
            child = evolve(child, meta=patched(before, update.meta, self._problem) or None)
        self.subagents = {**self.subagents, update.session_id: child}
        self._note("subagents", update.session_id, ChangeKind.ADDED if known is None else ChangeKind.CHANGED)
        if len(self.subagents) > MAX_SUBAGENTS:
            oldest, *newest = self.subagents
            self.subagents = {session_id: self.subagents[session_id] for session_id in newest}
            self._note("subagents", oldest, ChangeKind.REMOVED)
            self._problem(f"more than {MAX_SUBAGENTS} subagents: the oldest of them is forgotten")


def _said_last(known: SubagentUpdate, update: SubagentUpdate, problem: Callable[[str], None]) -> SubagentUpdate:
    """Return what is known of a child session after an update; what it does not mention stays."""
    said = {name: getattr(update, name) for name in _SAID_OF_SUBAGENT if getattr(update, name) is not UNSET}
    return evolve(known, **said, extra=merged(known.extra, update.extra, problem))


def _provisional_title(prompt: tuple[ContentBlock, ...]) -> str | None:
    texts = (block.text.strip() for block in prompt if isinstance(block, TextContent))
    first_line = next((text.splitlines()[0].rstrip() for text in texts if text), None)
    if first_line is None or len(first_line) <= _TITLE_LENGTH:
        return first_line
    return first_line[: _TITLE_LENGTH - 1] + "…"
