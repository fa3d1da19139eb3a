"""What a bad agent has asked, was told and found out, in order: :class:`Journal`.

It is kept in memory, or as JSON Lines in a file, where it is complete up to the moment in which the agent is killed.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import IO, Any, cast

from attrs import asdict, frozen

from acp_host.diagnostics import excerpt

__all__ = ["JOURNAL_VARIABLE", "Event", "Journal", "What", "read_journal"]

JOURNAL_VARIABLE = "ACP_HOST_CHAOS_JOURNAL"
"""Names the file that a bad agent in a process of its own keeps its journal in."""


class What(StrEnum):
    """What an event of a journal is."""

    ASKED = "asked"
    """The agent sent a request."""
    REQUEST = "request"
    NOTIFICATION = "notification"
    RESPONSE = "response"
    BROKEN = "broken"
    """The host sent a line that is no message of JSON-RPC."""
    FOUND = "found"
    """The agent looked at something that the host did."""
    WORKING = "working"
    """A turn has begun in which the host may cancel."""
    ENDED = "ended"
    """The agent answered a prompt."""
    OVER = "over"
    """All has been said: from here on the host may leave."""
    CLOSED = "closed"
    """The agent ended the connection, or itself."""
    GONE = "gone"
    """The host ended the connection."""


@frozen
class Event:
    """One event.

    Attributes:
        what: one of :class:`What`.
        t: seconds since the journal was begun.
        id: of a request or response, as JSON; ``None`` where it is none.
        method: of a request or notification.
        session: the session that it is about, if it says one.
        ok: whether what was found is as it should be; ``None`` where the host did not get into the way of the fault. Of
            what was asked: ``None`` where an answer may come and need not.
        text: the message, as far as it is short; or what was looked at.
    """

    what: str
    t: float
    id: str | None = None
    method: str | None = None
    session: str | None = None
    ok: bool | None = True
    text: str = ""


class Journal:
    """Takes events down.

    Args:
        path: a file to write them to, which is replaced; ``None``: memory alone.

    Attributes:
        events: all so far.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.events: list[Event] = []
        self._began = time.monotonic()
        # It lasts as long as the agent, whose end closes it, however it ends.
        self._file: IO[str] | None = None if path is None else open(path, "w", encoding="utf-8")  # noqa: SIM115

    @classmethod
    def of_process(cls) -> Journal:
        """Return the journal of this process, a file where the environment names one."""
        return cls(os.environ.get(JOURNAL_VARIABLE))

    def note(self, what: What, **members: Any) -> None:
        """Take an event down; for ``members`` see :class:`Event`."""
        self.events.append(Event(what, round(time.monotonic() - self._began, 3), **members))
        if self._file is not None:
            self._file.write(json.dumps(asdict(self.events[-1])) + "\n")
            self._file.flush()

    def asked(self, request_id: Any, method: str, *, must_be_answered: bool = True) -> None:
        """Take down that a request was sent."""
        self.note(What.ASKED, id=json.dumps(request_id), method=method, ok=True if must_be_answered else None)

    def received(self, raw: bytes) -> dict[str, Any] | None:
        """Take a line of the host down; return the message, if it is one."""
        text = excerpt(raw.decode(errors="replace"))
        try:
            message: Any = json.loads(raw)
        except (ValueError, RecursionError):
            message = None
        what = _kind(message)
        if what == What.BROKEN:
            self.note(what, text=text, ok=False)
            return None
        params = message.get("params")
        session = params.get("sessionId") if isinstance(params, dict) else None
        self.note(
            what,
            id=json.dumps(message["id"]) if "id" in message else None,
            method=message.get("method"),
            session=session if isinstance(session, str) else None,
            text=text,
        )
        return cast(dict[str, Any], message)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


def read_journal(path: str | os.PathLike[str]) -> Iterator[Event]:
    """Yield the events of a file, up to a line that is cut off; none where there is no file."""
    try:
        lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return
    for text in lines:
        try:
            yield Event(**json.loads(text))
        except (ValueError, TypeError):
            return


def _kind(message: Any) -> What:
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return What.BROKEN
    has_id = "id" in message and (message["id"] is None or type(message["id"]) in (str, int, float))
    if isinstance(message.get("method"), str):
        if "id" not in message:
            return What.NOTIFICATION
        return What.REQUEST if has_id and message["id"] is not None else What.BROKEN
    return What.RESPONSE if has_id and ("result" in message) != ("error" in message) else What.BROKEN
