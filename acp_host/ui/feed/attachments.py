"""What a viewer attaches to a prompt, as parts of it: :func:`prompt_parts`.

==========  ============================================================================================================
``links``   addresses, sent as links; nothing is read or fetched
``paths``   files of the session's own directory, and of no other place; sent as ``session.prompt(Path(…))`` sends them
``files``   texts that the viewer has dropped, sent along whole
``images``  pictures, likewise
==========  ============================================================================================================
"""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from acp_host.errors import InvalidInput
from acp_host.host.prompt_content import PromptPart
from acp_host.wire.content import EmbeddedResource, ResourceLink, TextResourceContents

__all__ = ["prompt_parts"]

_LINKED = ("http", "https", "file")


def prompt_parts(command: Mapping[str, Any], cwd: str | None) -> list[PromptPart]:
    """Return the parts of a prompt.

    Args:
        command: the viewer's command.
        cwd: the directory of the session; ``None`` where that is not on this machine.

    Raises:
        InvalidInput: an attachment is none, or a path leads elsewhere.
    """
    return [command["text"], *_attached(command, cwd)]


def _attached(command: Mapping[str, Any], cwd: str | None) -> Iterator[PromptPart]:
    for uri in command.get("attachments", ()):
        yield _link(uri)
    for path in command.get("paths", ()):
        yield _inside(path, cwd)
    for file in command.get("files", ()):
        # It has no address that the agent could follow, and its name alone is none.
        yield EmbeddedResource(TextResourceContents(text=file["text"], uri=f"attachment:{quote(file['name'])}"))
    for image in command.get("images", ()):
        yield _decoded(image)


def _link(uri: str) -> ResourceLink:
    try:
        parts = urlsplit(uri)
    except ValueError:
        raise InvalidInput("an attachment is a URI, and one of them is none") from None
    if parts.scheme not in _LINKED:
        raise InvalidInput(f"an attachment is a URI of {', '.join(_LINKED)}")
    name = unquote(parts.path.rstrip("/").rpartition("/")[2]) or parts.netloc or uri
    return ResourceLink(name=name, uri=uri)


def _inside(path: str, cwd: str | None) -> Path:
    """Return a file that a viewer names, relative to the session's directory; it must really be in there."""
    if cwd is None:
        raise InvalidInput("a file cannot be attached by its path: the session works on another machine")
    if "\0" in path:
        raise InvalidInput("a path has no NUL in it")
    top = os.path.realpath(cwd)
    real = os.path.realpath(os.path.join(top, path))
    if not Path(real).is_relative_to(top):
        raise InvalidInput(f"{path} is not in the session's directory, and only files in there can be attached")
    return Path(real)


def _decoded(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidInput("an image is sent as Base64, and one of them is none") from None
