"""Required properties that some agents send under another name, or leave out."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host.errors import DecodeError
from acp_host.wire.config_options import CurrentModeUpdate
from acp_host.wire.converters import structure_tolerant, unstructure
from acp_host.wire.plans import Plan, PlanEntryPriority
from acp_host.wire.updates import SessionUpdate


def read(update: dict[str, Any]) -> Any:
    return structure_tolerant(update, SessionUpdate)[0]


def test_a_mode_under_its_other_name() -> None:
    update = read({"sessionUpdate": "current_mode_update", "modeId": "architect", "further": 1})
    assert update == CurrentModeUpdate("architect", extra={"further": 1})
    assert unstructure(update, SessionUpdate)["currentModeId"] == "architect"


def test_its_own_name_counts_more() -> None:
    assert read({"sessionUpdate": "current_mode_update", "modeId": "a", "currentModeId": "b"}).current_mode_id == "b"


@pytest.mark.parametrize("members", [{}, {"modeId": None}, {"modeId": 7}])
def test_there_must_be_one(members: dict[str, Any]) -> None:
    with pytest.raises(DecodeError):
        read({"sessionUpdate": "current_mode_update", **members})


def test_an_entry_of_a_plan_without_a_priority_is_of_medium_priority() -> None:
    plan = read({"sessionUpdate": "plan", "entries": [{"content": "c", "status": "pending"}, {"status": "pending"}]})
    assert isinstance(plan, Plan)
    assert [(entry.content, entry.priority) for entry in plan.entries] == [("c", PlanEntryPriority.MEDIUM)]
