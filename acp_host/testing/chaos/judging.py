"""What a host got right and wrong, as far as the agent's side of the wire shows it: :func:`judge`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

from attrs import frozen

from acp_host.testing.chaos.journal import Event, What

__all__ = ["Finding", "Rule", "judge"]


class Rule(StrEnum):
    """What holds for every host and every agent; agents have rules of their own besides."""

    JSON_RPC = "every line of the host is one message of JSON-RPC 2.0"
    ANSWERED = "every request of the agent is answered, once, under its id as it came"
    NOT_ASKED = "nothing is answered that was not asked"
    IDS = "requests of the host that wait at the same time have different ids"
    ONE_PROMPT = "one prompt at a time in a session"
    STAYS = "the host stays until the agent is done"
    EXITS = "the host's program ends in time"
    STATUS = "the host's exit status says whether the turn was completed"
    NONE_LEFT = "no process of the agent is left"


@frozen
class Finding:
    """Something that a rule says, and whether the host keeps to it.

    Attributes:
        rule: one of :class:`Rule`, or the agent's own.
        ok: whether it does; ``None`` where the host did not come into the way of the fault.
        detail: what was seen.
    """

    rule: str
    ok: bool | None
    detail: str = ""


def judge(events: Sequence[Event]) -> list[Finding]:
    """Return what a journal shows: one finding for each rule, and those of the agent itself."""
    over = next((number for number, event in enumerate(events) if event.what == What.OVER), None)
    found = [
        _rule(Rule.JSON_RPC, [event.text for event in events if event.what == What.BROKEN]),
        _answers(events if over is None else events[:over], events),
        _strangers(events),
        _ids(events),
        _prompts(events),
    ]
    if over is None and all(event.what != What.CLOSED for event in events):
        last = next((event for event in reversed(events) if event.what != What.GONE), None)
        found.append(Finding(Rule.STAYS, False, "it never came" if last is None else f"it left after {_said(last)}"))
    own = [Finding(event.text, event.ok, event.method or "") for event in events if event.what == What.FOUND]
    return [*found, *own]


def _answers(before: Sequence[Event], events: Sequence[Event]) -> Finding:
    """Hold what was asked before the end against all answers."""
    asked = Counter(event.id for event in before if event.what == What.ASKED and event.ok)
    optional = {event.id for event in events if event.what == What.ASKED and not event.ok}
    later = Counter(event.id for event in events if event.what == What.ASKED and event.ok)
    answers = Counter(event.id for event in events if event.what == What.RESPONSE)
    methods = {event.id: event.method for event in events if event.what == What.ASKED}
    wrong = [
        f"{methods[number]} ({number}): {answers[number] or 'no'} answers to {count} requests"
        for number, count in asked.items()
        if number not in optional and not count <= answers[number] <= later[number]
    ]
    return _rule(Rule.ANSWERED, wrong)


def _strangers(events: Sequence[Event]) -> Finding:
    asked = {event.id for event in events if event.what == What.ASKED}
    # JSON-RPC has an id of null for the answer to what cannot be read.
    strange = [event for event in events if event.what == What.RESPONSE and event.id not in asked | {"null"}]
    return _rule(Rule.NOT_ASKED, [event.text for event in strange])


def _ids(events: Sequence[Event]) -> Finding:
    # The agent's answers are not in the journal: an id may come again once its prompt is over.
    numbers = Counter(event.id for event in events if event.what == What.REQUEST)
    return _rule(Rule.IDS, [f"id {number}: {count} requests" for number, count in numbers.items() if count > 1])


def _prompts(events: Sequence[Event]) -> Finding:
    running: set[str | None] = set()
    wrong: list[str] = []
    for event in events:
        if event.what == What.ENDED:
            running.discard(event.session)
        elif event.what == What.REQUEST and event.method == "session/prompt":
            if event.session in running:
                wrong.append(event.text)
            running.add(event.session)
    return _rule(Rule.ONE_PROMPT, wrong)


def _rule(rule: Rule, wrong: Sequence[str]) -> Finding:
    more = f" (and {len(wrong) - 3} more)" if len(wrong) > 3 else ""
    return Finding(rule, not wrong, "; ".join(wrong[:3]) + more)


def _said(event: Event) -> str:
    return event.method or event.text[:80] or event.what
