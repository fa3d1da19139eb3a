"""What recordings do not hold."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_host.errors import InvalidInput
from acp_host.recording.lines import LineMaker
from acp_host.recording.redaction import LineRedactor, Redaction, command_without_secrets
from acp_host.redaction import HIDDEN, Redactor

PARTS = ["api", "Key", "_", "-", "token", "TOKEN", " ", "=", ":", '"', "Bearer ", "sk-", "abcdef123456", "value", "@"]
PARTS += ["https://", "user:pw", "env", "headers", "name", "password", "Authorization", "\\u006bey", "{", "}", ",", "x"]
texts = st.lists(st.sampled_from(PARTS), max_size=8).map("".join)
values = st.recursive(
    texts | st.integers() | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


def redacted(message: Any, **options: Any) -> Any:
    return LineRedactor(Redaction(**options)).message(message)


@given(st.dictionaries(texts, values, max_size=4), st.booleans())
def test_a_line_that_is_left_alone_holds_nothing_to_hide(message, escaped):
    redactor = LineRedactor(Redaction())
    line = json.dumps(message, ensure_ascii=escaped).encode()
    if not redactor.may_change(line):
        assert redactor.message(message) == message


def every_letter_escaped(value: Any) -> str:
    if isinstance(value, dict):
        members = (f"{every_letter_escaped(name)}:{every_letter_escaped(item)}" for name, item in value.items())
        return f"{{{','.join(members)}}}"
    units = value.encode("utf-16-be")
    return '"' + "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2)) + '"'


WRITERS = [
    json.dumps,
    lambda value: json.dumps(value, ensure_ascii=False),
    lambda value: json.dumps(value).replace("/", "\\/"),
    lambda value: re.sub(r"u[0-9a-f]{4}", lambda match: f"u{match[0][1:].upper()}", json.dumps(value)),
    every_letter_escaped,
]
ODD = [
    "hunter/22/x",
    "größe-文-1",
    "\U0001f511 front door",
    'quo"ted\\slash',
    "two\nlines",
    "tab\there",
    "delete\x7fthis",
    "plain-one",
]


@pytest.mark.parametrize("write", WRITERS, ids=["escapes", "utf-8", "slashes", "upper", "every"])
@pytest.mark.parametrize("secret", ODD)
@pytest.mark.parametrize("how", ["told", "inherited", "field", "folder"])
def test_whoever_wrote_the_json_nothing_is_overlooked(write, secret, how, monkeypatch):
    known, options = Redactor(), {}
    if how == "told":
        known.add([secret])
    elif how == "inherited":
        monkeypatch.setenv("SOME_TOKEN", secret)
    elif how == "field":
        options = {"fields": (f"a.{secret}",), "secrets": False}
    else:
        folder = os.path.abspath(f"/home/{secret}")
        options, secret = {"folders": (folder,), "secrets": False}, folder
    message = {"a": {secret: "shown"}} if how == "field" else {"a": f"<{secret}>"}
    line = write(message).encode()
    assert json.loads(line) == message

    made = LineMaker(LineRedactor(Redaction(**options), known), 2**20).line("in", 0.0, line)

    shown = json.loads(made)["msg"]["a"]
    assert shown[secret] == HIDDEN if how == "field" else secret not in shown


@given(st.dictionaries(texts, values, max_size=4))
def test_only_texts_change(message):
    def shape(value: Any) -> Any:
        if isinstance(value, dict):
            return sorted(map(repr, map(shape, value.values())))
        return [shape(item) for item in value] if isinstance(value, list) else type(value)

    found = redacted(message)
    if len(found) == len(message):  # else names that became the same
        assert shape(found) == shape(message)


@pytest.mark.parametrize(
    ("message", "secret"),
    [
        ({"method": "authenticate", "params": {"methodId": "key", "_meta": {"code": "hunter2"}}}, "hunter2"),
        ({"method": "auth/login", "params": {"methodId": "key", "answer": ["hunter2"]}}, "hunter2"),
        ({"params": {"mcpServers": [{"env": [{"name": "A", "value": "hunter2"}]}]}}, "hunter2"),
        ({"params": {"mcpServers": [{"headers": [{"name": "X-A", "value": "hunter2"}]}]}}, "hunter2"),
        ({"params": {"providers": {"headers": {"X-A": "hunter2"}}}}, "hunter2"),
        ({"params": {"_meta": {"some": {"apiKey": "hunter2"}}}}, "hunter2"),
        ({"params": {"token": {"inner": ["hunter2"]}}}, "hunter2"),
        ({"params": {"text": "curl -H 'Authorization: Bearer abcdefg12345'"}}, "abcdefg12345"),
        ({"params": {"text": "https://user:hunter2@example.org/"}}, "hunter2"),
        ({"result": {"content": {"password": "hunter2"}}}, "hunter2"),
    ],
)
def test_secrets_are_hidden(message, secret):
    assert LineRedactor(Redaction()).may_change(json.dumps(message).encode())
    assert secret not in json.dumps(redacted(message))
    assert secret in json.dumps(redacted(message, secrets=False))


def test_the_kind_of_a_login_and_the_options_of_a_session_stay():
    login = {"method": "authenticate", "params": {"methodId": "key"}}
    assert redacted(login) == login
    options = {"options": [{"name": "Fast", "value": "gpt-fast"}], "cachedReadTokens": 5, "keys": 1}
    assert redacted(options) == options


def test_what_the_connection_knows_is_hidden_everywhere_also_what_it_learns_later():
    known = Redactor()
    redactor = LineRedactor(Redaction(), known)
    line = b'{"text":"it is hun\\"ter\xc3\xa4 2"}'
    assert not redactor.may_change(line)
    known.add(['hun"terä 2'])
    assert redactor.may_change(line)
    assert redactor.message(json.loads(line)) == {"text": f"it is {HIDDEN}"}
    assert redactor.may_change(json.dumps(json.loads(line)).encode())


def test_secrets_that_agents_inherit_are_hidden(monkeypatch):
    monkeypatch.setenv("SOME_TOKEN", "correct-horse")
    monkeypatch.setenv("USE_TOKEN", "true")
    redactor = LineRedactor(Redaction())
    assert redactor.may_change(b'{"text":"correct-horse"}')
    assert redactor.message({"text": "true: correct-horse"}) == {"text": f"true: {HIDDEN}"}


MESSAGE: Any = {"params": {"prompt": [{"text": "a", "n": 1}], "rawInput": {"text": "b"}, "_meta": {"text": "c"}}}


class TestFields:
    @pytest.mark.parametrize(
        ("name", "hidden"),
        [("rawInput", "b"), ("prompt.text", "a"), ("$.params._meta", "c"), ("params.prompt", "a")],
    )
    def test_a_member_is_hidden_with_all_its_texts(self, name, hidden):
        found = redacted(MESSAGE, fields=(name,))
        expected = json.dumps(MESSAGE).replace(f'"{hidden}"', f'"{HIDDEN}"')
        assert json.dumps(found) == expected
        assert LineRedactor(Redaction(fields=(name,))).may_change(json.dumps(MESSAGE).encode())

    @pytest.mark.parametrize("name", ["$._meta", "text.params", "prompt.n"])
    def test_another_is_not(self, name):
        assert redacted(MESSAGE, fields=(name,)) == MESSAGE

    @pytest.mark.parametrize("fields", ["rawInput", ("",), ("$.",), (1,)])
    def test_what_names_nothing_is_refused(self, fields):
        with pytest.raises(InvalidInput, match="fields"):
            Redaction(fields=fields)


class TestFolders:
    @pytest.mark.parametrize(
        ("text", "shown"),
        [
            ("/home/ann/x.py", "/hidden/2/x.py"),
            ("in /home/ann.", "in /hidden/2."),
            ("/home/anna/x", "/home/anna/x"),
            ("/home/ann.old/x", "/home/ann.old/x"),
            ("file:///home/ann/a%20b", "file:///hidden/2/a%20b"),
            ("file:///home/ann/my%20work/a", "file:///hidden/1/a"),
            ("/home/ann/my work/a", "/hidden/1/a"),
        ],
    )
    def test_a_folder_has_a_stand_in(self, text, shown):
        redactor = LineRedactor(Redaction(folders=("/home/ann", Path("/home/ann/my work"))))
        assert redactor.message({"text": text}) == {"text": shown}
        for line in (json.dumps({"text": text}), json.dumps({"text": text}).replace("/", "\\/")):
            assert redactor.may_change(line.encode()) or text == shown

    def test_home_has_a_short_name(self, monkeypatch):
        monkeypatch.setenv("HOME", "/home/ann")
        monkeypatch.setenv("USERPROFILE", "/home/ann")
        assert redacted({"cwd": "/home/ann/p"}, folders=("~",)) == {"cwd": "/hidden/1/p"}

    @pytest.mark.parametrize("folders", ["/home", ("/",)])
    def test_all_paths_are_refused(self, folders):
        with pytest.raises(InvalidInput, match="folders"):
            Redaction(folders=folders)


def test_commands_are_shown_without_secrets():
    command = ["agent", "--api-key", "hunter2", "--token=hunter2", "--model", "fast", "wss://a:b@h/p?t=hunter2#x"]
    assert command_without_secrets(command) == [
        *("agent", "--api-key", HIDDEN, f"--token={HIDDEN}", "--model", "fast", f"wss://{HIDDEN}@h/p?{HIDDEN}"),
    ]
