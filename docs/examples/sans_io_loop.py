"""The protocol core and a loop of your own, without asyncio: ``python sans_io_loop.py [AGENT…]``.

It waits in ``os.read()``, as a program may that does nothing else; the one in docs/sans-io.md never waits.
"""

import os
import subprocess
import sys

from acp_host import HostProtocol, printable
from acp_host.protocol.events import CallFailed, Ended, ResponseReceived
from acp_host.testing import ReferenceAgent
from acp_host.wire.content import TextContent
from acp_host.wire.prompt import PromptRequest
from acp_host.wire.session import NewSessionRequest
from acp_host.wire.updates import AgentMessageChunk, SessionNotification


def handle(event, protocol):
    """Take the conversation one step further; return why it has ended, once it has."""
    match event:
        case ResponseReceived(method="initialize"):
            print("agreed with", protocol.agreement.agent_name)
            protocol.request("session/new", NewSessionRequest(cwd=os.getcwd(), mcp_servers=()))
        case ResponseReceived(method="session/new", result=session):
            protocol.request("session/prompt", PromptRequest(session.session_id, (TextContent("Hello"),)))
        case SessionNotification(update=AgentMessageChunk(content=TextContent(text=text))):
            print(printable(text), end="")
        case ResponseReceived(method="session/prompt", result=result):
            return result.stop_reason
        case CallFailed(error=error):
            return str(error)
        case Ended():
            return "the agent has ended"


def converse(agent, protocol):
    protocol.initialize()
    while True:
        agent.stdin.write(protocol.data_to_send())
        data = os.read(agent.stdout.fileno(), 65536)
        protocol.receive_data(data) if data else protocol.receive_eof()
        for event in protocol.events():
            if ended := handle(event, protocol):
                return ended


if __name__ == "__main__":
    command = sys.argv[1:] or ReferenceAgent.command()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as agent:
        print(f"\n[{printable(converse(agent, HostProtocol()))}]")
