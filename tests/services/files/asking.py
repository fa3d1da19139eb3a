"""A file service as an agent meets it, for the tests of this directory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from acp_host.services import FileService
from acp_host.wire.files import ReadTextFileRequest, WriteTextFileRequest

__all__ = ["Agent"]


class Agent:
    """One session of a file service.

    Args:
        service: the service.
        folder: the session's directory, which its paths are relative to.
        session_id: the session's id.
    """

    def __init__(self, service: FileService, folder: Path, session_id: str = "session") -> None:
        self.service = service
        self.folder = folder
        self.id = session_id
        service.open_session(session_id, [folder])

    async def read(self, name: str = "file", **window: Any) -> str:
        path = str(self.folder / name)
        return (await self.service.read_text_file(ReadTextFileRequest(self.id, path, **window))).content

    async def write(self, content: str, name: str = "file") -> None:
        path = str(self.folder / name)
        await self.service.write_text_file(WriteTextFileRequest(self.id, path, content))
