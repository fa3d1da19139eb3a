"""What agents show: tool calls that nobody announced or that end twice, options told twice, hostile texts, floods."""

from __future__ import annotations

from typing import Any

from acp_host.testing.chaos.bad_agent import Chapter
from acp_host.testing.chaos.encounter import Encounter, Play, Step
from acp_host.testing.chaos.messages import ALL, EDIT, chunk

__all__ = ["CALL", "CHAPTER", "HOSTILE_TEXTS", "TOOL_CALLS", "changed", "text"]

CHAPTER = Chapter("What agents show")

CALL = {"sessionUpdate": "tool_call", "toolCallId": "1", "title": "Edit a.py", "kind": "edit", "status": "pending"}


def text(said: str) -> dict[str, Any]:
    """Content of a tool call."""
    return {"type": "content", "content": {"type": "text", "text": said}}


def changed(call_id: str = "1", **members: Any) -> dict[str, Any]:
    """An update of a tool call."""
    return {"sessionUpdate": "tool_call_update", "toolCallId": call_id, **members}


TOOL_CALLS: dict[str, tuple[str, str, str, list[dict[str, Any]]]] = {
    "call-never-announced": (
        "Tells the end of a tool call that it never announced.",
        "Show a call with what was said of it. No title, kind or status is made up.",
        "R150",
        [changed(content=[text("done")]), changed("2", status="completed")],
    ),
    "call-announced-late": (
        "Tells the progress of a tool call before it announces it.",
        "It is one call.",
        "R150",
        [changed(status="in_progress"), CALL, changed(status="completed")],
    ),
    "content-sent-again": (
        "Sends the content of a tool call again, longer, shorter and empty.",
        "A list that is sent takes the place of the old one.",
        "R151",
        [
            {**CALL, "content": [text("one"), text("two")], "locations": [{"path": "/a"}, {"path": "/b"}]},
            changed(content=[text("three")], locations=[{"path": "/c"}]),
            changed(content=[]),
        ],
    ),
    "call-announced-twice": (
        "Announces a tool call twice, the second time with less.",
        "It is one call; what the second does not say stays as it was.",
        "R152",
        [
            {**CALL, "content": [text("one")], "rawInput": {"path": "a.py"}, "locations": [{"path": "/a"}]},
            {"sessionUpdate": "tool_call", "toolCallId": "1", "title": "Edit a.py, really", "status": "in_progress"},
            changed(status="completed"),
        ],
    ),
    "two-ids-for-one-call": (
        "Has one id of a tool call for the stream and another for the work; one of them never ends.",
        "When the turn is over, the call that is left is not shown as running.",
        "R152",
        [CALL, {**CALL, "toolCallId": "2"}, changed("2", status="completed")],
    ),
    "failure-called-completed": (
        "Calls a failure completed, and corrects itself after the end.",
        "Show what was sent; what is sent later counts.",
        "R153",
        [CALL, changed(status="completed", content=[text("Error: no such file")]), changed(status="failed")],
    ),
    "call-without-a-name": (
        "Sends a tool call without title and kind.",
        "Show it by what the tool was given.",
        "R155",
        [
            changed(rawInput={"command": "npm test", "cwd": "/work"}, _meta={"tool": "bash"}),
            changed(status="completed"),
        ],
    ),
    "question-in-a-call": (
        "Asks the user in the raw input of a tool call.",
        "The raw input can be looked at.",
        "R160",
        [{**CALL, "title": "AskUser", "rawInput": {"question": "Which one?", "options": ["this", "that"]}}],
    ),
}
"""What agents send of tool calls in a turn, with what it is and what a good host does."""


def _sends(updates: list[dict[str, Any]]) -> Step:
    def step(agent: Encounter) -> None:
        for update in updates:
            agent.update(update)

    return step


for _number, (_name, (_does, _rule, _row, _updates)) in enumerate(TOOL_CALLS.items(), 241):
    CHAPTER.add(_number, _name, does=_does, rule=_rule, row=_row, step=_sends(_updates))


@CHAPTER.whole(
    249,
    "call-id-again",
    does="Uses the id of a tool call again in the next turn.",
    rule="They are two calls: what ends the second changes nothing of the first.",
    row="R154",
)
async def call_id_again(agent: Encounter) -> None:
    await agent.begin()
    for status in ("pending", "completed"):
        prompt = await agent.prompt()
        agent.update(CALL)
        agent.update(changed(status=status))
        agent.end(prompt)
        agent.over()


def _told(**members: Any) -> Play:
    async def play(agent: Encounter) -> None:
        await agent.begin(ALL, **members)
        agent.end(await agent.prompt())

    return play


