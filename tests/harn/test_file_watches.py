"""What an agent sees happen to files."""

from __future__ import annotations

from acp_host.state.harn.file_watches import MAX_WATCHED, WatchedChange
from tests.harn.harness import Desk, named, read, updates


def test_changes_in_order() -> None:
    desk = Desk().take(*updates("derived_namespaced_updates.json", "fs_watch"))
    desk.take(named("fs_watch", subscriptionId="w-2", events=[{"error": "gone", "new": 1}]))
    first = WatchedChange(
        subscription_id="w-1",
        kind="create",
        paths=("/repo/a.py",),
        relative_paths=("a.py",),
        raw_kind="Create(File)",
    )
    assert [*desk.harn.file_watches] == [
        first,
        WatchedChange(subscription_id="w-2", error="gone", extra={"new": 1}),
    ]
    assert desk.paths == ["add /harn/fileWatches/entries/-"]
    desk.assert_exact()


def test_without_a_watch_or_changes_there_is_nothing() -> None:
    for members in ({"events": []}, {"subscriptionId": "w"}):
        report = read(named("fs_watch", **members))
        assert report is not None
        assert report.events == ()
        assert len(report.problems) == 1


def test_they_are_bounded() -> None:
    events = [{"kind": str(number)} for number in range(MAX_WATCHED + 5)]
    desk = Desk().take(named("fs_watch", subscriptionId="w", events=events))
    assert len(desk.harn.file_watches) == MAX_WATCHED
    assert desk.harn.file_watches.entries[-1].kind == str(MAX_WATCHED + 4)
