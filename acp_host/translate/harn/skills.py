"""Updates about skills, and about the tools that are left to the agent."""

from __future__ import annotations

from acp_host.state.harn.skills import (
    SkillActivated,
    SkillDeactivated,
    SkillScoped,
    Stance,
    StanceChanged,
    ToolNarrowing,
    ToolsNarrowed,
)
from acp_host.translate.harn.payload import Payload

__all__ = ["skill_activated", "skill_deactivated", "skill_narrow", "skill_scope_tools", "stance_transition"]

_BY_A_TOOL = ("write_access_granted", "write_access_denied")
"""Phases that come by the use of a tool, which they name."""


def skill_activated(payload: Payload) -> tuple[SkillActivated, ...]:
    """Read ``skill_activated``."""
    return (SkillActivated(payload.identity("skillName"), payload.integer("iteration", 0), payload.text("reason")),)


def skill_deactivated(payload: Payload) -> tuple[SkillDeactivated, ...]:
    """Read ``skill_deactivated``."""
    return (SkillDeactivated(payload.identity("skillName"), payload.integer("iteration", 0)),)


def skill_scope_tools(payload: Payload) -> tuple[SkillScoped, ...]:
    """Read ``skill_scope_tools``."""
    return (SkillScoped(payload.identity("skillName"), payload.required("allowedTools", payload.texts)),)


def skill_narrow(payload: Payload) -> tuple[ToolsNarrowed, ...]:
    """Read ``skill_narrow``, which is about tools and names no skill."""
    narrowing = ToolNarrowing(
        removed=payload.required("removedTools", payload.texts),
        remaining=payload.required("remainingTools", payload.texts),
        reason=payload.text("reason"),
        policy=payload.any("policy"),
        removed_details=payload.any("removedToolDetails"),
        kept_details=payload.any("keptToolDetails"),
        extra=payload.rest(),
    )
    return (ToolsNarrowed(narrowing),)


def stance_transition(payload: Payload) -> tuple[StanceChanged, ...]:
    """Read ``stance_transition``."""
    phase = payload.identity("phase")
    stance = Stance(
        phase=phase,
        escape_tool=payload.identity("escapeTool") if phase in _BY_A_TOOL else payload.text("escapeTool"),
        allowed_tools=payload.texts("allowedTools"),
        justification=payload.text("justification"),
        consent=payload.text("consent"),
        reason=payload.text("reason"),
        extra=payload.rest(),
    )
    return (StanceChanged(stance),)
