"""Who is attached to a session of a Harn agent, from the wire to the state."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from acp_host.state import events
from acp_host.state.harn.live_clients import MAX_CLIENTS, LiveClient, LiveClientsSnapshot
from acp_host.translate.harn.live_clients import live_clients_answer
from tests.harn.harness import Desk, at_root, events_of, named, read, updates


def client(client_id: str, mode: str = "observer", **members: Any) -> dict[str, Any]:
    rights = {"prompt_injection": mode == "controller", "permission_routing": mode == "controller"}
    times = {"attached_at": "1780000000", "last_seen_at": "1780000004"}
    return {"client_id": client_id, "mode": mode, "metadata": {}, **rights, **times, **members}


def state(*clients: dict[str, Any], of: dict[str, Any] | None = None, before: str | None = None) -> dict[str, Any]:
    active = next((each["client_id"] for each in clients if each["mode"] == "controller"), None)
    return {
        "client": of,
        "clients": list(clients),
        "active_controller_id": active,
        "previous_controller_id": before,
    }


def told(action: str, said: dict[str, Any] | None) -> dict[str, Any]:
    return named("live_session_client", action=action, state=said)


def attached(desk: Desk) -> LiveClientsSnapshot:
    live = desk.harn.live_clients
    assert live is not None
    return live


def test_a_takeover_and_a_departure() -> None:
    takeover, detached = updates("derived_namespaced_updates.json", "live_session_client")
    desk = Desk().take(takeover)
    live = attached(desk)
    assert (live.action, live.active_controller_id, live.previous_controller_id) == ("takeover", "nb", "tui")
    assert live.client == live.controller == live.get("nb")
    assert [(each.client_id, each.is_controller) for each in live.clients] == [("nb", True), ("tui", False)]
    assert live.controls("nb")
    assert not live.controls("tui")
    desk.take(detached)
    live = attached(desk)
    assert (live.client, live.controller, live.get("nb")) == (None, None, None)
    assert [each.client_id for each in live.clients] == ["tui"]
    assert desk.problems == []
    desk.assert_exact()


def test_the_older_form_says_the_same() -> None:
    for update in updates("derived_namespaced_updates.json", "live_session_client"):
        assert events_of(at_root(update)) == events_of(update)


def test_an_answer_says_the_same_as_an_update() -> None:
    said = state(client("nb", "controller"), of=client("nb", "controller"))
    report = live_clients_answer(said, "attached")
    assert report.events == events_of(told("attached", said))
    assert live_clients_answer([]).problems == ("the answer is no object",)


def test_what_is_told_takes_the_place_of_everything_before() -> None:
    desk = Desk().take(told("attached", state(client("a", "controller"), client("b"))))
    desk.take(told("heartbeat", state(client("c"))))
    assert [each.client_id for each in attached(desk).clients] == ["c"]
    assert attached(desk).active_controller_id is None


def test_where_only_the_action_is_told_the_rest_stays() -> None:
    desk = Desk().take(told("attached", state(client("a", "controller"))))
    desk.take(told("heartbeat", None))
    assert (attached(desk).action, attached(desk).active_controller_id) == ("heartbeat", "a")
    assert attached(Desk().take(told("detached", None))) == LiveClientsSnapshot(action="detached")


def test_metadata_is_what_was_told_last() -> None:
    desk = Desk().take(told("attached", state(client("a", metadata={"surface": "x"}))))
    desk.take(told("heartbeat", state(client("a"))))
    assert attached(desk).clients[0].metadata == {}


def test_without_an_action_it_is_nothing() -> None:
    report = read(named("live_session_client", state={}))
    assert report is not None
    assert (report.events, report.problems) == ((), ("action is missing",))


def test_what_is_wrong_in_it_is_left_out_and_named() -> None:
    broken = client("a", attached_at=1780000000, last_seen_at=None, prompt_injection="yes", further=1)
    desk = Desk().take(told("attached", {"clients": [broken, {"mode": "observer"}, 3], "client": "x"}))
    assert attached(desk).clients == (
        LiveClient(client_id="a", mode="observer", attached_at="1780000000", extra={"further": 1}),
    )
    assert len(desk.problems) == 4


def test_clients_are_bounded() -> None:
    many = [client(f"c{number}") for number in range(MAX_CLIENTS + 5)]
    desk = Desk().take(told("attached", state(*many)))
    assert len(attached(desk).clients) == MAX_CLIENTS
    assert desk.problems == [f"{MAX_CLIENTS + 5} clients: those after the first {MAX_CLIENTS} are left out"]


def test_a_replay_takes_the_place_of_nothing() -> None:
    desk = Desk().take(told("attached", state(client("a"))), named("skill_activated", skillName="rust"))
    desk.apply(events.ReplayStarted())
    desk.take(named("skill_activated", skillName="deploy"))
    assert list(desk.harn.skills.active) == ["deploy"]
    assert attached(desk).get("a") is not None
    desk.take(told("detached", state()))
    assert attached(desk).clients == ()
    desk.assert_exact()


CLIENTS = st.builds(client, st.sampled_from("abc"), st.sampled_from(["observer", "controller"]))
STATES = st.lists(CLIENTS, max_size=3, unique_by=lambda each: each["client_id"]).map(lambda known: state(*known))
TOLD = st.builds(told, st.sampled_from(["attached", "takeover", "detached", "heartbeat", "waved"]), st.none() | STATES)


@given(st.lists(TOLD, min_size=1, max_size=8))
def test_in_whatever_order_the_last_whole_thing_told_is_what_is_shown(reports: list[dict[str, Any]]) -> None:
    desk = Desk()
    last: dict[str, Any] = state()
    for update in reports:
        desk.take(update)
        said = update["_meta"]["harn"]
        last = said["state"] or last
        live = attached(desk)
        assert live.action == said["action"]
        assert [each.client_id for each in live.clients] == [each["client_id"] for each in last["clients"]]
        assert live.active_controller_id == last["active_controller_id"]
        assert live.controller is None or live.controller.is_controller
        desk.assert_exact()
