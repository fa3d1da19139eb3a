"""What an editor gives to a file service and takes from it: :class:`BufferProvider` and its values.

A document that is open in an editor may have words in it that are not on the disk. An agent should read those, and what
it writes belongs into the document, where the user sees it and can undo it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol, runtime_checkable

from attrs import field, frozen

from acp_host.errors import InvalidInput
from acp_host.services.files.edits import TextEdit
from acp_host.services.files.formats import PLAIN_TEXT, DocumentFormat, text_hash

__all__ = ["BufferEdit", "BufferProvider", "Calling", "CallsApplication", "OpenDocument"]

Calling = Callable[[Callable[..., Any]], Callable[..., Any]]
"""Returns what is called in place of a function of the application: itself, or what calls it on another thread."""


@frozen(kw_only=True)
class OpenDocument:
    """A document as it is in the editor at this moment.

    Attributes:
        text: all of it, unsaved changes included, without a byte order mark.
        saved_text: the text that it was loaded with or last saved as. By it, the service notices that another program
            has changed the file since, and can merge the two; ``None`` if the editor does not keep it.
        saved_hash: :func:`text_hash` of that text, for an editor that keeps only this: then changes are noticed and
            cannot be merged. ``None``: taken from ``saved_text``. With neither, such changes go unnoticed.
        version: the editor's own name for this state of the document; comes back in the edit.
        format: how changes of the document are compared and merged.
    """

    text: str
    saved_text: str | None = None
    saved_hash: str | None = field(default=None)
    version: int | str | None = None
    format: DocumentFormat = PLAIN_TEXT

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise InvalidInput(f"the text of an open document is a string, not {type(self.text).__name__}")

    @property
    def hash_of_saved(self) -> str | None:
        """The hash of what was loaded or last saved; ``None`` if that is not known."""
        return self.saved_hash or (None if self.saved_text is None else text_hash(self.saved_text, self.format))


@frozen(kw_only=True)
class BufferEdit:
    """What an agent's write does to an open document; one step for the user to undo.

    Attributes:
        session_id: whose agent writes.
        path: the real path of the document's file.
        old_text: the text that the edit is made for.
        new_text: the text afterwards.
        edits: the differences, in order and without overlap, all of them in terms of ``old_text``; empty if there are
            none. Whoever applies them keeps cursors and marks in the rest of the document.
        version: that of the :class:`OpenDocument` with ``old_text``.
    """

    session_id: str
    path: str
    old_text: str = field(repr=False)
    new_text: str = field(repr=False)
    edits: tuple[TextEdit, ...]
    version: int | str | None = None


@runtime_checkable
class BufferProvider(Protocol):
    """Open documents, as an editor implements it. Both methods are called on the event loop and may be coroutines.

    Of a connection of :mod:`acp_host.blocking`, plain methods are called where it calls handlers, e.g. on the main
    thread of a user interface.

    What they raise refuses the agent's request with an internal error, and is reported; a
    :class:`~acp_host.errors.RequestFailed` is what the agent is told.
    """

    def find_document(self, path: str, /) -> OpenDocument | None | Awaitable[OpenDocument | None]:
        """Return the document that is open for a file, or ``None``. It is cancelled with the turn that asks.

        Args:
            path: the file's real path, absolute and without links (:func:`os.path.realpath`); there may be no such file
                yet. It lies within the session's directories and is not denied.
        """

    def apply_edit(self, edit: BufferEdit, /) -> bool | Awaitable[bool]:
        """Change the document in one step, and return ``True``.

        Agents expect to find on the disk what they wrote, so an editor saves the document afterwards unless its user
        wants to see the change first.

        Returns:
            ``False``, having changed nothing, if the document is no longer at ``edit.old_text`` or no longer open; the
            service then looks again.
        """


@runtime_checkable
class CallsApplication(Protocol):
    """A provider of this library that calls functions of the application in turn."""

    def call_by(self, handlers: Calling, /) -> None:
        """Have them called by what ``handlers`` returns for them."""
