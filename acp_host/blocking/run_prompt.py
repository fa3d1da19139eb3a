"""One prompt to one agent in one call, without ``await``: :func:`run_prompt`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from acp_host.automation.run_prompt import run_prompt as async_run_prompt
from acp_host.blocking._adapted import adapted
from acp_host.blocking._callbacks import Callbacks, Dispatch
from acp_host.blocking._thread import LoopThread
from acp_host.blocking.run import Run
from acp_host.host.agent_target import AgentTarget
from acp_host.host.prompt_content import PromptPart
from acp_host.transports import Transport

__all__ = ["run_prompt"]


def run_prompt(
    agent: Sequence[str] | str | Transport | AgentTarget,
    prompt: PromptPart | Sequence[PromptPart],
    *,
    dispatch: Dispatch | None = None,
    **options: Any,
) -> Run:
    """Send one prompt to an agent, and end the agent when it is done, as :func:`acp_host.run_prompt`. ::

        result = acp_host.blocking.run_prompt(["some-agent", "--acp"], "Fix the failing test").wait()
        print(result.outcome.kind, result.text)

    Handlers may be plain functions that block, as for :func:`acp_host.blocking.connect`.

    Args:
        agent: as for ``acp_host.run_prompt``.
        prompt: likewise.
        dispatch: as for :func:`acp_host.blocking.connect`.
        **options: as for ``acp_host.run_prompt``.

    Raises:
        InvalidInput: an argument is wrong.
    """
    callbacks = Callbacks(dispatch)
    try:
        run = async_run_prompt(agent, prompt, **adapted(options, callbacks))
    except BaseException:
        callbacks.close()
        raise
    return Run(run, LoopThread("acp_host run"), callbacks)
