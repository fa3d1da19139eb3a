"""Serves an agent's ``fs/read_text_file`` and ``fs/write_text_file`` from the disk: :class:`FileService`.

Owns what the two methods mean: windows of lines, sizes, encodings, and which error tells the agent what. Where a path
leads is decided by :mod:`acp_host.services._confined`, how a file is replaced by :mod:`acp_host.services._place`.

Errors, all with ``data: {"path": …}``:

=========================================================================  ==================================
what is wrong                                                              raised
=========================================================================  ==================================
there is no such file, or (reading) a part of its path is not a directory  ``ResourceNotFound`` (-32002)
the path is relative, malformed or outside the session's directories       ``InvalidParams`` (-32602)
it is a directory, a device, a FIFO, a socket; it is too large; not text   ``InvalidParams`` (-32602)
the system refuses or fails (rights, full disk)                            ``InternalError`` (-32603)
=========================================================================  ==================================

Cost: a read or write handles the whole file, in a thread, so that a slow disk does not stop the event loop.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from acp_host.errors import InternalError, InvalidParams, MethodNotFound, ResourceNotFound
from acp_host.services._confined import Roots, confine
from acp_host.services._place import Place, SpecialFileError
from acp_host.services._text import UTF_8, TextEncoding, decode, line_window
from acp_host.wire.files import (
    ReadTextFileRequest,
    ReadTextFileResponse,
    WriteTextFileRequest,
    WriteTextFileResponse,
)
from acp_host.wire.ids import SessionId

__all__ = ["MAX_FILE_SIZE", "FileService"]

MAX_FILE_SIZE = 16 * 1024 * 1024
"""Default for the largest file that is read or written, in bytes."""


class FileService:
    """Reads and writes text files for agents, inside the directories of their session.

    Follows the specification's *File System* section.

    Args:
        read: offer ``fs/read_text_file``.
        write: offer ``fs/write_text_file``.
        create_parents: make the missing directories above a new file. Agents count on it when they add a file in a new
            folder.
        max_file_size: largest file that is read or written, in bytes.

    Attributes:
        can_read: whether ``fs/read_text_file`` is offered.
        can_write: whether ``fs/write_text_file`` is offered.
    """

    def __init__(
        self,
        *,
        read: bool = True,
        write: bool = True,
        create_parents: bool = True,
        max_file_size: int = MAX_FILE_SIZE,
    ) -> None:
        self.can_read = read
        self.can_write = write
        self._create_parents = create_parents
        self._max_file_size = max_file_size
        self._sessions: dict[SessionId, Roots] = {}

    def open_session(self, session_id: SessionId, roots: Sequence[str | Path]) -> None:
        """Allow a session the files below ``roots``; replaces what it was allowed before.

        Args:
            session_id: the agent's id of the session.
            roots: absolute paths of directories: the session's working directory and its additional directories.

        Raises:
            InvalidInput: a root is not an absolute path.
        """
        self._sessions[session_id] = confine(roots)

    def close_session(self, session_id: SessionId) -> None:
        """Allow the session nothing any more. A write that has begun is finished."""
        self._sessions.pop(session_id, None)

    async def read_text_file(self, request: ReadTextFileRequest) -> ReadTextFileResponse:
        """Return the lines that the agent asked for, with their line endings, without a byte order mark.

        ``line`` counts from 1, and 0 means 1; ``limit`` counts lines; past the end of the file the text is empty.

        Raises:
            RequestFailed: as the table of this module says; ``MethodNotFound`` when reading is not offered.
        """
        if not self.can_read:
            raise MethodNotFound("this host reads no files for the agent")
        roots = self._roots(request.session_id)
        limit = request.limit if isinstance(request.limit, int) else None
        content = await asyncio.to_thread(self._read, roots, request.path, request.line or 1, limit)
        return ReadTextFileResponse(content=content)

    async def write_text_file(self, request: WriteTextFileRequest) -> WriteTextFileResponse:
        """Replace or create a file in one step, so that nobody ever sees a part of it.

        An existing file keeps its permission bits, its encoding (UTF-8, or what its byte order mark says) and its
        byte order mark; a link to a file stays a link. A file that is not text is not overwritten. When the calling
        task is cancelled, the write is finished all the same.

        Raises:
            RequestFailed: as the table of this module says; ``MethodNotFound`` when writing is not offered.
        """
        if not self.can_write:
            raise MethodNotFound("this host writes no files for the agent")
        roots = self._roots(request.session_id)
        await asyncio.to_thread(self._write, roots, request.path, request.content)
        return WriteTextFileResponse()

    def _roots(self, session_id: SessionId) -> Roots:
        roots = self._sessions.get(session_id)
        if roots is None:
            raise ResourceNotFound("there is no such session", data={"sessionId": session_id})
        return roots

    def _read(self, roots: Roots, path: str, line: int, limit: int | None) -> str:
        with _explained(path, missing=(FileNotFoundError, NotADirectoryError)), roots.place(path) as place:
            text, _, _ = self._load(path, place, os.O_RDONLY)
            return line_window(text, line, limit)

    def _write(self, roots: Roots, path: str, content: str) -> None:
        with (
            _explained(path, missing=(FileNotFoundError,)),
            roots.place(path, make_parents=self._create_parents) as place,
        ):
            encoding, status = UTF_8, None
            with suppress(FileNotFoundError):
                # Opened for writing too: replacing needs rights on the directory only, and must not get around a file
                # that its owner has protected.
                _, encoding, status = self._load(path, place, os.O_RDWR)
            place.replace(self._encode(path, encoding, content), like=status)

    def _load(self, path: str, place: Place, flags: int) -> tuple[str, TextEncoding, os.stat_result]:
        data, status = place.read(self._max_file_size + 1, flags)
        if len(data) > self._max_file_size:
            size = max(status.st_size, len(data))
            raise _invalid(path, f"has {size} bytes; this host handles at most {self._max_file_size}")
        try:
            return *decode(data), status
        except UnicodeDecodeError as error:
            raise _invalid(path, f"is not UTF-8 text: byte {error.start} cannot be read") from None

    def _encode(self, path: str, encoding: TextEncoding, content: str) -> bytes:
        try:
            data = encoding.encode(content)
        except UnicodeEncodeError as error:
            problem = f"cannot hold this content: character {error.start} is half a surrogate pair"
            raise _invalid(path, problem) from None
        if len(data) > self._max_file_size:
            raise _invalid(path, f"would have {len(data)} bytes; this host handles at most {self._max_file_size}")
        return data


@contextmanager
def _explained(path: str, missing: tuple[type[OSError], ...]) -> Iterator[None]:
    """Turn the system's errors into what the agent is told; those of ``missing`` mean that there is no such file."""
    try:
        yield
    except missing:
        raise _not_found(path) from None
    except NotADirectoryError:
        raise _invalid(path, "cannot be reached: a part of the path is not a directory") from None
    except IsADirectoryError:
        raise _invalid(path, "is a directory") from None
    except SpecialFileError as error:
        raise _invalid(path, error.problem) from None
    except OSError as error:
        problem = error.strerror or type(error).__name__
        raise InternalError(f"{path}: {problem}", data={"path": path}) from error


def _not_found(path: str) -> ResourceNotFound:
    return ResourceNotFound(f"{path} does not exist", data={"path": path})


def _invalid(path: str, problem: str) -> InvalidParams:
    return InvalidParams(f"{path} {problem}", data={"path": path})
