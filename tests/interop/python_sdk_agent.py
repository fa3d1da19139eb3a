"""An agent built on the official Python SDK, for conversations in ``make test``: no model, no network.

What it does is chosen by the first word of the prompt:

``edit``    thinks, plans, reads ``notes.txt`` through the host, asks permission, writes it back in capitals, reports.
            If the write is refused it says so, reads again, and writes what it has read then.
``run``     runs the rest of the prompt in a terminal of the host and tells its output.
``serve``   runs the rest of the prompt until it has printed something, kills it, and tells how it ended.
``leave``   runs the rest of the prompt and waits for its end, whatever happens to the turn; never releases it.
``ask``     asks with a form, whose schema is the rest of the prompt, and tells the answer.
``visit``   sends the user to the address in the rest of the prompt, and tells the answer.
``sneak``   writes a file in the session's folder, whose name is the rest of the prompt, without asking anybody.
``wait``    answers a little and then nothing, until it is cancelled.
otherwise   repeats the prompt's text.
"""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path
from typing import Any

import acp
from acp import schema

OPTIONS = [
    schema.PermissionOption(option_id="yes", name="Write it", kind="allow_once"),
    schema.PermissionOption(option_id="no", name="Leave it", kind="reject_once"),
]


class Agent(acp.Agent):
    def __init__(self) -> None:
        self.numbers = itertools.count(1)
        self.folders: dict[str, Path] = {}
        self.cancelled: dict[str, asyncio.Event] = {}

    def on_connect(self, conn: acp.Client) -> None:
        self.host = conn

    async def initialize(self, protocol_version: int, **kwargs: Any) -> acp.InitializeResponse:
        return acp.InitializeResponse(
            protocol_version=acp.PROTOCOL_VERSION,
            agent_capabilities=schema.AgentCapabilities(),
            agent_info=schema.Implementation(name="python-sdk-agent", version="1"),
        )

    async def new_session(self, cwd: str, **kwargs: Any) -> acp.NewSessionResponse:
        session_id = f"session-{next(self.numbers)}"
        self.folders[session_id] = Path(cwd)
        self.cancelled[session_id] = asyncio.Event()
        return acp.NewSessionResponse(session_id=session_id)

    async def cancel(self, session_id: str, **kwargs: Any) -> None:
        self.cancelled[session_id].set()

    async def prompt(self, session_id: str, prompt: list[Any], **kwargs: Any) -> acp.PromptResponse:
        self.cancelled[session_id].clear()
        text = "".join(block.text for block in prompt if block.type == "text")
        word, _, rest = text.partition(" ")
        if word == "edit":
            await self.edit(session_id)
        elif word == "run":
            await self.run(session_id, rest)
        elif word == "serve":
            await self.serve(session_id, rest)
        elif word == "leave":
            await self.leave(session_id, rest)
            return acp.PromptResponse(stop_reason="cancelled" if self.cancelled[session_id].is_set() else "end_turn")
        elif word == "ask":
            await self.ask(session_id, rest)
        elif word == "visit":
            await self.visit(session_id, rest)
        elif word == "sneak":
            await self.sneak(session_id, rest)
        elif word == "wait":
            await self.say(session_id, "Waiting.")
            await self.cancelled[session_id].wait()
            return acp.PromptResponse(stop_reason="cancelled")
        else:
            await self.say(session_id, text)
        return acp.PromptResponse(stop_reason="end_turn")

    async def say(self, session_id: str, text: str) -> None:
        await self.host.session_update(session_id, acp.update_agent_message_text(text))

    async def edit(self, session_id: str) -> None:
        call_id = f"call-{next(self.numbers)}"
        path = str(self.folders[session_id] / "notes.txt")
        await self.host.session_update(session_id, acp.update_agent_thought_text("Capitals, then."))
        await self.host.session_update(session_id, acp.update_plan([acp.plan_entry("Rewrite the notes")]))
        await self.host.session_update(session_id, acp.start_tool_call(call_id, "Edit notes.txt", kind="edit"))
        before = (await self.host.read_text_file(session_id, path)).content
        after = before.upper()
        diff = acp.tool_diff_content(path, after, before)
        question = schema.ToolCallUpdate(tool_call_id=call_id, content=[diff])
        answer = await self.host.request_permission(session_id, question, OPTIONS)
        allowed = answer.outcome.outcome == "selected" and answer.outcome.option_id == "yes"
        if allowed:
            await self.write(session_id, path, after)
        status: Any = "completed" if allowed else "failed"
        await self.host.session_update(session_id, acp.update_tool_call(call_id, status=status, content=[diff]))
        await self.say(session_id, "Written." if allowed else "Left alone.")

    async def write(self, session_id: str, path: str, text: str) -> None:
        try:
            await self.host.write_text_file(session_id, path, text)
        except acp.RequestError as refused:
            await self.say(session_id, f"{refused} ")
            again = (await self.host.read_text_file(session_id, path)).content
            await self.host.write_text_file(session_id, path, again.upper())

    async def run(self, session_id: str, script: str) -> None:
        call_id = f"call-{next(self.numbers)}"
        terminal = await self.host.create_terminal(session_id, "/bin/sh", args=["-c", script])
        shown = acp.tool_terminal_ref(terminal.terminal_id)
        await self.host.session_update(
            session_id, acp.start_tool_call(call_id, script, kind="execute", content=[shown], status="in_progress")
        )
        exit_status = await self.host.wait_for_terminal_exit(session_id, terminal.terminal_id)
        output = await self.host.terminal_output(session_id, terminal.terminal_id)
        await self.host.release_terminal(session_id, terminal.terminal_id)
        await self.host.session_update(session_id, acp.update_tool_call(call_id, status="completed"))
        await self.say(session_id, f"Exit code {exit_status.exit_code}: {output.output}")

    async def serve(self, session_id: str, script: str) -> None:
        folder = str(self.folders[session_id] / "sub")
        env = [schema.EnvVariable(name="GREETING", value="héllo")]
        terminal = await self.host.create_terminal(
            session_id, "/bin/sh", args=["-c", script], env=env, cwd=folder, output_byte_limit=6
        )
        # The protocol has no event for output.
        while not (await self.host.terminal_output(session_id, terminal.terminal_id)).output:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        waiting = [
            asyncio.create_task(self.host.wait_for_terminal_exit(session_id, terminal.terminal_id)) for _ in range(2)
        ]
        await self.host.kill_terminal(session_id, terminal.terminal_id)
        ends = {(await waiter).signal for waiter in waiting}
        kept = await self.host.terminal_output(session_id, terminal.terminal_id)
        await self.host.release_terminal(session_id, terminal.terminal_id)
        try:
            await self.host.terminal_output(session_id, terminal.terminal_id)
        except acp.RequestError as error:
            how = f"{kept.exit_status.signal} {error.code}"
            await self.say(session_id, f"{kept.output!r} {kept.truncated} {ends} {how}")

    async def leave(self, session_id: str, line: str) -> None:
        terminal = await self.host.create_terminal(session_id, line)
        exit_status = await self.host.wait_for_terminal_exit(session_id, terminal.terminal_id)
        await self.say(session_id, f"Ended: {exit_status.exit_code} {exit_status.signal}")

    async def ask(self, session_id: str, form: str) -> None:
        wanted = schema.ElicitationSchema.model_validate_json(form)
        mode = schema.ElicitationFormSessionMode(session_id=session_id, requested_schema=wanted)
        await self.tell(session_id, await self.host.create_elicitation("Which ones?", mode))

    async def visit(self, session_id: str, url: str) -> None:
        visit_id = f"visit-{next(self.numbers)}"
        mode = schema.ElicitationUrlSessionMode(session_id=session_id, elicitation_id=visit_id, url=url)
        answer = await self.host.create_elicitation("There is something to do.", mode)
        await self.host.complete_elicitation(visit_id)
        await self.tell(session_id, answer)

    async def sneak(self, session_id: str, name: str) -> None:
        try:
            (self.folders[session_id] / name).write_text("sneaked in")
        except OSError as error:
            await self.say(session_id, f"{error.strerror}.")
        else:
            await self.say(session_id, "Nothing has happened.")

    async def tell(self, session_id: str, answer: Any) -> None:
        await self.say(session_id, answer.model_dump_json(by_alias=True, exclude_none=True))


if __name__ == "__main__":
    asyncio.run(acp.run_agent(Agent()))
