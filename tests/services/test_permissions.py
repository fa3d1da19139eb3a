"""How decisions become options: by kind and only without doubt; and which answers are valid."""

from __future__ import annotations

import pytest

from acp_host.errors import InvalidInput
from acp_host.services import (
    PermissionDecision,
    PermissionPolicy,
    answer_permission,
    validate_outcome,
)
from acp_host.wire.permission import (
    CancelledPermissionOutcome,
    PermissionOption,
    RequestPermissionOutcome,
    RequestPermissionRequest,
    SelectedPermissionOutcome,
    UnknownPermissionOutcome,
)
from acp_host.wire.tool_calls import ToolCallUpdate

CANCELLED = CancelledPermissionOutcome()

# The lists that agents send, as (id, kind), in their order.
PLAIN = [("yes", "allow_once"), ("no", "reject_once")]
FULL = [("a", "allow_always"), ("b", "allow_once"), ("c", "reject_once"), ("d", "reject_always")]
TWO_ONCE = [("a", "allow_once"), ("b", "allow_once"), ("no", "reject_once")]
TWO_ALWAYS = [("tool", "allow_always"), ("server", "allow_always"), ("once", "allow_once"), ("cancel", "reject_once")]
NO_REJECT = [("yes", "allow_once"), ("ever", "allow_always")]
ONLY_NEVER = [("yes", "allow_once"), ("never", "reject_always")]
TWO_REJECTS = [("yes", "allow_once"), ("no", "reject_once"), ("no, and", "reject_once")]
UNKNOWN = [("yes", "allow_session"), ("", ""), ("go", "Allow_Once")]
SAME_ID = [("x", "allow_once"), ("x", "reject_once")]


def request(options: list[tuple[str, str]]) -> RequestPermissionRequest:
    return RequestPermissionRequest(
        session_id="s",
        tool_call=ToolCallUpdate(tool_call_id="t"),
        options=tuple(PermissionOption(option_id=id, name="Allow", kind=kind) for id, kind in options),
    )


@pytest.mark.parametrize(
    ("decision", "options", "chosen"),
    [
        ("allow_once", PLAIN, "yes"),
        ("allow_once", PLAIN[::-1], "yes"),
        ("allow_once", FULL, "b"),
        ("allow_once", TWO_ONCE, "no"),
        ("allow_once", TWO_ALWAYS, "once"),
        ("allow_once", NO_REJECT, "yes"),
        ("allow_once", NO_REJECT[1:], None),
        ("allow_once", UNKNOWN, None),
        ("allow_once", [*UNKNOWN, *PLAIN[1:]], "no"),
        ("allow_once", SAME_ID, None),
        ("allow_once", [], None),
        ("allow_always", PLAIN, "yes"),
        ("allow_always", FULL, "a"),
        ("allow_always", TWO_ALWAYS, "once"),
        ("allow_always", [*TWO_ALWAYS[:2], *TWO_ALWAYS[3:]], "cancel"),
        ("reject_once", PLAIN, "no"),
        ("reject_once", PLAIN[::-1], "no"),
        ("reject_once", FULL, "c"),
        ("reject_once", TWO_ALWAYS, "cancel"),
        ("reject_once", NO_REJECT, None),
        ("reject_once", ONLY_NEVER, "never"),
        ("reject_once", TWO_REJECTS, None),
        ("reject_once", SAME_ID, None),
        ("reject_once", UNKNOWN, None),
        ("reject_once", [], None),
        ("reject_always", FULL, "d"),
        ("reject_always", PLAIN, "no"),
        ("reject_always", NO_REJECT, None),
        ("cancel", FULL, None),
    ],
)
def test_a_decision_chooses_by_kind_and_only_without_doubt(
    decision: str, options: list[tuple[str, str]], chosen: str | None
) -> None:
    outcome = PermissionPolicy(default=decision).decide(request(options))
    assert outcome == (CANCELLED if chosen is None else SelectedPermissionOutcome(option_id=chosen))


def test_policies_are_values() -> None:
    assert PermissionPolicy() == PermissionPolicy.reject() == PermissionPolicy("reject_once")
    assert PermissionPolicy.allow_once().default is PermissionDecision.ALLOW_ONCE
    assert len({PermissionPolicy.reject(), PermissionPolicy.allow_once(), PermissionPolicy()}) == 2
    with pytest.raises(AttributeError):
        PermissionPolicy().default = PermissionDecision.ALLOW_ALWAYS


def test_an_unknown_decision_is_refused_with_the_words_that_there_are() -> None:
    with pytest.raises(InvalidInput, match=r"allow_once, .*cancel, not 'yes'"):
        PermissionPolicy("yes")


@pytest.mark.parametrize("answer", ["no", SelectedPermissionOutcome(option_id="no")])
def test_an_offered_option_is_a_valid_answer(answer: RequestPermissionOutcome | str) -> None:
    assert validate_outcome(request(PLAIN), answer) == SelectedPermissionOutcome(option_id="no")


def test_cancelled_is_always_a_valid_answer() -> None:
    assert validate_outcome(request([]), CANCELLED) is CANCELLED


@pytest.mark.parametrize(
    "answer",
    [
        "allow_once",
        "Yes",
        SelectedPermissionOutcome(option_id="0"),
        UnknownPermissionOutcome(tag="later", data={"outcome": "later"}),
        None,
        True,
    ],
)
def test_any_other_answer_is_refused(answer: RequestPermissionOutcome | str) -> None:
    with pytest.raises(InvalidInput, match=r"\['yes', 'no'\]"):
        validate_outcome(request(PLAIN), answer)


async def test_policies_functions_and_coroutine_functions_answer() -> None:
    def by_id(_: RequestPermissionRequest) -> str:
        return "yes"

    async def by_outcome(asked: RequestPermissionRequest) -> RequestPermissionOutcome:
        return SelectedPermissionOutcome(option_id=asked.options[1].option_id)

    assert await answer_permission(PermissionPolicy.reject(), request(PLAIN)) == SelectedPermissionOutcome("no")
    assert await answer_permission(by_id, request(PLAIN)) == SelectedPermissionOutcome("yes")
    assert await answer_permission(by_outcome, request(PLAIN)) == SelectedPermissionOutcome("no")


async def test_a_handler_cannot_answer_with_what_was_not_offered() -> None:
    with pytest.raises(InvalidInput):
        await answer_permission(lambda _: "always", request(PLAIN))
