"""Prints what a Harn agent tells beside the conversation, as it changes: :class:`HarnView`.

Nothing is redrawn: each change is a line, so that a log reads like what one would have seen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from acp_host.cli.printer import Printer, plain
from acp_host.cli.render import content_text
from acp_host.host.session import Session
from acp_host.state.changes import ChangeSet
from acp_host.state.harn.agent_loop import Alert
from acp_host.state.harn.artifacts import Artifact
from acp_host.state.harn.composition_runs import CompositionRun
from acp_host.state.harn.human_requests import HumanRequest
from acp_host.state.harn.live_clients import LiveClientsSnapshot
from acp_host.state.harn.plan_documents import PlanDocument
from acp_host.state.harn.progress import Progress
from acp_host.state.harn.skills import SkillsSnapshot
from acp_host.state.harn.snapshot import HarnSnapshot
from acp_host.state.harn.staged_writes import StagedWrites
from acp_host.state.harn.workers import Worker
from acp_host.state.injections import Injection

__all__ = ["HarnView"]

_LONGEST = 80


class HarnView:
    """Prints each change of the topics that a person follows, and of what was said in the midst of a turn.

    Args:
        printer: where to.
        session: is watched from now on.
    """

    def __init__(self, printer: Printer, session: Session) -> None:
        self._printer = printer
        self._told: dict[tuple[str, str], str] = {}
        self._listed: dict[str, int] = {}
        session.state.changed.connect(self._show)

    def _show(self, changes: ChangeSet) -> None:
        for key in changes.keys("harn"):
            topic, _, entry_id = str(key).partition("/")
            if topic in _WORDS and changes.snapshot.harn is not None:
                self._show_topic(topic, entry_id, changes.snapshot.harn)
            elif topic in _LISTS and changes.snapshot.harn is not None:
                self._show_list(topic, changes.snapshot.harn)
        for key in changes.keys("injections"):
            entry = changes.snapshot.injections.get(key)
            if entry is not None:
                self._tell("injected", entry.id, _injection(entry))

    def _show_topic(self, topic: str, entry_id: str, harn: HarnSnapshot) -> None:
        label, words = _WORDS[topic]
        value = getattr(harn, topic)
        entry = value.get(entry_id) if isinstance(value, Mapping) else value
        if entry is not None:
            self._tell(label, entry_id or topic, words(entry))

    def _show_list(self, topic: str, harn: HarnSnapshot) -> None:
        label, words = _LISTS[topic]
        recent = getattr(harn, topic)
        for entry in recent.since(self._listed.get(topic, 0)):
            self._printer.line(label, plain(_short(words(entry))), style="bold magenta")
        self._listed[topic] = recent.end

    def _tell(self, label: str, key: str, text: str) -> None:
        """Print a line, unless it says what the last one about this did."""
        if self._told.get((label, key)) != text:
            self._told[label, key] = text
            self._printer.line(label, plain(text), style="bold magenta")


def _worker(worker: Worker) -> str:
    task = "" if worker.task is None else f": {_short(worker.task)}"
    return f"{worker.name or worker.worker_id}  {worker.status or 'at work'}{task}"


def _run(run: CompositionRun) -> str:
    return f"{run.run_id}  {run.status}; asked for {run.ceiling}, reaches {run.level}, {run.call_count} calls"


def _artifact(artifact: Artifact) -> str:
    return (
        f"{artifact.kind or 'artifact'}  {_short(artifact.title or artifact.artifact_id)}: {_short(artifact.fallback)}"
    )


def _question(request: HumanRequest) -> str:
    return f"{request.kind}  {request.status}: {_short(request.prompt)}"


def _alert(alert: Alert) -> str:
    return f"{alert.event.words} (told again)" if alert.replayed else alert.event.words


def _progress(progress: Progress) -> str:
    share = "" if progress.share is None else f"  {progress.share:.0%}"
    return f"{progress.phase or 'work'}{share}: {_short(progress.message)}"


def _staged(staged: StagedWrites) -> str:
    return f"{staged.count} files wait to be written: {_short(', '.join(write.path for write in staged.writes))}"


def _plan(document: PlanDocument) -> str:
    return f"{_short(document.title or document.document_id)}  {len(document.comments)} comments"


def _skills(skills: SkillsSnapshot) -> str:
    return f"works by {', '.join(skills.active) or 'none'}"


def _clients(clients: LiveClientsSnapshot) -> str:
    named = [f"{client.client_id} ({client.mode})" for client in clients.clients]
    return f"{clients.action or 'attached'}: {', '.join(named) or 'nobody'}"


def _injection(injection: Injection) -> str:
    text = " ".join(content_text(block) for block in injection.content)
    return f"{injection.id}  {injection.status}: {_short(text)}"


def _short(text: str | None) -> str:
    text = text or ""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


_WORDS: Mapping[str, tuple[str, Callable[[Any], str]]] = {
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
"""The topics that are printed: what a line is called, and what it says."""

_LISTS: Mapping[str, tuple[str, Callable[[Any], str]]] = {
    "alerts": ("alert", _alert),
    "compactions": ("compacted", lambda compaction: compaction.words),
    "narration": ("narrates", lambda progress: progress.message),
}
"""Likewise those that are lists: each entry is a line."""
