"""What agents ask of the host: methods that nobody knows, withdrawals, too much at once; and permission."""

from __future__ import annotations

import asyncio
from typing import Any

from acp_host.testing.chaos.bad_agent import Chapter, Ends
from acp_host.testing.chaos.encounter import Encounter, Step
from acp_host.testing.chaos.messages import ASK, EDIT, FORM, options, permission

__all__ = ["CHAPTER", "NOT_METHODS", "ODD_IDS", "UNCLEAR_CALLS", "VENDORS", "withdraw_at_once"]

CHAPTER = Chapter("What agents ask of the host")

NOT_METHODS = ("_vendor/ask", "craft/drainQueue", "session/update", "initialize", "")
"""Methods that no host has."""

_NEVER_WAIT = "Answer at once with -32601, whatever else is going on: an agent that waits for it stands still."


def _unknown(method: str) -> Step:
    async def step(agent: Encounter) -> None:
        answer = await agent.ask(method, {"sessionId": "session-1"})
        agent.must("a method that is not known is refused", "error" in answer, answer)

    return step


for _number, _method in enumerate(NOT_METHODS, 161):
    CHAPTER.add(
        _number,
        f"unknown-method-{_number - 160}",
        does=f"Asks for `{_method}`." if _method else "Asks for a method without a name.",
        rule=_NEVER_WAIT,
        row="R50",
        step=_unknown(_method),
    )

VENDORS: dict[str, dict[str, Any]] = {
    "cursor/create_plan": {"toolCallId": "t", "plan": "# Plan", "todos": [{"id": "1", "content": "think"}]},
    "cursor/ask_question": {"toolCallId": "t", "questions": [{"id": "q", "prompt": "Which?", "options": []}]},
    "cursor/update_todos": {"toolCallId": "t", "todos": [], "merge": True},
    "cursor/task": {"toolCallId": "t", "description": "look around", "prompt": "look", "subagentType": "explore"},
    "cursor/generate_image": {"toolCallId": "t", "description": "a cat", "filePath": "/tmp/cat.png"},
}
"""Requests of one vendor's own."""


def _vendor(method: str) -> Step:
    async def step(agent: Encounter) -> None:
        await agent.ask(method, VENDORS[method])
        agent.notify(method, VENDORS[method])

    return step


for _number, _method in enumerate(VENDORS, 166):
    CHAPTER.add(
        _number,
        _method.replace("/", "-").replace("_", "-"),
        does=f"Sends `{_method}`, once as a request and once as a notification.",
        rule="Answer the request, by a handler or with -32601, and keep what it says in sight.",
        row="R51",
        step=_vendor(_method),
    )


@CHAPTER.step(
    171,
    "unknown-notifications",
    does="Sends two thousand notifications that nobody listens to.",
    rule="Leave them out.",
    row="R51",
)
def unknown_notifications(agent: Encounter) -> None:
    for number in range(2_000):
        agent.notify(f"_vendor/event{number}", {"number": number})


@CHAPTER.step(
    172,
    "form-not-offered",
    does="Asks the user by a form, whether the host offers forms or not.",
    rule="Answer it; a mode that was not offered is declined or refused, never left open.",
    row="R52",
)
async def form_not_offered(agent: Encounter) -> None:
    for mode in ("form", "url", "hologram"):
        await agent.ask(
            "elicitation/create", {**FORM, "mode": mode, "url": "https://example.org", "elicitationId": "e"}
        )


@CHAPTER.step(
    173,
    "services-not-offered",
    does="Reads a file and runs a command, whether the host offers that or not.",
    rule="What is not offered is refused with -32601.",
    row="R53",
)
async def services_not_offered(agent: Encounter) -> None:
    for method in ("fs/read_text_file", "fs/write_text_file", "terminal/create"):
        params = {"sessionId": "session-1", "path": "/nowhere/at/all", "content": "x", "command": "true", "args": []}
        await agent.ask(method, params)


def withdraw_at_once(agent: Encounter) -> int:
    """Ask for permission and take the question back; return its id."""
    asked = agent.request(ASK, permission())
    agent.notify("$/cancel_request", {"requestId": asked})
    return asked


