"""What the reference agent does with a prompt that is no command: :func:`conversation`, and the steps it is made of.

The steps are there for scripts too: each does one thing the way an agent should, and tells what it could not do.
"""

from __future__ import annotations

import os
import sys

from acp_host.errors import NotSupported, RequestFailed, ResourceNotFound
from acp_host.testing.agent_turn import AgentTurn, CommandResult
from acp_host.wire.tool_calls import Diff, ToolKind

__all__ = ["add_line", "conversation", "edit_file", "read_file", "run_command"]

_FILE = "notes.md"
_LINE = "- The reference agent was here."


async def conversation(turn: AgentTurn) -> str | None:
    """Hold a whole conversation: think, plan, read a file, change it with permission, run a command, and sum up.

    What the host does not offer is left out; the summary says what was done.
    """
    await turn.think("The user wants to see a whole turn. I read a file, change it, and check the result.")
    plan = turn.plan(f"Read {_FILE}", "Add a line", "Check the result")
    await turn.say(f"I will add a line to **{_FILE}** and check the result.\n\n")
    path = turn.path(_FILE)
    before = await read_file(turn, path)
    plan.advance()
    changed = before is not None and await edit_file(turn, path, before or None, add_line(before, _LINE))
    plan.advance()
    check = f"print('checked', {_FILE!r})"
    result = await run_command(turn, sys.executable, "-c", check, title=f"Check {_FILE}")
    plan.advance()
    done = "I added the line." if changed else "I changed nothing."
    checked = "I checked nothing." if result is None else f"The check ended with status {result.exit_code}."
    await turn.say(f"{done} {checked}")
    if turn.session.title is None:
        turn.title(" ".join(turn.typed.split())[:60] or "A demonstration")
    turn.report_usage()
    return None


async def read_file(turn: AgentTurn, path: str) -> str | None:
    """Read a file in a tool call; return its text, empty for one that does not exist, ``None`` if it cannot be read."""
    title = f"Read {os.path.basename(path)}"
    async with turn.tool_call(title, kind=ToolKind.READ, path=path, line=1, raw_input={"path": path}) as call:
        call.start()
        try:
            text = await turn.read_file(path)
        except ResourceNotFound:
            call.show("There is no such file yet.")
            return ""
        except (NotSupported, RequestFailed) as error:
            call.fail(_said(error))
            return None
        call.show(text)
        return text
    return None


def add_line(text: str, line: str) -> str:
    """Return a text with a line more, which never goes on with what an unfinished last line says."""
    end = "" if not text or text.endswith("\n") else "\n"
    return f"{text}{end}{line}\n"


async def edit_file(turn: AgentTurn, path: str, before: str | None, after: str) -> bool:
    """Show a change, ask for permission and write the file, in a tool call; tell whether it was written.

    Args:
        turn: the turn.
        path: the file, absolute.
        before: its text, ``None`` for a new file.
        after: its new text.
    """
    title = f"Edit {os.path.basename(path)}"
    async with turn.tool_call(title, kind=ToolKind.EDIT, path=path, raw_input={"path": path}) as call:
        call.show(Diff(path, after, old_text=before))
        if not turn.can_write:
            call.fail("The host does not offer to write files.")
            return False
        if not await turn.permitted(call):
            call.fail("The user did not allow it.")
            return False
        call.start()
        try:
            await turn.write_file(path, after)
        except RequestFailed as error:
            call.fail(_said(error))
            return False
        return True
    return False


async def run_command(turn: AgentTurn, command: str, *args: str, title: str | None = None) -> CommandResult | None:
    """Ask for permission and run a command in a terminal, in a tool call.

    Args:
        turn: the turn.
        command: the program.
        args: its arguments.
        title: the title of the tool call; ``None`` for the command line.

    Returns:
        How it ended, ``None`` if it did not run.
    """
    line = " ".join((command, *args))
    raw_input = {"command": line, "cwd": turn.session.cwd}
    async with turn.tool_call(title or line, kind=ToolKind.EXECUTE, raw_input=raw_input) as call:
        if not turn.can_run:
            call.fail("The host does not offer to run commands.")
            return None
        if not await turn.permitted(call):
            call.fail("The user did not allow it.")
            return None
        call.start()
        try:
            result = await turn.run(command, *args, call=call)
        except RequestFailed as error:
            call.fail(_said(error))
            return None
        call.update(raw_output={"exitCode": result.exit_code, "signal": result.signal, "output": result.output})
        if result.exit_code != 0:
            call.fail(f"It ended with {result.signal or f'status {result.exit_code}'}.")
        return result
    return None


def _said(error: NotSupported | RequestFailed) -> str:
    return error.message if isinstance(error, RequestFailed) else str(error)
