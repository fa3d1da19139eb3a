"""The entries of a reminders panel, and which of them an agent's id belongs to: :class:`ReminderBook`.

Which entry an update belongs to:

1. the one with the agent's id;
2. where the agent was asked to use an id of the host's, the one with that id;
3. an update with an unknown id that does not come from elsewhere: the oldest entry whose request has no answer yet and
   that agrees in all that the update names, its text and its dedupe key;
4. else a new one. An end that names nothing but an id is held back while an answer is due that may explain it.

An answer has the last word: an id that was given to the wrong entry moves to the right one, with all that was said
under it; an entry made by the fourth rule becomes part of the one that was sent, which is one change of kind
``merged``.

Cost: O(1) amortised per event but for the search of the third rule, which is linear in the requests without an answer.
Freezing costs as much as has changed, and a copy of the list; where an entry has moved or left, all are gone through.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterator

from acp_host.state.reminder_builder import AgentFacts, ReminderBuilder
from acp_host.state.reminder_entry import ReminderEntry, ReminderOrigin, ReminderStatus

__all__ = ["MOST_FOREIGN", "MOST_GONE", "ReminderBook"]

MOST_FOREIGN = 1_000
"""How many of the agent's own reminders are active at most; past it the oldest are taken for over."""
MOST_GONE = 10_000
"""How many ids of entries that have left are remembered, so that a late end does not bring one back."""

_UNCLAIMED = 1_000
"""How many ids are remembered that belong to no entry: of reminders that were dropped before they were heard of, and of
entries that are not kept any more."""
_FROM_THE_HOST = (None, ReminderOrigin.HOST, ReminderOrigin.BRIDGE)


