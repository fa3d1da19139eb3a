"""Whatever the order in which things arrive, the panel is the same in the end, and nobody ever sees it flicker.

A story is a list of steps with what each depends on: an answer cannot come before its request, nor after the end of
the connection. The agent's updates may come at any time after the request they are about.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_host.errors import ConnectionLost
from acp_host.reminders import ReminderPolicy
from acp_host.state import reminder_events as events
from acp_host.state.reminder_entry import ReminderEntry, Rung, is_terminal
from tests.reminders.harness import HARN, RFC, Harness

KINDS = ("emitted", "emitted again", "deduped", "expired", "cleared", "revoked", "decorated", "listed")


@attrs.define
class Told:
    """What the agent does about one of the host's reminders."""

    body: str
    key: str | None
    answered: bool
    kinds: tuple[str, ...]


@st.composite
def stories(draw: st.DrawFn) -> tuple[list[Told], bool]:
    told = []
    for _ in range(draw(st.integers(1, 4))):
        told.append(
            Told(
                body=draw(st.sampled_from(["one", "two"])),
                key=draw(st.sampled_from([None, "k"])),
                answered=draw(st.booleans()),
                kinds=tuple(draw(st.lists(st.sampled_from(KINDS), unique=True, max_size=4))),
            )
        )
    # Without an answer, two reminders that are alike cannot be told apart.
    for one in told:
        if sum(other.body == one.body for other in told) > 1:
            one.answered = True
    return told, draw(st.booleans())


class Telling:
    """Tells a story to a delivery, step by step, and watches."""

    def __init__(self, told: list[Told], cut: bool, capabilities: dict[str, Any]) -> None:
        self.harness = Harness(capabilities)
        self.policy = ReminderPolicy(rungs=(Rung.INJECT_REMINDER, Rung.REMIND), timeout=None)
        self.told = told
        self.by_host = capabilities is HARN
        self.faults: list[str] = []
        self.gone: set[str] = set()
        self.shown: set[str] = set()
        self.ended: set[str] = set()
        self.harness.panel.changed.connect(self.look)
        self.steps: dict[str, tuple[tuple[str, ...], Callable[[], None]]] = {}
        for index, one in enumerate(told):
            self.tell(index, one, cut)
        if cut:
            before = tuple(f"send {index}" for index in range(len(told)))
            before += tuple(f"answer {index}" for index, one in enumerate(told) if one.answered)
            before += tuple(name for name in self.steps if name.startswith("revoked"))
            self.steps["cut"] = (before, self.reconnect)

    def tell(self, index: int, one: Told, cut: bool) -> None:
        harness, agent_id = self.harness, f"rmd-{index + 1}" if self.by_host else f"r-{index + 1}"
        sent = (f"send {index}",)
        earlier = (f"send {index - 1}",) if index else ()
        self.steps[f"send {index}"] = (
            earlier,
            lambda: harness.remind(one.body, dedupe_key=one.key, policy=self.policy),
        )
        if one.answered or not cut:
            one.answered = True
            self.steps[f"answer {index}"] = (
                sent,
                lambda: harness.answer({"reminderId": agent_id}, token=index + 1),
            )
        say = harness.say
        emission = events.ReminderEmitted(agent_id, one.body, dedupe_key=one.key, source="host")
        steps: dict[str, Callable[[], None]] = {
            "emitted": lambda: say(emission),
            "emitted again": lambda: say(emission),
            "decorated": lambda: say(attrs.evolve(emission, decoration=True)),
            "expired": lambda: say(events.ReminderExpired(agent_id, "ttl_expired", 3)),
            "cleared": lambda: say(events.ReminderExpired(agent_id, "ttl_expired", 3)),
            "deduped": lambda: say(events.ReminderDeduped(f"w-{index}", one.key, (agent_id, "r-99"))),
            "listed": lambda: say(
                events.RemindersListed((events.ListedReminder(agent_id, one.body, dedupe_key=one.key),))
            ),
        }
        winner = events.ReminderEmitted(f"w-{index}", "the winner", source="provider", dedupe_key=one.key)
        for kind in one.kinds:
            if kind == "revoked":
                if one.answered:
                    self.steps[f"revoked {index}"] = (
                        (f"answer {index}",),
                        lambda: say(events.ReminderEnded(f"rmd-{index + 1}", "revoked")),
                    )
                continue
            self.steps[f"{kind} {index}"] = (sent, steps[kind])
            if kind == "deduped":
                # Makes clear that the winner is the agent's own, whatever else has its key.
                self.steps[f"winner {index}"] = ((), lambda: say(winner))
                self.steps[f"deduped {index}"] = ((*sent, f"winner {index}"), steps[kind])

    def reconnect(self) -> None:
        self.harness.cut(ConnectionLost("gone"))
        self.harness.reconnect()

    def look(self, changes: Any) -> None:
        """No entry may vanish and return, nor may one that has ended go on."""
        present = {entry.id: entry for entry in changes.snapshot.entries}
        self.faults += [f"{entry_id} came back" for entry_id in present.keys() & self.gone]
        self.gone |= self.shown - present.keys()
        self.shown = set(present)
        for entry in present.values():
            if is_terminal(entry.status):
                self.ended.add(entry.id)
            elif entry.id in self.ended:
                self.faults.append(f"{entry.id} had ended and is {entry.status}")

    def run(self, wishes: list[str]) -> None:
        """Take the steps in the order that is wished for, as far as what they depend on allows."""
        waiting, done = list(wishes), set()
        while waiting:
            name = next(name for name in waiting if set(self.steps[name][0]) <= done)
            self.steps[name][1]()
            waiting.remove(name)
            done.add(name)

    def result(self) -> tuple[dict[str, ReminderEntry], list[str]]:
        """Return the entries by an id that does not depend on the order, and the order of the host's own."""
        entries = self.harness.panel.entries
        local = {entry.id: entry.reminder_id for entry in entries if entry.id.startswith("agent")}
        plain = {}
        for entry in entries:
            name = entry.id if entry.id not in local else entry.reminder_id
            replaces = tuple(sorted(str(local.get(old, old)) for old in entry.replaces))
            replaced_by = local.get(entry.replaced_by, entry.replaced_by) if entry.replaced_by else None
            # That a second entry was there for a while stays visible in the aliases, as it should.
            aliases = tuple(alias for alias in entry.aliases if not alias.startswith("agent"))
            plain[str(name)] = attrs.evolve(entry, id="", aliases=aliases, replaces=replaces, replaced_by=replaced_by)
        return plain, [entry.id for entry in entries if entry.id not in local]


