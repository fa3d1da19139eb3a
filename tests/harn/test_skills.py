"""The skills of a Harn agent and what is left of its tools, from the wire to the state."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host.state.harn.skills import MAX_SKILLS, Skill, Stance, ToolNarrowing
from tests.harn.harness import Desk, named, read, updates


def activated(name: str = "rust", **members: Any) -> dict[str, Any]:
    return named("skill_activated", skillName=name, **members)


def test_a_skill_is_active_until_it_is_not() -> None:
    desk = Desk().take(activated(iteration=1, reason="matched"), activated("deploy"))
    assert desk.harn.skills.active == {
        "rust": Skill(name="rust", iteration=1, reason="matched"),
        "deploy": Skill(name="deploy"),
    }
    desk.take(named("skill_deactivated", skillName="rust", iteration=3))
    assert list(desk.harn.skills.active) == ["deploy"]
    desk.assert_exact()


@pytest.mark.parametrize("scope_first", [True, False])
def test_a_skill_limits_the_tools_whichever_is_told_first(scope_first: bool) -> None:
    told = [activated(), named("skill_scope_tools", skillName="rust", allowedTools=["read", "grep"])]
    desk = Desk().take(*(reversed(told) if scope_first else told))
    assert desk.harn.skills.active["rust"].allowed_tools == ("read", "grep")
    assert desk.harn.skills.scopes == {"rust": ("read", "grep")}
    desk.take(named("skill_deactivated", skillName="rust"))
    assert (desk.harn.skills.active, desk.harn.skills.scopes) == ({}, {})


def test_what_was_taken_from_the_agent() -> None:
    desk = Desk().take(*updates("derived_namespaced_updates.json", "skill_narrow"))
    assert desk.harn.skills.narrowing == ToolNarrowing(
        removed=("shell",), remaining=("read_file",), reason="ceiling", policy={"mode": "strict"}
    )
    desk.take(
        named("skill_narrow", removedTools=[], remainingTools=["a"], removedToolDetails=[1], keptToolDetails={"a": 2})
    )
    assert desk.harn.skills.narrowing == ToolNarrowing(
        removed=(), remaining=("a",), removed_details=[1], kept_details={"a": 2}
    )
    desk.assert_exact()


def test_whether_the_agent_may_write() -> None:
    desk = Desk().take(*updates("derived_namespaced_updates.json", "stance_transition"))
    assert desk.harn.skills.stance == Stance(phase="observing")
    desk.take(
        named(
            "stance_transition",
            phase="write_access_granted",
            escapeTool="request_write",
            allowedTools=["edit_file"],
            consent="host",
        )
    )
    assert desk.harn.skills.stance == Stance(
        phase="write_access_granted", escape_tool="request_write", allowed_tools=("edit_file",), consent="host"
    )
    desk.take(named("stance_transition", phase="meditating", further=1))
    assert desk.harn.skills.stance == Stance(phase="meditating", extra={"further": 1})
    desk.assert_exact()


@pytest.mark.parametrize(
    "update",
    [
        named("skill_activated"),
        named("skill_activated", skillName=" "),
        named("skill_activated", skillName=3),
        named("skill_deactivated"),
        named("skill_scope_tools", skillName="rust"),
        named("skill_scope_tools", allowedTools=[]),
        named("skill_narrow", removedTools=[]),
        named("skill_narrow", remainingTools="read"),
        named("stance_transition"),
        named("stance_transition", phase="write_access_granted"),
        named("stance_transition", phase="write_access_denied", escapeTool=" "),
    ],
)
def test_without_what_it_is_about_it_is_nothing(update: dict[str, Any]) -> None:
    report = read(update)
    assert report is not None
    assert report.events == ()
    assert report.problems


def test_a_wrong_iteration_is_left_out() -> None:
    report = read(activated(iteration=-1))
    assert report is not None
    assert report.problems == ("iteration is not an integer of at least 0: -1",)
    assert report.events[0].iteration is None


def test_the_same_again_changes_nothing() -> None:
    desk = Desk().take(activated(), named("skill_scope_tools", skillName="rust", allowedTools=["a"]))
    before = desk.harn.skills
    desk.take(activated(), named("skill_scope_tools", skillName="rust", allowedTools=["a"]))
    assert desk.harn.skills is before


def test_skills_are_bounded() -> None:
    desk = Desk()
    for number in range(MAX_SKILLS + 1):
        desk.take(activated(f"s{number}"), named("skill_scope_tools", skillName=f"s{number}", allowedTools=["a"]))
    assert len(desk.harn.skills.active) == len(desk.harn.skills.scopes) == MAX_SKILLS
    assert "s0" not in desk.harn.skills.active
    assert desk.problems == [f"more than {MAX_SKILLS} skills: the oldest of them is forgotten"] * 2
