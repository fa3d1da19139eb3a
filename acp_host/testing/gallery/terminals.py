"""Commands that the host runs for the agent, in tool calls and by themselves."""

from __future__ import annotations

from typing import Any

from acp_host.state import events
from acp_host.testing.gallery.scenes import Play, Scenes
from acp_host.testing.gallery.stage import Stage

__all__ = ["COLOURS", "SCENES"]

SCENES = Scenes("terminals")

COLOURS = (
    "\x1b[1mtest session starts\x1b[0m\r\n"
    "\x1b[32mtest_dates.py ..\x1b[31mF\x1b[0m\r\n"
    "\x1b[38;5;208mwarnings\x1b[0m \x1b[48;2;10;60;120mon blue\x1b[0m\r\n"
    "building 10 %\rbuilding 50 %\rbuilding 100 %\n"
    "\x1b[2K\x1b[1Gdone\n"
)
"""What a command prints for a terminal: colours, and lines that are written over."""


def _command(*reports: dict[str, Any], command: str = "pytest -q", call_ends: bool = False) -> Play:
    """Return a turn with a command in a tool call, given what the host tells of it."""

    def play(stage: Stage) -> None:
        stage.prompts("Run the tests.")
        stage.tells(
            "tool_call",
            toolCallId="call-1",
            title=command,
            kind="execute",
            status="in_progress",
            content=[{"type": "terminal", "terminalId": "term-1"}],
        )
        for report in reports:
            stage.folds(events.TerminalReported("term-1", command, **report))
        if call_ends:
            stage.tells("tool_call_update", toolCallId="call-1", status="completed")

    return play


SCENES.add("silent", "a command that has printed nothing yet", _command({}))
SCENES.add("running", "a command that prints", _command({"printed": "collected 41 items\n\ntest_dates.py ...."}))
SCENES.add(
    "succeeded",
    "a command that has ended well",
    _command({"printed": "41 passed\n"}, {"ended": True, "exit_code": 0}, call_ends=True),
)
SCENES.add(
    "failed",
    "a command that has ended with status 1",
    _command({"printed": "1 failed\n"}, {"ended": True, "exit_code": 1}),
)
SCENES.add(
    "killed",
    "a command that a signal has ended",
    _command({"printed": "waiting…\n"}, {"ended": True, "signal": "SIGKILL"}),
)
SCENES.add("ended_nobody_knows_how", "a command of which nobody knows how it ended", _command({"ended": True}))
SCENES.add(
    "released",
    "a command that the agent has let go of; its output stays",
    _command(
        {"printed": "41 passed\n"}, {"ended": True, "exit_code": 0}, {"released": True, "ended": True, "exit_code": 0}
    ),
)
SCENES.add(
    "via_shell",
    "a command line that the platform's shell reads",
    _command({"via_shell": True, "printed": "3\n"}, command="ls *.py | wc -l"),
)
SCENES.add("colours", "a command that prints for a terminal", _command({"printed": COLOURS}))
SCENES.add(
    "long_output",
    "a command whose oldest output was dropped",
    _command({"printed": "".join(f"{number:06} {'.' * 60}\n" for number in range(6_000))}),
)
SCENES.add("long_line", "a command that prints one very long line", _command({"printed": "x" * 20_000}))


@SCENES.scene("two_beside_no_call", "two commands that belong to no tool call")
def two_beside_no_call(stage: Stage) -> None:
    stage.prompts("Start the servers.")
    stage.folds(
        events.TerminalReported("term-1", "npm run dev", printed="listening on 5173\n"),
        events.TerminalReported("term-2", "make watch", printed="watching\n"),
    )
