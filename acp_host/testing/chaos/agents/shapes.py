"""Messages whose members are unknown, missing, ``null`` or of another type than the schema says."""

from __future__ import annotations

from typing import Any

from acp_host.testing.chaos.bad_agent import Chapter, Ends
from acp_host.testing.chaos.encounter import Encounter, Play, Step
from acp_host.testing.chaos.messages import ALL, ASK, DONE, EDIT, chunk, permission

__all__ = [
    "BAD_CAPABILITIES",
    "BAD_QUESTIONS",
    "CHAPTER",
    "MALFORMED_UPDATES",
    "NAMELESS_SESSIONS",
    "NOBODYS_UPDATES",
    "UNKNOWN_UPDATES",
    "UPDATES",
]

CHAPTER = Chapter("Shapes")

TEXT = {"type": "text", "text": "x"}
UPDATES: dict[str, dict[str, Any]] = {
    "user_message_chunk": {"content": TEXT},
    "agent_message_chunk": {"content": TEXT, "messageId": "m"},
    "agent_thought_chunk": {"content": TEXT},
    "tool_call": EDIT,
    "tool_call_update": {"toolCallId": "call-1", "status": "completed"},
    "plan": {"entries": [{"content": "think", "priority": "high", "status": "pending"}]},
    "available_commands_update": {"availableCommands": [{"name": "plan", "description": "plan"}]},
    "current_mode_update": {"currentModeId": "code"},
    "config_option_update": {
        "configOptions": [{"type": "boolean", "id": "web", "name": "Web search", "currentValue": True}]
    },
    "session_info_update": {"title": "Notes"},
    "usage_update": {"used": 5, "size": 10},
    "notice": {"severity": "info", "title": "Signed in"},
    "compaction_update": {"compactionId": "c", "status": "in_progress"},
    "compaction_summary_chunk": {"compactionId": "c", "content": TEXT},
    "plan_update": {"plan": {"type": "markdown", "planId": "p", "content": "# Plan"}},
    "plan_removed": {"planId": "p"},
    "subagent_update": {"sessionId": "child", "title": "Helper"},
    "session_message": {"messageId": "m", "senderSessionId": "session-1"},
    "session_message_chunk": {"messageId": "m", "content": TEXT},
}
"""Every kind of update of the schema, without the kind."""


@CHAPTER.step(
    111,
    "every-update",
    does="Sends every kind of update that the schema has, drafts included.",
    rule="What you do not know is data; nothing of it ends the turn.",
    row="R40",
)
def every_update(agent: Encounter) -> None:
    for kind, members in UPDATES.items():
        agent.update({"sessionUpdate": kind, **members})


UNKNOWN_UPDATES: list[dict[str, Any]] = [
    {"sessionUpdate": "usage_report", "used": 1, "nested": {"a": [1, None, "x"]}},
    {"sessionUpdate": "", "content": TEXT},
    {"sessionUpdate": "_vendor/thing"},
]

MALFORMED_UPDATES: list[tuple[dict[str, Any], str]] = [
    ({"sessionUpdate": "usage_update", "used": "many", "size": 1}, "$.params.update.used"),
    ({"sessionUpdate": "usage_update", "used": -1, "size": 1}, "$.params.update.used"),
    ({"sessionUpdate": "usage_update", "used": 1.5, "size": 1}, "$.params.update.used"),
    ({"sessionUpdate": "agent_message_chunk", "content": "x"}, "$.params.update.content"),
    ({"sessionUpdate": "agent_message_chunk", "content": {"type": "text"}}, "$.params.update.content"),
    ({"sessionUpdate": "agent_message_chunk", "content": None}, "$.params.update.content"),
    ({"sessionUpdate": "tool_call", "title": "no id"}, "$.params.update"),
]
"""Updates of known kinds that cannot be read, and the place that is wrong."""

NOBODYS_UPDATES: list[Any] = [
    None,
    [],
    {},
    {"sessionId": "session-1"},
    {"sessionId": 5, "update": chunk("x")},
    {"update": chunk("x")},
    {"sessionId": "session-1", "update": {"content": TEXT}},
    {"sessionId": "session-1", "update": [chunk("x")]},
    {"sessionId": "session-1", "sessionUpdate": "agent_message_chunk", "content": TEXT},
]
"""Parameters of updates that do not say what they are, or whose."""

_GO_ON = "Leave out what cannot be read, with a word to a developer; the turn goes on and has the rest."


def _each(number: int, name: str, does: str, row: str, steps: list[Step]) -> None:
    for place, step in enumerate(steps):
        CHAPTER.add(number + place, f"{name}-{place + 1}", does=does, rule=_GO_ON, row=row, step=step)


def _updates(update: Any) -> Step:
    return lambda agent: agent.update(update)


def _notifies(params: Any) -> Step:
    return lambda agent: agent.notify("session/update", params)


_each(
    112, "unknown-update", "Sends an update of a kind that nobody knows.", "R41", list(map(_updates, UNKNOWN_UPDATES))
)
_each(
    115,
    "malformed-update",
    "Sends an update of a known kind that does not fit the schema.",
    "R41",
    [_updates(update) for update, _ in MALFORMED_UPDATES],
)
_each(
    122,
    "nobodys-update",
    "Sends an update that does not say what it is, or of which session.",
    "R41",
    list(map(_notifies, NOBODYS_UPDATES)),
)


@CHAPTER.step(
    131,
    "unknown-words",
    does="Uses unknown kinds of content, kinds and statuses of tool calls, inside of known updates.",
    rule="Keep them as data, and show them by the word.",
    row="R42",
)
def unknown_words(agent: Encounter) -> None:
    contents = [{"type": "hologram", "url": "x"}, {"type": "content", "content": {"type": "smell", "of": "rain"}}]
    agent.update({"sessionUpdate": "tool_call", **EDIT, "kind": "teleport", "status": "paused", "content": contents})
    agent.update({"sessionUpdate": "agent_message_chunk", "content": {"type": "smell", "of": "rain"}})