@pytest.mark.parametrize("capabilities", [RFC, HARN], ids=["rfc", "harn"])
@settings(max_examples=150)
@given(stories(), st.data())
def test_any_order_ends_in_the_same_panel(capabilities, story, data):
    told, cut = story
    causal = Telling([attrs.evolve(one) for one in told], cut, capabilities)
    causal.run(list(causal.steps))
    other = Telling([attrs.evolve(one) for one in told], cut, capabilities)
    other.run(data.draw(st.permutations(list(other.steps))))
    assert other.faults == causal.faults == []
    assert other.result() == causal.result()
    assert len(other.harness.requests) == len(told)


@settings(max_examples=100)
@given(
    st.lists(
        st.one_of(
            st.builds(
                events.ReminderEmitted,
                st.sampled_from(["a", "b", "c", "rmd-1"]),
                st.sampled_from(["one", "two"]),
                source=st.sampled_from([None, "host", "hook"]),
                decoration=st.booleans(),
                replayed=st.booleans(),
            ),
            st.builds(
                events.ReminderDeduped,
                st.sampled_from(["a", "b", "c"]),
                st.sampled_from([None, "k"]),
                st.lists(st.sampled_from(["a", "b", "c", "rmd-1"])).map(tuple),
                st.booleans(),
            ),
            st.builds(
                events.ReminderExpired,
                st.sampled_from(["a", "b", "c"]),
                st.sampled_from(["cleared", "ttl_expired", "compacted_out", "odd"]),
                st.none(),
                st.booleans(),
            ),
            st.sampled_from(["remind", "answer", "fail", "turn", "prompt", "lose", "cut", "clear"]),
        ),
        max_size=25,
    )
)
def test_no_story_raises_or_flickers(happenings):
    telling = Telling([], False, RFC)
    harness = telling.harness
    for index, happening in enumerate(happenings):
        if happening == "remind":
            harness.remind("one", dedupe_key="k" if index % 2 else None, ttl_turns=1 + index % 3)
        elif happening == "answer" and harness.open:
            harness.answer({"reminderId": "abc"[index % 3]})
        elif happening == "fail" and harness.open:
            harness.fail(-32603)
        elif happening == "turn":
            harness.turn()
        elif happening == "cut":
            telling.reconnect()
        elif not isinstance(happening, str):
            harness.say(happening)
    assert telling.faults == []
    for entry in harness.panel.entries:
        assert harness.panel.get(entry.id) is entry
        assert not (entry.active and is_terminal(entry.status))
