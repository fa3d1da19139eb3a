"""What the Harn-like agent does with a prompt if it has no script: :func:`conversation`, a tour of what Harn tells."""

from __future__ import annotations

from acp_host.errors import RequestFailed
from acp_host.testing.harn.turn import HarnTurn

__all__ = ["conversation"]

_FILE = "notes.md"
_CHART = {"mark": "bar", "data": {"values": [{"test": "passed", "count": 41}, {"test": "failed", "count": 1}]}}


async def conversation(turn: HarnTurn) -> None:
    """Work with a skill, a worker and composed calls, ask for permission, use what the host has, and ask a person.

    What the host does not have is left out.
    """
    turn.tell("log", level="info", message="ACP_BOOT: ready")
    turn.event("turn_phase_changed", phase="generating")
    turn.tell("skill_activated", skillName="review", iteration=1, reason="matched the prompt")
    turn.tell("skill_scope_tools", skillName="review", allowedTools=["read_file", "edit_file"])
    await turn.say("<plan>review</plan>", visible="I look at the change. ")
    worker = turn.worker("tests", "Run the tests")
    await _compose(turn)
    await _use_the_host(turn)
    await _edit(turn)
    worker.tell("WorkerCompleted")
    turn.tell(
        "artifact",
        artifactId="chart-1",
        kind="vega-lite",
        title="Tests",
        mimeType="application/vnd.vegalite.v5+json",
        spec=_CHART,
        fallback="41 passed, 1 failed",
    )
    turn.tell("skill_deactivated", skillName="review", iteration=2)
    turn.ask_human("question", prompt="Which branch shall I push to?", schema={"type": "string"}, default="main")
    turn.event("turn_phase_changed", phase="terminal")
    await turn.say("That is all; one question is open.")


async def _compose(turn: HarnTurn) -> None:
    run = turn.composition("read_only")
    run.call("read_file", "read_only", output="# Notes")
    run.call("write_file", "workspace_write", status="failed", error="the run may only read")
    run.finish({"lines": 1})


async def _use_the_host(turn: HarnTurn) -> None:
    capabilities = await turn.host_capabilities()
    if "shell_invocation" in capabilities.get("process", {}).get("ops", ()):
        shell = await turn.host_operation("process.get_default_shell")
        await turn.say(f"Your shell is {shell['label']}.")
    try:
        tools = await turn.host_tools()
    except RequestFailed:
        tools = []
    for tool in tools:
        if tool["name"] == "open_file":
            await turn.call_host_tool("open_file", path=_FILE)


async def _edit(turn: HarnTurn) -> None:
    diff = {"path": f"{turn.session.cwd}/{_FILE}", "oldText": "# Notes\n", "newText": "# Notes\n\nReviewed.\n"}
    async with turn.tool_call(
        "edit_file", "edit", {"path": _FILE}, audit={"mutation_scope": "apply_workspace"}
    ) as call:
        try:
            allowed = await turn.permitted(call, diff)
        except RequestFailed:
            allowed = False
        if not allowed:
            call.fail("you did not allow it", "permission_denied")
            call.finish(mutationStatus="not_applied")
            return
        call.start()
        call.finish(mutationStatus="applied", changedPaths=[_FILE], durationMs=3)
