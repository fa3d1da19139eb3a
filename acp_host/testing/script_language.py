"""The script of the reference agent: :func:`builtin_script`, a small language for prompts.

A prompt whose text begins with a slash is a program: each line that begins with a slash is a command, the lines after
it belong to it, and they are done in order. ``/commands`` lists them to the host; this is the list for people:

===============================  =======================================================================================
``/say TEXT``                    says it
``/think TEXT``                  thinks it
``/echo``                        sends back every block of the prompt
``/content``                     sends one block of each kind of content
``/plan STEP; STEP; …``          tells a plan and completes it, step by step
``/plans``                       tells a plan as a list, one as Markdown, and takes the second back
``/tool TITLE``                  a tool call that does nothing
``/work TITLE``                  a tool call that goes on until it, or the turn, is cancelled
``/background N``                a command that prints N lines when the turn is over (ACP v2)
``/later TEXT``                  says it when the turn is over, in one that the agent begins by itself
``/read PATH``                   reads a file
``/edit PATH``                   adds a line to a file, with permission
``/write PATH`` and lines        writes a file, with permission
``/run COMMAND…``                runs a command in a terminal, with permission; without a shell
``/ask``                         asks the user by a form
``/mcp METHOD PARAMS``           asks the first MCP server of the host; the parameters are JSON
``/visit URL``                   sends the user to a web page
``/slow N``                      N chunks, a tenth of a second apart
``/flood N``                     N chunks, as fast as they go
``/wait``                        does nothing until it is cancelled
``/notice SEVERITY TEXT``        puts a notice before the user, the lines after it as its description
``/notices``                     one notice of each severity, of an unknown and of the agent's own
``/notice-burst N``              N notices as fast as they go, all different
``/notice-repeat N TEXT``        the same notice N times
``/reminders``                   says which reminders the model saw in this turn
``/model``                       asks the model once more
``/remind TEXT``                 the agent reminds its model of something by itself
``/forget TAG``                  clears the reminders with a tag, or all of them
``/compact``                     shortens the context
``/usage``                       tells the usage
``/title TEXT``                  names the session
``/mode ID``                     changes the mode by itself
``/option ID VALUE``             changes an option by itself; ``on`` and ``off`` for a switch
``/commands``                    tells the commands again
``/error CODE TEXT``             fails the prompt with a JSON-RPC error
``/stop REASON``                 ends the turn with this stop reason
===============================  =======================================================================================

Any other prompt gets :func:`~acp_host.testing.conversation.conversation`. Files and terminals are the host's; in
ACP v2, where it has none, they are made up by the agent.
"""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Awaitable, Callable

from attrs import frozen

from acp_host.errors import NotSupported, RequestFailed
from acp_host.testing import _content
from acp_host.testing.agent_turn import AgentTurn
from acp_host.testing.conversation import add_line, conversation, edit_file, read_file, run_command
from acp_host.wire._model import UNSET
from acp_host.wire.commands import AvailableCommand, AvailableCommandsUpdate, UnstructuredCommandInput
from acp_host.wire.compaction import CompactionStatus, CompactionSummaryChunk, CompactionUpdate
from acp_host.wire.content import TextContent
from acp_host.wire.elicitation import ElicitationAcceptAction
from acp_host.wire.notices import NoticeSeverity
from acp_host.wire.plans import (
    PlanEntry,
    PlanEntryPriority,
    PlanEntryStatus,
    PlanItems,
    PlanMarkdown,
    PlanRemoved,
    PlanUpdate,
)
from acp_host.wire.updates import AgentMessageChunk

__all__ = ["builtin_commands", "builtin_script"]

_COMMAND = re.compile(r"^/(\S+)[ \t]*(.*(?:\n(?!/).*)*)", re.MULTILINE)


@frozen
class _Command:
    """A command: what to tell of it, and what it does with the text after its name."""

    description: str
    hint: str | None
    run: Callable[[AgentTurn, str], Awaitable[str | None]]


