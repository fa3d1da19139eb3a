"""Record a conversation, make it anonymous for a report, and replay it as a test: ``python bug_report.py [AGENT…]``."""

import asyncio
import sys
import tempfile
from pathlib import Path

import acp_host
from acp_host.recording.anonymise import anonymise
from acp_host.recording.format import encode_line
from acp_host.testing import ReferenceAgent, ReplayTransport

PROMPT = "Why does src/secret.py not compile?"


async def ask(agent, folder, **options):
    async with acp_host.connect(agent, **options) as host:
        session = await host.new_session(folder)
        return await session.prompt(PROMPT)


def make_report(talk, report):
    with report.open("xb") as file:
        for line in anonymise(acp_host.read_recording(talk)):
            file.write(encode_line(line))
            if line.message and line.message.get("method") == "session/prompt":
                print("anonymous:", line.message["params"]["prompt"][0]["text"])


async def main(agent, folder):
    talk, report = Path(folder, "talk.jsonl"), Path(folder, "report.jsonl")
    recorded = await ask(agent, folder, record=talk)
    print("recorded: ", acp_host.printable(recorded.text.splitlines()[0]))

    make_report(talk, report)
    replayed = await ask(ReplayTransport(talk), folder)  # the recorded agent, without the agent
    print("replayed: ", acp_host.printable(replayed.text.splitlines()[0]))
    assert replayed.text == recorded.text


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(sys.argv[1:] or ReferenceAgent.command(), folder))
