"""The programs that a Harn agent composes of its tools and runs: :class:`CompositionRuns`, a reducer.

A run has calls of tools in it. What is told of either is put together by their ids, in whatever order it comes: a call
may be heard of before its run, and after the run has ended. Of a run, what it was to do at most says little: a call in
it may reach farther, and then the run does.

==================================  ===================================================================================
what happens                        ``status`` of the run
==================================  ===================================================================================
anything is told of it              ``running``
the agent says that it has ended    ``finished`` or ``failed``; what it says first counts
turn or session end before that     ``incomplete``; the agent's word may yet come
==================================  ===================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from acp_host.state._value import plain_json, value
from acp_host.state.changes import Note
from acp_host.state.collections import Keyed
from acp_host.state.events import HarnEvent, SessionClosed, TurnEnded
from acp_host.state.harn.agent_events import AgentSessionEnded
from acp_host.state.harn.side_effects import farthest
from acp_host.wire._model import NO_EXTRA, evolve, model

__all__ = [
    "MAX_CALLS",
    "MAX_RUNS",
    "CompositionCall",
    "CompositionCallReported",
    "CompositionRun",
    "CompositionRunReported",
    "CompositionRuns",
]

MAX_RUNS = 200
"""How many runs are kept; those that have ended leave first, the oldest before the others."""

MAX_CALLS = 200
"""How many calls of a run are kept, the first ones; ``call_count`` is the number of all."""

_TOPIC = "composition_runs"
_RUNNING, _FINISHED, _FAILED, _INCOMPLETE = "running", "finished", "failed", "incomplete"


@value
class CompositionCall:
    """A call of a tool in a run. All but the id may be missing.

    Attributes:
        tool_call_id: its id within the run.
        tool_name: which tool.
        operation_index: the place of the call in the program, counted from 0.
        requested_level: how far it is to reach.
        annotations: what is known of the tool; JSON of the agent's own.
        policy_context: what the agent's rules say to it; likewise.
        raw_input: what the tool was given.
        status: ``completed``, ``failed``, or another word; ``None`` as long as it runs.
        raw_output: what it returned.
        error: what went wrong.
        error_category: of which sort that is, e.g. ``permission_denied``.
        executor: who ran it; JSON of the agent's own.
        duration_ms: how long it took, in milliseconds.
        execution_duration_ms: how long of that the tool ran.
        level: how far it reaches, see :data:`~acp_host.state.harn.side_effects.LEVELS`; ``None`` if nobody says.
        extra: what else the agent said.
    """

    tool_call_id: str
    tool_name: str | None = None
    operation_index: int | None = None
    requested_level: str | None = None
    annotations: Any = plain_json(default=None)
    policy_context: Any = plain_json(default=None)
    raw_input: Any = plain_json(default=None)
    status: str | None = None
    raw_output: Any = plain_json(default=None)
    error: str | None = None
    error_category: str | None = None
    executor: Any = plain_json(default=None)
    duration_ms: int | float | None = None
    execution_duration_ms: int | float | None = None
    level: str | None = None
    extra: Mapping[str, Any] = plain_json(default=NO_EXTRA)


@value
class CompositionRun:
    """A program of the agent, and what has become of it. All but the id may be missing.

    Attributes:
        run_id: its id.
        status: see above.
        language: in which the program is written.
        snippet_hash: names the program.
        manifest_hash: names the tools that it may call.
        ceiling: how far it is to reach at most.
        level: how far it reaches, as far as anybody can tell: the farthest of ``ceiling`` and of its calls; ``None`` if
            nobody says.
        calls: the calls in it, in the order in which they were first heard of.
        call_count: how many calls there were.
        stdout: what it has printed.
        stderr: likewise.
        artifacts: what it has made; JSON of the agent's own.
        result: what it returned; likewise.
        error: what went wrong.
        failure_category: of which sort that is, e.g. ``policy_denied``.
        duration_ms: how long it took, in milliseconds.
        metadata: what else there is to it; JSON of the agent's own.
        extra: what else the agent said.
    """

    run_id: str
    status: str = _RUNNING
    language: str | None = None
    snippet_hash: str | None = None
    manifest_hash: str | None = None
    ceiling: str | None = None
    level: str | None = None
    calls: tuple[CompositionCall, ...] = ()
    call_count: int = 0
    stdout: str | None = None
    stderr: str | None = None
    artifacts: Any = plain_json(default=None)
    result: Any = plain_json(default=None)
    error: str | None = None
    failure_category: str | None = None
    duration_ms: int | float | None = None
    metadata: Any = plain_json(default=None)
    extra: Mapping[str, Any] = plain_json(default=NO_EXTRA)

    @property
    def ended(self) -> bool:
        """Whether the agent has said that it has ended."""
        return self.status in (_FINISHED, _FAILED)

    def call(self, tool_call_id: str) -> CompositionCall | None:
        """Return one of its calls, or ``None``."""
        return next((call for call in self.calls if call.tool_call_id == tool_call_id), None)


@model
class CompositionRunReported(HarnEvent):
    """The agent tells of a run: what is ``None`` it does not say. ``run.status`` is what it has come to."""

    run: CompositionRun


@model
class CompositionCallReported(HarnEvent):
    """The agent tells of a call in a run: what is ``None`` it does not say."""

    run_id: str
    call: CompositionCall


class CompositionRuns:
    """Folds what is told of runs.

    Args:
        note: called with each change.
        problem: called with what is wrong with an event that is not applied.
    """

    def __init__(self, note: Note, problem: Callable[[str], None]) -> None:
        self._problem = problem
        self._runs: Keyed[CompositionRun] = Keyed(_TOPIC, note, MAX_RUNS, lambda run: run.status != _RUNNING, problem)

    def reducers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the method for each class of event that concerns runs."""
        return {
            CompositionRunReported: self._run,
            CompositionCallReported: self._call,
            TurnEnded: self._over,
            SessionClosed: self._over,
            AgentSessionEnded: self._over,
        }

    def freeze(self) -> Mapping[str, CompositionRun]:
        """Return the runs by id, those that were heard of first before the others."""
        return self._runs.freeze()

    def _run(self, event: CompositionRunReported) -> None:
        told = event.run
        known = self._runs.get(told.run_id) or CompositionRun(run_id=told.run_id)
        if known.ended and told.ended and told.status != known.status:
            self._problem(f"run {told.run_id} has {known.status}; it cannot have {told.status} then")
            return
        merged = _merged(known, told, _SAID_OF_RUN)
        status = known.status if known.ended else told.status
        self._put(evolve(merged, status=status, level=farthest(known.level, told.ceiling)))

    def _call(self, event: CompositionCallReported) -> None:
        run = self._runs.get(event.run_id) or CompositionRun(run_id=event.run_id)
        known = run.call(event.call.tool_call_id)
        call = _merged(known or event.call, event.call, _SAID_OF_CALL)
        call = evolve(call, level=farthest(call.requested_level, _own_level(call.annotations)))
        if known is not None:
            calls = tuple([call if each is known else each for each in run.calls])
        else:
            calls = (*run.calls, call)[:MAX_CALLS]
        count = run.call_count + (known is None)
        self._put(evolve(run, calls=calls, call_count=count, level=farthest(run.level, call.level)))

    def _over(self, _: object) -> None:
        for run in self._runs.freeze().values():
            if run.status == _RUNNING:
                self._put(evolve(run, status=_INCOMPLETE))

    def _put(self, run: CompositionRun) -> None:
        self._runs.put(run.run_id, run)


_SAID_OF_RUN = (
    "language",
    "snippet_hash",
    "manifest_hash",
    "ceiling",
    "stdout",
    "stderr",
    "artifacts",
    "result",
    "error",
    "failure_category",
    "duration_ms",
    "metadata",
    "extra",
)
_SAID_OF_CALL = (
    "tool_name",
    "operation_index",
    "requested_level",
    "annotations",
    "policy_context",
    "raw_input",
    "status",
    "raw_output",
    "error",
    "error_category",
    "executor",
    "duration_ms",
    "execution_duration_ms",
    "extra",
)


def _merged(known: Any, told: Any, names: tuple[str, ...]) -> Any:
    """Return what is known after a report; what it does not mention stays."""
    said = {name: getattr(told, name) for name in names}
    return evolve(known, **{name: each for name, each in said.items() if each is not None and each is not NO_EXTRA})


def _own_level(annotations: Any) -> str | None:
    level = annotations.get("side_effect_level") if isinstance(annotations, Mapping) else None
    return level if isinstance(level, str) else None