class ReminderBook:
    """Entries by local id, and what the agent said by its own ids.

    Attributes:
        turn: number of the session's turn.

    Args:
        now: says what time it is.
        added: called with the id of an entry that is new.
        changed: called with the id of one that changed.
        removed: called with the id of one that is not kept any more.
        merged: called with the id of an entry, and of the one that became part of it, if one did.
        limit: how many entries are kept that are not active.
    """

    def __init__(
        self,
        now: Callable[[], float],
        added: Callable[[str], None],
        changed: Callable[[str], None],
        removed: Callable[[str], None],
        merged: Callable[[str, str | None], None],
        limit: int,
    ) -> None:
        self.turn = 0
        self._now = now
        self._note_added = added
        self._note_changed = changed
        self._note_removed = removed
        self._note_merged = merged
        self._limit = limit
        self._entries: dict[str, ReminderBuilder] = {}
        self._aliases: dict[str, str] = {}
        self._facts: dict[str, AgentFacts] = {}
        self._unclaimed: OrderedDict[str, None] = OrderedDict()
        self._open: dict[str, ReminderBuilder] = {}
        self._held: dict[str, AgentFacts] = {}
        self._past: OrderedDict[str, None] = OrderedDict()
        self._foreign: OrderedDict[str, None] = OrderedDict()
        self._gone: deque[str] = deque()
        self._touched: dict[str, ReminderBuilder] = {}
        self._shown: list[ReminderEntry] = []
        self._shown_at: dict[str, int] = {}
        self._stale: dict[str, ReminderBuilder] = {}
        self._is_arranged = True
        self._order = 0
        self._numbers = {"rmd": 0, "agent": 0}

    # --- entries ----------------------------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[ReminderBuilder]:
        return iter(tuple(self._entries.values()))

    def get(self, entry_id: str) -> ReminderBuilder | None:
        """Return the entry with a local id."""
        return self._entries.get(entry_id)

    def lookup(self, any_id: str) -> ReminderBuilder | None:
        """Return the entry with a local id, an agent's id or an alias."""
        builder = self._entries.get(self._aliases.get(any_id, any_id))
        if builder is None:
            facts = self._facts.get(any_id)
            builder = facts.owner if facts is not None else None
        return builder

    def next_id(self, prefix: str) -> str:
        """Return a local id that is not taken, here or, as far as is known, at the agent."""
        while True:
            self._numbers[prefix] += 1
            candidate = f"{prefix}-{self._numbers[prefix]}"
            if candidate not in self._facts and candidate not in self._entries:
                return candidate

    def next_order(self) -> int:
        """Return the next place in the order in which entries come."""
        self._order += 1
        return self._order

    def add(self, builder: ReminderBuilder) -> None:
        """Keep a new entry."""
        self._entries[builder.id] = builder
        self._touched[builder.id] = self._stale[builder.id] = builder
        self._note_added(builder.id)

    def touch(self, builder: ReminderBuilder, *, heard: bool = True) -> None:
        """Note that an entry changed; ``heard``: something was said or done about it just now."""
        if builder.id in self._entries:
            builder.thaw()
            builder.changed = self._now()
            if heard:
                builder.last_turn = self.turn
            self._touched[builder.id] = self._stale[builder.id] = builder
            self._note_changed(builder.id)

    def set_open(self, builder: ReminderBuilder, is_open: bool) -> None:
        """Note whether a request with the reminder has no answer yet."""
        if is_open:
            self._open[builder.id] = builder
        else:
            self._open.pop(builder.id, None)

    # --- what the agent says ----------------------------------------------------------------------------------------

    def facts_of(self, agent_id: str) -> AgentFacts:
        """Return what was said under an id, so far perhaps nothing."""
        facts = self._facts.get(agent_id)
        if facts is None:
            facts = self._facts[agent_id] = AgentFacts(agent_id)
            self._unclaim(facts)
        return facts

    def owner_of(self, agent_id: str | None) -> ReminderBuilder | None:
        """Return the entry that an agent's id belongs to."""
        facts = self._facts.get(agent_id) if agent_id is not None else None
        return None if facts is None else facts.owner

    def heard(self, facts: AgentFacts, *, replayed: bool) -> None:
        """Note that the agent said something under an id, and find the entry that it is about."""
        facts.hear(replayed)
        if facts.owner is None:
            self.find_owner(facts)
        if facts.owner is not None:
            if not replayed:
                facts.owner.wake()
            self.touch(facts.owner)

    def heard_end(self, facts: AgentFacts, *, replayed: bool) -> None:
        """Note that the agent told of an end, which names nothing but an id."""
        if facts.owner is None and self._is_answer_due():
            facts.hear(replayed)
            self._held[facts.id] = facts
        else:
            self.heard(facts, replayed=replayed)

    def find_owner(self, facts: AgentFacts) -> None:
        """Give an id to the entry that it most likely belongs to, or to a new one."""
        owner = self._likely_owner(facts)
        if owner is None:
            if facts.gone and not (facts.live and "body" in facts.said):
                return
            owner = ReminderBuilder(self.next_id("agent"), self.next_order(), self._now(), self.turn)
            self.add(owner)
        self.bind(facts, owner)

    def confirm(self, builder: ReminderBuilder, agent_id: str) -> None:
        """Take the agent's word for which id an entry has."""
        facts = self.facts_of(agent_id)
        owner = facts.owner
        if owner is not None and owner is not builder and owner.reminder_id == agent_id:
            # One id for two: what the agent says from now on is about the newer one.
            owner.retire()
            self.touch(owner, heard=False)
            facts = self._facts[agent_id] = AgentFacts(agent_id)
            self._is_arranged = False
        elif owner is not None and owner is not builder and owner.made is None:
            self._merge(owner, builder)
        self.bind(facts, builder)
        builder.reminder_id = agent_id
        for other in tuple(builder.facts):
            if other is not facts and other.heard and other.id != builder.sent_id:
                self._reconsider(other, builder)

    def bind(self, facts: AgentFacts, builder: ReminderBuilder) -> None:
        """Give an id, with all that was said under it, to an entry."""
        if facts.owner is builder:
            return
        self.unbind(facts)
        self._unclaimed.pop(facts.id, None)
        self._held.pop(facts.id, None)
        facts.owner = builder
        builder.facts.append(facts)
        self.touch(builder)
        self._touch_kin(facts)

    def unbind(self, facts: AgentFacts) -> None:
        """Take an id from its entry."""
        owner, facts.owner = facts.owner, None
        if owner is not None:
            owner.facts.remove(facts)
            self._unclaim(facts)
            self.touch(owner)
            self._touch_kin(facts)

    def _unclaim(self, facts: AgentFacts) -> None:
        self._unclaimed[facts.id] = None
        while len(self._unclaimed) > _UNCLAIMED:
            forgotten, _ = self._unclaimed.popitem(last=False)
            self._facts.pop(forgotten, None)
            self._held.pop(forgotten, None)

    def _is_answer_due(self) -> bool:
        return any(not builder.is_assumed for builder in self._open.values())

    def _likely_owner(self, facts: AgentFacts) -> ReminderBuilder | None:
        """Return the oldest entry without an answer that agrees in everything that was said under the id."""
        body, key = facts.said.get("body"), facts.said.get("dedupe_key")
        if facts.said.get("source") not in _FROM_THE_HOST or (body is None and key is None):
            return None
        for builder in self._open.values():
            if (
                not builder.is_assumed
                and (body is None or body.strip() == builder.body.strip())
                and (key is None or key == builder.dedupe_key)
                and (facts.live or builder.phase == ReminderStatus.UNCERTAIN)
            ):
                return builder
        return None

    def _reconsider(self, facts: AgentFacts, builder: ReminderBuilder) -> None:
        """Move an id that was taken for an entry's, unless no other entry can be meant; then it is an alias."""
        owner = self._likely_owner(facts)
        if owner is not None:
            self.bind(facts, owner)
        else:
            self._note_merged(builder.id, None)

    def _merge(self, other: ReminderBuilder, builder: ReminderBuilder) -> None:
        """Make an entry part of the one that was sent, which keeps its id."""
        for facts in tuple(other.facts):
            self.bind(facts, builder)
        builder.merged += [other.id, *other.merged]
        self._forget(other)
        for alias in builder.merged:
            self._aliases[alias] = builder.id
        self._note_merged(builder.id, other.id)

    def _touch_kin(self, facts: AgentFacts) -> None:
        """The entries that this one replaced, or that replaced it, name it, and stand where it says."""
        if facts.dropped or facts.deduped_by is not None:
            self._is_arranged = False
        for agent_id in (*facts.dropped, facts.deduped_by):
            kin = self.owner_of(agent_id)
            if kin is not None:
                self.touch(kin, heard=False)

    # --- history ----------------------------------------------------------------------------------------------------

    def file(self) -> None:
        """After an event: show what need not be held back, and keep what is not active any more within bounds."""
        if self._held and not self._is_answer_due():
            held, self._held = self._held, {}
            for facts in held.values():
                self.find_owner(facts)
        touched, self._touched = self._touched, {}
        for builder in touched.values():
            self._place(builder)
        while len(self._foreign) > MOST_FOREIGN:
            builder = self._entries[self._foreign.popitem(last=False)[0]]
            builder.retire()
            builder.thaw()
            self._stale[builder.id] = builder
            self._note_changed(builder.id)
            self._place(builder)
        while len(self._past) > self._limit:
            entry_id, _ = self._past.popitem(last=False)
            self._leave(self._entries[entry_id])

    def _place(self, builder: ReminderBuilder) -> None:
        """Note whether an entry is active, and whether it is the agent's own, so that both stay within bounds."""
        exists = builder.id in self._entries
        if exists and not builder.active:
            self._past.setdefault(builder.id)
        else:
            self._past.pop(builder.id, None)
        if exists and builder.active and builder.made is None:
            self._foreign.setdefault(builder.id)
        else:
            self._foreign.pop(builder.id, None)

    def _leave(self, builder: ReminderBuilder) -> None:
        successor = self.successor(builder)
        if successor is not None:
            successor.first_place = min([successor.first_place, builder.first_place])
            self.touch(successor, heard=False)
        for facts in tuple(builder.facts):
            self.unbind(facts)
            if self._facts.get(facts.id) is facts:
                # Remembered, so that an end that is told once more does not bring the entry back.
                self._facts[facts.id] = AgentFacts(facts.id, gone=True)
                self._gone.append(facts.id)
        while len(self._gone) > MOST_GONE:
            forgotten = self._gone.popleft()
            if self._facts[forgotten].gone:
                del self._facts[forgotten]
        self._forget(builder)
        self._note_removed(builder.id)

    def _forget(self, builder: ReminderBuilder) -> None:
        del self._entries[builder.id]
        self._is_arranged = False
        self._past.pop(builder.id, None)
        self._foreign.pop(builder.id, None)
        self._open.pop(builder.id, None)
        for alias in builder.merged:
            self._aliases.pop(alias, None)

    # --- order and freezing -----------------------------------------------------------------------------------------

    def freeze(self) -> tuple[ReminderEntry, ...]:
        """Return the entries, each where it came in, or where the first one stood that it replaced.

        Where nothing has moved or left, it costs as much as has changed, however many entries there are.
        """
        stale, self._stale = self._stale, {}
        if not self._is_arranged or any(map(_may_move, stale.values())):
            self._arrange()
        else:
            for builder in stale.values():
                place = self._shown_at.setdefault(builder.id, len(self._shown))
                self._shown[place : place + 1] = [self.frozen(builder)]  # a new one stands at the end
        return tuple(self._shown)

    def _arrange(self) -> None:
        builders = list(self._entries.values())
        places: dict[str, int] = {}
        moved = False
        for builder in builders:
            place = builder.first_place
            if builder.replaces or builder.facts:
                for old in self._predecessors(builder):
                    place = min(place, places.get(old.id, old.first_place))
            places[builder.id] = place
            if place != builder.order:
                moved = True
        if moved:
            builders.sort(key=lambda builder: (places[builder.id], builder.order))
        self._shown = [builder.frozen or self.frozen(builder) for builder in builders]
        self._shown_at = {builder.id: place for place, builder in enumerate(builders)}
        self._is_arranged = True

    def frozen(self, builder: ReminderBuilder) -> ReminderEntry:
        """Return an entry as it is now; the same object as long as it does not change."""
        successor = self.successor(builder)
        replaces = tuple(dict.fromkeys(old.id for old in self._predecessors(builder)))
        return builder.freeze(replaces, None if successor is None else successor.id)

    def successor(self, builder: ReminderBuilder) -> ReminderBuilder | None:
        """Return the entry that took this one's place."""
        if builder.replaced_by is not None:
            return self._entries.get(builder.replaced_by)
        owners = (self.owner_of(facts.deduped_by) for facts in builder.facts)
        return next((owner for owner in owners if owner is not None and owner is not builder), None)

    def _predecessors(self, builder: ReminderBuilder) -> list[ReminderBuilder]:
        found = [self._entries[old] for old in builder.replaces if old in self._entries]
        for facts in builder.facts:
            if facts.dropped:
                owners = [self.owner_of(agent_id) for agent_id in facts.dropped]
                found += [owner for owner in owners if owner is not None and owner is not builder]
        return sorted(found, key=lambda old: old.order) if len(found) > 1 else found


def _may_move(builder: ReminderBuilder) -> bool:
    """Whether an entry may stand elsewhere than where it came in."""
    took_a_place = builder.replaces or builder.first_place != builder.order
    return bool(took_a_place) or any(facts.dropped for facts in builder.facts)
