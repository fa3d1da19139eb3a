"""What a run may spend, and what the agent does not say of that."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from acp_host import Budget, InvalidInput, Retries, RunReason, Timeouts, run_prompt
from acp_host.cli.run_options import retries_of
from acp_host.testing import ScriptedAgent
from tests.automation import agents


@pytest.mark.parametrize(
    "budget, detail",
    [
        (Budget(tokens=250), "tokens is exceeded: 300 of 250"),
        (Budget(cost=1.5), "cost is exceeded: 2 USD of 1.5 USD"),
        (Budget(cost=2.5, currency="USD"), "cost is exceeded: 3 USD of 2.5 USD"),
        (Budget(turns=1), "turns is exceeded: "),
    ],
)
async def test_a_turn_that_spends_more_is_cancelled(tmp_path: Path, budget: Budget, detail: str) -> None:
    async with run_prompt(ScriptedAgent(agents.spends).transport(), "x", cwd=tmp_path, budget=budget) as run:
        told = [event async for event in run]
        result = await run
    assert (result.outcome.kind, result.outcome.reason) == ("incomplete", RunReason.BUDGET_EXCEEDED)
    assert detail in result.outcome.detail
    assert [event.detail for event in told if event.type == "limit"] == [result.outcome.detail]
    assert result.unreported == ()
    assert result.text == "spent", "what was said is kept"


async def test_what_the_agent_does_not_report_is_said(tmp_path: Path) -> None:
    budget = Budget(tokens=1, cost=1, turns=1)
    result = await run_prompt(ScriptedAgent(agents.answers).transport(), "x", cwd=tmp_path, budget=budget)
    assert (result.completed, result.unreported, result.cost) == (True, ("tokens", "cost", "turns"), None)


async def test_a_cost_in_another_currency_is_not_compared(tmp_path: Path) -> None:
    run = run_prompt(
        ScriptedAgent(agents.spends).transport(),
        "x",
        cwd=tmp_path,
        budget=Budget(cost=1, currency="EUR"),
        timeouts=Timeouts(idle=0.3),
    )
    result = await run
    assert (result.outcome.reason, result.unreported) == (RunReason.IDLE_TIMEOUT, ("cost",))
    assert result.cost is not None
    assert (result.cost.amount, result.cost.currency) == (3.0, "USD")


async def test_letters_of_a_currency_count_in_either_case(tmp_path: Path) -> None:
    budget = Budget(cost=1.5, currency="usd")
    result = await run_prompt(ScriptedAgent(agents.spends).transport(), "x", cwd=tmp_path, budget=budget)
    assert (result.outcome.reason, result.unreported) == (RunReason.BUDGET_EXCEEDED, ())


async def test_what_earlier_attempts_have_spent_counts(tmp_path: Path) -> None:
    retries = Retries(attempts=3, delay=0, after_prompt=True)
    command = ScriptedAgent.command(agents.fails_dearly)
    result = await run_prompt(command, "x", cwd=tmp_path, budget=Budget(cost=1.5), retries=retries)
    assert [attempt.prompt_sent for attempt in result.attempts] == [True, True]
    assert result.cost is not None
    assert result.cost.amount == 2.0


@pytest.mark.parametrize(
    "make",
    [
        lambda: Budget(tokens=0),
        lambda: Budget(cost=-1),
        lambda: Budget(turns=1.5),
        lambda: Budget(currency=""),
        lambda: Timeouts(idle=0),
        lambda: Retries(attempts=0),
        lambda: Retries(delay=-1),
    ],
)
def test_a_limit_that_is_none_is_refused(make: object) -> None:
    with pytest.raises(InvalidInput):
        make()


def test_a_number_of_retries_is_that_of_further_attempts_wherever_it_is_given() -> None:
    assert [Retries.of(number).attempts for number in (0, 2)] == [1, 3]
    assert Retries.of(Retries(attempts=5)) == Retries(attempts=5)
    assert retries_of(argparse.Namespace(retries=2, retry_after_prompt=False)) == Retries.of(2)
    for wrong in (-1, True, "2", 1.5):
        with pytest.raises(InvalidInput, match="retries"):
            Retries.of(wrong)


def test_waits_between_attempts_grow_and_are_bounded() -> None:
    retries = Retries(attempts=9, delay=1, longest_delay=5)
    assert [retries.delay_before(attempt) for attempt in (2, 3, 4, 5, 90)] == [1, 2, 4, 5, 5]