async def builtin_script(turn: AgentTurn) -> str | None:
    """Run the prompt's commands, or hold the whole conversation; return the stop reason."""
    text = turn.typed.lstrip()
    if not text.startswith("/"):
        return await conversation(turn)
    for name, rest in _COMMAND.findall(text):
        command = _COMMANDS.get(name)
        if command is None:
            await turn.say(f"I do not know /{name}. I know: {', '.join(f'/{known}' for known in _COMMANDS)}.\n")
            continue
        try:
            reason = await command.run(turn, rest.strip())
        except NotSupported as error:
            await turn.say(f"{error}\n")
        else:
            if reason is not None:
                return reason
    return None


def builtin_commands() -> list[AvailableCommand]:
    """Return what ``available_commands_update`` tells."""
    return [
        AvailableCommand(
            name, command.description, input=UnstructuredCommandInput(command.hint) if command.hint else UNSET
        )
        for name, command in _COMMANDS.items()
    ]


# --- words ----------------------------------------------------------------------------------------------------------


async def _say(turn: AgentTurn, text: str) -> None:
    await turn.say(text)


async def _think(turn: AgentTurn, text: str) -> None:
    await turn.think(text)


async def _echo(turn: AgentTurn, text: str) -> None:
    for block in turn.prompt:
        await turn.show(block)


async def _every_content(turn: AgentTurn, text: str) -> None:
    for block in _content.EVERY_KIND:
        await turn.show(block)


async def _plan(turn: AgentTurn, text: str) -> None:
    steps = [step.strip() for step in text.split(";") if step.strip()] or ["The only step"]
    plan = turn.plan(*steps)
    for _ in steps:
        await turn.pause(0)
        plan.advance()


async def _plans(turn: AgentTurn, text: str) -> None:
    if not turn.offers("clientCapabilities.plan"):
        await turn.say("The host takes one plan only.")
        return
    steps = (PlanEntry("Tell it", PlanEntryPriority.HIGH, PlanEntryStatus.IN_PROGRESS),)
    list_id, text_id = turn.new_id("plan"), turn.new_id("plan")
    turn.send(PlanUpdate(PlanItems(list_id, steps)))
    turn.send(PlanUpdate(PlanMarkdown(text_id, "1. Tell it\n")))
    turn.send(PlanRemoved(text_id))


async def _slow(turn: AgentTurn, text: str) -> None:
    message_id = None
    for number in range(_count(text)):
        message_id = await turn.say(f"{number + 1} ", message_id=message_id)
        await turn.pause(0.1)


async def _flood(turn: AgentTurn, text: str) -> None:
    message_id = await turn.say("0 ")
    for number in range(1, _count(text)):
        turn.send(AgentMessageChunk(TextContent(f"{number} "), message_id=message_id), keep=False)
        if number % 100 == 0:
            await turn.pause(0)


# --- deeds ----------------------------------------------------------------------------------------------------------


async def _tool(turn: AgentTurn, text: str) -> None:
    async with turn.tool_call(text or "Do nothing", name="nothing", raw_input={"text": text}) as call:
        call.start()
        call.show("Nothing was done.")


async def _work(turn: AgentTurn, text: str) -> None:
    async with turn.tool_call(text or "Work", name="work") as call:
        call.start()
        await turn.work_until_cancelled(call, _endless(turn))
    await turn.say("The work was cancelled, and I go on.")


async def _endless(turn: AgentTurn) -> None:
    while True:
        await turn.pause(3600)


async def _background(turn: AgentTurn, text: str) -> None:
    terminal_id = await turn.leave_running("count", _count(text))
    await turn.say(f"I left {terminal_id} running.")


async def _later(turn: AgentTurn, text: str) -> None:
    async def say_it(turn: AgentTurn) -> None:
        await turn.say(text or "Here I am again.")

    turn.later(say_it)


