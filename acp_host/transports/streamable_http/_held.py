"""Answers that wait for what was said before them on another stream: :class:`HeldAnswers`.

The answer to a request of a session may come on the connection's stream while the session's own still brings updates
from before it. Which came first is not on the wire; so the answer waits for the session's stream, but not for long.
What comes later still is late, and not lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from attrs import define

__all__ = ["HeldAnswers"]

_LONGEST = 0.25
"""Seconds of silence on the session's stream that end the wait."""
_LONGEST_REPLAY = 10.0
"""Seconds that an answer waits at most where a whole history comes before it."""


@define(eq=False)
class _Held:
    data: bytes
    timer: asyncio.TimerHandle
    until: float | None


class HeldAnswers:
    """Answers that are held, by session.

    Args:
        deliver: takes an answer when it is its turn.
    """

    def __init__(self, deliver: Callable[[bytes], None]) -> None:
        self._deliver = deliver
        self._held: dict[str, list[_Held]] = {}

    def hold(self, data: bytes, session_id: str, *, is_replay_end: bool) -> None:
        """Hold an answer until the session's stream brings something, or is silent.

        Args:
            data: the answer.
            session_id: the session.
            is_replay_end: a whole history comes before it: hold it until the stream is silent.
        """
        loop = asyncio.get_running_loop()
        timer = loop.call_later(_LONGEST, self._release, session_id)
        until = loop.time() + _LONGEST_REPLAY if is_replay_end else None
        self._held.setdefault(session_id, []).append(_Held(data, timer, until))

    def stream_brought_something(self, session_id: str) -> None:
        """Take note of an event on a session's stream, after it was delivered."""
        held = self._held.get(session_id)
        if held is None:
            return
        loop = asyncio.get_running_loop()
        for answer in held:
            answer.timer.cancel()
            waits = answer.until is not None and loop.time() < answer.until
            # Without a pause, still after all that has come with the event in one piece.
            answer.timer = loop.call_later(_LONGEST if waits else 0, self._release, session_id)

    def release_all(self) -> None:
        """Deliver what is held."""
        for session_id in tuple(self._held):
            self._release(session_id)

    def _release(self, session_id: str) -> None:
        for answer in self._held.pop(session_id, ()):
            answer.timer.cancel()
            self._deliver(answer.data)
