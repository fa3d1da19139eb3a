"""Secrets are hidden wherever something is shown, and nothing else is."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import acp_host
from acp_host.diagnostics import Diagnostic, DiagnosticKind
from acp_host.errors import RequestFailed, StartFailed
from acp_host.host.diagnostic_log import DiagnosticLog
from acp_host.redaction import HIDDEN, Redactor, is_secret_name, redact, redact_text, secrets_of_command
from acp_host.transports import StdioTransport
from acp_host.wire.mcp import HttpHeader
from acp_host.wire.providers import SetProviderRequest
from acp_host.wire.terminals import EnvVariable

SECRET = "hunter2-hunter2"

SHOWN = [
    "the key is sk-abcdef123456",
    "Authorization: Bearer abcdef123456",
    'Authorization="Basic aHVudGVyMg=="',
    '{"apiKey": "hunter2"}',
    '{"x": "{\\"password\\":\\"hunter2\\"}"}',
    "GITHUB_TOKEN=ghs_hunter2hunter2 node agent.js",
    "https://me:hunter2@example.org/v1",
    "redis://:hunter2@example.org:6379/0",
    "https://me:a:hunter2@example.org/v1",
    '{"env": [{"name": "PLAIN", "value": "hunter2"}]}',
    '{"env": {"PLAIN": "hunter2", "B": "hunter2"}}',
    "{'headers': {'X-Plain': 'hunter2'}}",
    '{"said": "{\\"headers\\": {\\"X-Plain\\": \\"hunter2\\"}}"}',
    "clientSecret: 'hunter2'",
    '{"apiKey": "it\'s hunter2"}',
    '{"apiKey": "a\\"hunter2"}',
    "FAKE_KEY=hunter2",
    "eyJhbGciOi1234.eyJzdWIiOiIx.c2lnbmF0dXJl",
]


@pytest.mark.parametrize("text", SHOWN)
def test_a_secret_in_a_text_is_hidden(text: str) -> None:
    shown = redact_text(text)
    assert HIDDEN in shown
    assert not any(piece in shown for piece in ("hunter2", "abcdef", "aHVudGVyMg", "eyJ"))
    assert redact_text(shown).count(HIDDEN) >= 1, "what is hidden stays hidden"


@pytest.mark.parametrize(
    "text",
    [
        "used 1234 tokens of 5000",
        "unexpected token: end of line",
        '{"totalTokens": 12, "sessionId": "s-1", "method": "session/new"}',
        "https://example.org:8080/path?q=a@b",
        "the session key is missing",
        "author: me",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact_text(text) == text


ENDLESS = {
    "backslashes": "\\" * 200_000,
    "a name and backslashes": '"env' + "\\" * 200_000,
    "nearly tokens": "eyJ-" * 50_000,
    "nearly users of addresses": "://" + "a:" * 100_000,
    "addresses": "://a:b" * 40_000,
    "names": "a.b-" * 50_000,
    "keys": "token:" * 30_000,
    "bearers": "bearer " * 30_000,
    "white space": '"env" : ' + " " * 200_000,
}


@pytest.mark.parametrize("text", ENDLESS.values(), ids=ENDLESS.keys())
def test_it_takes_no_longer_for_text_that_is_nearly_a_secret(text: str) -> None:
    began = time.process_time()
    redact_text(text)
    is_secret_name(text.upper().replace(".", "_"))
    assert time.process_time() - began < 5  # some ms; and minutes, where it takes quadratic time


def test_json_is_redacted_by_name_and_place() -> None:
    given = {
        "apiKey": SECRET,
        "headers": [{"name": "X-Plain", "value": SECRET}],
        "env": {"PLAIN": SECRET},
        "launch": {"environment": {"PLAIN": SECRET}, "headers": {"X-Plain": SECRET}},
        "usage": {"totalTokens": 7},
        "nested": [{"Authorization": SECRET}, "Bearer abcdef123456"],
        "sessionId": "s-1",
    }
    shown = redact(given)
    assert SECRET not in json.dumps(shown)
    assert "abcdef" not in json.dumps(shown)
    assert (shown["usage"], shown["sessionId"]) == ({"totalTokens": 7}, "s-1")
    assert given["apiKey"] == SECRET, "what was given is left alone"


def test_depth_is_bounded() -> None:
    value: object = SECRET
    for _ in range(10_000):
        value = {"a": value}
    assert SECRET not in repr(redact(value))


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner)))
def test_json_without_members_keeps_its_shape(value: object) -> None:
    shown = redact(value)
    assert type(shown) is type(value)
    if isinstance(value, list):
        assert len(shown) == len(value)


def test_a_redactor_hides_what_it_was_told() -> None:
    redactor = Redactor()
    redactor.add(["swordfish", 'quo"ted', "abc"])
    assert redactor.text("it is swordfish, abc") == f"it is {HIDDEN}, abc"
    assert "quo" not in redactor.text(json.dumps({"said": 'quo"ted'}))
    assert "swordfish" not in repr(redactor)


def test_of_a_secret_that_begins_with_another_one_nothing_stays() -> None:
    redactor = Redactor()
    redactor.add(["swordfish", "swordfish-and-chips"])
    assert redactor.text("it is swordfish-and-chips") == f"it is {HIDDEN}"


def test_what_follows_an_option_with_the_name_of_a_secret_is_one() -> None:
    command = [
        "agent",
        "run",
        "--api-key",
        "abc",
        "--token",
        "--verbose",
        "--name",
        "x",
        "--password=here",
        "y",
        "token",
        "z",
    ]
    assert secrets_of_command(command) == ["abc"]


def test_a_word_that_stands_for_no_key_is_no_secret() -> None:
    redactor = Redactor()
    redactor.add_named({"OPENAI_API_KEY": "none", "OTHER_API_KEY": "Ollama", "THIRD_API_KEY": "nonesuch"})
    assert redactor.text("none of ollama's models is a nonesuch") == f"none of ollama's models is a {HIDDEN}"


def test_diagnostics_and_errors_show_no_secret() -> None:
    note = Diagnostic(DiagnosticKind.NOISE, f"password={SECRET}", data={"token": SECRET})
    assert SECRET not in repr(note)
    name = f"sk-{SECRET}"
    named = Diagnostic(DiagnosticKind.UNKNOWN_METHOD, "no", path=f"$.{name}", method=f"x/{name}", session_id=name)
    assert SECRET not in repr(named)
    assert named.method == f"x/{HIDDEN}"
    error = RequestFailed.from_code(-32603, f"bad api_key={SECRET}", {"headers": {"X": SECRET}}, "session/new")
    assert SECRET not in str(error) + repr(error)
    assert error.data == {"headers": {"X": SECRET}}, "for the program, it is as sent"
    assert SECRET not in str(StartFailed("no", stderr_tail=f"OPENAI_API_KEY={SECRET}"))


def test_what_a_log_of_diagnostics_was_told_is_in_no_text_of_one() -> None:
    log = DiagnosticLog()
    log.redactor.add([SECRET])
    log.add(Diagnostic(DiagnosticKind.UNKNOWN_METHOD, SECRET, f"$.{SECRET}", f"x/{SECRET}", SECRET, SECRET))
    [note] = log
    assert SECRET not in repr(note)
    assert note.method == f"x/{HIDDEN}"


def test_wire_types_show_no_secret() -> None:
    shown = [
        EnvVariable("A", SECRET),
        HttpHeader("X", SECRET),
        SetProviderRequest("main", "openai", "http://x", headers={"X": SECRET}),
    ]
    assert SECRET not in repr(shown)


def test_what_is_launched_shows_no_environment() -> None:
    transport = StdioTransport(["agent"], env={"PLAIN": SECRET})
    assert SECRET not in repr(transport._launch) + transport.description
    with pytest.raises(acp_host.InvalidInput) as wrong:
        StdioTransport(["agent"], env={"PLAIN": f"{SECRET}\0"})
    assert SECRET not in str(wrong.value)


@pytest.mark.parametrize(
    "text",
    [
        "token=abc",
        "token:abcdefghijklmnop1=abc",
        "(token=abc)",
        "xtoken:Token:%\ntoken:Token=:word",
        "token=[a]b",
    ],
)
def test_what_was_hidden_before_stays_as_it_is(text: str) -> None:
    hidden = redact_text(text)
    assert HIDDEN in hidden
    assert redact_text(hidden) == hidden
