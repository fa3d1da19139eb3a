"""Messages that come early, late, or outside of any turn; histories; sessions that are gone."""

from __future__ import annotations

import asyncio
from typing import Any

from acp_host.testing.chaos.bad_agent import Chapter, Ends
from acp_host.testing.chaos.encounter import Encounter, Play
from acp_host.testing.chaos.messages import ALL, ASK, DONE, EDIT, chunk, line, message_update, permission

__all__ = ["CHAPTER", "COMMANDS", "HISTORY", "MODES", "PLAN", "TITLE"]

CHAPTER = Chapter("Early, late, and outside of turns")

TITLE = {"sessionUpdate": "session_info_update", "title": "Notes"}
COMMANDS = {"sessionUpdate": "available_commands_update", "availableCommands": [{"name": "plan", "description": "p"}]}


@CHAPTER.whole(
    91,
    "early-updates",
    does="Sends commands, a title and a message of a session before the answer that names it, and some of another.",
    rule="Keep them, within bounds, until the answer comes, and hand them to the session. What is left is no error.",
    row="R20",
)
async def early_updates(agent: Encounter) -> None:
    await agent.greet(ALL)
    request = await agent.next("session/new")
    for update in (COMMANDS, TITLE, chunk("hi")):
        agent.update(update, "session-1")
        agent.update(update, "another")
    agent.reply({"sessionId": "session-1"}, to=request)
    agent.end(await agent.prompt())


@CHAPTER.whole(
    92,
    "words-before-the-turn",
    does="Says something between `session/new` and the first prompt, and asks for permission there.",
    rule="It belongs to no turn. The question is answered all the same.",
    row="R22",
)
async def words_before_the_turn(agent: Encounter) -> None:
    await agent.begin()
    agent.say("A new version is available!", "session-1")
    agent.request(ASK, permission())
    prompt = await agent.prompt()
    agent.say("the answer")
    agent.end(prompt)
    await asyncio.sleep(0.1)


@CHAPTER.whole(
    93,
    "late-updates",
    does="Sends a tool call, text and a title after the end of a turn.",
    rule="They are no violation: take them for what they are. They are never the beginning of the next answer.",
    row="R21",
)
async def late_updates(agent: Encounter) -> None:
    await agent.begin()
    prompt = await agent.prompt()
    answer = line({"jsonrpc": "2.0", "id": prompt["id"], "result": DONE})
    agent.say("one")
    agent.send_raw(answer + line(message_update(chunk("late"))))
    agent.ended(prompt)
    agent.update({"sessionUpdate": "tool_call", **EDIT}, "session-1")
    agent.update(TITLE, "session-1")


@CHAPTER.step(
    94,
    "other-sessions",
    does="Sends updates for a session that nobody has opened, and asks for permission in its name.",
    rule="The updates change nothing in this session; the question is answered.",
    row="R23",
)
async def other_sessions(agent: Encounter) -> None:
    agent.update(chunk("for nobody"), "never-heard-of")
    await agent.ask(ASK, permission(session_id="never-heard-of"))


@CHAPTER.step(
    95,
    "services-of-other-sessions",
    does="Reads and writes a file and runs a command in the name of a session that nobody has opened.",
    rule="Refuse it.",
    row="R23",
)
async def services_of_other_sessions(agent: Encounter) -> None:
    params = {"sessionId": "other", "path": "/tmp/acp-host-chaos", "content": "x", "command": "true", "args": []}
    for method in ("fs/read_text_file", "fs/write_text_file", "terminal/create"):
        answer = await agent.ask(method, params)
        agent.must("what an unknown session asks for is refused", "error" in answer, answer)


@CHAPTER.step(
    96,
    "questions-between-chunks",
    does="Asks for permission and for an unknown method between two hundred chunks, without waiting for the answers.",
    rule="No question reorders or holds up the stream, and each is answered.",
    row="R24",
)
async def questions_between_chunks(agent: Encounter) -> None:
    asked = []
    for number in range(200):
        agent.say(f"{number} ")
        if number % 50 == 0:
            asked += [agent.request(ASK, permission()), agent.request("_slow/extension", {})]
    for request_id in asked:
        await agent.answer(request_id)


@CHAPTER.whole(
    97,
    "asks-before-the-handshake",
    does="Asks for permission, a file and an unknown method before it answers `initialize`.",
    rule="Answer each, then go on with the handshake.",
    row="R76",
)
async def asks_before_the_handshake(agent: Encounter) -> None:
    await agent.ask(ASK, permission())
    file = await agent.ask("fs/read_text_file", {"sessionId": "session-1", "path": "/etc/passwd"})
    agent.must("no file is read for a session that is not open", "error" in file, file)
    await agent.ask("_vendor/ask", {})
    await agent.begin()
    agent.end(await agent.prompt())


