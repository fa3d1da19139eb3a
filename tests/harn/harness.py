"""Wire data of Harn agents, and a session state that updates are folded into as a session does it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonpatch

from acp_host.state.changes import ChangeSet
from acp_host.state.clock import ManualScheduler
from acp_host.state.deltas import DeltaMaker
from acp_host.state.harn.snapshot import HarnSnapshot
from acp_host.state.json_form import to_json
from acp_host.state.session_state import SessionState
from acp_host.translate.harn import HarnReport, translate_harn
from acp_host.translate.harn.notifications import translate_notification
from acp_host.translate.v1 import translate
from acp_host.wire.converters import structure_tolerant
from acp_host.wire.updates import SessionUpdate

FIXTURES = Path(__file__).parents[2] / "fixtures" / "harn"


def frames(name: str) -> list[dict[str, Any]]:
    """Return the messages of a file of ``fixtures/harn``."""
    told: list[dict[str, Any]] = json.loads((FIXTURES / name).read_text(encoding="utf-8"))
    return told


def example(name: str) -> Any:
    """Return one of the examples in the published description of the protocol."""
    return json.loads((FIXTURES / "protocol_examples.json").read_text(encoding="utf-8"))[name]


def updates(name: str, kind: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield the updates in a file, of one kind or of all."""
    for frame in frames(name):
        update = frame.get("params", {}).get("update")
        if isinstance(update, dict) and kind in (None, update.get("sessionUpdate")):
            yield update


def named(kind: str, /, **members: Any) -> dict[str, Any]:
    """Return an update in the present form."""
    return {"sessionUpdate": kind, "_meta": {"harn": members}}


def at_root(update: Mapping[str, Any]) -> dict[str, Any]:
    """Return an update in the form that agents used up to April 2026."""
    return {**update["_meta"]["harn"], "sessionUpdate": update["sessionUpdate"]}


def read(update: Mapping[str, Any]) -> HarnReport | None:
    """Return what an update says, given as it is on the wire."""
    return translate_harn(structure_tolerant(update, SessionUpdate)[0])


def events_of(update: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the events of an update that has nothing wrong with it."""
    report = read(update)
    assert report is not None
    assert report.problems == ()
    return report.events


def copy(value: Any) -> Any:
    return json.loads(json.dumps(value))


class Desk:
    """A session's state, and a front-end that is fed with deltas."""

    def __init__(self) -> None:
        self.scheduler = ManualScheduler()
        self.problems: list[str] = []
        self.state = SessionState("s", self.scheduler, problem=self.problems.append)
        snapshot = self.state.snapshot()
        self.front_end: Any = copy(to_json(snapshot))
        self._maker = DeltaMaker(snapshot)
        self.operations: list[dict[str, Any]] = []
        self.state.changed.connect(self._changed)

    def _changed(self, changes: ChangeSet) -> None:
        self.operations = self._maker.delta(changes)
        self.front_end = jsonpatch.apply_patch(self.front_end, copy(self.operations))

    def take(self, *told: Mapping[str, Any]) -> Desk:
        """Fold updates as they are on the wire, and deliver what changed."""
        for update in told:
            report = read(update)
            if report is not None:
                self.problems += report.problems
                self.apply(*report.events)
        self.scheduler.flush()
        return self

    def fold(self, update: Mapping[str, Any]) -> Desk:
        """Fold an update that is no extension of Harn's."""
        event = translate(structure_tolerant(update, SessionUpdate)[0])
        assert event is not None
        return self.apply(event)

    def hear(self, method: str, /, **params: Any) -> Desk:
        """Fold a notification as it is on the wire, and deliver what changed."""
        report = translate_notification(method, params)
        assert report is not None
        self.problems += report.problems
        self.apply(*report.events)
        self.scheduler.flush()
        return self

    def apply(self, *events: Any) -> Desk:
        """Fold events."""
        for event in events:
            self.state.apply(event)
        return self

    def deliver(self) -> None:
        self.scheduler.flush()

    @property
    def harn(self) -> HarnSnapshot:
        harn = self.state.snapshot().harn
        assert harn is not None
        return harn

    @property
    def paths(self) -> list[str]:
        """What the last delta does: the operation and the path of each."""
        return [f"{each['op']} {each['path']}" for each in self.operations if each["path"] != "/version"]

    def assert_exact(self) -> None:
        """Check that the deltas have led to the JSON form of the state."""
        expected = to_json(self.state.snapshot())
        assert json.dumps(self.front_end, sort_keys=True) == json.dumps(copy(expected), sort_keys=True)
