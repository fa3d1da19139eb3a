"""What agents do with the files and terminals of a host that offers them, and with forms."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from acp_host.testing.chaos.bad_agent import Chapter
from acp_host.testing.chaos.encounter import Encounter, Play
from acp_host.testing.chaos.hostile_paths import PATHS, Places

__all__ = ["CHAPTER", "FORMS", "URLS", "form", "page"]

CHAPTER = Chapter("Files, terminals and forms")

SECRET = "what nobody may know"


def _in_a_session(step: Callable[[Encounter, str], Awaitable[None]]) -> Play:
    """A turn in which something is done with the directory of the session."""

    async def play(agent: Encounter) -> None:
        agent.claim("session/new")
        await agent.greet()
        opening = await agent.next("session/new")
        agent.reply({"sessionId": "session-1"}, to=opening)
        prompt = await agent.prompt()
        agent.say("before ")
        await step(agent, opening["params"]["cwd"])
        agent.say("after")
        agent.end(prompt)

    return play


def _read(path: str, **members: Any) -> tuple[str, dict[str, Any]]:
    return "fs/read_text_file", {"sessionId": "session-1", "path": path, **members}


def _content(answer: dict[str, Any]) -> Any:
    return (answer.get("result") or {}).get("content")


async def _missing(agent: Encounter, cwd: str) -> None:
    answer = await agent.ask(*_read(os.path.join(cwd, "no-such-file-here")))
    agent.must("a file that is missing is an error, and never empty", "error" in answer, answer)


async def _windows(agent: Encounter, cwd: str) -> None:
    with tempfile.NamedTemporaryFile("w", dir=cwd, prefix=".acp-host-chaos-", suffix=".txt") as file:
        file.write("one\ntwo\nthree\n")
        file.flush()
        whole = await agent.ask(*_read(file.name))
        if "error" in whole:
            return  # not offered, or not allowed
        for members, expected in (
            ({"line": 1, "limit": 1}, "one"),
            ({"line": 2, "limit": 1}, "two"),
            ({"line": 2}, "two\nthree"),
            ({"line": 3, "limit": 99}, "three"),
        ):
            answer = await agent.ask(*_read(file.name, **members))
            said = str(_content(answer)).rstrip("\n")
            agent.must(f"lines are counted from 1: {members} is {expected!r}", said == expected, answer)
        for members in ({"line": 99}, {"limit": 0}):
            answer = await agent.ask(*_read(file.name, **members))
            agent.must("past the end of a file there is nothing", _content(answer) in ("", None), answer)


async def _half_lines(agent: Encounter, cwd: str) -> None:
    path = os.path.join(cwd, "pyproject.toml")
    for members in ({"limit": 1.5}, {"line": -1}, {"limit": "3"}, {"line": [1]}):
        answer = await agent.ask(*_read(path, **members))
        agent.must("half a line, or fewer than none, is refused", "error" in answer, answer)


async def _paths(agent: Encounter, cwd: str) -> None:
    with tempfile.TemporaryDirectory(prefix="acp-host-chaos-") as base:
        places = Places(base=base, work=cwd, extra=cwd, outside=os.path.join(base, "outside"))
        os.makedirs(places.outside)
        secret = os.path.join(places.outside, "secret")
        _hide(secret)
        for name, spelling in PATHS.items():
            path = spelling(places)
            answer = await agent.ask(*_read(path))
            agent.must("no file outside of the session's directory is read", SECRET not in str(answer), name)
            if secret in path:
                params = {"sessionId": "session-1", "path": path, "content": "what the agent leaves behind"}
                await agent.ask("fs/write_text_file", params)
        agent.must("no file outside of the session's directory is changed", _is_hidden(secret))


def _hide(path: str) -> None:
    Path(path).write_text(SECRET, encoding="utf-8")


def _is_hidden(path: str) -> bool:
    return Path(path).read_text(encoding="utf-8") == SECRET


async def _no_terminals(agent: Encounter, cwd: str) -> None:
    for what in ("output", "wait_for_exit", "kill", "release"):
        answer = await agent.ask(f"terminal/{what}", {"sessionId": "session-1", "terminalId": "none"})
        agent.must("a terminal that never was is an error", "error" in answer, answer)


async def _retention(agent: Encounter, cwd: str) -> None:
    for limit in (2**70, 0, None):
        params = {"sessionId": "session-1", "command": "echo", "args": ["hello"], "outputByteLimit": limit}
        answer = await agent.ask("terminal/create", params)
        if "error" in answer:
            return
        terminal = {"sessionId": "session-1", **answer["result"]}
        for what in ("wait_for_exit", "output", "release"):
            await agent.ask(f"terminal/{what}", terminal)


async def _unreleased(agent: Encounter, cwd: str) -> None:
    for _ in range(5):
        params = {"sessionId": "session-1", "command": "sleep", "args": ["600"]}
        if "error" in await agent.ask("terminal/create", params):
            return


async def _dangerous_variables(agent: Encounter, cwd: str) -> None:
    for name in ("LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "A=B", ""):
        variables = [{"name": name, "value": "/tmp/evil.so"}]
        params = {"sessionId": "session-1", "command": "true", "args": [], "env": variables}
        await agent.ask("terminal/create", params)


async def _run(agent: Encounter, script: str, **members: Any) -> dict[str, Any]:
    """Run a line of a shell in the host, and return what it printed; nothing where that is not offered."""
    params = {"sessionId": "session-1", "command": "/bin/sh", "args": ["-c", script], **members}
    answer = await agent.ask("terminal/create", params)
    if "error" in answer:
        return {}
    terminal = {"sessionId": "session-1", **answer["result"]}
    await agent.ask("terminal/wait_for_exit", terminal)
    printed: dict[str, Any] = (await agent.ask("terminal/output", terminal)).get("result") or {}
    await agent.ask("terminal/release", terminal)
    return printed


async def _characters_in_pieces(agent: Encounter, cwd: str) -> None:
    printed = await _run(agent, r"printf '\303'; sleep 0.1; printf '\244\303\244'")
    if printed:
        agent.must("characters are whole, in whatever pieces they come", printed.get("output") == "ää", printed)
    printed = await _run(agent, r"printf '\303\244\303\244'", outputByteLimit=3)
    if printed:
        whole = printed.get("output") == "ä" and printed.get("truncated") is True
        agent.must("what is kept of an output begins with a whole character", whole, printed)


async def _no_directory(agent: Encounter, cwd: str) -> None:
    printed = await _run(agent, "pwd -P")
    if printed:
        here = _is_same(printed.get("output", "").strip(), cwd)
        agent.must("a command without a directory runs in that of the session", here, printed)


def _is_same(path: str, other: str) -> bool:
    return os.path.realpath(path) == os.path.realpath(other)


for _number, _name, _does, _rule, _row, _step in (
    (
        261,
        "missing-file",
        "Reads a file that does not exist.",
        "It is an error with the path, and never an empty file: agents wait, or write nothing, when it is one.",
        "R100",
        _missing,
    ),
    (
        262,
        "windows-of-a-file",
        "Reads parts of a file: the first line, the last, more than there are, none.",
        "Lines are counted from 1; past the end there is nothing.",
        "R101",
        _windows,
    ),
    (
        263,
        "half-a-line",
        "Asks for a line and a half, and for fewer than none.",
        "Refuse it with -32602.",
        "R102",
        _half_lines,
    ),
    (
        264,
        "paths-that-lead-out",
        "Reads and writes outside of the session's directory, by fifty spellings of the path.",
        "Nothing outside is read or written without the user's consent.",
        "R140",
        _paths,
    ),
    (
        265,
        "terminals-that-never-were",
        "Looks at, waits for, kills and releases terminals that do not exist.",
        "Refuse it.",
        "R117",
        _no_terminals,
    ),
    (
        266,
        "huge-retention",
        "Asks for a command's output to be kept without an end, or not at all.",
        "Keep what you want, or less.",
        "R87",
        _retention,
    ),
    (
        267,
        "never-releases",
        "Starts commands that run for ten minutes, and forgets them.",
        "They end with the session, at the latest with the connection.",
        "R119",
        _unreleased,
    ),
    (
        268,
        "dangerous-variables",
        "Runs commands with variables by which a harmless program loads other code, or that cannot be.",
        "Refuse it, or ask; the answer is due either way.",
        "R116",
        _dangerous_variables,
    ),
):
    CHAPTER.add(_number, _name, does=_does, rule=_rule, row=_row, whole=_in_a_session(_step))


def form(properties: Any, **members: Any) -> dict[str, Any]:
    """Parameters that ask with a form."""
    schema = {"type": "object", "properties": properties, **members}
    return {"mode": "form", "sessionId": "session-1", "message": "Which one?", "requestedSchema": schema}


def page(url: str) -> dict[str, Any]:
    """Parameters that send the user to a page."""
    return {"mode": "url", "sessionId": "session-1", "message": "Log in", "url": url, "elicitationId": "e-1"}


FORMS: dict[str, Any] = {
    "ten thousand fields": form({f"f{number}": {"type": "boolean"} for number in range(10_000)}),
    "twenty thousand choices": form({"x": {"type": "string", "enum": [str(number) for number in range(20_000)]}}),
    "a reference to a server": form({"x": {"$ref": "http://localhost/"}}),
    "a number as a text": form({"x": {"type": "string", "minLength": "1"}}),
    "two types": form({"x": {"type": ["string", "null"]}}),
    "a list of fields": form([]),
    "no schema": {**form({}), "requestedSchema": None},
    "nothing": {"mode": "form"},
}
"""Forms that nobody can be shown."""

URLS = (
    "javascript:alert(1)",
    "file:///etc/passwd",
    "https://a.example\\@b.example",
    "https:///x",
    "-x",
    "https://0x7f.1",
)
"""Addresses that are not opened."""


async def _forms(agent: Encounter, cwd: str) -> None:
    for asked in FORMS.values():
        await agent.ask("elicitation/create", asked)
    pattern = form({"x": {"type": "string", "pattern": "^(a|a)*$"}})
    await agent.ask("elicitation/create", pattern)


async def _urls(agent: Encounter, cwd: str) -> None:
    for url in URLS:
        answer = await agent.ask("elicitation/create", page(url))
        accepted = (answer.get("result") or {}).get("action") == "accept"
        agent.must("an address that is no web page is not opened", not accepted, url)
    for _ in range(2):
        agent.notify("elicitation/complete", {"elicitationId": "e-0"})


CHAPTER.add(
    269,
    "forms-that-nobody-can-fill-in",
    does="Asks by forms with ten thousand fields, references, wrong types, patterns that never end, or no form at all.",
    rule="Refuse what cannot be shown, fetch nothing, and answer each; nothing stands still meanwhile.",
    row="R163",
    whole=_in_a_session(_forms),
)
CHAPTER.add(
    270,
    "addresses-that-are-none",
    does="Sends the user to `javascript:` and `file:` addresses and to such as browsers read in different ways.",
    rule="Refuse it.",
    row="R166",
    whole=_in_a_session(_urls),
)

for _number, _name, _does, _rule, _row, _step in (
    (
        271,
        "characters-in-pieces",
        "Runs commands whose characters come in pieces, and asks for so little of them that one would be cut.",
        "Put the pieces together; what is kept begins with a whole character, and says that something is missing.",
        "R110",
        _characters_in_pieces,
    ),
    (
        272,
        "no-directory",
        "Runs a command and does not say where.",
        "It runs in the directory of the session.",
        "R112",
        _no_directory,
    ),
):
    CHAPTER.add(_number, _name, does=_does, rule=_rule, row=_row, whole=_in_a_session(_step))
