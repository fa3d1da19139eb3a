"""Notices: toasts of every severity, what became of them, and the history."""

from __future__ import annotations

from typing import Any

from acp_host.state import events
from acp_host.state.notice_preferences import NoticePreferences, RateLimit, SeverityPreferences
from acp_host.testing.gallery.scenes import Scenes
from acp_host.testing.gallery.stage import Setting, Stage
from acp_host.wire.notices import NoticeSeverity

__all__ = ["SCENES"]

SCENES = Scenes("notices")

_TITLES: dict[str, str] = {
    NoticeSeverity.INFO: "Settings were reloaded",
    NoticeSeverity.WARNING: "The disk is almost full",
    NoticeSeverity.ERROR: "The index cannot be read",
}


def _notice(stage: Stage, severity: str = "info", title: str = "Settings were reloaded", **members: Any) -> None:
    stage.tells("notice", severity=severity, title=title, **members)


for _severity in (*NoticeSeverity, "critical", "_tip"):

    def _alone(stage: Stage, severity: str = _severity) -> None:
        title = _TITLES.get(severity, f"Something {severity}")
        _notice(stage, severity, title, description="A sentence more about it.")

    SCENES.add(f"severity_{_severity}", f"a toast of the severity {_severity}", _alone)


@SCENES.scene("title_only", "a toast without a description")
def title_only(stage: Stage) -> None:
    _notice(stage)


@SCENES.scene("long", "a toast with a long title and a description of many lines")
def long(stage: Stage) -> None:
    _notice(
        stage,
        "warning",
        "The index of the project could not be brought up to date because some of its files cannot be read by the agent"
        ", which was started by another user and has to do without them until somebody gives it leave to read them",
        description="\n".join(f"/work/project/private/file-{number}.txt" for number in range(30)),
    )


@SCENES.scene("counted", "one toast for three notices that are the same")
def counted(stage: Stage) -> None:
    for _ in range(3):
        _notice(stage, "warning", "The disk is almost full")
        stage.passes(1)


@SCENES.scene("stacked", "five toasts at once")
def stacked(stage: Stage) -> None:
    for severity in ("info", "warning", "error", "_tip", "critical"):
        _notice(stage, severity, f"A notice of the severity {severity}")


@SCENES.scene("displaced", "more notices than fit: the oldest that would have left have made room")
def displaced(stage: Stage) -> None:
    for number in range(9):
        _notice(stage, "warning" if number % 3 == 0 else "info", f"Notice {number}")


@SCENES.scene("dismissed", "a notice that the user has put away; it is in the history")
def dismissed(stage: Stage) -> None:
    _notice(stage, "warning", "The disk is almost full")
    stage.notices.dismiss_all()


@SCENES.scene("timed_out", "a notice whose time is up; it is in the history")
def timed_out(stage: Stage) -> None:
    _notice(stage)
    stage.passes(7)


@SCENES.scene("paused", "toasts that stay because the user looks at them")
def paused(stage: Stage) -> None:
    _notice(stage)
    stage.notices.pause_timeouts()
    stage.passes(60)


@SCENES.scene(
    "suppressed_not_offered", "a notice that the host had not asked for: history only", Setting(notices=False)
)
def suppressed_not_offered(stage: Stage) -> None:
    _notice(stage)


@SCENES.scene("suppressed_replay", "a notice of a replayed history: history only")
def suppressed_replay(stage: Stage) -> None:
    stage.folds(events.ReplayStarted())
    _notice(stage)
    stage.folds(events.ReplayAnswered(), events.ReplayEnded())


@SCENES.scene("suppressed_preferences", "a notice of a severity that the user does not want: history only")
def suppressed_preferences(stage: Stage) -> None:
    stage.notices.preferences = NoticePreferences(info=SeverityPreferences(show=False))
    _notice(stage)


@SCENES.scene("suppressed_no_room", "a notice for which there is no room: history only")
def suppressed_no_room(stage: Stage) -> None:
    for number in range(6):
        _notice(stage, "error" if number < 5 else "info", f"Notice {number}")


@SCENES.scene("suppressed_rate_limit", "notices that came too fast: history only")
def suppressed_rate_limit(stage: Stage) -> None:
    stage.notices.preferences = NoticePreferences(
        info=SeverityPreferences(duration=6, rate_limit=RateLimit(burst=2, per_second=0))
    )
    for number in range(4):
        _notice(stage, title=f"Notice {number}")


@SCENES.scene(
    "own_presentation", "a toast as the user wants it: an error that leaves by itself, and is announced politely"
)
def own_presentation(stage: Stage) -> None:
    stage.notices.preferences = NoticePreferences(error=SeverityPreferences(duration=20))
    _notice(stage, "error", "The index cannot be read")


@SCENES.scene("history", "a history of 200 notices, all gone from the screen")
def history(stage: Stage) -> None:
    for number in range(200):
        severity = ("info", "warning", "error")[number % 3]
        _notice(stage, severity, f"Notice {number}", description=None if number % 2 else "With a description.")
        stage.notices.dismiss_all()
        stage.passes(30)
