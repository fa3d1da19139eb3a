"""What a Harn agent tells beside the conversation, in a line each: :data:`HARN_TOPICS`, :data:`HARN_LISTS`.

The texts are the agent's; whoever shows them makes them printable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from acp_host.state.harn.agent_loop import Alert
from acp_host.state.harn.artifacts import Artifact
from acp_host.state.harn.composition_runs import CompositionRun
from acp_host.state.harn.human_requests import HumanRequest
from acp_host.state.harn.live_clients import LiveClientsSnapshot
from acp_host.state.harn.plan_documents import PlanDocument
from acp_host.state.harn.progress import Progress
from acp_host.state.harn.skills import SkillsSnapshot
from acp_host.state.harn.staged_writes import StagedWrites
from acp_host.state.harn.workers import Worker

__all__ = ["HARN_LISTS", "HARN_TOPICS", "short"]

_LONGEST = 80


def _worker(worker: Worker) -> str:
    task = "" if worker.task is None else f": {short(worker.task)}"
    return f"{worker.name or worker.worker_id}  {worker.status or 'at work'}{task}"


def _run(run: CompositionRun) -> str:
    return f"{run.run_id}  {run.status}; asked for {run.ceiling}, reaches {run.level}, {run.call_count} calls"


def _artifact(artifact: Artifact) -> str:
    return f"{artifact.kind or 'artifact'}  {short(artifact.title or artifact.artifact_id)}: {short(artifact.fallback)}"


def _question(request: HumanRequest) -> str:
    return f"{request.kind}  {request.status}: {short(request.prompt)}"


def _alert(alert: Alert) -> str:
    return f"{alert.event.words} (told again)" if alert.replayed else alert.event.words


def _progress(progress: Progress) -> str:
    share = "" if progress.share is None else f"  {progress.share:.0%}"
    return f"{progress.phase or 'work'}{share}: {short(progress.message)}"


def _staged(staged: StagedWrites) -> str:
    return f"{staged.count} files wait to be written: {short(', '.join(write.path for write in staged.writes))}"


def _plan(document: PlanDocument) -> str:
    return f"{short(document.title or document.document_id)}  {len(document.comments)} comments"


def _skills(skills: SkillsSnapshot) -> str:
    return f"works by {', '.join(skills.active) or 'none'}"


def _clients(clients: LiveClientsSnapshot) -> str:
    named = [f"{client.client_id} ({client.mode})" for client in clients.clients]
    return f"{clients.action or 'attached'}: {', '.join(named) or 'nobody'}"


def short(text: str | None) -> str:
    """Return the beginning of a text."""
    text = text or ""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


HARN_TOPICS: Mapping[str, tuple[str, Callable[[Any], str]]] = {
    "workers": ("worker", _worker),
    "composition_runs": ("composed", _run),
    "artifacts": ("artifact", _artifact),
    "human_requests": ("question", _question),
    "skills": ("skills", _skills),
    "live_clients": ("clients", _clients),
    "plan_documents": ("document", _plan),
    "progress": ("progress", _progress),
    "staged_writes": ("staged", _staged),
}
"""The topics that a person follows: what a line is called, and what it says."""

HARN_LISTS: Mapping[str, tuple[str, Callable[[Any], str]]] = {
    "alerts": ("alert", _alert),
    "compactions": ("compacted", lambda compaction: compaction.words),
    "narration": ("narrates", lambda progress: progress.message),
}
"""Likewise those that are lists: each entry is a line."""
