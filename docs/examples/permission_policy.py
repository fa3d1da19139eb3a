"""Decide by rules what an agent may do: ``python permission_policy.py [AGENT…]``. It works in a folder of its own."""

import asyncio
import sys
import tempfile
from pathlib import Path

import acp_host
from acp_host.testing import ReferenceAgent

POLICY = """
default = "reject_once"

[[rules]]
name = "the notes"
decision = "allow_once"
kinds = ["edit"]
paths = ["*.md"]

[[rules]]
name = "look around"
decision = "allow_once"
commands = ["git status*", "ls*"]
"""


async def main(agent, folder):
    policy = acp_host.PermissionPolicy.from_toml(POLICY)
    async with acp_host.connect(agent, files=True, terminals=True, permissions=policy) as host:
        session = await host.new_session(folder)
        result = await session.prompt("Add a line to notes.md, and check it.")
        print(acp_host.printable(result.text), end="\n\n")
        for record in host.audit.records:
            print(f"{record.decision:9} {record.action:26} by {record.decided_by} {record.rule or ''}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder, "notes.md")
        notes.write_text("# Notes\n")
        asyncio.run(main(sys.argv[1:] or ReferenceAgent.command(), folder))
        print(f"\nnotes.md: {notes.read_text()!r}")
