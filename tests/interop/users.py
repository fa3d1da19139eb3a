"""Stand-ins for the user whom an agent asks for permission."""

from __future__ import annotations

import asyncio

from acp_host.wire.permission import RequestPermissionRequest

__all__ = ["Asked", "NeverAnswered"]


class Asked:
    """Answers permission requests with the option of one kind, and keeps them."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.requests: list[RequestPermissionRequest] = []

    def __call__(self, request: RequestPermissionRequest) -> str:
        self.requests.append(request)
        return next(option.option_id for option in request.options if option.kind == self.kind)


class NeverAnswered:
    """A user who looks away: the question stays open."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.withdrawn = asyncio.Event()

    async def __call__(self, request: RequestPermissionRequest) -> str:
        self.asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.withdrawn.set()
        raise AssertionError("nobody answers")
