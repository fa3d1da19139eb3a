"""How conversations begin and end: odd handshakes, refusals, logins, ends in the middle of a turn."""

from __future__ import annotations

import json
from typing import Any

from acp_host.testing.chaos.bad_agent import Chapter, Ends
from acp_host.testing.chaos.encounter import Encounter, Play
from acp_host.testing.chaos.messages import ALL

__all__ = ["BROWSER", "CHAPTER", "ODD_VERSIONS"]

CHAPTER = Chapter("How conversations begin and end")

ODD_VERSIONS: dict[str, Any] = {"date": "2024-11-05", "null": None, "99": 99, "0": 0}
"""Protocol versions of agents that few hosts can talk to."""


def _version(version: Any) -> Play:
    async def play(agent: Encounter) -> None:
        message = await agent.next("initialize")
        asked = message["params"].get("protocolVersion")
        agent.must("a host sends a whole number as the version of the protocol", type(asked) is int, asked)
        agent.reply({"protocolVersion": version, "agentCapabilities": {}})
        agent.over()
        await agent.stall()

    return play


for _number, (_name, _version_answered) in enumerate(ODD_VERSIONS.items(), 221):
    CHAPTER.add(
        _number,
        f"version-{_name}",
        does=f"Answers the handshake with the protocol version `{_version_answered!r}`."
        if _version_answered is not None
        else "Answers the handshake without a protocol version.",
        rule="Say that you do not speak it, and end.",
        row="R03",
        whole=_version(_version_answered),
        ends=Ends.FAILED,
    )


@CHAPTER.whole(
    225,
    "refuses-the-handshake",
    does="Answers `initialize` with an error.",
    rule="Show its words, and end.",
    row="R76",
    ends=Ends.FAILED,
)
async def refuses_the_handshake(agent: Encounter) -> None:
    await agent.next("initialize")
    agent.reply_error(-32603, "no such configuration", {"file": "x.toml"})
    agent.over()
    await agent.stall()


@CHAPTER.whole(
    226,
    "refuses-the-version",
    does="Refuses `initialize` with -32022, and says that it speaks version 1.",
    rule="Ask again in version 1, or say which versions there are.",
    row="R232",
    ends=Ends.EITHER,
)
async def refuses_the_version(agent: Encounter) -> None:
    await agent.next("initialize")
    agent.reply_error(-32022, "Unsupported protocol version", {"requested": 2, "supported": [1]})
    agent.over()
    await agent.begin()
    agent.end(await agent.prompt())


@CHAPTER.whole(
    227,
    "silent-start",
    does="Never answers the handshake; its stderr says that it waits for a licence.",
    rule="Give up after a bounded time, and show the end of its stderr.",
    row="R76",
    ends=Ends.FAILED,
    tries_patience=True,
)
async def silent_start(agent: Encounter) -> None:
    await agent.next("initialize")
    agent.log("waiting for a licence")
    agent.over()
    await agent.stall()


@CHAPTER.whole(
    228,
    "does-not-know-its-own-method",
    does="Refuses `session/new` as a method that it does not know.",
    rule="That is an error; nothing is left of the session.",
    row="R59",
    ends=Ends.FAILED,
)
async def does_not_know_its_own_method(agent: Encounter) -> None:
    await agent.greet(ALL)
    await agent.next("session/new")
    agent.reply_error(-32601, '"Method not found": session/new', [1])
    agent.over()
    await agent.stall()


BROWSER = {"id": "browser", "name": "Log in"}


def _wants_login(code: int) -> Play:
    async def play(agent: Encounter) -> None:
        key = {"type": "env_var", "id": "key", "name": "Key", "vars": [{"name": "KEY"}], "link": "https://example.org"}
        odd = [BROWSER, key, {"type": "card", "id": "card", "name": "Card"}, {"type": 5}, "nonsense"]
        await agent.greet(ALL, authMethods=odd)
        agent.claim("authenticate")
        await agent.next("session/new")
        agent.reply_error(code, "Authentication required", {"authMethods": [BROWSER]})
        agent.over()
        await agent.next("authenticate")
        agent.reply({})
        await agent.next("session/new")
        agent.reply_error(code, "Authentication required")
        await agent.stall()

    return play


