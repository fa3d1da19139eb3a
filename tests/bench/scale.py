"""How much the parts of the benchmark measure: :class:`Scale`."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FULL", "QUICK", "Scale"]


@dataclass(frozen=True)
class Scale:
    """How much is measured.

    Attributes:
        rounds: of what takes seconds.
        long_rounds: of what takes much longer.
        turns: of the stream.
        many_turns: of a long session.
        reminders: sent in a round.
        entries: of the session whose snapshots are timed.
        notices: in the burst.
        messages: that are weighed.
        kept_turns: of the session that is weighed.
        viewers: of the page.
        connections: at once.
        sessions: on one connection.
        requests: sent one after the other.
        clock: ``seconds``, or ``cpu`` for the processor time of the reader.
    """

    rounds: int
    long_rounds: int
    turns: int
    many_turns: int
    reminders: int
    entries: int = 100_000
    notices: int = 10_000
    messages: int = 2_000
    kept_turns: int = 100
    viewers: int = 50
    connections: int = 200
    sessions: int = 1_000
    requests: int = 1_000
    clock: str = "seconds"


FULL = Scale(rounds=9, long_rounds=3, turns=50, many_turns=1_000, reminders=500)
QUICK = Scale(
    rounds=2, long_rounds=1, turns=20, many_turns=100, reminders=150, connections=50, sessions=200, requests=200
)
