"""Agents for the tests of the command: each a script that runs as a process of its own."""

from __future__ import annotations

import json
from typing import Any

from acp_host.testing import ScriptedAgent
from acp_host.wire.codec import encode

HOSTILE = "\x1b[45mloud\x1b[0m \x1b]0;title\x07 [bold]b[/bold] :smile: \u202ebackwards \x9b2J\r"
"""Escape sequences, markup of rich, an emoji code, a direction override, a C1 control, a bare carriage return."""

PERMISSION_OPTIONS = [
    {"optionId": "yes", "name": "Go ahead", "kind": "allow_once"},
    {"optionId": "no", "name": "Leave it", "kind": "reject_once"},
]


async def begin(agent: ScriptedAgent) -> str:
    """Go as far as the first prompt, and return its text."""
    await agent.handshake()
    await agent.open_session()
    message = await agent.expect("session/prompt")
    return "".join(block["text"] for block in message["params"]["prompt"])


async def echo(agent: ScriptedAgent) -> None:
    """Say the prompt again, in two pieces that part a character, amid thoughts and other things."""
    prompt = await begin(agent)
    agent.log("a word on stderr")
    agent.send_raw(b"a word on stdout\n")
    agent.update({"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "a thought"}})
    agent.send_raw(
        b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"session-1","update":'
        b'{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"\\ud83d"}}}}\n'
    )
    agent.send_raw(
        b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"session-1","update":'
        b'{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"\\ude00 "}}}}\n'
    )
    agent.update({"sessionUpdate": "tool_call", "toolCallId": "1", "title": "a tool", "status": "completed"})
    agent.say(prompt)
    agent.update({"sessionUpdate": "notice", "severity": "warning", "title": "a notice"})
    usage = {"totalTokens": 1234, "inputTokens": 1000, "outputTokens": 234}
    agent.reply({"stopReason": "end_turn", "usage": usage})


async def stops(agent: ScriptedAgent) -> None:
    """End the turn for the reason that the prompt names."""
    prompt = await begin(agent)
    agent.reply({"stopReason": prompt})


async def fails(agent: ScriptedAgent) -> None:
    """Answer the prompt with an error."""
    await begin(agent)
    agent.reply_error(-32603, f"no luck {HOSTILE}", {"model": "is away"})


async def dies(agent: ScriptedAgent) -> None:
    """End in the middle of the turn."""
    await begin(agent)
    agent.say("I think")
    agent.log("out of memory")
    await agent.drain()
    raise SystemExit(7)


async def wants_login(agent: ScriptedAgent) -> None:
    """Refuse to open a session until somebody has signed in."""
    methods = [
        {"id": "key", "name": "API key", "description": "Set AGENT_KEY."},
        {"id": "term", "name": "In a terminal", "type": "terminal", "args": ["login"], "env": {"A": "b"}},
        {"id": "new", "name": f"Something new {HOSTILE}", "type": "retina"},
    ]
    await agent.handshake(authMethods=methods)
    await agent.expect("session/new")
    agent.reply_error(-32000, "Authentication required")


async def hostile(agent: ScriptedAgent) -> None:
    """Put text that means harm into every place where text can be."""
    await agent.handshake(
        {"_meta": {HOSTILE: HOSTILE}},
        agentInfo={"name": HOSTILE, "version": HOSTILE, "title": HOSTILE},
        authMethods=[{"id": HOSTILE, "name": HOSTILE, "description": HOSTILE}],
    )
    await agent.open_session()
    await agent.expect("session/prompt")
    text = {"type": "text", "text": HOSTILE}
    agent.log(HOSTILE)
    agent.send_raw(HOSTILE.encode() + b"\n")
    agent.say(HOSTILE)
    agent.update({"sessionUpdate": "agent_thought_chunk", "content": text})
    agent.update({"sessionUpdate": HOSTILE, "text": HOSTILE})
    agent.update({"sessionUpdate": "notice", "severity": HOSTILE, "title": HOSTILE, "description": HOSTILE})
    agent.update({"sessionUpdate": "plan", "entries": [{"content": HOSTILE, "priority": HOSTILE, "status": HOSTILE}]})
    diff = {"type": "diff", "path": HOSTILE, "oldText": HOSTILE, "newText": HOSTILE + HOSTILE}
    call = {"toolCallId": HOSTILE, "title": HOSTILE, "kind": HOSTILE, "rawInput": {HOSTILE: HOSTILE}}
    agent.update({"sessionUpdate": "tool_call", **call, "content": [diff]})
    content = [{"type": "content", "content": text}, {"type": "terminal", "terminalId": HOSTILE}]
    agent.update({"sessionUpdate": "tool_call_update", **call, "status": "completed", "content": content})
    option = {"optionId": HOSTILE, "name": HOSTILE, "kind": "allow_once"}
    await agent.call("session/request_permission", {"sessionId": "session-1", "toolCall": call, "options": [option]})
    agent.update({"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": {"amount": 1, "currency": HOSTILE}})
    agent.reply({"stopReason": HOSTILE})


async def asks(agent: ScriptedAgent) -> None:
    """Ask once for permission, and tell the answer."""
    await begin(agent)
    agent.update({"sessionUpdate": "tool_call", "toolCallId": "1", "title": "Remove the disk", "kind": "delete"})
    params = {
        "sessionId": "session-1",
        "toolCall": {"toolCallId": "1", "rawInput": {"command": "rm -rf /"}},
        "options": PERMISSION_OPTIONS,
    }
    answer = await agent.call("session/request_permission", params)
    outcome = answer["result"]["outcome"]
    agent.say(f"answer: {outcome.get('optionId', outcome['outcome'])}")
    agent.reply({"stopReason": "cancelled" if outcome["outcome"] == "cancelled" else "end_turn"})


async def asks_twice(agent: ScriptedAgent) -> None:
    """Ask for permission, and once more."""
    await begin(agent)
    for number, title in enumerate(("Remove the disk", "Remove the other disk")):
        call = {"toolCallId": str(number), "title": title}
        params = {"sessionId": "session-1", "toolCall": call, "options": PERMISSION_OPTIONS}
        answer = await agent.call("session/request_permission", params)
        agent.say(f"answer: {answer['result']['outcome']['optionId']}\n")
    agent.reply({"stopReason": "end_turn"})


FORM = {
    "mode": "form",
    "sessionId": "session-1",
    "message": "How shall I go on?",
    "requestedSchema": {
        "title": "Settings",
        "properties": {
            "1": {"type": "string", "title": "Way", "oneOf": [{"const": "l", "title": "Left", "description": "West"}]},
            "n": {"type": "integer", "title": "Steps", "maximum": 9, "default": 3},
            "t": {"type": "array", "title": "Tags", "items": {"type": "string", "enum": ["a", "b"]}},
            "b": {"type": "boolean", "title": "Sure", "default": True},
            "u": {"type": "_colour", "title": "Odd"},
            "s": {"type": "string", "title": HOSTILE},
        },
        "required": ["1"],
    },
}
PAGE = {
    "mode": "url",
    "sessionId": "session-1",
    "message": "Log in",
    "url": "http://аpple.com/login",
    "elicitationId": "e",
}


async def asks_with_forms(agent: ScriptedAgent) -> None:
    """Ask with a form and for a visit to a page, and tell the answers."""
    await begin(agent)
    answers = [(await agent.call("elicitation/create", params))["result"] for params in (FORM, PAGE)]
    agent.say(json.dumps(answers))
    agent.reply({"stopReason": "cancelled" if answers[0]["action"] == "cancel" else "end_turn"})


async def uses_the_host(agent: ScriptedAgent) -> None:
    """Read a file, write it, run a command, and say which of it worked."""
    await agent.handshake()
    opened = await agent.open_session()
    await agent.expect("session/prompt")
    path = f"{opened['cwd']}/notes.txt"
    read = await agent.call("fs/read_text_file", {"sessionId": "session-1", "path": path})
    write = await agent.call("fs/write_text_file", {"sessionId": "session-1", "path": path, "content": "new\n"})
    params = {"sessionId": "session-1", "command": "echo", "args": ["from the command"]}
    created = await agent.call("terminal/create", params)
    if "result" in created:
        terminal = {"sessionId": "session-1", **created["result"]}
        await agent.call("terminal/wait_for_exit", terminal)
        await agent.call("terminal/release", terminal)
    agent.say(" ".join(str("result" in answer) for answer in (read, write, created)))
    agent.reply({"stopReason": "end_turn"})


async def speaks_harn(agent: ScriptedAgent) -> None:
    """Tell of a worker and of trouble beside the answer, as Harn does."""
    await agent.handshake(agentInfo={"name": "harn", "version": "1"})
    await agent.open_session()
    await agent.expect("session/prompt")
    agent.update({"sessionUpdate": "worker_update", "_meta": {"harn": {"workerId": "w", "status": "running"}}})
    agent.notify("_harn/agentEvent", {"sessionId": "session-1", "kind": "loop_stuck"})
    agent.say("The answer.")
    agent.reply({"stopReason": "end_turn", "_meta": {"harn": {"terminal": {"kind": "natural"}}}})


async def speaks_out_of_turn(agent: ScriptedAgent) -> None:
    """Say something before the prompt, and after the end of the turn."""

    def in_one_write(request: dict[str, Any], result: dict[str, Any], text: str) -> None:
        update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
        params = {"sessionId": "session-1", "update": update}
        agent.send_raw(
            encode({"jsonrpc": "2.0", "id": request["id"], "result": result})
            + encode({"jsonrpc": "2.0", "method": "session/update", "params": params})
        )

    await agent.handshake()
    in_one_write(await agent.expect("session/new"), {"sessionId": "session-1"}, "There is a new version.")
    prompt = await agent.expect("session/prompt")
    agent.say("The answer.")
    in_one_write(prompt, {"stopReason": "end_turn"}, "Something more.")


async def slow(agent: ScriptedAgent) -> None:
    """Speak, then work until the turn is cancelled; say something more before it ends."""
    await begin(agent)
    agent.say("working")
    await agent.expect("session/cancel")
    agent.say(", stopped")
    agent.reply({"stopReason": "cancelled"})


async def looks(agent: ScriptedAgent) -> None:
    """Begin a tool call with a title that means harm, and say nothing more until the turn is cancelled."""
    await begin(agent)
    agent.update({"sessionUpdate": "tool_call", "toolCallId": "1", "title": f"Look {HOSTILE}", "kind": "read"})
    await agent.expect("session/cancel")
    agent.reply({"stopReason": "cancelled"})


async def stubborn(agent: ScriptedAgent) -> None:
    """Never end a turn, whatever the host says."""
    await begin(agent)
    agent.say("working")
    await agent.stall()


async def talks_on(agent: ScriptedAgent) -> None:
    """Never stop talking."""
    await begin(agent)
    while True:
        agent.say("word " * 1000)
        await agent.drain()