async def _read(turn: AgentTurn, text: str) -> None:
    content = await read_file(turn, turn.path(text))
    await turn.say("I could not read it." if content is None else f"It has {len(content)} characters.")


async def _edit(turn: AgentTurn, text: str) -> None:
    path = turn.path(text)
    before = await read_file(turn, path)
    changed = before is not None and await edit_file(turn, path, before or None, add_line(before, "Edited."))
    await turn.say("I edited it." if changed else "I left it as it is.")


async def _write(turn: AgentTurn, text: str) -> None:
    name, _, content = text.partition("\n")
    written = await edit_file(turn, turn.path(name.strip()), None, content)
    await turn.say("I wrote it." if written else "I did not write it.")


async def _run(turn: AgentTurn, text: str) -> None:
    try:
        command = shlex.split(text)
    except ValueError as error:
        command = []
        await turn.say(f"{text}: {error}. ")
    result = await run_command(turn, *command) if command else None
    await turn.say("Nothing was run." if result is None else f"Status {result.exit_code}: {result.output}")


async def _ask(turn: AgentTurn, text: str) -> None:
    answer = await turn.ask(text or "Tell me about yourself.", _content.FORM, required=("name",))
    given = dict(answer.content or {}) if isinstance(answer, ElicitationAcceptAction) else type(answer).__name__
    await turn.say(f"You answered: {given}")


async def _visit(turn: AgentTurn, text: str) -> None:
    answer = await turn.visit("There is something to do on a web page.", text or "https://example.org/")
    await turn.say("You agreed." if isinstance(answer, ElicitationAcceptAction) else "You did not agree.")


async def _mcp(turn: AgentTurn, text: str) -> None:
    method, _, given = text.partition(" ")
    try:
        params = json.loads(given or "{}")
        told: list[str] = []
        answer = await turn.call_mcp(method, params, told=lambda *said: told.append(f"{json.dumps(said)}\n"))
    except (ValueError, RequestFailed) as error:
        await turn.say(f"{error}\n")
    else:
        await turn.say("".join([*told, json.dumps(answer), "\n"]))


async def _wait(turn: AgentTurn, text: str) -> None:
    await _endless(turn)


# --- about the session ----------------------------------------------------------------------------------------------


async def _notice(turn: AgentTurn, text: str) -> None:
    severity, _, title = text.partition(" ")
    title, _, description = title.partition("\n")
    await turn.notice(severity or "info", title or "Something happened", description or None)


async def _notices(turn: AgentTurn, text: str) -> None:
    for severity in (*NoticeSeverity, "critical", "_reference"):
        await turn.notice(severity, f"A notice of severity {severity}", f"It was sent by /notices: {severity}.")


async def _notice_burst(turn: AgentTurn, text: str) -> None:
    for number in range(_count(text)):
        await turn.notice(NoticeSeverity.INFO, f"Notice {number + 1}")
        if number % 100 == 99:
            await turn.pause(0)


async def _notice_repeat(turn: AgentTurn, text: str) -> None:
    number, _, title = text.partition(" ")
    for _ in range(_count(number)):
        await turn.notice(NoticeSeverity.WARNING, title or "Something happened again")


async def _reminders(turn: AgentTurn, text: str) -> None:
    times = Counter((reminder.rendered_role, reminder.body) for shown in turn.seen for reminder in shown)
    lines = [f"- {role}, {count} x: {body}\n" for (role, body), count in times.items()]
    lines += [f"- user, marked by {piece.host}: {piece.text}\n" for piece in turn.marked]
    await turn.say("".join(["The model saw these reminders:\n", *lines]) if lines else "The model saw no reminder.\n")


async def _model(turn: AgentTurn, text: str) -> None:
    turn.ask_model()


async def _remind(turn: AgentTurn, text: str) -> None:
    turn.remind(text or "Keep it short.")


async def _forget(turn: AgentTurn, text: str) -> None:
    turn.forget(text or None)


