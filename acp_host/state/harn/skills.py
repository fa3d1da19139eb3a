"""The skills of a Harn agent, and which tools are left to it: :class:`Skills`, a reducer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from acp_host.state._value import is_same, plain_json, value
from acp_host.state.changes import ChangeKind, Note
from acp_host.state.events import HarnEvent
from acp_host.wire._model import NO_EXTRA, evolve, model

__all__ = [
    "MAX_SKILLS",
    "Skill",
    "SkillActivated",
    "SkillDeactivated",
    "SkillScoped",
    "Skills",
    "SkillsSnapshot",
    "Stance",
    "StanceChanged",
    "ToolNarrowing",
    "ToolsNarrowed",
]

MAX_SKILLS = 200
"""How many skills are kept as active at a time, and of how many it is kept what they are limited to."""

_TOPIC = "skills"


@value
class Skill:
    """A skill that the agent works by.

    Attributes:
        name: what it is called.
        iteration: of the agent's loop, in which it was activated; ``None`` if the agent does not say.
        reason: why, in the agent's words.
        allowed_tools: the only tools that may be used under it; ``None``: it limits none.
    """

    name: str
    iteration: int | None = None
    reason: str | None = None
    allowed_tools: tuple[str, ...] | None = None


@value
class ToolNarrowing:
    """Tools were taken from the agent.

    Attributes:
        removed: the tools it does not have any more.
        remaining: those that it has.
        reason: why, in the agent's words.
        policy: by which rule; JSON of the agent's own.
        removed_details: why each of them was removed; likewise.
        kept_details: why each of the others was not; likewise.
        extra: what else the agent said.
    """

    removed: tuple[str, ...]
    remaining: tuple[str, ...]
    reason: str | None = None
    policy: Any = plain_json(default=None)
    removed_details: Any = plain_json(default=None)
    kept_details: Any = plain_json(default=None)
    extra: Mapping[str, Any] = plain_json(default=NO_EXTRA)


@value
class Stance:
    """Whether the agent only looks, or may write.

    Attributes:
        phase: ``observing``, ``write_access_granted``, ``write_access_denied``, or another word of the agent.
        escape_tool: the tool by which it asked to write.
        allowed_tools: what it may use now; ``None`` if it does not say.
        justification: why it asked.
        consent: who agreed.
        reason: why it is so.
        extra: what else the agent said.
    """

    phase: str
    escape_tool: str | None = None
    allowed_tools: tuple[str, ...] | None = None
    justification: str | None = None
    consent: str | None = None
    reason: str | None = None
    extra: Mapping[str, Any] = plain_json(default=NO_EXTRA)


@value
class SkillsSnapshot:
    """The skills and what is left of the tools, at one moment.

    Attributes:
        active: the skills that the agent works by, by name, the one activated first before the others.
        scopes: the only tools that may be used under a skill, by its name; of skills that are not active, too.
        narrowing: the last time that tools were taken from the agent; ``None`` if that never happened.
        stance: whether the agent may write; ``None`` if it never said.
    """

    active: Mapping[str, Skill] = NO_EXTRA
    scopes: Mapping[str, tuple[str, ...]] = NO_EXTRA
    narrowing: ToolNarrowing | None = None
    stance: Stance | None = None


@model
class SkillActivated(HarnEvent):
    """The agent works by a skill from now on."""

    name: str
    iteration: int | None = None
    reason: str | None = None


@model
class SkillDeactivated(HarnEvent):
    """It does not any more."""

    name: str
    iteration: int | None = None


@model
class SkillScoped(HarnEvent):
    """Under a skill, only these tools may be used."""

    name: str
    allowed_tools: tuple[str, ...]


@model
class ToolsNarrowed(HarnEvent):
    """Tools were taken from the agent."""

    narrowing: ToolNarrowing


@model
class StanceChanged(HarnEvent):
    """The agent may write, or may not any more."""

    stance: Stance


class Skills:
    """Folds what is told of skills and tools.

    Args:
        note: called with each change.
        problem: called with what is forgotten because there is too much.
    """

    def __init__(self, note: Note, problem: Callable[[str], None] = lambda _: None) -> None:
        self._note = note
        self._problem = problem
        self._skills = SkillsSnapshot()

    def reducers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the method for each class of event that concerns skills and tools."""
        return {
            SkillActivated: self._activated,
            SkillDeactivated: self._deactivated,
            SkillScoped: self._scoped,
            ToolsNarrowed: lambda event: self._change(narrowing=event.narrowing),
            StanceChanged: lambda event: self._change(stance=event.stance),
        }

    def freeze(self) -> SkillsSnapshot:
        """Return the skills as they are now; the same object as long as nothing changes."""
        return self._skills

    def _activated(self, event: SkillActivated) -> None:
        scope = self._skills.scopes.get(event.name)
        skill = Skill(name=event.name, iteration=event.iteration, reason=event.reason, allowed_tools=scope)
        self._change(active=self._with(self._skills.active, event.name, skill))

    def _deactivated(self, event: SkillDeactivated) -> None:
        self._change(active=_without(self._skills.active, event.name), scopes=_without(self._skills.scopes, event.name))

    def _scoped(self, event: SkillScoped) -> None:
        active, tools = self._skills.active, event.allowed_tools
        if event.name in active:
            active = self._with(active, event.name, evolve(active[event.name], allowed_tools=tools))
        self._change(active=active, scopes=self._with(self._skills.scopes, event.name, tools))

    def _with(self, known: Mapping[str, Any], name: str, told: Any) -> Mapping[str, Any]:
        if name in known and known[name] == told:
            return known
        merged = {**known, name: told}
        if len(merged) <= MAX_SKILLS:
            return merged
        self._problem(f"more than {MAX_SKILLS} skills: the oldest of them is forgotten")
        return dict([*merged.items()][-MAX_SKILLS:])

    def _change(self, **members: Any) -> None:
        skills = evolve(self._skills, **members)
        if not is_same(skills, self._skills):
            self._skills = skills
            self._note(_TOPIC, None, ChangeKind.CHANGED)


def _without(known: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return {other: told for other, told in known.items() if other != name} if name in known else known