@CHAPTER.step(
    174,
    "withdraws",
    does="Takes a question back in the moment in which it is asked, and once more after the answer.",
    rule="Answer it once, with -32800 or with what was decided meanwhile.",
    row="R55",
)
async def withdraws(agent: Encounter) -> None:
    asked = withdraw_at_once(agent)
    await agent.answer(asked)
    agent.notify("$/cancel_request", {"requestId": asked})


@CHAPTER.step(
    175,
    "withdraws-nothing",
    does="Takes back requests that it has never made, under ids of all types.",
    rule="Ignore it.",
    row="R55",
)
def withdraws_nothing(agent: Encounter) -> None:
    odd: tuple[Any, ...] = (
        None,
        [],
        {},
        {"requestId": 77},
        {"requestId": {"a": 1}},
        {"requestId": True},
        {"requestId": "1"},
    )
    for params in odd:
        agent.notify("$/cancel_request", params)


@CHAPTER.step(
    176,
    "five-hundred-questions",
    does="Asks five hundred questions at once.",
    rule="Each is answered once, in any order.",
    row="R57",
)
async def five_hundred_questions(agent: Encounter) -> None:
    asked = [agent.request(ASK, permission()) for _ in range(500)]
    for request_id in reversed(asked):
        await agent.answer(request_id)


@CHAPTER.step(
    177,
    "question-without-an-answer",
    does="Asks for permission without offering a single option.",
    rule="Answer `cancelled`: there is nothing to choose.",
    row="R120",
)
async def question_without_an_answer(agent: Encounter) -> None:
    answer = await agent.ask(ASK, {**permission(), "options": []})
    chosen = ((answer.get("result") or {}).get("outcome") or {}).get("optionId")
    agent.must("no option is chosen that was not offered", chosen is None, answer)


ODD_IDS = ("", "0", "no", "Yes, proceed", "é\u202e\x1b[2J", "x" * 10_000)
"""Ids of options that look like labels, or like nothing."""


@CHAPTER.step(
    178,
    "odd-option-ids",
    does="Uses ids of options that look like labels, are empty, hostile or long, and labels that look like other ids.",
    rule="An option is known by its id alone, which goes back as it came.",
    row="R121",
)
async def odd_option_ids(agent: Encounter) -> None:
    for option_id in ODD_IDS:
        offered = [
            {"optionId": "decoy", "name": option_id or "yes", "kind": "reject_once"},
            {"optionId": option_id, "name": "decoy", "kind": "allow_once"},
        ]
        answer = await agent.ask(ASK, {**permission(), "options": offered})
        _must_be_offered(agent, answer, {"decoy", option_id})


def _must_be_offered(agent: Encounter, answer: dict[str, Any], offered: set[str]) -> None:
    outcome = (answer.get("result") or {}).get("outcome") or {}
    chosen = outcome.get("optionId")
    ok = "error" in answer or outcome.get("outcome") == "cancelled" or chosen in offered
    agent.must("what is chosen is the id of an option that was offered", ok, answer)


@CHAPTER.step(
    179,
    "unknown-option-kinds",
    does="Offers an option of a kind that nobody knows, between two of known kinds.",
    rule="Show it as an option like any other; the question is not refused because of it.",
    row="R45",
)
async def unknown_option_kinds(agent: Encounter) -> None:
    answer = await agent.ask(ASK, permission("allow_once", "allow_persistent", "reject_once"))
    agent.must("a question with an option of an unknown kind is answered by a choice", "result" in answer, answer)
    _must_be_offered(agent, answer, {"allow_once", "allow_persistent", "reject_once"})


@CHAPTER.step(
    180,
    "four-ways-to-say-yes",
    does="Asks a question with four options, which are all of the kind `allow_once`.",
    rule="It is no yes-or-no: nobody but the user can choose. What decides alone chooses none of them.",
    row="R45",
)
async def four_ways_to_say_yes(agent: Encounter) -> None:
    offered = [{"optionId": f"way-{n}", "name": f"Way {n}", "kind": "allow_once"} for n in range(4)]
    answer = await agent.ask(ASK, {**permission(), "options": offered})
    _must_be_offered(agent, answer, {f"way-{number}" for number in range(4)})


