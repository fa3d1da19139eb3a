"""What upserts of version 2 leave, clear and replace: every member absent, null or given, in every order."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from acp_host.translate.v2.updates import translate
from acp_host.wire.converters import structure
from acp_host.wire.v2.updates import SessionUpdate
from tests.state.session_events import Folding

ABSENT = object()
META = st.dictionaries(st.sampled_from("ab"), st.none() | st.integers(0, 3), max_size=2)
ABLE: st.SearchStrategy[Any] = st.sampled_from([{}, {"cancel": {}}])


def patches(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return patches of these members, each of which is absent, null or given."""
    each = {name: st.just(ABSENT) | st.none() | value for name, value in members.items()}
    return st.fixed_dictionaries(each).map(lambda patch: {k: v for k, v in patch.items() if v is not ABSENT})


def block(text: str) -> dict[str, Any]:
    return {"type": "content", "content": {"type": "text", "text": text}}


def tell(folding: Folding, update: str, /, **members: Any) -> None:
    event = translate(structure({"sessionUpdate": update, **members}, SessionUpdate))
    assert event is not None
    folding.state.apply(event)


def after(known: dict[str, Any], patch: dict[str, Any], cleared: dict[str, Any]) -> dict[str, Any]:
    """Return what is known after a patch, by the words of the schema."""
    result = dict(known)
    for name, value in patch.items():
        if name == "_meta" and value is not None:
            merged = {**known["_meta"], **value}
            result[name] = {key: member for key, member in merged.items() if member is not None}
        else:
            result[name] = cleared[name] if value is None else value
    return result


CALL = patches(
    title=st.text(max_size=3),
    kind=st.sampled_from(["edit", "nobody knows it"]),
    status=st.sampled_from(["in_progress", "completed", "nobody knows it"]),
    content=st.lists(st.sampled_from("xy").map(block), max_size=2),
    locations=st.lists(st.sampled_from([{"path": "/a"}, {"path": "/b"}]), max_size=2),
    rawInput=st.integers(),
    rawOutput=st.text(max_size=2),
    _meta=META,
    capabilities=ABLE,
)
CLEARED_CALL = {
    **{"title": None, "kind": "other", "status": "pending", "content": [], "locations": []},
    **{"rawInput": None, "rawOutput": None, "_meta": {}, "capabilities": {}},
}


@given(st.lists(CALL | st.sampled_from("xy").map(block), min_size=1, max_size=6))
def test_of_a_tool_call(told: list[dict[str, Any]]) -> None:
    folding = Folding()
    known = {**CLEARED_CALL, "kind": None, "status": None}
    for each in told:
        if each.get("type") == "content":
            tell(folding, "tool_call_content_chunk", toolCallId="c", content=each)
            known = {**known, "content": [*known["content"], each]}
        else:
            tell(folding, "tool_call_update", toolCallId="c", **each)
            known = after(known, each, CLEARED_CALL)
    [call] = folding.snapshot.transcript
    assert {
        "title": call.title,
        "kind": call.kind,
        "status": call.status,
        "content": [block(shown.content.text) for shown in call.content],
        "locations": [{"path": place.path} for place in call.locations],
        "rawInput": call.raw_input,
        "rawOutput": call.raw_output,
        "_meta": call.meta,
        "capabilities": {"cancel": {}} if call.cancellable else {},
    } == known


TERMINAL = patches(
    command=st.text(max_size=2),
    cwd=st.just("/a"),
    output=st.binary(max_size=4).map(lambda data: {"data": b64encode(data).decode()}),
    exitStatus=st.sampled_from([{"exitCode": 3}, {"signal": "KILL"}]),
    size=st.just({"cols": 80, "rows": 20}),
    capabilities=ABLE,
    _meta=META,
)
CLEARED_TERMINAL = {
    **{"command": "", "cwd": None, "output": None, "exitStatus": None, "size": None},
    **{"capabilities": {}, "_meta": {}},
}


@given(st.lists(TERMINAL, min_size=1, max_size=6))
def test_of_a_terminal(told: list[dict[str, Any]]) -> None:
    folding, known = Folding(), dict(CLEARED_TERMINAL)
    for each in told:
        tell(folding, "terminal_update", terminalId="t", **each)
        known = after(known, each, CLEARED_TERMINAL)
    view = folding.snapshot.terminals["t"]
    status = known.pop("exitStatus")
    assert (view.ended, view.exit_code, view.signal) == (
        status is not None,
        (status or {}).get("exitCode"),
        (status or {}).get("signal"),
    )
    del known["output"]
    assert {
        "command": view.command,
        "cwd": view.cwd,
        "size": None if view.cols is None else {"cols": view.cols, "rows": view.rows},
        "capabilities": {"cancel": {}} if view.cancellable else {},
        "_meta": view.meta,
    } == known


def test_an_empty_object_changes_no_meta_and_null_clears_it() -> None:
    folding = Folding()
    tell(folding, "session_info_update", _meta={"a": 1, "b": 2})
    tell(folding, "session_info_update", _meta={})
    assert folding.snapshot.info.meta == {"a": 1, "b": 2}
    tell(folding, "session_info_update", _meta={"a": None})
    assert folding.snapshot.info.meta == {"b": 2}
    tell(folding, "session_info_update", _meta=None)
    assert folding.snapshot.info.meta == {}
