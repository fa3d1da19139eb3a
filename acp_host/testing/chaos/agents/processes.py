"""Agents that are bad as processes: launchers, leftovers, floods on stderr, programs that are no agents.

What they do is in ``bad_process.py``, which runs without this library.
"""

from __future__ import annotations

from acp_host.testing.chaos.bad_agent import Chapter, Ends

__all__ = ["CHAPTER"]

CHAPTER = Chapter("Processes")

_ALL_GONE = "When the connection is closed, no process of the agent's is left, in whatever group or session."

for _number, _name, _process, _does, _rule, _row, _ends in (
    (301, "behind-a-launcher", ("launcher", "launcher", "serve"), "Runs behind two launchers that wait for it.",
     _ALL_GONE, "R80", Ends.COMPLETED),
    (302, "behind-a-launcher-that-ends", ("quick_launcher", "serve"),
     "Runs behind a launcher that ends at once, and has its pipes.",
     "The agent lives as long as its pipes do. " + _ALL_GONE, "R80", Ends.EITHER),
    (303, "ignores-the-end", ("ignores_the_end",), "Goes on after the end of its input, and ignores SIGTERM.",
     "End it, after a bounded time.", "R80", Ends.COMPLETED),
    (304, "behind-a-launcher-and-ignores-the-end", ("launcher", "ignores_the_end"),
     "Is the child of a launcher, goes on after the end of its input, and ignores SIGTERM.", _ALL_GONE, "R80",
     Ends.COMPLETED),
    (305, "children-in-its-group", ("with_children", "group", "3"),
     "Starts three helpers that ignore SIGTERM, and forgets them.", _ALL_GONE, "R81", Ends.COMPLETED),
    (306, "children-in-sessions-of-their-own", ("with_children", "session", "3"),
     "Starts three helpers in sessions of their own that ignore SIGTERM, and forgets them.", _ALL_GONE, "R81",
     Ends.COMPLETED),
    (307, "daemons", ("with_children", "daemon", "2"),
     "Starts two daemons, without a parent and a session of theirs, that ignore SIGTERM.", _ALL_GONE, "R81",
     Ends.COMPLETED),
    (308, "flood-on-stderr", ("stderr_flood", "3000000"), "Writes 3 MB to stderr before it answers.",
     "Always read stderr, and keep its end: an agent whose stderr is full stands still.", "R87", Ends.COMPLETED),
    (309, "slow-start", ("slow", "1.5", "loading models", "warming up"),
     "Does much before it speaks, and tells about it on stderr.",
     "Wait for a while, and show what it says.", "R83", Ends.COMPLETED),
    (310, "fails-to-start", ("fails", "7", "npm error code E403 403 Forbidden"),
     "Ends with status 7 before it has said a word; only stderr says why.",
     "Say what stderr says, and the status.", "R85", Ends.FAILED),
    (311, "another-program", ("usage", "2"), "Is no agent: it explains itself on stdout, and ends.",
     "Say what it said.", "R86", Ends.FAILED),
    (312, "a-server", ("server",), "Is no agent: it listens somewhere else, for ever.",
     "Give up after a bounded time, say what it said, and end it.", "R86", Ends.FAILED),
    (313, "dies-of-a-signal", ("falls", "11"), "Crashes in the middle of a turn.",
     "The turn has failed, with the signal and the end of stderr; what was said is kept.", "R92", Ends.FAILED),
    (314, "killed", ("falls", "9"), "Is killed in the middle of a turn.",
     "The turn has failed; what was said is kept.", "R92", Ends.FAILED),
    (315, "answers-and-falls", ("answers_and_falls",), "Ends a turn, and is killed in the next moment.",
     "The result of the turn counts.", "R93", Ends.COMPLETED),
    (316, "reads-no-long-lines", ("short_of_breath", "200"), "Dies of a line that is longer than its buffer.",
     "Say that it ended, of which message, and the end of its stderr.", "R88", Ends.FAILED),
    (317, "closes-its-stdin", ("closes_stdin", "turn", "answers"), "Closes its stdin in a turn, and answers later.",
     "What it still says counts: a pipe that is closed on one side is not the end.", "R89", Ends.COMPLETED),
    (318, "deaf", ("deaf",), "Answers the handshake, opens a session and reads nothing more.",
     "Have a deadline for silence, or a user who can stop it; a close takes a bounded time.", "R91", Ends.EITHER),
):  # fmt: skip
    CHAPTER.add(
        _number,
        _name,
        does=_does,
        rule=_rule,
        row=_row,
        process=_process,
        ends=_ends,
        tries_patience=_name in ("a-server", "deaf"),
    )
