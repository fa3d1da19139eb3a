"""What became of a host that met bad agents: :class:`Report`, as text and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from typing import Any

from attrs import frozen

from acp_host.printable import printable
from acp_host.testing.chaos.bad_agent import BadAgent
from acp_host.testing.chaos.judging import Finding

__all__ = ["Meeting", "Report", "Verdict", "lines_of"]

_VERSION = 1
"""Version of the JSON form; it is raised when something in it changes its meaning."""


class Verdict(StrEnum):
    """What can be said of a host and one agent."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_SEEN = "not_seen"
    """The host did not come into the way of the fault: e.g. it never cancels."""


@frozen
class Meeting:
    """A host and one bad agent.

    Attributes:
        agent: the agent.
        findings: what the host got right and wrong.
        exit_status: the host's, negative for a signal; ``None`` where it did not end in time.
        seconds: how long it ran.
        stderr: the end of what it wrote there.
    """

    agent: BadAgent
    findings: tuple[Finding, ...]
    exit_status: int | None = None
    seconds: float = 0.0
    stderr: str = ""

    @property
    def verdict(self) -> Verdict:
        """What can be said."""
        if self.wrong:
            return Verdict.FAILED
        return Verdict.NOT_SEEN if any(finding.ok is None for finding in self.findings) else Verdict.PASSED

    @property
    def wrong(self) -> tuple[Finding, ...]:
        """What the host got wrong."""
        return tuple(finding for finding in self.findings if finding.ok is False)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        return {
            "number": self.agent.code,
            "name": self.agent.name,
            "does": self.agent.does,
            "rule": self.agent.rule,
            "verdict": str(self.verdict),
            "wrong": [{"rule": str(finding.rule), "detail": finding.detail} for finding in self.wrong],
            "exitStatus": self.exit_status,
            "seconds": round(self.seconds, 3),
            "stderr": self.stderr if self.wrong else "",
        }


@frozen
class Report:
    """A host and all the agents that it met.

    Attributes:
        meetings: one for each agent.
    """

    meetings: tuple[Meeting, ...]

    @property
    def failed(self) -> tuple[Meeting, ...]:
        """Those in which the host got something wrong."""
        return tuple(meeting for meeting in self.meetings if meeting.verdict == Verdict.FAILED)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON: ``version``, ``counts`` by verdict, and ``meetings``."""
        counts = Counter(str(meeting.verdict) for meeting in self.meetings)
        return {
            "version": _VERSION,
            "counts": {str(verdict): counts[verdict] for verdict in Verdict},
            "meetings": [meeting.to_json() for meeting in self.meetings],
        }

    def lines(self) -> Iterator[str]:
        """Yield it as text for people, line by line; nothing in it steers a terminal."""
        for meeting in self.meetings:
            yield from lines_of(meeting)
        counts = self.to_json()["counts"]
        yield ""
        yield f"{counts['passed']} passed, {counts['failed']} failed, {counts['not_seen']} not seen"


def lines_of(meeting: Meeting) -> Iterator[str]:
    """Yield one meeting as text."""
    sign = {Verdict.PASSED: "ok    ", Verdict.FAILED: "FAILED", Verdict.NOT_SEEN: "-     "}[meeting.verdict]
    yield f"{sign} {meeting.agent}"
    if meeting.verdict == Verdict.FAILED:
        yield f"       the agent: {meeting.agent.does}"
        yield f"       good is:   {meeting.agent.rule}"
        for finding in meeting.wrong:
            detail = f" ({printable(finding.detail)[:200]})" if finding.detail else ""
            yield f"       not kept:  {finding.rule}{detail}"
        if meeting.stderr:
            last = meeting.stderr.strip().splitlines()[-1]
            yield f"       on stderr: {printable(last)[:200]}"
