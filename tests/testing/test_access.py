"""Who is let in to an agent that is served over a network."""

from __future__ import annotations

import pytest

from acp_host.errors import InvalidInput
from acp_host.testing.access import Access
from acp_host.transports.serving_rules import check_bind

TOKEN = "a-token-that-is-long-enough"
ACCESS = Access(token=TOKEN, origins=["https://Editor.example/"], hosts=["box.example"])


def status(
    *,
    host: tuple[str, ...] = ("127.0.0.1:8080",),
    origin: tuple[str, ...] = (),
    authorization: tuple[str, ...] = (f"Bearer {TOKEN}",),
    target: str = "/acp",
) -> int | None:
    refusal = ACCESS.refusal(host=host, origin=origin, authorization=authorization, target=target)
    return None if refusal is None else refusal.status


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:1", "[::1]:1", "localhost:1", "LOCALHOST", "box.example:443"])
def test_it_answers_to_addresses_localhost_and_listed_names(host: str) -> None:
    assert status(host=(host,)) is None


@pytest.mark.parametrize(
    "host", [(), ("evil.example",), ("localhost.evil.example",), ("localhost", "localhost"), ("[",), ("",)]
)
def test_a_name_that_was_rebound_to_this_machine_is_refused(host: tuple[str, ...]) -> None:
    assert status(host=host) == 421


def test_pages_are_refused_unless_listed() -> None:
    assert status(origin=("https://evil.example",)) == 403
    assert status(origin=("null",)) == 403
    assert status(origin=("https://editor.example", "https://evil.example")) == 403
    assert status(origin=("https://editor.example",)) is None


def test_the_token_is_needed_once_in_the_header_or_the_query() -> None:
    assert status(authorization=()) == 401
    assert status(authorization=("Bearer wrong",)) == 401
    assert status(authorization=(f"Basic {TOKEN}",)) == 401
    assert status(authorization=(f"Bearer {TOKEN}", f"Bearer {TOKEN}")) == 401
    assert status(authorization=(f"bearer {TOKEN}",)) is None
    assert status(authorization=(), target=f"/acp?token={TOKEN}") is None
    assert status(authorization=(), target=f"/acp?token={TOKEN}&token={TOKEN}") == 401
    assert status(authorization=("Bearer wrong",), target=f"/acp?token={TOKEN}") == 401
    assert status(authorization=(), target="/acp?token=%ff\udcff") == 401


def test_tokens_are_random_long_and_shown_to_nobody() -> None:
    one, other = Access(), Access()
    assert one.token != other.token
    assert len(one.token) >= 40
    assert one.token not in repr(one)
    assert one.with_token("ws://h/acp").endswith(one.token)
    for weak in ("short", "", "a b\n" * 10, "ü" * 20):
        with pytest.raises(InvalidInput):
            Access(token=weak)
    with pytest.raises(InvalidInput):
        Access(origins="https://editor.example")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.168.1.2", "box.example"])
def test_listening_for_other_machines_must_be_said(host: str) -> None:
    with pytest.raises(InvalidInput, match="other machines"):
        check_bind(host, 0, allow_other_machines=False)
    check_bind(host, 0, allow_other_machines=True)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.3.4.5"])
def test_loopback_is_the_normal_case(host: str) -> None:
    check_bind(host, 0, allow_other_machines=False)


@pytest.mark.parametrize("port", [-1, 65_536, 70_000])
def test_a_port_that_is_none(port: int) -> None:
    with pytest.raises(InvalidInput, match=f"a port is a number up to 65535, not {port}"):
        check_bind("127.0.0.1", port, allow_other_machines=False)
