"""What programs of the benchmark that fold by themselves share: time that a session takes for itself."""

from __future__ import annotations

from acp_host.state.clock import ManualClock, ManualScheduler


def let_idle(clock: ManualClock, scheduler: ManualScheduler) -> None:
    """Let time pass until nothing is put off any more."""
    while (due := scheduler.next_due) is not None:
        clock.advance(max(0.0, due - clock.now()))
        scheduler.flush()