@CHAPTER.step(
    132,
    "bad-item",
    does="Has entries in its list of commands that are none.",
    rule="An entry that cannot be read costs no more than itself.",
    row="R42",
)
def bad_item(agent: Encounter) -> None:
    commands = [{"name": "plan", "description": "p"}, {"name": 5}, "x", {"name": "go", "description": "g", "new": 1}]
    agent.update({"sessionUpdate": "available_commands_update", "availableCommands": commands})


@CHAPTER.whole(
    133,
    "nulls",
    does="Writes `null` for everything that it does not know.",
    rule="For a member that need not be there, `null` is as good as nothing.",
    row="R43",
)
async def nulls(agent: Encounter) -> None:
    models = [{"modelId": f"m{number}", "name": "Model", "description": None} for number in range(7)]
    modes = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask", "description": None}]}
    await agent.greet({"promptCapabilities": None, "loadSession": None}, authMethods=None, _meta=None)
    await agent.next("session/new")
    told = {"models": {"currentModelId": "m0", "availableModels": models}, "modes": modes}
    agent.reply({"sessionId": "session-1", **told, "configOptions": None, "_meta": None})
    prompt = await agent.prompt()
    diff = [{"type": "diff", "path": "/x", "newText": "y", "oldText": None}]
    call = {**EDIT, "rawInput": None, "locations": [{"path": "/x", "line": None}], "content": diff}
    agent.update({"sessionUpdate": "tool_call", **call})
    agent.update({"sessionUpdate": "session_info_update", "title": None})
    commands = [{"name": "plan", "description": "p", "input": None}]
    agent.update({"sessionUpdate": "available_commands_update", "availableCommands": commands})
    agent.end(prompt, {**DONE, "usage": None, "_meta": None})


BAD_CAPABILITIES: list[Any] = [
    {"loadSession": "yes", "promptCapabilities": "all", "sessionCapabilities": [], "mcpCapabilities": 1},
    {"promptCapabilities": {"image": "yes"}, "sessionCapabilities": {"close": True, "list": None}},
    [],
    "none",
    None,
]
"""``agentCapabilities`` that are none."""


def _announces(capabilities: Any) -> Play:
    async def play(agent: Encounter) -> None:
        await agent.greet(agentCapabilities=capabilities)
        await agent.next("session/new")
        agent.reply({"sessionId": "session-1"})
        agent.end(await agent.prompt())

    return play


for _number, _capabilities in enumerate(BAD_CAPABILITIES, 134):
    CHAPTER.add(
        _number,
        f"bad-capabilities-{_number - 133}",
        does="Announces capabilities of another type than the schema's.",
        rule="What cannot be read is not offered.",
        row="R44",
        whole=_announces(_capabilities),
    )

BAD_QUESTIONS: list[tuple[dict[str, Any], bool]] = [
    ({"toolCall": {"toolCallId": "t"}}, True),
    ({"toolCall": {"toolCallId": "t", "title": None, "kind": None, "rawInput": None, "content": "x"}}, True),
    ({"_meta": [1], "reason": "because"}, True),
    ({"options": []}, True),
    ({"options": None}, False),
    ({"options": [{"optionId": "yes"}]}, False),
    ({"toolCall": None}, False),
    ({"sessionId": None}, False),
]
"""Members of a permission request with something wrong, and whether it can be read all the same."""


def _asks(members: dict[str, Any]) -> Step:
    async def step(agent: Encounter) -> None:
        await agent.ask(ASK, {**permission(), **members})

    return step


for _number, (_members, _) in enumerate(BAD_QUESTIONS, 139):
    CHAPTER.add(
        _number,
        f"bad-question-{_number - 138}",
        does="Asks for permission with members that are missing, `null` or of another type.",
        rule="Answer it: by what can be read, or with an error. Never let it wait.",
        row="R46",
        step=_asks(_members),
    )


@CHAPTER.step(
    147,
    "odd-numbers",
    does="Writes whole numbers as fractions, and some beyond 64 bits.",
    rule="Read them, or leave them out; the turn goes on.",
    row="R48",
)
def odd_numbers(agent: Encounter) -> None:
    agent.update({"sessionUpdate": "usage_update", "used": 2**70, "size": 10.0})
    agent.update({"sessionUpdate": "usage_update", "used": 2**63 + 1, "size": 2**64 - 1})


NAMELESS_SESSIONS: list[Any] = [{}, {"sessionId": None}, {"sessionId": 5}, None, "s1"]
"""Results of ``session/new`` without an id that could be used."""


def _opens(result: Any) -> Play:
    async def play(agent: Encounter) -> None:
        await agent.greet(ALL)
        await agent.next("session/new")
        agent.reply(result)
        agent.over()
        await agent.stall()

    return play


for _number, _result in enumerate(NAMELESS_SESSIONS, 148):
    CHAPTER.add(
        _number,
        f"nameless-session-{_number - 147}",
        does="Answers `session/new` without an id.",
        rule="That is an error which says so; nothing is sent to a session without a name.",
        row="R49",
        whole=_opens(_result),
        ends=Ends.FAILED,
    )


@CHAPTER.step(
    153,
    "chunks-without-a-text",
    does="Sends chunks of text that are empty, before the first word, between two of them, and after the last.",
    rule="They are nothing: no message of their own, and no end of one.",
    row="R486",
)
def chunks_without_a_text(agent: Encounter) -> None:
    for text in ("", "one ", "", "two ", ""):
        agent.say(text)
