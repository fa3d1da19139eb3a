"""An agent built on the official Python SDK that is instrumented with OpenTelemetry: it goes on with the host's trace.

It answers a prompt with the ids of the span that it makes for it, as ``trace span parent``, and asks for a permission
within it.
"""

from __future__ import annotations

import asyncio
from typing import Any

import acp
from acp import schema
from opentelemetry import trace
from opentelemetry.propagate import extract, inject
from opentelemetry.sdk.trace import TracerProvider

TRACER = TracerProvider(shutdown_on_exit=False).get_tracer("agent")
OPTIONS = [schema.PermissionOption(option_id="yes", name="Yes", kind="allow_once")]


class Agent(acp.Agent):
    def on_connect(self, conn: acp.Client) -> None:
        self.host = conn

    async def initialize(self, protocol_version: int, **kwargs: Any) -> acp.InitializeResponse:
        return acp.InitializeResponse(protocol_version=acp.PROTOCOL_VERSION)

    async def new_session(self, cwd: str, **kwargs: Any) -> acp.NewSessionResponse:
        return acp.NewSessionResponse(session_id="s")

    async def prompt(self, session_id: str, prompt: list[Any], **kwargs: Any) -> acp.PromptResponse:
        with TRACER.start_as_current_span("prompt", context=extract(kwargs)) as span:
            carried: dict[str, str] = {}
            inject(carried)
            await self.host.request_permission(
                session_id=session_id,
                tool_call=schema.ToolCallUpdate(tool_call_id="c", title="something"),
                options=OPTIONS,
                **carried,
            )
            parent: Any = getattr(span, "parent", None)
            ids = span.get_span_context()
            text = f"{ids.trace_id:x} {ids.span_id:x} {parent.span_id if parent else 0:x}"
        await self.host.session_update(session_id, acp.update_agent_message(acp.text_block(text)))
        return acp.PromptResponse(stop_reason="end_turn")


if __name__ == "__main__":
    trace.set_tracer_provider(TracerProvider(shutdown_on_exit=False))
    asyncio.run(acp.run_agent(Agent()))
