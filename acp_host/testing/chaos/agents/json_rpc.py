"""Slips of JSON-RPC: ids, versions, and answers that are none."""

from __future__ import annotations

from typing import Any

from acp_host.testing.chaos.bad_agent import Chapter, Ends
from acp_host.testing.chaos.encounter import Encounter, Play, Step
from acp_host.testing.chaos.messages import ASK, DONE, chunk, line, message_update, permission

__all__ = ["BROKEN_ANSWERS", "CHAPTER", "ODD_ENDS", "SLIPS"]

CHAPTER = Chapter("Slips of JSON-RPC")

_UPDATE = {"method": "session/update", "params": message_update(chunk("x "))["params"]}
_QUESTION = {"method": ASK, "params": permission()}

SLIPS: dict[str, dict[str, Any]] = {
    "answer-to-nothing": {"jsonrpc": "2.0", "id": 77, "result": {}},
    "answer-under-a-string": {"jsonrpc": "2.0", "id": "2", "result": DONE},
    "answer-under-true": {"jsonrpc": "2.0", "id": True, "result": {}},
    "error-without-id": {"jsonrpc": "2.0", "error": {"code": -32601, "message": "x"}},
    "error-for-null": {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "x"}},
    "only-a-version": {"jsonrpc": "2.0"},
    "empty-object": {},
    "only-an-id": {"jsonrpc": "2.0", "id": 4},
    "update-without-version": _UPDATE,
    "request-without-version": {"id": 4, **_QUESTION},
    "id-zero": {"jsonrpc": "2.0", "id": 0, **_QUESTION},
    "id-empty": {"jsonrpc": "2.0", "id": "", **_QUESTION},
    "id-null": {"jsonrpc": "2.0", "id": None, **_QUESTION},
    "id-fraction": {"jsonrpc": "2.0", "id": 1.5, **_QUESTION},
    "id-huge": {"jsonrpc": "2.0", "id": 2**70, **_QUESTION},
    "id-list": {"jsonrpc": "2.0", "id": [1], **_QUESTION},
    "params-string": {"jsonrpc": "2.0", "id": 4, "method": ASK, "params": "x"},
    "method-number": {"jsonrpc": "2.0", "id": 4, "method": 5},
    "request-and-result": {"jsonrpc": "2.0", "id": 4, **_QUESTION, "result": {}},
}
"""Messages with something wrong, by name."""

_ASKS = ("id-zero", "id-empty", "id-huge")
"""Those that are requests like any other."""


def _slip(message: dict[str, Any]) -> Step:
    async def step(agent: Encounter) -> None:
        agent.send_raw(line(message))
        if "method" in message and "id" in message:
            await agent.answer(message["id"], patience=0.3)

    return step


for _number, (_name, _message) in enumerate(SLIPS.items(), 41):
    CHAPTER.add(
        _number,
        _name,
        does=f"Sends `{line(_message).decode()[:76].strip()}…`.".replace("|", "\\|")
        if len(line(_message)) > 76
        else f"Sends `{line(_message).decode().strip()}`.",
        rule="It is a request like any other: answer it under its id, type included."
        if _name in _ASKS
        else "Answer what wants an answer and can be named, leave out the rest, and go on.",
        row="R13",
        step=_slip(_message),
    )


@CHAPTER.step(
    60,
    "id-used-twice",
    does="Sends two requests under one id before either is answered.",
    rule="Answer both; the second may be refused.",
    row="R13",
)
async def id_used_twice(agent: Encounter) -> None:
    for _ in range(2):
        agent.send_raw(line({"jsonrpc": "2.0", "id": 1, **_QUESTION}))
    for _ in range(2):
        await agent.answer(1, patience=2)


@CHAPTER.step(
    61,
    "request-as-notification",
    does="Asks for permission without an id.",
    rule="It cannot be answered, so it is not; the turn goes on.",
    row="R58",
)
def request_as_notification(agent: Encounter) -> None:
    agent.send_raw(line({"jsonrpc": "2.0", "method": ASK, "params": permission()}))


