"""What has become of the conversation as a whole: compactions, going back, lost connections."""

from __future__ import annotations

from typing import Any

from acp_host.state import events
from acp_host.testing.gallery.samples import text
from acp_host.testing.gallery.scenes import Play, Scenes
from acp_host.testing.gallery.stage import Stage
from acp_host.wire.compaction import CompactionStatus

__all__ = ["SCENES"]

SCENES = Scenes("history")

_SUMMARY = "The user wants the failing test fixed. **dates.py** was read; the format string is wrong."


def _after_a_turn(then: Play) -> Play:
    def play(stage: Stage) -> None:
        stage.prompts("Fix the failing test.")
        stage.says("I look at it.")
        stage.ends()
        then(stage)

    return play


def _compaction(**members: Any) -> Play:
    return _after_a_turn(lambda stage: stage.tells("compaction_update", compactionId="c1", **members))


_COMPACTIONS: dict[str, dict[str, Any]] = {
    CompactionStatus.IN_PROGRESS: {},
    CompactionStatus.COMPLETED: {"summary": [text(_SUMMARY)]},
    CompactionStatus.FAILED: {"error": "The summary was longer than the conversation."},
    CompactionStatus.CANCELLED: {},
    "_postponed": {},
}
for _status, _more in _COMPACTIONS.items():
    SCENES.add(f"compaction_{_status}", f"a compaction: {_status}", _compaction(status=_status, **_more))


@SCENES.scene("compaction_summary_streams", "a compaction whose summary is being written")
def compaction_summary_streams(stage: Stage) -> None:
    _compaction(status="in_progress")(stage)
    stage.tells("compaction_summary_chunk", compactionId="c1", content=text(_SUMMARY[:40]))


def _gone(kind: str, **members: Any) -> Play:
    return _after_a_turn(lambda stage: stage.harn(kind, **members))


_MOVES: dict[str, dict[str, Any]] = {
    "truncated": {"keptTurnCount": 1, "removedTurnCount": 2, "newTipTurnId": "turn-1", "reason": "user_request"},
    "rollback": {"checkpointId": "cp-1", "status": "completed"},
    "redo": {"checkpointId": "cp-2", "status": "completed"},
}
for _action, _told in _MOVES.items():
    SCENES.add(
        f"session_{_action}",
        f"the agent has gone back in the conversation, or forward again: {_action}",
        _gone(f"session_{_action}", **_told),
    )


def _broken(broken: events.ConnectionBroken) -> Play:
    return _after_a_turn(lambda stage: stage.folds(broken))


SCENES.add(
    "connection_lost_nothing",
    "the connection was lost, and the session goes on as it was",
    _broken(events.ConnectionBroken("nothing", False)),
)
SCENES.add(
    "connection_interrupted",
    "the connection was lost in the midst of a turn",
    _broken(events.ConnectionBroken("nothing", True, "The running turn was cut off; how it ended is not known.")),
)
SCENES.add(
    "connection_lost_context",
    "the connection was lost, and with it what the agent knew",
    _broken(events.ConnectionBroken("context", True, "The agent does not know anything that was said before.")),
)
