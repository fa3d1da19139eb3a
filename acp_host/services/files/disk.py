"""Text files on the disk: :class:`Disk` reads and replaces them where a session may.

Owns sizes, encodings and which error tells the agent what. Where a path leads is decided by
:mod:`acp_host.services._confined`, how a file is replaced by :mod:`acp_host.services._place`. Everything here blocks
and is called in threads.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from attrs import frozen

from acp_host.errors import InternalError, InvalidParams, ResourceNotFound
from acp_host.services._confined import Permit, Roots
from acp_host.services._place import Place, SpecialFileError
from acp_host.services._text import UTF_8, TextEncoding, decode

__all__ = ["Disk", "StoredText", "invalid", "not_found"]


@frozen
class StoredText:
    """A text file as it is on the disk.

    Attributes:
        text: its text, without a byte order mark.
        encoding: how it is stored.
        status: what the system says of it; says later whether it is still the same.
    """

    text: str
    encoding: TextEncoding
    status: os.stat_result


@frozen(kw_only=True)
class Disk:
    """Reads and replaces text files.

    Attributes:
        max_file_size: largest file, in bytes.
        create_parents: make the missing directories above a new file.
    """

    max_file_size: int
    create_parents: bool

    def locate(self, roots: Roots, path: str, permit: Permit) -> str | None:
        """Return the real path of a file that may be there or not; ``None`` if there is no directory for it."""
        try:
            with _explained(path), roots.place(path, permit=permit) as place:
                return place.path
        except ResourceNotFound:
            return None

    @contextmanager
    def reading(self, roots: Roots, path: str, permit: Permit) -> Iterator[Place]:
        """Walk to a file that is to be read; what goes wrong within is what the agent is told."""
        with _explained(path, (FileNotFoundError, NotADirectoryError)), roots.place(path, permit=permit) as place:
            yield place

    @contextmanager
    def writing(self, roots: Roots, path: str, permit: Permit) -> Iterator[Place]:
        """Walk to a file that is to be written, as :meth:`reading`; missing directories are made where allowed."""
        with _explained(path), roots.place(path, make_parents=self.create_parents, permit=permit) as place:
            yield place

    def load(self, path: str, place: Place, flags: int = os.O_RDONLY) -> StoredText | None:
        """Return the file at a place, ``None`` if there is none; ``path`` is how the agent calls it."""
        try:
            data, status = place.read(self.max_file_size + 1, flags)
        except FileNotFoundError:
            return None
        if len(data) > self.max_file_size:
            raise self._too_large(path, max(status.st_size, len(data)))
        try:
            return StoredText(*decode(data), status)
        except UnicodeDecodeError as error:
            raise invalid(path, f"is not UTF-8 text: byte {error.start} cannot be read") from None

    def replace(self, path: str, place: Place, text: str, stored: StoredText | None) -> None:
        """Put a text in the place of the file that was loaded, or make a new file.

        Raises:
            ChangedMeanwhile: another file is there by now.
        """
        data = self.encode(path, text, stored.encoding if stored else UTF_8)
        place.replace(data, like=stored.status if stored else None)

    def encode(self, path: str, text: str, encoding: TextEncoding = UTF_8) -> bytes:
        """Return what is stored for a text; raises ``InvalidParams`` if a file cannot hold it."""
        try:
            data = encoding.encode(text)
        except UnicodeEncodeError as error:
            problem = f"cannot hold this content: character {error.start} is half a surrogate pair"
            raise invalid(path, problem) from None
        if len(data) > self.max_file_size:
            raise invalid(path, f"would have {len(data)} bytes; this host handles at most {self.max_file_size}")
        return data

    def _too_large(self, path: str, size: int) -> InvalidParams:
        return invalid(path, f"has {size} bytes; this host handles at most {self.max_file_size}")


@contextmanager
def _explained(path: str, missing: tuple[type[OSError], ...] = (FileNotFoundError,)) -> Iterator[None]:
    """Turn the system's errors into what the agent is told; those of ``missing`` mean that there is no such file."""
    try:
        yield
    except missing:
        raise not_found(path) from None
    except NotADirectoryError:
        raise invalid(path, "cannot be reached: a part of the path is not a directory") from None
    except IsADirectoryError:
        raise invalid(path, "is a directory") from None
    except SpecialFileError as error:
        raise invalid(path, error.problem) from None
    except OSError as error:
        problem = error.strerror or type(error).__name__
        raise InternalError(f"{path}: {problem}", data={"path": path}) from error


def not_found(path: str) -> ResourceNotFound:
    """Return the error for a file that does not exist."""
    return ResourceNotFound(f"{path} does not exist", data={"path": path})


def invalid(path: str, problem: str) -> InvalidParams:
    """Return the error for a path or content that cannot be used; ``problem`` is the end of a sentence."""
    return InvalidParams(f"{path} {problem}", data={"path": path})