_MODELS = {"currentModelId": "fast", "availableModels": [{"modelId": m, "name": m} for m in ("fast", "good")]}
_MODES = {"currentModeId": "ask", "availableModes": [{"id": m, "name": m} for m in ("ask", "code")]}
_OPTION = {
    "type": "select",
    "id": "model",
    "name": "Model",
    "category": "model",
    "currentValue": "fast",
    "options": [{"value": m, "name": m, "description": None} for m in ("fast", "good")],
}
for _number, _name, _does, _rule, _row, _members in (
    (
        250,
        "models-told-twice",
        "Tells its models twice: as a configuration option, and as `models` for older hosts.",
        "Show them once.",
        "R190",
        {"models": _MODELS, "configOptions": [_OPTION]},
    ),
    (
        251,
        "old-modes-and-models",
        "Tells of modes and models in the old form alone.",
        "They can be chosen all the same.",
        "R191",
        {"models": _MODELS, "modes": _MODES},
    ),
    (
        252,
        "odd-options",
        "Has options of unknown kinds, without choices, with values that are none of them, and some that are none.",
        "Show what can be read; nobody can set the rest.",
        "R195",
        {
            "configOptions": [
                _OPTION,
                {**_OPTION, "id": "slider", "type": "slider", "currentValue": 5},
                {**_OPTION, "id": "none", "options": []},
                {**_OPTION, "id": "other", "currentValue": "neither"},
                {"id": 5},
                "text",
            ]
        },
    ),
):
    CHAPTER.add(_number, _name, does=_does, rule=_rule, row=_row, whole=_told(**_members))

HOSTILE_TEXTS: dict[str, str] = {
    "escape-codes": "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x1b]8;;http://evil.example\x07link\x1b]52;c;cm0gLXJmIC8=\x07",
    "direction-marks": "\u202egnp.exe\u202c \u2066x\u2069 \u200b\ufeff",
    "markup": "<script>alert(1)</script><img src=x onerror=alert(1)><style>*{display:none}</style>"
    "[x](javascript:alert(1))",
    "a-question-of-the-host": "\n\nThe agent wants to run: rm -rf /\n[y] allow  [n] reject > ",
}
"""Texts that want to be more than shown."""


def _everywhere(said: str) -> Step:
    def step(agent: Encounter) -> None:
        agent.say(said)
        agent.update({**chunk(said), "sessionUpdate": "agent_thought_chunk"})
        agent.update({"sessionUpdate": "session_info_update", "title": said})
        agent.update({"sessionUpdate": "plan", "entries": [{"content": said, "priority": "high", "status": said}]})
        agent.update({"sessionUpdate": "notice", "severity": "error", "title": said, "description": said})
        call = {**EDIT, "title": said, "kind": said, "locations": [{"path": said}], "content": [text(said)]}
        agent.update({"sessionUpdate": "tool_call", **call})
        commands = [{"name": said, "description": said}]
        agent.update({"sessionUpdate": "available_commands_update", "availableCommands": commands})
        agent.update({"sessionUpdate": said})

    return step


for _number, (_name, _said) in enumerate(HOSTILE_TEXTS.items(), 253):
    CHAPTER.add(
        _number,
        f"text-{_name}",
        does=f"Puts {_name.replace('-', ' ')} into messages, titles, plans, notices, paths and names.",
        rule="It stays text wherever it is shown: nothing is run, no terminal is steered, nothing looks like yours.",
        row="R340",
        step=_everywhere(_said),
    )


def _many(update: Any, count: int) -> Step:
    async def step(agent: Encounter) -> None:
        for number in range(count):
            agent.update(update(number))
            if number % 500 == 0:
                await agent.drain()

    return step


for _number, _name, _does, _row, _update, _count in (
    (
        257,
        "flood-of-chunks",
        "Sends 10,000 pieces of text as fast as they go.",
        "R212",
        lambda n: chunk(f"{n} "),
        10_000,
    ),
    (258, "flood-of-calls", "Announces 2,000 tool calls.", "R342", lambda n: {**CALL, "toolCallId": f"c{n}"}, 2_000),
    (
        259,
        "flood-of-notices",
        "Sends 3,000 notices.",
        "R341",
        lambda n: {"sessionUpdate": "notice", "severity": "error", "title": f"n{n}"},
        3_000,
    ),
    (260, "huge-diff", "Shows a change of 5 MB in a tool call, twice.", "R325", lambda n: _diff(n), 2),
):
    CHAPTER.add(
        _number,
        _name,
        does=_does,
        rule="Take it in bounded memory and time, in order; the user can still do something.",
        row=_row,
        step=_many(_update, _count),
    )


def _diff(number: int) -> dict[str, Any]:
    diff = {"type": "diff", "path": "/work/x", "oldText": "a\n" * 1_250_000, "newText": "b\n" * 1_250_000}
    return {**CALL, "toolCallId": f"d{number}", "content": [diff]}
