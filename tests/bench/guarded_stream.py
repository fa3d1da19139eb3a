"""What ``make bench-guard`` counts the instructions of: the stream of the benchmark, without an agent or a clock.

``python guarded_stream.py typed|folded MESSAGES``: 2,000 of them or none. Others come before, so that what is loaded
and made on first use is there. The garbage collector is off: when it comes is a matter of what else is in memory.
"""

from __future__ import annotations

import gc
import sys
from itertools import islice

from memory import Folded
from stream import Turns

from acp_host import HostProtocol
from acp_host.wire.updates import SessionNotification

BEFORE, COUNTED, LENGTH = 1, 2, 1_000
"""Turns that come before, turns that are counted, and messages in a turn."""


def typed(turns: list[bytes]) -> None:
    """Read turns into typed objects."""
    protocol, updates = HostProtocol(), 0
    for turn in turns:
        protocol.receive_data(turn)
        updates += sum(event.__class__ is SessionNotification for event in protocol.events())
    assert updates == len(turns) * LENGTH


def folded(turns: list[bytes]) -> None:
    """Read turns into the state of a session, and look at it after each."""
    session = Folded()
    for number, turn in enumerate(turns):
        session.fold_turn(number, turn)
        assert session.state.snapshot().transcript


def main(what: str, messages: int) -> None:
    turns = list(islice(Turns(BEFORE + COUNTED, LENGTH), BEFORE + COUNTED))  # made in any case: they count as nothing
    gc.collect()
    gc.disable()
    {"typed": typed, "folded": folded}[what](turns[: BEFORE + messages // LENGTH])


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
