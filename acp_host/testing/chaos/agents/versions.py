"""Versions of the protocol, and agents with ways of their own: version 2 in odd orders, reminders, Harn's words."""

from __future__ import annotations

from typing import Any

from acp_host.testing.chaos.bad_agent import Chapter, Ends
from acp_host.testing.chaos.encounter import Encounter
from acp_host.testing.chaos.messages import ALL, ASK, DONE, chunk, options, permission

__all__ = ["CHAPTER", "FIRST_VERSION_UPDATES", "HARN_UPDATES", "SECOND_VERSION_UPDATES"]

CHAPTER = Chapter("Versions, and ways of single agents")

SECOND_VERSION_UPDATES: list[dict[str, Any]] = [
    {"sessionUpdate": "state_update", "state": "running"},
    {"sessionUpdate": "user_message", "messageId": "u1", "content": [{"type": "text", "text": "hi"}]},
    {"sessionUpdate": "agent_message", "messageId": "a1", "content": [{"type": "text", "text": "whole"}]},
    {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"},
    {"sessionUpdate": "terminal_update", "terminalId": "t", "status": "running"},
]
"""Updates of version 2."""


@CHAPTER.step(
    281,
    "second-version-updates",
    does="Agrees on version 1, and sends updates of version 2, such as the end of the turn.",
    rule="They are updates of unknown kinds. The turn ends with the answer to its prompt.",
    row="R236",
)
def second_version_updates(agent: Encounter) -> None:
    for update in SECOND_VERSION_UPDATES:
        agent.update(update)


@CHAPTER.whole(
    282,
    "second-version-answer",
    does="Answers a host that asked for version 1 with version 2, and goes on as if that had been agreed.",
    rule="Say that you do not speak it, or speak it.",
    row="R03",
    ends=Ends.EITHER,
)
async def second_version_answer(agent: Encounter) -> None:
    agent.claim("session/new")
    await agent.greet(version=2)
    agent.over()
    await agent.next("session/new")
    agent.reply({"sessionId": "session-1"})
    await _a_turn_of_version_2(agent)


FIRST_VERSION_UPDATES: list[dict[str, Any]] = [
    {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T"},
    {"sessionUpdate": "current_mode_update", "currentModeId": "m"},
    {"sessionUpdate": "plan", "entries": []},
    {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "nameless"}},
    {"sessionUpdate": "state_update", "state": 5},
]
"""Updates of version 1, and one that cannot be read."""


async def _a_turn_of_version_2(agent: Encounter, *updates: dict[str, Any]) -> None:
    prompt = await agent.prompt()
    agent.reply({"messageId": "u1"}, to=prompt)
    agent.ended(prompt)
    agent.update({"sessionUpdate": "user_message", "messageId": "u1", "content": prompt["params"]["prompt"]})
    agent.state("running")
    for update in updates:
        agent.update(update)
    agent.say("two", message_id="m")
    agent.state("idle", stopReason="end_turn")


async def _agreed_on_2(agent: Encounter) -> bool:
    """Shake hands with a host that speaks version 2; one that does not is let go."""
    agent.claim("session/new")
    asked = (await agent.next("initialize"))["params"].get("protocolVersion")
    if asked != 2:
        agent.reply_error(-32022, "Unsupported protocol version", {"requested": asked, "supported": [2]})
        agent.over()
        await agent.stall()
        return False
    info = {"name": "bad-agent", "version": "1"}
    agent.reply({"protocolVersion": 2, "info": info, "capabilities": {"session": {}}})
    await agent.next("session/new")
    agent.reply({"sessionId": "session-1"})
    return True


@CHAPTER.whole(
    283,
    "first-version-updates",
    does="Speaks version 2 alone, and sends updates of version 1.",
    rule="A host of version 1 says that it does not speak it. One of version 2 shows what it can read.",
    row="R236",
    ends=Ends.EITHER,
)
async def first_version_updates(agent: Encounter) -> None:
    if await _agreed_on_2(agent):
        await _a_turn_of_version_2(agent, *FIRST_VERSION_UPDATES)


@CHAPTER.whole(
    284,
    "states-again-and-again",
    does="Speaks version 2 alone, and says that it is idle before the prompt is accepted, and twice afterwards.",
    rule="Only the end of work that has begun ends a turn.",
    row="R240",
    ends=Ends.EITHER,
)
async def states_again_and_again(agent: Encounter) -> None:
    if await _agreed_on_2(agent):
        agent.state("idle", "session-1", stopReason="max_tokens")
        await _a_turn_of_version_2(agent, {"sessionUpdate": "state_update", "state": "running"})
        agent.state("idle")


@CHAPTER.whole(
    285,
    "asks-for-nothing",
    does="Speaks version 2 alone, and asks for permission for nothing, for unknown things and for old services.",
    rule="Answer each; what names nothing is in no rule.",
    row="R237",
    ends=Ends.EITHER,
)
async def asks_for_nothing(agent: Encounter) -> None:
    if not await _agreed_on_2(agent):
        return
    for subject in (None, {"type": "_later", "path": "x"}, {"type": "command", "command": "rm -r .", "cwd": "/"}):
        asked = {"sessionId": "session-1", "title": "May I?", "options": options("allow_once"), "subject": subject}
        await agent.ask(ASK, asked)
    await agent.ask("fs/read_text_file", {"sessionId": "session-1", "path": "/etc/passwd"})
    await _a_turn_of_version_2(agent)


HARN_UPDATES: list[dict[str, Any]] = [
    {"sessionUpdate": "_harn/agent_event", "kind": 5},
    {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x"}, "_meta": {"harn": "text"}},
    {"sessionUpdate": "tool_call", "toolCallId": "h", "title": "T", "_meta": {"harn": {"terminal": []}}},
    {"sessionUpdate": "session_info_update", "_meta": {"harn": {"reminders": {"added": None, "list": 5}}}},
]
"""Updates of one agent's own kinds, none of which it sends like this."""


@CHAPTER.whole(
    286,
    "harn-in-wrong-forms",
    does="Calls itself Harn, offers everything that Harn has, and tells all of it in wrong forms.",
    rule="What one agent's ways are for is left out where it cannot be read; the turn is as without it.",
    row="R17",
    ends=Ends.EITHER,
)
async def harn_in_wrong_forms(agent: Encounter) -> None:
    offered = {**ALL, "_meta": {"harn": {"reminders": "yes", "terminal": 1, "inject": []}}}
    agent.claim("session/remind", "session/inject")
    await agent.greet(offered, agentInfo={"name": "harn", "version": "0.10"})
    await agent.next("session/new")
    agent.reply({"sessionId": "session-1", "_meta": {"harn": 5}})
    prompt = await agent.prompt()
    for update in HARN_UPDATES:
        agent.update(update)
    for method in ("_harn/hitl", "_harn/skills/list", "harn/session", "session/remind"):
        answer = await agent.ask(method, {"sessionId": "session-1", "question": 5})
        agent.must("a method that is not known is refused", "error" in answer, answer)
    for method in ("_harn/agent_event", "harn.event", "session/reminder_update"):
        agent.notify(method, {"sessionId": "session-1", "event": [None], "reminderId": 5})
    agent.end(prompt, {**DONE, "_meta": {"harn": {"terminal": {"status": 7}}}})


@CHAPTER.step(
    287,
    "subagents-nobody-knows",
    does="Asks and speaks in the name of subagents before it announces them, and announces one twice.",
    rule="Answer the questions; show what can be placed.",
    row="R125",
)
async def subagents_nobody_knows(agent: Encounter) -> None:
    agent.update(chunk("early"), "child")
    await agent.ask(ASK, permission(session_id="child"))
    for title in ("Helper", None, 5):
        agent.update({"sessionUpdate": "subagent_update", "sessionId": "child", "title": title})
    agent.update(chunk("late"), "child")
    await agent.ask(ASK, permission(session_id="child"))


@CHAPTER.whole(
    288,
    "works-unasked",
    does="Speaks version 2 alone, and works and speaks before there is a prompt.",
    rule="That is a turn of the agent's own: show it, and let the user cancel it. A prompt comes after it.",
    row="R243",
    ends=Ends.EITHER,
)
async def works_unasked(agent: Encounter) -> None:
    if await _agreed_on_2(agent):
        agent.state("running", "session-1")
        agent.update({**chunk("By myself."), "messageId": "own"}, "session-1")
        agent.state("idle", "session-1", stopReason="end_turn")
        await _a_turn_of_version_2(agent)