for _number, _code in ((229, -32000), (230, -32603)):
    CHAPTER.add(
        _number,
        f"wants-a-login-{abs(_code)}",
        does=f"Refuses `session/new` with {_code}, “Authentication required”, also after a login that worked; some of "
        "its ways to log in are of unknown kinds.",
        rule="Say that a login is needed, and which ways there are. Never try it for ever.",
        row="R171" if _code == -32000 else "R172",
        whole=_wants_login(_code),
        ends=Ends.FAILED,
    )


@CHAPTER.whole(
    231,
    "error-at-the-end",
    does="Says something, and answers the prompt with an error.",
    rule="The turn has failed, with the agent's words; what was said is kept.",
    row="R61",
    ends=Ends.FAILED,
)
async def error_at_the_end(agent: Encounter) -> None:
    await agent.begin()
    prompt = await agent.prompt()
    agent.say("half an ans")
    agent.reply_error(-32603, "model failed", "details", to=prompt)
    agent.ended(prompt)


def _leaves(status: int | None) -> Play:
    async def play(agent: Encounter) -> None:
        await agent.begin()
        await agent.prompt()
        agent.say("half an ans")
        agent.log("fatal: out of memory")
        if status is None:
            await agent.close()
            await agent.stall()
        raise SystemExit(status)

    return play


for _number, _status in ((232, 0), (233, 1), (234, 134), (235, None)):
    CHAPTER.add(
        _number,
        "closes-in-a-turn" if _status is None else f"ends-in-a-turn-{_status}",
        does="Closes its stdout in the middle of a turn, and lives on."
        if _status is None
        else f"Ends in the middle of a turn, with status {_status}.",
        rule="The turn has failed at once, with the end of stderr; what was said is kept.",
        row="R70",
        whole=_leaves(_status),
        ends=Ends.FAILED,
    )


@CHAPTER.whole(
    236,
    "answers-and-ends",
    does="Ends a turn properly, and in the next moment the connection.",
    rule="The result of the turn counts.",
    row="R71",
)
async def answers_and_ends(agent: Encounter) -> None:
    await agent.begin()
    prompt = await agent.prompt()
    agent.say("the answer")
    agent.end(prompt)
    await agent.close()


@CHAPTER.whole(
    237,
    "no-last-newline",
    does="Ends a turn and itself, and its last line has no newline.",
    rule="A whole message counts without its newline.",
    row="R72",
    ends=Ends.EITHER,
)
async def no_last_newline(agent: Encounter) -> None:
    await agent.begin()
    prompt = await agent.prompt()
    agent.send_raw(b'{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"end_turn"}}' % _id(prompt))
    agent.ended(prompt)
    await agent.close()


@CHAPTER.whole(
    238,
    "half-a-last-line",
    does="Ends in the middle of the answer to a prompt.",
    rule="Half a message is none: the turn has failed.",
    row="R72",
    ends=Ends.FAILED,
)
async def half_a_last_line(agent: Encounter) -> None:
    await agent.begin()
    prompt = await agent.prompt()
    agent.send_raw(b'{"jsonrpc":"2.0","id":%s,"result":{"stopRea' % _id(prompt))
    await agent.close()


@CHAPTER.whole(
    239,
    "cancelled-without-a-cancel",
    does="Ends a turn as `cancelled` that nobody has cancelled.",
    rule="Know by yourself that the user has not asked for it; what was said is kept.",
    row="R491",
    ends=Ends.EITHER,
)
async def cancelled_without_a_cancel(agent: Encounter) -> None:
    await agent.begin()
    prompt = await agent.prompt()
    agent.say("I had better not.")
    agent.end(prompt, {"stopReason": "cancelled"})


def _id(prompt: Any) -> bytes:
    return json.dumps(prompt["id"]).encode()