async def _compact(turn: AgentTurn, text: str) -> None:
    if not turn.offers("clientCapabilities.session.compaction"):
        turn.shorten_context()
        await turn.say("The host does not follow compactions.")
        return
    id = turn.new_id("compaction")
    turn.send(CompactionUpdate(id, CompactionStatus.IN_PROGRESS))
    for words in ("We talked ", "about a file."):
        turn.send(CompactionSummaryChunk(id, TextContent(words)))
        await turn.pause(0)
    turn.shorten_context()
    turn.send(CompactionUpdate(id, CompactionStatus.COMPLETED))


async def _usage(turn: AgentTurn, text: str) -> None:
    turn.report_usage()


async def _title(turn: AgentTurn, text: str) -> None:
    turn.title(text or "Untitled")


async def _mode(turn: AgentTurn, text: str) -> None:
    turn.set_option("mode", text)


async def _option(turn: AgentTurn, text: str) -> None:
    option, _, value = text.partition(" ")
    turn.set_option(option, {"on": True, "off": False}.get(value, value) if option == "plans" else value)


async def _commands(turn: AgentTurn, text: str) -> None:
    turn.send(AvailableCommandsUpdate(tuple(builtin_commands())), keep=False)


async def _error(turn: AgentTurn, text: str) -> None:
    code, _, message = text.partition(" ")
    number = int(code) if re.fullmatch(r"-?\d{1,9}", code) else -32603
    raise RequestFailed(message or "You asked for an error", code=number, data={"asked": text})


async def _stop(turn: AgentTurn, text: str) -> str:
    return text or "end_turn"


def _count(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 10


_COMMANDS = {
    "say": _Command("Say something", "text", _say),
    "think": _Command("Think something", "text", _think),
    "echo": _Command("Send the prompt back", None, _echo),
    "content": _Command("Send content of every kind", None, _every_content),
    "plan": _Command("Tell a plan and carry it out", "step; step; …", _plan),
    "plans": _Command("Tell plans by their ids", None, _plans),
    "tool": _Command("Call a tool that does nothing", "title", _tool),
    "work": _Command("Call a tool that works until it is cancelled", "title", _work),
    "background": _Command("Leave a command running", "number of lines", _background),
    "later": _Command("Say something by itself, when the turn is over", "text", _later),
    "read": _Command("Read a file", "path", _read),
    "edit": _Command("Add a line to a file", "path", _edit),
    "write": _Command("Write a file", "path, then its lines", _write),
    "run": _Command("Run a command", "command and arguments", _run),
    "ask": _Command("Ask the user by a form", "question", _ask),
    "mcp": _Command("Ask an MCP server of the host", "method and parameters", _mcp),
    "visit": _Command("Send the user to a web page", "URL", _visit),
    "slow": _Command("Talk slowly", "number of chunks", _slow),
    "flood": _Command("Talk fast", "number of chunks", _flood),
    "wait": _Command("Wait until cancelled", None, _wait),
    "notice": _Command("Put a notice before the user", "severity text", _notice),
    "notices": _Command("Put a notice of each severity before the user", None, _notices),
    "notice-burst": _Command("Put many notices before the user", "number", _notice_burst),
    "notice-repeat": _Command("Put one notice before the user many times", "number text", _notice_repeat),
    "reminders": _Command("Tell which reminders the model saw in this turn", None, _reminders),
    "model": _Command("Ask the model once more", None, _model),
    "remind": _Command("Remind the model of something", "text", _remind),
    "forget": _Command("Clear reminders", "tag", _forget),
    "compact": _Command("Shorten the context", None, _compact),
    "usage": _Command("Tell the usage", None, _usage),
    "title": _Command("Name the session", "title", _title),
    "mode": _Command("Change the mode", "mode", _mode),
    "option": _Command("Change an option", "option value", _option),
    "commands": _Command("Tell the commands again", None, _commands),
    "error": _Command("Fail", "code text", _error),
    "stop": _Command("End the turn", "stop reason", _stop),
}
