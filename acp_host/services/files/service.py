"""Serves an agent's ``fs/read_text_file`` and ``fs/write_text_file``: :class:`FileService`.

Owns what the two methods mean, and the order of things: is the file the session's, is it open in an editor, would a
write undo somebody's change. Each of these is answered elsewhere: by :mod:`~acp_host.services.files.disk` and
:mod:`~acp_host.services.files.rules`, by the application's :class:`~acp_host.services.files.buffers.BufferProvider`, by
:mod:`~acp_host.services.files.conflicts`.

Errors, all with ``data: {"path": …}``:

=========================================================================  ==================================
what is wrong                                                              raised
=========================================================================  ==================================
there is no such file, or (reading) a part of its path is not a directory  ``ResourceNotFound`` (-32002)
the path is relative, malformed or outside the session's directories       ``InvalidParams`` (-32602)
a rule keeps it from agents, or from being written                         ``InvalidParams`` (-32602)
it is a directory, a device, a FIFO, a socket; it is too large; not text   ``InvalidParams`` (-32602)
a write would undo a change that the agent has not seen                    ``InvalidParams`` (-32602)
the system refuses or fails (rights, full disk)                            ``InternalError`` (-32603)
=========================================================================  ==================================

Cost: a read or write handles the whole file, in a thread, so that a slow disk does not stop the event loop.

A write never waits for another one. It looks, decides, and takes effect only if what it has looked at is still there;
otherwise it looks again.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any

from attrs import evolve

from acp_host.errors import InvalidInput, InvalidParams, MethodNotFound, RequestFailed, ResourceNotFound
from acp_host.services._awaiting import awaited
from acp_host.services._confined import Permit, confine
from acp_host.services._place import ChangedMeanwhile
from acp_host.services._text import line_window
from acp_host.services.files.buffers import BufferEdit, BufferProvider, Calling, CallsApplication, OpenDocument
from acp_host.services.files.changes import FileChange, FileTarget
from acp_host.services.files.conflicts import ConflictHandler, FileView, WriteConflict
from acp_host.services.files.disk import Disk, invalid, not_found
from acp_host.services.files.edits import text_edits
from acp_host.services.files.formats import PLAIN_TEXT, DocumentFormat
from acp_host.services.files.known_texts import KnownText
from acp_host.services.files.rules import FileRules
from acp_host.services.files.writes import FileSession, Write, Written, refusal, written_by
from acp_host.state.observers import Observers
from acp_host.wire.files import (
    ReadTextFileRequest,
    ReadTextFileResponse,
    WriteTextFileRequest,
    WriteTextFileResponse,
)
from acp_host.wire.ids import SessionId

__all__ = ["MAX_ATTEMPTS", "MAX_FILE_SIZE", "FileService"]

_logger = logging.getLogger("acp_host.services")

MAX_FILE_SIZE = 16 * 1024 * 1024
"""Default for the largest file that is read or written, in bytes."""
MAX_ATTEMPTS = 10
"""How often a write looks again at a file that keeps changing before it gives up."""


class FileService:
    """Reads and writes text files for agents, inside the directories of their session.

    Follows the specification's *File System* section. An instance serves the sessions of one connection.

    Args:
        read: offer ``fs/read_text_file``.
        write: offer ``fs/write_text_file``.
        deny: patterns of files that the agent may neither read nor write, as in
            :class:`~acp_host.services.files.rules.FileRules`.
        read_only: patterns of files that the agent may not write.
        buffers: the editor's open documents: a :class:`~acp_host.services.files.buffers.BufferProvider`, or several,
            which are asked in order. A connection of :mod:`acp_host.blocking` calls plain methods where it calls
            handlers.
        formats: how files are checked, compared and merged that are not open, by the end of their names:
            ``{".ipynb": NotebookFormat()}``. A text that is none of the format is refused. All others are plain text.
        conflict: decides what becomes of a write that would undo somebody else's change, as in
            :data:`~acp_host.services.files.conflicts.ConflictHandler`; ``None`` refuses it, and tells the agent to read
            the file again.
        create_parents: make the missing directories above a new file. Agents count on it when they add a file in a new
            folder.
        max_file_size: largest file that is read or written, in bytes.

    Attributes:
        can_read: whether ``fs/read_text_file`` is offered.
        can_write: whether ``fs/write_text_file`` is offered.
        rules: which files are kept from agents. May be replaced at any time, and holds from the next request on.
        asking: what a conflict is decided in: a context for the request. For the connection, which shows that the user
            is asked, and ends that with the turn.
        looking: what a provider of buffers is asked in: a context. For the connection, which ends that with the turn.

    Raises:
        InvalidInput: a pattern is none, or an argument is of another type.
    """

    def __init__(
        self,
        *,
        read: bool = True,
        write: bool = True,
        deny: Sequence[str] = (),
        read_only: Sequence[str] = (),
        buffers: BufferProvider | Sequence[BufferProvider] = (),
        formats: Mapping[str, DocumentFormat] | None = None,
        conflict: ConflictHandler | None = None,
        create_parents: bool = True,
        max_file_size: int = MAX_FILE_SIZE,
    ) -> None:
        if not (conflict is None or callable(conflict)):
            raise InvalidInput(f"FileService(conflict=…) takes a function, not {type(conflict).__name__}")
        if not isinstance(max_file_size, int) or max_file_size < 0:
            raise InvalidInput(f"max_file_size is a number of bytes, not {max_file_size!r}")
        self.can_read = read
        self.can_write = write
        self.rules = FileRules(deny, read_only)
        self.asking: Callable[[WriteTextFileRequest], AbstractContextManager[None]] = lambda request: nullcontext()
        self.looking: Callable[[], AbstractContextManager[None]] = nullcontext
        self._buffers = _providers(buffers)
        self._formats = {suffix.lower(): format for suffix, format in (formats or {}).items()}
        self._decide = conflict
        self._calling: Calling = _as_it_is
        self._telling: Calling = _as_it_is
        self._disk = Disk(max_file_size=max_file_size, create_parents=create_parents)
        self._changes: Observers[FileChange] = Observers(_log_failure)
        self._sessions: dict[SessionId, FileSession] = {}

    def open_session(self, session_id: SessionId, roots: Sequence[str | Path]) -> None:
        """Allow a session the files below ``roots``; replaces what it was allowed before.

        Args:
            session_id: the agent's id of the session.
            roots: absolute paths of directories: the session's working directory and its additional directories.

        Raises:
            InvalidInput: a root is not an absolute path.
        """
        confined = confine(roots)
        session = self._sessions.get(session_id)
        if session is None:
            self._sessions[session_id] = FileSession(confined)
        else:
            session.roots = confined

    def close_session(self, session_id: SessionId) -> None:
        """Allow the session nothing any more. A write that has begun is finished."""
        self._sessions.pop(session_id, None)

    def on_change(self, observer: Callable[[FileChange], Any]) -> Callable[[], None]:
        """Call ``observer`` with each write that was done, from now on; return a function that ends this.

        It is called on the event loop and must not block; of a connection of :mod:`acp_host.blocking`, where that calls
        its observers. One that raises is logged, and called again.
        """
        return self._changes.connect(observer)

    def call_by(self, handlers: Calling, observers: Calling) -> None:
        """Have the application's functions called elsewhere than on the event loop; for connections on a thread.

        Args:
            handlers: returns what calls a function there and waits for its answer: for ``conflict`` and ``buffers``.
            observers: returns what has a function called there and does not wait: for those of :meth:`on_change`.
        """
        self._calling, self._telling = handlers, observers
        for provider in self._buffers:
            if isinstance(provider, CallsApplication):
                provider.call_by(handlers)

    async def read_text_file(self, request: ReadTextFileRequest) -> ReadTextFileResponse:
        """Return the lines that the agent asked for, with their line endings, without a byte order mark.

        ``line`` counts from 1, and 0 means 1; ``limit`` counts lines; past the end of the file the text is empty. Of an
        open document the unsaved text is read.

        Raises:
            RequestFailed: as the table of this module says; ``MethodNotFound`` when reading is not offered.
        """
        if not self.can_read:
            raise MethodNotFound("this host reads no files for the agent")
        session = self._session(request.session_id)
        limit = request.limit if isinstance(request.limit, int) else None
        real, known = await self._read(session, request.path)
        if real is not None:
            session.known.has_read = True
            session.known.remember(real, known)
        if known.text is None:
            raise not_found(request.path)
        return ReadTextFileResponse(await asyncio.to_thread(line_window, known.text, request.line or 1, limit))

    async def current_text(self, session_id: SessionId, path: str) -> str | None:
        """Return the text of a file as the agent would read it, without taking it for read; ``None`` if it cannot."""
        try:
            return (await self._read(self._session(session_id), path))[1].text
        except RequestFailed:
            return None

    async def write_text_file(self, request: WriteTextFileRequest) -> WriteTextFileResponse:
        """Replace or create a file in one step, so that nobody ever sees a part of it, or edit an open document.

        An existing file keeps its permission bits, its encoding (UTF-8, or what its byte order mark says) and its
        byte order mark; a link to a file stays a link. A file that is not text is not overwritten. When the calling
        task is cancelled, a write that has begun is finished all the same.

        Raises:
            RequestFailed: as the table of this module says; ``MethodNotFound`` when writing is not offered.
        """
        if not self.can_write:
            raise MethodNotFound("this host writes no files for the agent")
        session, path = self._session(request.session_id), request.path
        write = Write(
            session=session,
            session_id=request.session_id,
            path=path,
            proposed=request.content,
            text=request.content,
            wants_merge=self._decide is not None,
        )
        for _ in range(MAX_ATTEMPTS):
            outcome = await self._attempt(write)
            if isinstance(outcome, Written):
                return WriteTextFileResponse()
            if outcome is not None:
                write = evolve(write, text=await self._decision(outcome, request), decided=outcome)
        raise invalid(path, "keeps changing while it is being written; nothing was written")

    def _session(self, session_id: SessionId) -> FileSession:
        session = self._sessions.get(session_id)
        if session is None:
            raise ResourceNotFound("there is no such session", data={"sessionId": session_id})
        return session

    def _permit(self, session: FileSession, path: str, *, writing: bool) -> Permit:
        rules, roots = self.rules, session.roots.real

        def permit(real: str) -> None:
            problem = rules.refusal(real, roots, writing=writing)
            if problem is not None:
                raise invalid(path, problem)

        return permit

    async def _find_document(
        self, session: FileSession, path: str, permit: Permit
    ) -> tuple[str, BufferProvider, OpenDocument] | None:
        """Return the real path of an open document, whose it is, and the document; ``None`` if it is not open."""
        if not self._buffers:
            return None
        real = await asyncio.to_thread(self._disk.locate, session.roots, path, permit)
        if real is not None:
            for provider in self._buffers:
                with self.looking():
                    document = await awaited(self._calling(provider.find_document)(real))
                if document is not None:
                    return real, provider, document
        return None

    def _format_of(self, real: str) -> DocumentFormat:
        return self._formats.get(os.path.splitext(real)[1].lower(), PLAIN_TEXT)

    # --- reading ----------------------------------------------------------------------------------------------------

    async def _read(self, session: FileSession, path: str) -> tuple[str | None, KnownText]:
        """Return a file's real path and text. ``None`` stands for one that is not there, or has no directory."""
        permit = self._permit(session, path, writing=False)
        found = await self._find_document(session, path, permit)
        if found is None:
            return await asyncio.to_thread(self._read_disk, session, path, permit)
        real, _, document = found
        return real, await asyncio.to_thread(self._read_document, session, path, real, permit, document)

    def _read_disk(self, session: FileSession, path: str, permit: Permit) -> tuple[str | None, KnownText]:
        with self._disk.reading(session.roots, path, permit) as place:
            stored = self._disk.load(path, place)
            return place.path, KnownText.of(stored.text if stored else None, self._format_of(place.path))

    def _read_document(
        self, session: FileSession, path: str, real: str, permit: Permit, document: OpenDocument
    ) -> KnownText:
        view = FileView.of_document(document, self._text_on_disk(session, real, permit))
        assert view.current is not None
        self._disk.encode(path, view.current)
        return KnownText(view.hash, view.current)

    def _text_on_disk(self, session: FileSession, real: str, permit: Permit) -> str | None:
        """Return the text of an open document's file, ``None`` if there is none that can be read here.

        The way begins at the real path, so that a link that is changed meanwhile brings in no other file.
        """
        try:
            with self._disk.reading(session.roots, real, permit) as place:
                stored = self._disk.load(real, place)
                return stored.text if stored else None
        except (InvalidParams, ResourceNotFound):
            return None

    # --- writing ----------------------------------------------------------------------------------------------------

    async def _attempt(self, write: Write) -> Written | WriteConflict | None:
        """Try to write; ``None`` if what was looked at is no longer there."""
        permit = self._permit(write.session, write.path, writing=True)
        found = await self._find_document(write.session, write.path, permit)
        if found is None:
            return await self._finished(lambda: self._write_disk(write, permit))
        real, provider, document = found
        prepared = await asyncio.to_thread(self._prepare_edit, write, permit, real, document)
        if isinstance(prepared, WriteConflict):
            return prepared
        edit, written = prepared
        if not await awaited(self._calling(provider.apply_edit)(edit)):
            return None
        self._note(written)
        return written

    def _write_disk(self, write: Write, permit: Permit) -> Written | WriteConflict | None:
        path = write.path
        self._disk.encode(path, write.text)
        with self._disk.writing(write.session.roots, path, permit) as place:
            # Opened for writing too: replacing needs rights on the directory only, and must not get around a file that
            # its owner has protected.
            stored = self._disk.load(path, place, os.O_RDWR)
            old_text = stored.text if stored else None
            format = self._format_of(place.path)
            new_text = _adopted(write, format, old_text or "")
            conflict = write.conflict(place.path, FileView.of_file(old_text, format))
            if conflict is not None:
                return conflict
            try:
                self._disk.replace(path, place, new_text, stored)
            except ChangedMeanwhile:
                return None
            return written_by(write, place.path, FileTarget.DISK, old_text, new_text, format)

    def _prepare_edit(
        self, write: Write, permit: Permit, real: str, document: OpenDocument
    ) -> tuple[BufferEdit, Written] | WriteConflict:
        self._disk.encode(write.path, write.text)
        new_text = _adopted(write, document.format, document.text)
        view = FileView.of_document(document, self._text_on_disk(write.session, real, permit))
        conflict = write.conflict(real, view)
        if conflict is not None:
            return conflict
        edit = BufferEdit(
            session_id=write.session_id,
            path=real,
            old_text=document.text,
            new_text=new_text,
            edits=text_edits(document.text, new_text),
            version=document.version,
        )
        return edit, written_by(write, real, FileTarget.BUFFER, document.text, new_text, document.format)

    async def _finished(self, job: Callable[[], Written | WriteConflict | None]) -> Written | WriteConflict | None:
        """Do a job in a thread, and take note of what it did even if nobody waits for it any more."""
        loop = asyncio.get_running_loop()

        def work() -> Written | WriteConflict | None:
            outcome = job()
            if isinstance(outcome, Written):
                with suppress(RuntimeError):  # the loop is closed, and with it all that could be told
                    loop.call_soon_threadsafe(self._note, outcome)
            return outcome

        return await asyncio.to_thread(work)

    def _note(self, written: Written) -> None:
        written.session.known.remember(written.change.path, written.known)
        self._telling(self._changes.tell)(written.change)

    async def _decision(self, conflict: WriteConflict, request: WriteTextFileRequest) -> str:
        """Return what the application wants to be written; raises what the agent is told if that is nothing."""
        path = request.path
        if self._decide is None:
            raise refusal(conflict, path)
        with self.asking(request):
            decision = await awaited(self._calling(self._decide)(conflict))
        if decision is None:
            raise refusal(conflict, path)
        if not isinstance(decision, str):
            raise InvalidInput(f"a conflict is decided by a text or None, not by {type(decision).__name__}")
        if decision == conflict.current and decision != conflict.proposed:
            raise invalid(path, "was not written: the user has kept the text that is there, which is another; read it")
        return decision


def _adopted(write: Write, format: DocumentFormat, current: str) -> str:
    """Return what becomes of a document; raises ``InvalidParams`` if the agent's text is none of its format."""
    try:
        return format.adopt(current, write.text)
    except ValueError as error:
        raise invalid(write.path, str(error)) from None


def _as_it_is(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def _log_failure(observer: Callable[[FileChange], Any], error: BaseException) -> None:
    _logger.error("an observer of file changes failed: %r", observer, exc_info=error)


def _providers(given: BufferProvider | Sequence[BufferProvider]) -> tuple[BufferProvider, ...]:
    providers = tuple(given) if isinstance(given, Sequence) else (given,)
    for provider in providers:
        if not isinstance(provider, BufferProvider):
            problem = f"{type(provider).__name__} has no find_document() and apply_edit()"
            raise InvalidInput(f"FileService(buffers=…) takes what has the editor's documents, and {problem}")
    return providers