@CHAPTER.step(
    98,
    "never-ends",
    does="Says something and then nothing more; the prompt is never answered.",
    rule="Have a deadline, for silence or for the whole turn, or a user who can stop it.",
    row="R26",
    ends=Ends.EITHER,
    tries_patience=True,
)
async def never_ends(agent: Encounter) -> None:
    agent.over()
    await agent.stall()


PLAN = {
    "sessionUpdate": "plan",
    "entries": [{"content": "Think", "priority": "high", "status": "pending"}],
}
HISTORY: list[dict[str, Any]] = [
    {**chunk("question"), "sessionUpdate": "user_message_chunk"},
    PLAN,
    {"sessionUpdate": "tool_call", "toolCallId": "1", "title": "Edit a.py", "kind": "edit", "status": "completed"},
    {**PLAN, "entries": [{"content": "Think", "priority": "high", "status": "completed"}]},
    {"sessionUpdate": "available_commands_update", "availableCommands": [{"name": "review", "description": "x"}]},
    {"sessionUpdate": "current_mode_update", "currentModeId": "plan"},
    {"sessionUpdate": "config_option_update", "configOptions": []},
    {"sessionUpdate": "session_info_update", "title": "Thoughts"},
    {"sessionUpdate": "usage_update", "used": 5, "size": 10},
    chunk("answer"),
]
"""What an agent tells of a session that is loaded."""
MODES = {"currentModeId": "ask", "availableModes": [{"id": name, "name": name} for name in ("ask", "plan")]}


def _replays(answered: int) -> Play:
    async def play(agent: Encounter) -> None:
        agent.claim("session/load")
        await agent.greet(ALL)
        loading = await agent.next("session/load", "session/new")
        if loading["method"] == "session/new":
            agent.not_seen("the host loads a session", "it opened a new one")
            agent.reply({"sessionId": "session-1"}, to=loading)
            agent.end(await agent.prompt())
            return
        session_id = loading["params"]["sessionId"]
        for number, update in enumerate([*HISTORY, None]):
            if number == answered:
                agent.reply({"modes": MODES}, to=loading)
            if update is not None:
                agent.update(update, session_id)
        prompt = await agent.prompt()
        agent.say("new", session_id)
        agent.end(prompt)

    return play


for _number, _when, _answered in ((99, "after", 0), (100, "around", 5), (101, "before", len(HISTORY))):
    CHAPTER.add(
        _number,
        f"history-{_when}-the-answer",
        does={
            "after": "Tells the history of a loaded session after it has answered.",
            "around": "Answers in the middle of the history of a loaded session.",
            "before": "Tells the whole history of a loaded session, options and plans included, before it answers.",
        }[_when],
        rule="All of it is in the session once, and none of it in the next turn.",
        row="R156",
        whole=_replays(_answered),
        loads=True,
    )


GONE: dict[str, tuple[int, str, Any]] = {
    "by-code": (-32002, "Resource not found", None),
    "by-uri": (-32002, "Resource not found", {"uri": "session-1"}),
    "as-internal-error": (-32603, "Internal error", {"details": "Session not found"}),
    "in-words": (-32000, "Unsupported ACP session", None),
}
"""Errors that say that a session is gone: code, message and data."""


def _lost(code: int, message: str, data: Any) -> Play:
    async def play(agent: Encounter) -> None:
        await agent.begin()
        prompt = await agent.prompt()
        agent.reply_error(code, message, data, to=prompt)
        agent.ended(prompt)

    return play


for _number, (_name, _error) in enumerate(GONE.items(), 102):
    CHAPTER.add(
        _number,
        f"session-gone-{_name}",
        does=f"Opens a session and answers its first prompt with {_error[0]}, “{_error[1]}”.",
        rule="The turn has failed. Do not send the prompt to the same session again and again.",
        row="R182",
        whole=_lost(*_error),
        ends=Ends.FAILED,
    )


@CHAPTER.whole(
    106,
    "works-without-a-prompt",
    does="Goes to work before there is a prompt: a tool call, a question about it, its end, and a word about that.",
    rule="Show it, answer the question, and keep all of it out of the turn that comes.",
    row="R21",
)
async def works_without_a_prompt(agent: Encounter) -> None:
    await agent.begin()
    agent.update({"sessionUpdate": "tool_call", **EDIT, "status": "in_progress"}, "session-1")
    await agent.ask(ASK, permission())
    agent.update(
        {"sessionUpdate": "tool_call_update", "toolCallId": EDIT["toolCallId"], "status": "completed"}, "session-1"
    )
    agent.say("All by myself.", "session-1")
    prompt = await agent.prompt()
    agent.say("the answer")
    agent.end(prompt)