UNCLEAR_CALLS: list[dict[str, Any]] = [
    {"kind": None},
    {"kind": "fetch"},
    {"kind": "switch_mode"},
    {"kind": "Read"},
    {"kind": "safe"},
    {"kind": 7},
    {"kind": "read", "rawInput": {"command": "rm -rf /"}},
    {"kind": "read", "rawInput": {"cmd": ["bash", "-c", "rm -rf /"]}},
    {"kind": "read", "rawInput": {"input": {"script": "rm -rf /"}}},
]
"""Members of tool calls that do not say what they are, or say it wrongly."""


@CHAPTER.step(
    181,
    "unclear-questions",
    does="Asks for permission for calls without a kind, of odd kinds, and for commands that are called reading.",
    rule="A kind that is missing or unknown is never a harmless one. Answer each.",
    row="R122",
)
async def unclear_questions(agent: Encounter) -> None:
    for call in UNCLEAR_CALLS:
        await agent.ask(ASK, permission(**{"toolCallId": "fresh", **call}))


@CHAPTER.step(
    182,
    "no-way-to-refuse",
    does="Asks for permission, and offers nothing but ways to allow it.",
    rule="Refuse with `cancelled`, if you refuse; never leave it open.",
    row="R123",
)
async def no_way_to_refuse(agent: Encounter) -> None:
    answer = await agent.ask(ASK, permission("allow_once", "allow_always"))
    _must_be_offered(agent, answer, {"allow_once", "allow_always"})


@CHAPTER.step(
    183,
    "gives-up-asking",
    does="Asks, and ends the tool call that it asks about before there is an answer.",
    rule="The question has expired; answer it all the same.",
    row="R124",
)
async def gives_up_asking(agent: Encounter) -> None:
    asked = agent.request(ASK, permission())
    agent.update({"sessionUpdate": "tool_call_update", "toolCallId": "call-1", "status": "failed"})
    await agent.answer(asked)


@CHAPTER.step(
    184,
    "escape-codes-in-questions",
    does="Puts escape sequences, direction overrides and line breaks into titles, labels and paths of a question.",
    rule="Show them as such, and never send them to a terminal.",
    row="R132",
)
async def escape_codes_in_questions(agent: Encounter) -> None:
    evil = "\x1b]52;c;x\x07\u202e\r\n\x1b[2J"
    offered = [{**option, "name": evil} for option in options("allow_once", "reject_once")]
    call = {**EDIT, "title": evil, "locations": [{"path": f"/{evil}"}], "rawInput": {"path": evil}}
    await agent.ask(ASK, {"sessionId": "session-1", "toolCall": call, "options": offered})


@CHAPTER.whole(
    185,
    "asks-and-leaves",
    does="Ends its part while questions are open, and answers the prompt before they are answered.",
    rule="The turn is over; the questions are answered, or closed, and block nothing.",
    row="R56",
)
async def asks_and_leaves(agent: Encounter) -> None:
    await agent.begin()
    prompt = await agent.prompt()
    for _ in range(3):
        agent.journal.asked(agent.request(ASK, permission()), ASK, must_be_answered=False)
    agent.end(prompt)
    await asyncio.sleep(0.05)


@CHAPTER.whole(
    186,
    "refuses-its-own-option",
    does="Asks, and refuses the option that it is answered with, by failing the prompt with -32602.",
    rule="The turn has failed. Say what was offered and what was chosen, for it is not the user's fault.",
    row="R126",
    ends=Ends.FAILED,
)
async def refuses_its_own_option(agent: Encounter) -> None:
    await agent.begin()
    prompt = await agent.prompt()
    answer = await agent.ask(ASK, permission())
    _must_be_offered(agent, answer, {"allow_once", "reject_once"})
    agent.reply_error(-32602, "Invalid params", {"details": "there is no such option"}, to=prompt)
    agent.ended(prompt)