@CHAPTER.whole(
    62,
    "answers-twice",
    does="Answers a prompt three times, once with an error, and again while the next one runs.",
    rule="The first answer counts. The others end no other turn.",
    row="R14",
)
async def answers_twice(agent: Encounter) -> None:
    await agent.begin()
    prompt = await agent.prompt()
    agent.say("first")
    agent.end(prompt)
    agent.reply({"stopReason": "refusal"}, to=prompt)
    agent.reply_error(-32603, "too late", to=prompt)
    agent.over()
    second = await agent.prompt()
    agent.reply({"stopReason": "max_tokens"}, to=prompt)
    agent.say("second")
    agent.end(second)


BROKEN_ANSWERS: dict[str, dict[str, Any]] = {
    "result-and-error": {"jsonrpc": "2.0", "result": DONE, "error": {"code": 1, "message": "x"}},
    "error-code-word": {"jsonrpc": "2.0", "error": {"code": "E1", "message": "x"}},
    "error-text": {"jsonrpc": "2.0", "error": "something failed"},
    "error-null": {"jsonrpc": "2.0", "error": None},
    "neither": {"jsonrpc": "2.0"},
    "answer-without-version": {"result": DONE},
    "answer-of-version-1": {"jsonrpc": "1.0", "result": DONE},
}
"""Answers to a prompt that are no responses, without their id."""


def _answered(answer: dict[str, Any]) -> Play:
    async def play(agent: Encounter) -> None:
        await agent.begin()
        prompt = await agent.prompt()
        agent.say("the answer")
        agent.send_raw(line({"id": prompt["id"], **answer}))
        agent.ended(prompt)

    return play


for _number, (_name, _message) in enumerate(BROKEN_ANSWERS.items(), 63):
    CHAPTER.add(
        _number,
        _name,
        does=f"Answers the prompt with `{line(_message).decode().strip()}`, and its id.",
        rule="The turn is over at once, as failed or by what can be read of the answer; its text is kept.",
        row="R15",
        whole=_answered(_message),
        ends=Ends.EITHER,
    )

ODD_ENDS: dict[str, Any] = {
    "unknown": {"stopReason": "budget_exhausted"},
    "empty": {"stopReason": ""},
    "misspelled": {"stopReason": "canceled"},
    "null": {"stopReason": None},
    "number": {"stopReason": 7},
    "other-name": {"stop_reason": "end_turn"},
    "nothing": {},
    "result-null": None,
    "text": "done",
    "list": [],
}
"""Results of a prompt that do not say how the turn ended."""


def _ended(result: Any) -> Play:
    return _answered({"jsonrpc": "2.0", "result": result})


for _number, (_name, _result) in enumerate(ODD_ENDS.items(), 71):
    CHAPTER.add(
        _number,
        f"stop-reason-{_name}",
        does=f"Ends the turn with the result `{line(_result).decode().strip()}`.",
        rule="The turn is over either way: its text reaches the user, and it is not called completed.",
        row="R16",
        whole=_ended(_result),
        ends=Ends.EITHER,
    )


@CHAPTER.whole(
    81,
    "odd-usage",
    does="Ends the turn properly, with a usage and metadata that cannot be read.",
    rule="The turn is completed; what cannot be read is left out.",
    row="R16",
)
async def odd_usage(agent: Encounter) -> None:
    await agent.begin()
    agent.end(await agent.prompt(), {**DONE, "usage": {"totalTokens": "many"}, "_meta": 5})


@CHAPTER.step(
    82,
    "misleading-members",
    does="Sends an update with members of the names that a careless reader would look for, in other places.",
    rule="Read members where the schema has them.",
    row="R17",
)
def misleading_members(agent: Encounter) -> None:
    update = {"sessionUpdate": "session_info_update", "title": "Right", "type": "plan", "kind": "tool_call"}
    params = {"type": "agent_message_chunk", "title": "Wrong", "sessionId": "session-1", "update": update}
    agent.notify("session/update", params)
