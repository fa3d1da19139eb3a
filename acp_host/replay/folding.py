"""A whole recording, folded at once: :func:`fold_recording`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import IO, Any

import orjson
from attrs import field, frozen

from acp_host.diagnostics import Diagnostic
from acp_host.errors import InvalidState
from acp_host.host.session import Session
from acp_host.protocol.negotiation import Agreement
from acp_host.recording.format import RecordedLine, read_recording
from acp_host.replay.player import RecordingPlayer
from acp_host.replay.virtual_time import run_in_virtual_time
from acp_host.state.json_form import to_json
from acp_host.state.memory import MemoryPolicy
from acp_host.state.snapshot import SessionSnapshot
from acp_host.wire.codec import encode

__all__ = ["FoldedRecording", "fold_recording"]

_VERSION = 1
"""Version of the JSON form; it is raised when something in it changes its meaning."""


@frozen(kw_only=True)
class FoldedRecording:
    """What a recording amounts to.

    Attributes:
        agreement: what host and agent agreed on, on the last connection that they did; ``None`` if they never did.
        sessions: the state of each session after the last line, by id, in the order in which they appeared. Sessions
            that were closed are there, too.
        earlier: the states that sessions had right before they were loaded or resumed, oldest first, by id.
        diagnostics: what was out of the ordinary: in the file, and in the conversation; at most the newest 1,000.
    """

    agreement: Agreement | None
    sessions: Mapping[str, SessionSnapshot]
    earlier: Mapping[str, tuple[SessionSnapshot, ...]] = field(factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON: ``version``, ``agreement``, ``sessions`` and ``diagnostics``."""
        return {
            "version": _VERSION,
            "agreement": None if self.agreement is None else _agreement(self.agreement),
            "sessions": {session_id: to_json(snapshot) for session_id, snapshot in self.sessions.items()},
            "diagnostics": [to_json(diagnostic) for diagnostic in self.diagnostics],
        }

    def to_bytes(self) -> bytes:
        """Return :meth:`to_json` as one line with all keys sorted; the same recording gives the same bytes."""
        plain = self.to_json()
        try:
            return orjson.dumps(plain, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)
        except TypeError:  # half a character, or a huge number
            return encode(_sorted(plain))


def fold_recording(
    recording: str | os.PathLike[str] | IO[bytes] | Sequence[RecordedLine],
    *,
    memory: MemoryPolicy | None = None,
    opened: Callable[[Session], None] = lambda _: None,
) -> FoldedRecording:
    """Fold a recording into the states that its host had. Nothing is executed, written or started.

    Pauses take no time. The recording may be in any state, and come from any host: what cannot be read or done again
    is left out, with a diagnostic.

    Args:
        recording: its path, a file that is open for bytes, or the lines of one.
        memory: how much of the transcripts is kept; ``None`` keeps all.
        opened: called with each session when it is made, e.g. to observe it.

    Raises:
        InvalidInput: the file cannot be read.
    """
    if isinstance(recording, Sequence) and not isinstance(recording, str):
        return run_in_virtual_time(_fold(recording, memory, opened))
    return run_in_virtual_time(_fold(read_recording(recording), memory, opened))


async def _fold(
    lines: Iterable[RecordedLine], memory: MemoryPolicy | None, opened: Callable[[Session], None]
) -> FoldedRecording:
    sessions: dict[str, Session] = {}
    earlier: dict[str, tuple[SessionSnapshot, ...]] = {}

    def add(session: Session) -> None:
        sessions[session.id] = session
        opened(session)

    def keep(session: Session) -> None:
        earlier[session.id] = (*earlier.get(session.id, ()), session.state.snapshot())

    player = RecordingPlayer(lines, memory=memory, opened=add, reopening=keep)
    try:
        await player.play()
        open_sessions = () if player.host is None else player.host.sessions
        return FoldedRecording(
            agreement=_agreed(player),
            sessions={
                session_id: session.state.snapshot()
                for session_id, session in sessions.items()
                if session.opening is not None or session in open_sessions
            },
            earlier=earlier,
            diagnostics=tuple(player.diagnostics),
        )
    finally:
        await player.close()


def _agreed(player: RecordingPlayer) -> Agreement | None:
    try:
        return None if player.host is None else player.host.agreement
    except InvalidState:
        return None


def _agreement(agreement: Agreement) -> dict[str, Any]:
    return {
        "protocolVersion": agreement.protocol_version,
        "agentInfo": to_json(agreement.agent_info),
        "agentCapabilities": to_json(agreement.agent_capabilities),
        "clientCapabilities": to_json(agreement.client_capabilities),
        "authMethods": to_json(agreement.auth_methods),
        "quirks": [quirk.why for quirk in agreement.quirks],
        "meta": dict(agreement.meta),
    }


def _sorted(value: Any) -> Any:
    match value:
        case dict():
            return {name: _sorted(value[name]) for name in sorted(value)}
        case list():
            return [_sorted(member) for member in value]
        case _:
            return value
