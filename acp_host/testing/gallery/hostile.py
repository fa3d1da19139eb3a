"""Every hostile text in every place where an agent's text is shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from acp_host.state import events
from acp_host.testing.gallery.hostile_texts import HOSTILE_TEXTS
from acp_host.testing.gallery.samples import text
from acp_host.testing.gallery.scenes import Play, Scenes
from acp_host.testing.gallery.stage import CWD, SESSION_ID, Setting, Stage

__all__ = ["SCENES"]

SCENES = Scenes("hostile")

_HARN: dict[str, Any] = {"_meta": {"harn": {}}}


def _speaks(stage: Stage, words: str) -> None:
    """Say it in every way in which something can be said."""
    stage.prompts("Say it.")
    stage.thinks(words)
    stage.says(words, messageId="m1")
    link = {"type": "resource_link", "name": words, "uri": words, "title": words, "description": words}
    resource = {"type": "resource", "resource": {"uri": words, "mimeType": words, "text": words}}
    image = {"type": "image", "data": words, "mimeType": words, "uri": words}
    unknown = {"type": words, "text": words}
    for block in (link, resource, image, unknown):
        stage.tells("agent_message_chunk", content=block, messageId="m1")
    stage.tells("user_message_chunk", content=text(words), messageId="m2")
    stage.tells(words, said=words)
    stage.tells("compaction_update", compactionId="c", status="failed", summary=[text(words)], error=words)
    stage.tells("session_message", messageId="sm", senderSessionId=words, content=[text(words)])
    stage.tells("session_info_update", title=words)


def _acts(stage: Stage, words: str) -> None:
    """Do something that is called so."""
    stage.prompts("Do it.")
    stage.tells(
        "tool_call",
        toolCallId="call-1",
        title=words,
        name=words,
        kind=words,
        status=words,
        locations=[{"path": words, "line": 1}],
        rawInput={words: words},
        rawOutput=words,
        content=[
            {"type": "content", "content": text(words)},
            {"type": "diff", "path": words, "oldText": "before\n", "newText": words},
            {"type": "terminal", "terminalId": "term-1"},
            {"type": words, "text": words},
        ],
        _meta={words: words},
    )
    stage.folds(events.TerminalReported("term-1", words, printed=words, ended=True, signal=words))
    stage.tells("plan", entries=[{"content": words, "priority": words, "status": words}])
    for plan in (
        {"type": "markdown", "planId": "text", "content": words},
        {"type": "file", "planId": "file", "uri": words},
        {"type": words, "planId": "odd", "text": words},
    ):
        stage.tells("plan_update", plan=plan)
    stage.tells("subagent_update", sessionId="child", title=words, description=words, state={"state": words})
    stage.ends(words, detail=words)
    stage.folds(events.HealthChanged("lost", words), events.ConnectionBroken("context", True, words))


def _asks(stage: Stage, words: str) -> None:
    """Ask the user in these words."""
    stage.prompts("Ask me.")
    stage.asks(
        "session/request_permission",
        sessionId=SESSION_ID,
        toolCall={
            "toolCallId": "call-1",
            "title": words,
            "kind": "edit",
            "content": [{"type": "diff", "path": f"{CWD}/dates.py", "oldText": None, "newText": words}],
            "rawInput": {"command": words, "path": words},
        },
        options=[
            {"optionId": "yes", "name": words, "kind": "allow_once"},
            {"optionId": "no", "name": words, "kind": words},
        ],
    )
    values = [{"const": words, "title": words, "description": words}]
    stage.asks(
        "elicitation/create",
        mode="form",
        sessionId=SESSION_ID,
        message=words,
        requestedSchema={
            "type": "object",
            "title": words,
            "description": words,
            "properties": {
                words: {"type": "string", "title": words, "description": words, "default": words},
                "choice": {"type": "string", "title": words, "oneOf": values, "default": words},
                "unknown": {"type": "x", "title": words, "text": words},
            },
        },
    )
    stage.asks(
        "elicitation/create",
        mode="url",
        sessionId=SESSION_ID,
        elicitationId="page",
        message=words,
        url="https://example.org/login",
    )
    stage.asks("elicitation/create", mode="x", sessionId=SESSION_ID, message=words)


def _tells(stage: Stage, words: str) -> None:
    """Tell the user and the model in these words."""
    stage.prompts("Go on.")
    for severity in ("info", "error", "_tip"):
        stage.tells("notice", severity=severity, title=words, description=words)
    stage.tells("notice", severity=words, title=words)
    stage.tells("reminder_emitted", reminderId="r-1", body=words, tags=[words], source=words, renderedRole=words)
    stage.tells("reminder_expired", reminderId="r-1", phase=words)
    stage.tells("reminder_emitted", reminderId="r-2", body=words, dedupeKey=words, providerId=words)


def _offers(stage: Stage, words: str) -> None:
    """Offer settings and commands that are called so."""
    values = [{"value": words, "name": words, "description": words}]
    stage.tells(
        "config_option_update",
        configOptions=[
            {
                "type": "select",
                "id": "effort",
                "name": words,
                "description": words,
                "category": words,
                "currentValue": words,
                "options": values,
            },
            {"type": words, "id": "odd", "name": words},
        ],
    )
    stage.tells(
        "available_commands_update",
        availableCommands=[{"name": words, "description": words, "input": {"hint": words}}],
    )
    stage.tells("usage_update", used=1, size=2, cost={"amount": 1, "currency": words})


def _harn(stage: Stage, words: str) -> None:
    """Tell what Harn tells, in these words."""
    stage.prompts("Go on.")
    stage.harn("worker_update", workerId="w", workerName=words, workerTask=words, event="WorkerFailed", status=words)
    stage.harn("artifact", artifactId="a", kind="html", title=words, mimeType="text/html", spec=words, fallback=words)
    stage.harn("handoff", handoffId="h", artifactId="a", handoff={"id": "h", "task": words, "reason": words})
    stage.harn("skill_activated", skillName=words, iteration=1, reason=words)
    stage.harn("hitl_request", requestId="q", kind=words, payload={"prompt": words, "default": words})
    stage.harn("log", level=words, message=words, fields={words: words})
    stage.harn("progress", phase=words, message=words)
    stage.harn("fs_watch", subscriptionId="s", events=[{"kind": words, "paths": [words]}])


_PLACES = {"said": _speaks, "done": _acts, "asked": _asks, "told": _tells, "offered": _offers}


def _in(play: Callable[[Stage, str], None], words: str) -> Play:
    return lambda stage: play(stage, words)


for _name, _words in HOSTILE_TEXTS.items():
    _shows = f"hostile text ({_name.replace('_', ' ')})"
    for _place, _play in _PLACES.items():
        SCENES.add(f"{_name}_{_place}", f"{_shows}: {_place}", _in(_play, _words), Setting(agent=_words))
    SCENES.add(
        f"{_name}_by_harn",
        f"{_shows}: told by a Harn agent",
        _in(_harn, _words),
        Setting(agent=_words, capabilities=_HARN),
    )
