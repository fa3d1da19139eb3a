"""From typed messages to what is shown."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from typing import Any

import jsonpatch

from acp_host.errors import DecodeError
from acp_host.state.changes import ChangeSet
from acp_host.state.clock import ManualScheduler
from acp_host.state.deltas import DeltaMaker
from acp_host.state.events import ReplayEnded, ReplayStarted, SessionEvent
from acp_host.state.json_form import to_json
from acp_host.state.memory import MemoryPolicy
from acp_host.state.session_state import SessionState
from acp_host.translate.harn import translate_harn
from acp_host.translate.harn.notifications import translate_notification
from acp_host.translate.harn.task_stream import translate_task_event
from acp_host.translate.versions import update_translator
from acp_host.wire import codec
from acp_host.wire.converters import structure_tolerant
from acp_host.wire.updates import SessionNotification
from acp_host.wire.v2.updates import UpdateSessionNotification
from tests.fuzz.seeds import compact, conversations, harn_messages, pieces
from tests.fuzz.target import Target

MOST_ENTRIES = 60
"""Entries at which a deep comparison ends: it costs in proportion to them, and the faults show with few."""


class Viewer:
    """A state, and a front-end in another process that is told of its changes."""

    def __init__(self) -> None:
        self.scheduler = ManualScheduler()
        self.state = SessionState("s", self.scheduler, memory=MemoryPolicy(keep_turns=2), report=_raise)
        snapshot = self.state.snapshot()
        self._maker = DeltaMaker(snapshot)
        self._document = json.loads(_begun())
        self.state.changed.connect(self._take)

    def _take(self, changes: ChangeSet) -> None:
        operations = json.loads(json.dumps(self._maker.delta(changes)))
        self._document = jsonpatch.JsonPatch(operations).apply(self._document, in_place=True)

    def check(self) -> None:
        """Hold what the front-end has against the snapshot."""
        self.scheduler.flush()
        snapshot = to_json(self.state.snapshot())
        assert json.dumps(self._document, sort_keys=True) == json.dumps(snapshot, sort_keys=True)


@functools.cache
def _begun() -> str:
    """Return the JSON form of a state in which nothing has happened."""
    return json.dumps(to_json(SessionState("s", ManualScheduler(), memory=MemoryPolicy(keep_turns=2)).snapshot()))


def _raise(observer: Callable[..., Any], error: BaseException) -> None:
    raise error


def _folding(version: int, params_type: Any) -> Callable[[bytes], None]:
    translate = update_translator(version).translate

    def folding(data: bytes) -> None:
        """Whatever is told, it can be folded, and deltas lead to the snapshot."""
        viewer = Viewer()
        harn, replay = data[:1] == b"\n", data[:1] == b" "
        if replay:
            viewer.state.apply(ReplayStarted())
        for number, line in enumerate(data.split(b"\n")):
            for told in _events_of(_update_in(line, params_type), harn, translate):
                viewer.state.apply(told)
            if number % 3 == 2:
                viewer.scheduler.flush()
            if replay and number == 2:
                viewer.state.apply(ReplayEnded())
        if len(viewer.state.snapshot().transcript) <= MOST_ENTRIES:
            viewer.check()

    return folding


def _update_in(line: bytes, params_type: Any) -> Any:
    """Return the update in a line, ``None`` where there is none; the protocol has targets of its own."""
    try:
        params = codec.read(line, lambda _: None).get("params")
        return structure_tolerant(params, params_type)[0].update
    except (codec.Noise, codec.Unreadable, DecodeError):
        return None


def _events_of(update: Any, harn: bool, translate: Callable[[Any], SessionEvent | None]) -> Iterator[SessionEvent]:
    if update is None:
        return
    report = translate_harn(update, is_harn=harn)
    if report is not None:
        yield from report.events
        if report.is_update:
            return
    told = translate(update)
    if told is not None:
        yield told


def harn_extensions(data: bytes) -> None:
    """Harn's extensions, whatever is in them, are told as events and problems, and can be folded."""
    viewer = Viewer()
    for line in data.split(b"\n"):
        try:
            message = codec.read(line, lambda _: None)
        except (codec.Noise, codec.Unreadable):
            continue
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        for report in (translate_notification(str(message.get("method")), params), translate_task_event(params)):
            for event in report.events if report is not None else ():
                viewer.state.apply(event)
    viewer.check()


def _harn_conversation() -> Iterator[bytes]:
    for piece in pieces(compact(_of_session(message)) for message in harn_messages()):
        yield b"\n" + piece


def _of_session(message: dict[str, Any]) -> dict[str, Any]:
    params = message.get("params")
    return {**message, "params": {**params, "sessionId": "s"}} if isinstance(params, dict) else message


def _conversations() -> Iterator[bytes]:
    yield from conversations()
    yield from (b" " + seed for seed in conversations())
    yield from _harn_conversation()


_STATE = ("acp_host.state", "acp_host.translate")

TARGETS = (
    Target("fold-v1", _folding(1, SessionNotification), _conversations, code=_STATE),
    Target("fold-v2", _folding(2, UpdateSessionNotification), _conversations, code=_STATE),
    Target("harn", harn_extensions, _harn_conversation, code=_STATE),
)
