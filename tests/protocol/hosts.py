"""What the tests of the host's side share: a protocol after its handshake, and messages of the agent."""

from __future__ import annotations

import json
from typing import Any

from acp_host.protocol.events import ResponseReceived
from acp_host.protocol.host_protocol import HostProtocol
from acp_host.protocol.negotiation import Registered, client_capabilities
from acp_host.quirks import Quirk
from acp_host.wire._model import UNSET
from acp_host.wire.content import TextContent
from acp_host.wire.prompt import PromptRequest
from tests.protocol.streams import line

SERVED = ("session/request_permission", "fs/read_text_file", "elicitation/create", "_own/question")
PROMPT = PromptRequest("s", (TextContent("hi"),))
CHUNK = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Hi"}}
DEEP = json.loads("[" * 900 + "]" * 900)


def agreed(capabilities: Any = None, *, quirks: tuple[Quirk, ...] = (), **members: Any) -> HostProtocol:
    """Return a protocol whose handshake is over."""
    protocol = HostProtocol(client_capabilities(Registered()), serves=SERVED, quirks=quirks)
    assert protocol.initialize() == 0
    info = {"name": "agent", "version": "1.0"}
    result = {"protocolVersion": 1, "agentCapabilities": capabilities or {}, "agentInfo": info, **members}
    protocol.receive_data(line(id=0, result=result))
    protocol.data_to_send()
    [event] = protocol.events()
    assert isinstance(event, ResponseReceived)
    return protocol


def update(update: Any, **params: Any) -> bytes:
    return line(method="session/update", params={"sessionId": "s", "update": update, **params})


def request(method: str, params: Any = UNSET, id: Any = 7) -> bytes:
    return line(id=id, method=method) if params is UNSET else line(id=id, method=method, params=params)
