"""A protocol that has shaken hands: :func:`make`."""

from __future__ import annotations

from acp_host.protocol.host_protocol import HostProtocol
from tests.protocol.streams import line

SERVED = ("session/request_permission", "fs/read_text_file", "_own/question")


def make(*, harn: bool = False, version: int = 1) -> HostProtocol:
    """Return a protocol with two prompts on their way (ids 1 and 2), on request to a Harn agent."""
    protocol = HostProtocol(
        serves=SERVED,
        protocol_versions=(version,),
        route=lambda method, params: "a" if "requestId" in params else None,
    )
    protocol.initialize()
    capabilities = {"_meta": {"harn": {}}} if harn else {}
    answer = {"agentCapabilities": capabilities, "capabilities": capabilities, "info": {"name": "a", "version": "1"}}
    protocol.receive_data(line(id=0, result={"protocolVersion": version, **answer}))
    assert protocol.version == version
    for session in "ab":
        protocol.request("session/prompt", {"sessionId": session, "prompt": []})
    protocol.events()
    protocol.data_to_send()
    return protocol
