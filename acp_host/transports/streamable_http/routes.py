"""Which message belongs to which session, lane and stream: :class:`Routes`. No I/O, and no clock.

A *lane* is a queue of messages to the server that keep their order: one for each session, and one (``None``) for what
belongs to no session. A *stream* brings messages from the server: one for each session, and one (``None``) for the
connection. Servers differ in which stream brings what, so nothing here relies on it but the order of answers.
"""

from __future__ import annotations

from collections import OrderedDict

from attrs import frozen

from acp_host.transports._envelopes import Envelope, MessageId

__all__ = ["Arrival", "Duplicates", "Post", "Routes"]

_ATTACHING = frozenset({"session/load", "session/resume"})
"""Requests for a session that the server may not know until it has answered."""
_ENDING = frozenset({"session/close", "session/delete"})
_AT_WORK = frozenset({"running", "requires_action"})
"""What an agent of ACP v2 says that it is doing, until it says ``idle``."""
_MOST_WORKING = 1000
"""Sessions that are kept as working; the ids are the agent's, who could name some without end."""
_REMEMBERED = 256
"""Messages that :class:`Duplicates` remembers."""


@frozen
class Post:
    """A message to the server.

    Attributes:
        data: the message.
        envelope: what it says of itself.
        lane: the session in whose order it is sent; ``None`` for the connection's.
        session_id: the session that ``Acp-Session-Id`` names.
    """

    data: bytes
    envelope: Envelope
    lane: str | None
    session_id: str | None

    @property
    def name(self) -> str:
        """What it is called in errors."""
        return self.envelope.method or "the answer to a request"


@frozen
class Arrival:
    """What to do about a message from the server, besides delivering it.

    Attributes:
        opens: sessions that are known from now on.
        closes: session that is over.
        held_for: session whose own stream may still bring what came before this message; ``None`` if nothing can.
        is_replay_end: the stream may bring a whole history before it.
    """

    opens: tuple[str, ...] = ()
    closes: str | None = None
    held_for: str | None = None
    is_replay_end: bool = False


@frozen
class _Waiting:
    method: str
    session_id: str | None


class Routes:
    """The requests in flight, in both directions.

    Attributes:
        waiting: requests to the server that have no answer yet.
        working: sessions in which an agent of ACP v2 is at work: it will tell the end of that, and answers to nothing.
    """

    def __init__(self) -> None:
        self.waiting: dict[MessageId, _Waiting] = {}
        self.working: set[str] = set()
        self._asked: dict[MessageId, str] = {}

    def post(self, data: bytes, envelope: Envelope) -> Post:
        """Return where a message to the server goes."""
        session_id = envelope.session_id
        if envelope.is_response and envelope.id is not None:
            session_id = self._asked.pop(envelope.id, None)
        lane = session_id
        if envelope.method == "$/cancel_request" and envelope.cancels in self.waiting:
            lane = self.waiting[envelope.cancels].session_id  # it must not overtake what it withdraws
        if envelope.method is not None and envelope.id is not None:
            self.waiting[envelope.id] = _Waiting(envelope.method, session_id)
        return Post(data, envelope, lane, session_id)

    def arrival(self, envelope: Envelope, stream: str | None, is_open: bool) -> Arrival:
        """Return what to do about a message from the server.

        Args:
            envelope: the message.
            stream: the session whose stream brought it; ``None`` for the connection's.
            is_open: whether the session that the message answers to has a stream of its own, see :meth:`session_of`.
        """
        if envelope.is_request and envelope.id is not None:
            session_id = envelope.session_id or stream
            if session_id is not None:
                self._asked[envelope.id] = session_id
        if envelope.state is not None and envelope.session_id is not None:
            self._take_state(envelope.session_id, envelope.state)
        if not envelope.is_response or envelope.id is None:
            return Arrival() if envelope.child is None else Arrival(opens=(envelope.child,))
        request = self.waiting.pop(envelope.id, None)
        if request is None:
            return Arrival()
        if envelope.accepts and request.method == "session/prompt" and request.session_id is not None:
            self.working.add(request.session_id)
        if request.method in _ENDING and request.session_id is not None:
            self.working.discard(request.session_id)
        attached = request.session_id if request.method in _ATTACHING else None
        known = () if envelope.has_failed else (attached, envelope.opened)
        return Arrival(
            opens=tuple([session_id for session_id in known if session_id is not None]),
            closes=request.session_id if request.method in _ENDING and not envelope.has_failed else None,
            held_for=request.session_id if is_open and request.session_id != stream else None,
            is_replay_end=request.method == "session/load",
        )

    def _take_state(self, session_id: str, state: str) -> None:
        if state in _AT_WORK and len(self.working) < _MOST_WORKING:
            self.working.add(session_id)
        elif state == "idle":
            self.working.discard(session_id)

    def session_of(self, envelope: Envelope) -> str | None:
        """Return the session of the request that a response answers."""
        if not envelope.is_response or envelope.id not in self.waiting:
            return None
        return self.waiting[envelope.id].session_id

    def give_up(self, request_id: MessageId | None) -> bool:
        """Stop waiting for an answer; tell whether it had not come yet."""
        return request_id is not None and self.waiting.pop(request_id, None) is not None

    def awaits(self, stream: str | None) -> bool:
        """Tell whether a stream may have to bring an answer, or the end of what an agent of ACP v2 is doing.

        The answer to ``session/load`` and its like may come on either of two.
        """
        if stream is None:
            return any(request.session_id is None or request.method in _ATTACHING for request in self.waiting.values())
        return stream in self.working or any(request.session_id == stream for request in self.waiting.values())


class Duplicates:
    """Finds the messages that more than one stream brings.

    A server of the earlier text of the transport knows one stream. Where a client opens a second, some send everything
    on both. The same bytes on the *same* stream are two messages.
    """

    def __init__(self) -> None:
        self._seen: OrderedDict[int, dict[str | None, int]] = OrderedDict()

    def is_duplicate(self, data: bytes, stream: str | None) -> bool:
        """Take note of a message; tell whether another stream has brought it before."""
        key = hash(data)
        counts = self._seen.get(key)
        if counts is None:
            self._seen[key] = {stream: 1}
            if len(self._seen) > _REMEMBERED:
                self._seen.popitem(last=False)
            return False
        self._seen.move_to_end(key)
        most = max(counts.values())
        counts[stream] = counts.get(stream, 0) + 1
        return counts[stream] <= most
