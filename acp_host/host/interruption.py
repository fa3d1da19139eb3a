"""What is known of a call that the end of the connection has cut off: :class:`Interruption`. Pure; nothing is asked.

``safe_to_resend`` is true only where it is certain that the agent has not begun: that nobody knows is not enough.
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve, frozen

from acp_host.services.audit import AuditDecision, AuditRecord
from acp_host.state.entries import ENDED_CALL, CompactionEntry, Entry, MessageEntry, Speaker, ToolCallEntry
from acp_host.state.snapshot import SessionSnapshot

__all__ = ["Interruption", "interrupted_call", "interrupted_turn", "unsent"]

_PROMPT = "session/prompt"
_SAME_TWICE = frozenset(
    {
        "initialize",
        "authenticate",
        "logout",
        "auth/status",
        "providers/list",
        "session/list",
        "session/status",
        "session/load",
        "session/resume",
        "session/close",
        "session/delete",
        "session/archive",
        "session/unarchive",
        "session/set_title",
        "session/set_mode",
        "session/set_model",
        "session/set_config_option",
        "session/pending_injections",
        "session/live_clients",
    }
)
"""Methods that do the same when they are called twice as when they are called once."""
_DONE = (AuditDecision.ALLOWED, AuditDecision.ANSWERED)


@frozen(kw_only=True)
class Interruption:
    """A call whose end nobody will tell.

    Attributes:
        method: wire method of the call.
        started: whether the agent had begun with it; ``None``: nobody knows.
        safe_to_resend: it can be sent again, and will not be done twice.
        reasons: why it can or cannot, in sentences for people.
        text: what the agent had said in the turn; empty for other calls.
        tool_calls: what the agent had begun to do in the turn, each as it was last told.
        decisions: what the host did for the agent meanwhile, or refused: questions answered, files read and written,
            commands run; as in ``host.audit``.
    """

    method: str
    started: bool | None
    safe_to_resend: bool
    reasons: tuple[str, ...] = ()
    text: str = ""
    tool_calls: tuple[ToolCallEntry, ...] = ()
    decisions: tuple[AuditRecord, ...] = ()

    @property
    def unfinished(self) -> tuple[ToolCallEntry, ...]:
        """The tool calls of which the agent never said that they ended."""
        return tuple([call for call in self.tool_calls if call.status not in ENDED_CALL])

    @property
    def files_written(self) -> tuple[str, ...]:
        """The files that the agent has written through the host."""
        return self._done("fs/write_text_file")

    @property
    def commands_run(self) -> tuple[str, ...]:
        """The commands that the host has run for the agent."""
        return self._done("terminal/create")

    def _done(self, method: str) -> tuple[str, ...]:
        records = (record for record in self.decisions if record.action == method and record.decision in _DONE)
        return tuple(dict.fromkeys(record.subject for record in records))


def unsent(method: str) -> Interruption:
    """Return what is known of a call that was never written."""
    return Interruption(method=method, started=False, safe_to_resend=True, reasons=("it was not sent",))


def interrupted_call(method: str) -> Interruption:
    """Return what is known of a call that was written and had no answer; a prompt has a turn that knows more."""
    same = method in _SAME_TWICE
    reason = "doing it twice is the same as doing it once" if same else "the agent may have done it"
    return Interruption(method=method, started=None, safe_to_resend=same, reasons=(reason,))


def interrupted_turn(
    turn: int, text: str, snapshot: SessionSnapshot, decisions: Iterable[AuditRecord], *, accepted: bool = False
) -> Interruption:
    """Return what is known of a turn whose prompt was written, and whose end was not told.

    Args:
        turn: its number.
        text: what the agent has said in it.
        snapshot: the state of its session.
        decisions: what the host did for the agent since the prompt was written.
        accepted: the agent has said that it took the prompt.
    """
    entries = [entry for entry in snapshot.transcript if entry.turn == turn and not entry.replayed]
    calls = tuple([entry for entry in entries if isinstance(entry, ToolCallEntry)])
    taken = tuple(decisions)
    begun = bool(accepted or calls or taken or text or any(map(_is_work, entries)))
    reasons = ["the agent had begun with it" if begun else "the agent may have taken it: nothing was heard of that"]
    if calls:
        open_calls = sum(call.status not in ENDED_CALL for call in calls)
        reasons.append(f"tool calls were made: {len(calls)}, of which {open_calls} had not ended")
    known = Interruption(
        method=_PROMPT,
        started=True if begun else None,
        safe_to_resend=False,
        text=text,
        tool_calls=calls,
        decisions=taken,
    )
    if known.files_written:
        reasons.append(f"files were written through the host: {len(known.files_written)}")
    if known.commands_run:
        reasons.append(f"commands were run by the host: {len(known.commands_run)}")
    return evolve(known, reasons=tuple(reasons))


def _is_work(entry: Entry) -> bool:
    """Tell whether an entry is the agent's doing, and not what the host put there."""
    return isinstance(entry, CompactionEntry) or (isinstance(entry, MessageEntry) and entry.speaker is not Speaker.USER)
