"""Tests of a host of your own, with the fixtures that come with the library: ``pytest test_my_host.py``."""

import acp_host
from acp_host.testing import agent_said, assert_transcript, tool_call, user_said


async def summarise(host, folder="."):
    """Your host, here a very small one: what is tested."""
    session = await host.new_session(folder)
    try:
        result = await session.prompt("Summarise this folder", idle_timeout=60)
    except acp_host.OutcomeUnknown:
        return session, "nobody knows"
    return session, result.text if result.outcome.kind == "completed" else str(result.outcome.kind)


def test_a_whole_conversation(acp_virtual_host, acp_reference_agent, tmp_path):
    async def scenario(host):
        session, summary = await summarise(host, tmp_path)
        said = [user_said(), ..., tool_call("Read notes.md", status="completed"), ..., agent_said()]
        assert_transcript(session, said)
        return summary

    (tmp_path / "notes.md").write_text("# Notes\n")
    assert "changed nothing" in acp_virtual_host(
        acp_reference_agent(), scenario, files=acp_host.FileService(write=False)
    )


def test_an_agent_that_falls_silent(acp_virtual_host, acp_scripted_agent):
    async def silent(agent):
        await agent.handshake()
        await agent.open_session("s1")
        await agent.expect("session/prompt")
        await agent.expect("session/cancel")  # the host gives it up after a minute, which takes no time here
        agent.reply({"stopReason": "cancelled"})

    _, summary = acp_virtual_host(acp_scripted_agent(silent), summarise)
    assert summary == "cancelled"


def test_an_agent_that_dies(acp_virtual_host, acp_scripted_agent):
    async def dying(agent):
        await agent.handshake()
        await agent.open_session("s1")
        await agent.expect("session/prompt")
        agent.say("It is ab")
        await agent.close()

    session, summary = acp_virtual_host(acp_scripted_agent(dying), summarise)
    assert summary == "nobody knows"
    assert_transcript(session, [user_said(), agent_said("It is ab"), ...])
