"""The scripted agent: what a script can do and what becomes of its end, in this process and as one of its own."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

import acp_host
from acp_host.testing import ScriptedAgent
from acp_host.testing.scripted import main
from acp_host.transports import Transport
from tests.testing.host_v2 import connected, kinds


async def hello(agent: ScriptedAgent) -> None:
    await agent.handshake()
    await agent.open_session("s1")
    await agent.expect("session/prompt")
    agent.send_raw(b"npm warn deprecated\n")
    agent.say("Hello")
    agent.reply({"stopReason": "end_turn"})


@pytest.fixture(params=["in process", "as a program"])
def run(request: pytest.FixtureRequest):
    """Return what makes a target for ``connect`` out of a script at the top level of this file."""

    def target(script) -> Transport | list[str]:
        return ScriptedAgent(script).transport() if request.param == "in process" else ScriptedAgent.command(script)

    return target


async def test_a_turn(run, tmp_path: Path) -> None:
    async with acp_host.connect(run(hello)) as host:
        session = await host.new_session(tmp_path)
        result = await session.prompt("Hi")
    assert (session.id, result.text, result.stop_reason) == ("s1", "Hello", "end_turn")
    assert [diagnostic.kind for diagnostic in host.diagnostics] == ["noise"]


async def wrong(agent: ScriptedAgent) -> None:
    await agent.handshake()
    await agent.expect("session/load")


async def test_an_expectation_that_is_not_met_ends_the_agent_with_its_traceback(run, tmp_path: Path) -> None:
    async with acp_host.connect(run(wrong)) as host:
        with pytest.raises(acp_host.OutcomeUnknown, match="expected session/load, the host sent") as failure:
            await host.new_session(tmp_path)
    assert isinstance(failure.value.cause, acp_host.ConnectionLost)
    assert failure.value.cause.exit_status == 1


async def leaves(agent: ScriptedAgent) -> None:
    await agent.handshake()
    await agent.expect("session/new")
    agent.log("I have seen enough.")
    sys.exit(3)


async def test_a_script_can_end_the_agent_with_a_status(run, tmp_path: Path) -> None:
    async with acp_host.connect(run(leaves)) as host:
        with pytest.raises(acp_host.OutcomeUnknown) as failure:
            await host.new_session(tmp_path)
    assert isinstance(failure.value.cause, acp_host.ConnectionLost)
    assert failure.value.cause.exit_status == 3
    assert failure.value.cause.stderr_tail == "I have seen enough."


async def closes(agent: ScriptedAgent) -> None:
    await agent.handshake()
    await agent.expect("session/new")
    await agent.close()
    await agent.stall()


async def test_a_script_can_close_the_stream_and_stay(run, tmp_path: Path) -> None:
    target = run(closes)
    if isinstance(target, list):
        target = acp_host.StdioTransport(target, timeouts=acp_host.StopTimeouts(exit=0.0))
    async with acp_host.connect(target) as host:
        with pytest.raises(acp_host.OutcomeUnknown) as failure:
            await host.new_session(tmp_path)
    assert isinstance(failure.value.cause, acp_host.ConnectionLost)
    assert failure.value.cause.exit_status is None


async def asks(agent: ScriptedAgent) -> None:
    await agent.handshake()
    await agent.open_session("s1")
    prompt = await agent.expect("session/prompt")
    answer = await agent.call("no/such_method", {})
    agent.say(str(answer["error"]["code"]), "s1")
    await agent.expect("session/cancel")
    agent.reply({"stopReason": "cancelled"}, to=prompt)
    await agent.stall()


async def test_a_script_can_ask_and_answer_out_of_order(run, tmp_path: Path) -> None:
    async with acp_host.connect(run(asks)) as host:
        turn = (await host.new_session(tmp_path)).prompt("Hi")
        async for _ in turn:
            turn.cancel()
        assert ((await turn).stop_reason, turn.text) == ("cancelled", "-32601")


async def test_a_script_of_steps(tmp_path: Path) -> None:
    agent = ScriptedAgent(
        [
            ScriptedAgent.handshake,
            lambda agent: agent.expect("session/new"),
            lambda agent: agent.reply_error(-32000, "Log in first", {"url": "x"}),
        ]
    )
    async with acp_host.connect(agent.transport()) as host:
        with pytest.raises(acp_host.AuthRequired) as failure:
            await host.new_session(tmp_path)
        await agent.finished()
    assert (failure.value.message, failure.value.data) == ("Log in first", {"url": "x"})
    assert [message["method"] for message in agent.received] == ["initialize", "session/new"]


async def test_what_a_script_raised_is_raised_by_finished() -> None:
    agent = ScriptedAgent([lambda agent: agent.expect("session/new")])
    with pytest.raises(acp_host.StartFailed, match="expected session/new"):
        await acp_host.connect(agent.transport())
    with pytest.raises(AssertionError, match="expected session/new"):
        await agent.finished()


@pytest.mark.parametrize("waiting", [lambda agent: agent.expect("session/new"), lambda agent: agent.receive()])
async def test_a_script_that_still_waits_when_the_host_goes(waiting) -> None:
    agent = ScriptedAgent([ScriptedAgent.handshake, waiting])
    await (await acp_host.connect(agent.transport())).close()
    with pytest.raises(acp_host.ConnectionLost, match="waited for"):
        await agent.finished()


async def test_a_script_that_is_at_other_work_when_the_host_goes_is_cancelled() -> None:
    agent = ScriptedAgent([ScriptedAgent.handshake, lambda agent: asyncio.Event().wait()])
    await (await acp_host.connect(agent.transport())).close()
    with pytest.raises(acp_host.ConnectionLost, match="still at work"):
        await agent.finished()


async def test_an_agent_serves_one_connection() -> None:
    agent = ScriptedAgent(hello)
    await (await acp_host.connect(agent.transport())).close()
    with pytest.raises(acp_host.StartFailed, match="used for one connection"):
        await acp_host.connect(agent.transport())


@pytest.mark.parametrize("form", ["code", "file"])
async def test_other_forms_of_a_program(form: str, tmp_path: Path) -> None:
    body = """
        import sys
        print("not for the host")
        await agent.handshake()
        await agent.open_session(sys.argv[1])
        agent.log(f"stdin holds {sys.stdin.read()!r}")
        """
    source: Path | str = body
    if form == "file":
        source = tmp_path / "agent.py"
        source.write_text(f"async def script(agent):\n{body}")
    transport = acp_host.StdioTransport(ScriptedAgent.command(source, "s7"))
    async with acp_host.connect(transport) as host:
        assert (await host.new_session(tmp_path)).id == "s7"
    assert list(host.diagnostics) == []
    assert transport.stderr_tail().splitlines() == ["not for the host", "stdin holds ''"]


def test_a_script_that_no_other_process_can_load() -> None:
    async def script(agent: ScriptedAgent) -> None: ...

    with pytest.raises(acp_host.InvalidInput, match="top level"):
        ScriptedAgent.command(script)


@pytest.mark.parametrize("argv", [[], ["-c"]])
def test_usage(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 2
    assert "usage" in capsys.readouterr().err


async def hello_in_v2(agent: ScriptedAgent) -> None:
    await agent.handshake(version=2)
    await agent.open_session("s1")
    await agent.accept_prompt("m1")
    agent.state("running")
    agent.say("Hello", message_id="m2")
    agent.state("idle", stopReason="end_turn")


async def test_a_turn_in_v2() -> None:
    async with connected(ScriptedAgent(hello_in_v2)) as host:
        session = await host.open()
        updates = await host.prompt(session, "Hi")
    assert kinds(updates) == ["user_message", "running", "agent_message_chunk", "idle"]
    assert [update.get("messageId") for update in updates] == ["m1", None, "m2", None]
