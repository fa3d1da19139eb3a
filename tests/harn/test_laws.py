"""Laws of all that a Harn agent tells, whatever comes in whatever order."""

from __future__ import annotations

from typing import Any

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_host.state import events
from acp_host.state.harn.snapshot import HarnSnapshot
from acp_host.translate.harn.kinds import KINDS
from acp_host.translate.harn.notifications import NOTIFICATIONS
from tests.harn.harness import Desk, frames
from tests.harn.test_fixtures import FILES

FRAMES = [frame for name in FILES if not name.startswith("invalid_") for frame in frames(name)]
UPDATES = [
    frame["params"]["update"]
    for frame in FRAMES
    if frame.get("method") == "session/update" and frame["params"]["update"].get("sessionUpdate") in KINDS
]
NOTICES = [frame for frame in FRAMES if frame.get("method") in NOTIFICATIONS]
OF_THE_SESSION = [
    events.TurnStarted(1, (), ()),
    events.TurnEnded(1, "completed"),
    events.ReplayStarted(),
    events.ReplayStarted(whole=False),
    events.ReplayAnswered(),
    events.ReplayEnded(),
    events.ReplayEnded(failed=True),
    events.SessionClosed(),
]

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def spoiled(draw: st.DrawFn, told: dict[str, Any]) -> dict[str, Any]:
    """Return members of which some are something else, or missing."""
    names = draw(st.sets(st.sampled_from(sorted(told)), max_size=3))
    return {name: draw(json_values) if name in names else member for name, member in told.items()}


def steps() -> st.SearchStrategy[Any]:
    def of_update(update: dict[str, Any]) -> st.SearchStrategy[Any]:
        members = update.get("_meta", {}).get("harn")
        if not members:
            return st.just(update)
        kind = update["sessionUpdate"]
        return spoiled(members).map(lambda told: {"sessionUpdate": kind, "_meta": {"harn": told}})

    def of_notice(frame: dict[str, Any]) -> st.SearchStrategy[Any]:
        return spoiled(frame["params"]).map(lambda told: (frame["method"], told))

    return (
        st.sampled_from(UPDATES)
        | st.sampled_from(UPDATES).flatmap(of_update)
        | st.sampled_from(NOTICES).map(lambda frame: (frame["method"], frame["params"]))
        | st.sampled_from(NOTICES).flatmap(of_notice)
        | st.sampled_from(OF_THE_SESSION)
    )


def take(desk: Desk, step: Any) -> None:
    if isinstance(step, dict):
        desk.take(step)
    elif isinstance(step, tuple):
        desk.hear(step[0], **step[1])
    else:
        desk.apply(step).deliver()


@settings(max_examples=150)
@given(st.lists(steps(), max_size=12))
def test_deltas_are_exact_and_what_stays_is_shared(told: list[Any]) -> None:
    desk = Desk()
    heard: list[tuple[str, Any]] = []
    replays = any(isinstance(step, events.ReplayStarted) for step in told)
    desk.state.changed.connect(lambda changes: heard.extend((each.section, each.key) for each in changes.changes))
    for step in told:
        before = desk.state.snapshot().harn
        heard.clear()
        take(desk, step)
        desk.assert_exact()
        after = desk.state.snapshot().harn
        if before is None or after is None:
            continue
        changed = {str(key).partition("/")[0] for section, key in heard if section == "harn"}
        for topic in attrs.fields(HarnSnapshot):
            old, new = getattr(before, topic.name), getattr(after, topic.name)
            # What a replay tells again is equal to what was, and not the same.
            assert topic.name in changed or (old == new if replays else old is new)


@given(st.sampled_from(UPDATES), st.sampled_from(UPDATES))
def test_the_same_again_leaves_entries_by_id_as_they_are(first: dict[str, Any], second: dict[str, Any]) -> None:
    desk = Desk().take(first, second)
    before = desk.state.snapshot().harn
    desk.take(second)
    after = desk.state.snapshot().harn
    for topic in attrs.fields(HarnSnapshot) if before is not None and after is not None else ():
        old, new = getattr(before, topic.name), getattr(after, topic.name)
        if isinstance(old, dict) and topic.name != "model_calls":  # whose text grows
            assert old == new
            assert all(new[key] is entry for key, entry in old.items())
