"""Agents that do anything in any order; `make chaos` lets them for longer, and never the same twice."""

from __future__ import annotations

import os
import sys

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.chaos.any_agent import AnyAgent

EXAMPLES = int(os.environ.get("ACP_HOST_CHAOS_EXAMPLES", "0"))
"""How many agents; 0 for the few of every run, which are the same each time."""


@pytest.mark.skipif(sys.platform == "win32", reason="counts open files as POSIX has them")
@pytest.mark.timeout(0 if EXAMPLES else 120)
def test_r441_an_agent_that_does_anything_in_any_order() -> None:
    chosen = settings(
        max_examples=EXAMPLES or 15,
        stateful_step_count=60 if EXAMPLES else 25,
        derandomize=not EXAMPLES,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=tuple(Phase) if EXAMPLES else (Phase.generate,),  # whoever fails a run of few is to know it soon
        print_blob=True,
    )
    run_state_machine_as_test(AnyAgent, settings=chosen)
