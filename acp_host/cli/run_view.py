"""Prints a run as it happens, for people: :class:`RunView`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from acp_host.automation import Budget, RunReason, RunResult
from acp_host.automation import events as run_events
from acp_host.cli.login import login_text
from acp_host.cli.printer import plain
from acp_host.cli.render import TurnView
from acp_host.cli.unheld import unheld_cost, unheld_limits
from acp_host.errors import AcpError, AuthRequired
from acp_host.host.connection import HostConnection
from acp_host.protocol.negotiation import Agreement
from acp_host.services.audit import AuditRecord, DecidedBy
from acp_host.state.reminder_entry import Rung
from acp_host.wire.usage import UsageUpdate

__all__ = ["RunView"]

_MOST_CHANGES = 50
"""Changed files that are listed at most."""


class RunView:
    """Prints the events of a run.

    Args:
        view: prints what happens in the turn.
        argv: the agent's command, for its login; of an agent elsewhere, its URL.
        shows_stderr: print what the agent writes to stderr.
        budget: the limits of the run.
        complain: returns what to say of an error that ended the run.
    """

    def __init__(
        self,
        view: TurnView,
        argv: Sequence[str],
        *,
        shows_stderr: bool,
        budget: Budget,
        complain: Callable[[AcpError], str],
    ) -> None:
        self._view = view
        self._printer = view.printer
        self._argv = argv
        self._shows_stderr = shows_stderr
        self._budget = budget
        self._complain = complain
        self._agreement: Agreement | None = None
        self._began = time.monotonic()
        self._doing = "starting the agent"
        self._calls: dict[str, str] = {}
        self._tokens: int | None = None
        self._told_currency = False

    def show(self, event: run_events.RunEvent) -> None:
        """Print an event, if it has something to say to people."""
        match event:
            case run_events.AgentReady(host=host):
                self._ready(host)
            case run_events.SessionOpened():
                self._opened(event)
            case run_events.ReminderSettled(reminder=reminder):
                self._reminded(reminder.rung, reminder.detail)
            case run_events.PromptSent():
                self._doing = "working"
                self._printer.end_flow()
            case run_events.Updated(update=update, aside=aside):
                (self._view.show_aside if aside else self._view.show)(update)
                self._note(event)
            case run_events.RequestDecided(record=record):
                self._decided(record)
            case run_events.StderrLine(line=line):
                if self._shows_stderr:
                    self._printer.line("stderr", plain(line, "dim"))
            case run_events.LimitReached(detail=detail):
                self._printer.line("limit", plain(f"{detail}; the run ends", "yellow"))
            case run_events.AttemptFailed():
                self._retry(event)
            case run_events.EventsSkipped(count=count):
                self._printer.line("skipped", plain(f"{count} events: this output was too slow", "yellow"))
            case run_events.RunFinished(result=result, error=error):
                self._printer.finish()
                self._finished(result, error)

    def describe(self) -> str:
        """Return what is going on, as one line for people."""
        told = [f"{self._doing}, {time.monotonic() - self._began:.0f} s"]
        if self._calls:
            told.append("1 tool call" if len(self._calls) == 1 else f"{len(self._calls)} tool calls")
            told.append(next(reversed(self._calls.values())))
        if self._tokens is not None:
            told.insert(1, f"{self._tokens:,} tokens")
        return " · ".join(told)

    def _ready(self, host: HostConnection) -> None:
        self._agreement = host.agreement
        self._doing = "opening the session"

    def _opened(self, event: run_events.SessionOpened) -> None:
        if event.how != "new":
            self._printer.line("session", plain(f"{event.session.id}, gone on with by {event.how}"))
        if self._agreement is not None and self._agreement.harn is not None:
            from acp_host.cli.harn_view import HarnView  # loaded for such an agent only

            HarnView(self._printer, event.session)

    def _reminded(self, rung: str, detail: str) -> None:
        if rung == Rung.SUPPRESSED:
            why = f": {detail}" if detail else ""
            self._printer.line("reminder", plain(f"not delivered, no way takes it{why}", "yellow"))
        else:
            self._printer.line("reminder", plain(f"by {rung}"))

    def _note(self, event: run_events.Updated) -> None:
        """Remember what the line of progress says."""
        update: Any = event.update
        call_id = getattr(update, "tool_call_id", None)
        entry = None if call_id is None else event.session.state.tool_call(call_id)
        if entry is not None:
            self._calls[entry.key] = entry.title or entry.kind or "a tool"
        if isinstance(update, UsageUpdate):
            self._tokens = update.used
            if update.cost and not self._told_currency and (told := unheld_cost(self._budget, [update.cost.currency])):
                self._told_currency = True
                self._printer.line("budget", plain(told, "yellow"))

    def _decided(self, record: AuditRecord) -> None:
        """Print what a policy has decided by itself; other decisions are printed where they are made."""
        if record.decided_by in (DecidedBy.POLICY, DecidedBy.APPROVAL):
            by = f", by the rule {record.rule!r}" if record.rule else f", by {record.decided_by}: {record.detail}"
            self._printer.line("decision", plain(f"{record.decision}: {record.subject}", "bold"), plain(by))

    def _retry(self, event: run_events.AttemptFailed) -> None:
        what = f"attempt {event.number} failed, the next one begins in {event.delay:g} s: {event.error}"
        self._printer.line("retry", plain(what, "yellow"))
        self._doing = "waiting for another attempt"

    def _finished(self, result: RunResult, error: AcpError | None) -> None:
        if result.from_journal:
            self._printer.line("journal", plain(f"the run {result.key!r} was done before; nothing was sent"))
            self._printer.answer(result.text)
            self._printer.finish()
        self._list_changes(result)
        costs = {} if result.cost is None else {result.cost.currency: result.cost.amount}
        for limit in unheld_limits(self._budget, result.unreported, costs):
            self._printer.line("budget", plain(limit, "yellow"))
        if isinstance(error, AuthRequired) and self._agreement is not None:
            self._printer.line("login", login_text(self._agreement, self._argv, error))
        elif error is not None:
            self._printer.say(plain(self._complain(error)))
        else:
            self._view.show_result(result)
            if result.outcome.reason == RunReason.PERMISSION_DENIED:
                self._printer.line("denied", plain(f"{len(result.denied)} of its requests; see above", "yellow"))

    def _list_changes(self, result: RunResult) -> None:
        lines = [
            f"{change.path} ({change.kind}{', not allowed' if change.allowed is False else ''})"
            for change in result.changes[:_MOST_CHANGES]
        ]
        if len(result.changes) > _MOST_CHANGES:
            lines.append(f"and {len(result.changes) - _MOST_CHANGES} more")
        if result.changes_problem is not None:
            lines.append(f"there may be more: {result.changes_problem}")
        if lines:
            self._printer.line("changed", plain("\n".join(lines)))
