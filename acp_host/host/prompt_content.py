"""From what a caller passes to ``prompt()`` to content blocks the agent has agreed to take."""

from __future__ import annotations

import base64
import mimetypes
from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_args

from acp_host.errors import InvalidInput
from acp_host.protocol.negotiation import Agreement
from acp_host.wire._model import UNSET
from acp_host.wire.content import (
    AudioContent,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from acp_host.wire.converters import check, unstructure

__all__ = ["LARGEST_EMBEDDED", "PromptPart", "content_blocks"]

LARGEST_EMBEDDED = 64 * 2**10
"""Largest text file that is embedded into a prompt, in bytes; a larger one is linked."""

PromptPart = str | Path | bytes | ContentBlock
"""Text, a file, an image as encoded bytes (PNG, JPEG, GIF or WebP), or a content block."""

_NEEDS = {
    ImageContent: "promptCapabilities.image",
    AudioContent: "promptCapabilities.audio",
    EmbeddedResource: "promptCapabilities.embeddedContext",
}
_SIGNATURES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}


def content_blocks(
    parts: PromptPart | Iterable[PromptPart], agreement: Agreement, cwd: str | None
) -> tuple[ContentBlock, ...]:
    """Return the blocks of a prompt.

    A path becomes an embedded resource (text up to :data:`LARGEST_EMBEDDED`) or an image where the agent takes those,
    else a link; a relative one is resolved against ``cwd``. Blocks pass unchanged.

    Args:
        parts: one part or several.
        agreement: says what the agent takes.
        cwd: the session's working directory; ``None`` where that is on another machine: then a path is absolute, and
            what cannot be sent along is refused, since the agent could not follow a link to it.

    Raises:
        InvalidInput: there is no part, a part is of a type that no prompt takes, or a file does not exist.
        NotSupported: a block is of a kind that the agent did not say it takes; names the capability.
    """
    listed = [parts] if isinstance(parts, (str, Path, bytes)) or not isinstance(parts, Iterable) else list(parts)
    if not listed:
        raise InvalidInput("a prompt needs at least one part")
    return tuple(_block(part, agreement, cwd) for part in listed)


def _block(part: Any, agreement: Agreement, cwd: str | None) -> ContentBlock:
    match part:
        case str():
            return TextContent(part)
        case Path():
            try:
                return _from_path(part, agreement, cwd)
            except OSError as error:
                raise InvalidInput(f"{part} cannot be part of a prompt: {error}") from error
        case bytes():
            block: ContentBlock = _image(part, _image_type(part))
        case _ if isinstance(part, get_args(ContentBlock)):
            block = part
        case _:
            raise InvalidInput(f"a prompt takes text, paths, image bytes and content blocks, not {type(part).__name__}")
    check(unstructure(block, ContentBlock), ContentBlock, "a content block of the prompt")
    capability = _NEEDS.get(type(block))
    if capability is not None:
        agreement.require_capability(capability, f"{type(block).__name__} in a prompt")
    return block


def _from_path(path: Path, agreement: Agreement, cwd: str | None) -> ContentBlock:
    if cwd is not None:
        return _from_file(path if path.is_absolute() else Path(cwd, path), agreement)
    if not path.is_absolute():
        raise InvalidInput(f"{path} is not absolute, and the session's directory is on the agent's machine")
    block = _from_file(path, agreement)
    if isinstance(block, ResourceLink):
        raise InvalidInput(
            f"{path} cannot be sent along: it has {block.size} bytes, is no text, or the agent takes no such files; "
            "and the agent, on another machine, could not follow a link to it"
        )
    return block


def _from_file(path: Path, agreement: Agreement) -> ContentBlock:
    if not path.is_file():
        raise InvalidInput(f"{path} is not a file, so it cannot be part of a prompt")
    mime_type, _ = mimetypes.guess_type(path.name)
    size = path.stat().st_size
    if mime_type and mime_type.startswith("image/") and agreement.supports(_NEEDS[ImageContent]):
        return _image(path.read_bytes(), mime_type, path.as_uri())
    if size <= LARGEST_EMBEDDED and agreement.supports(_NEEDS[EmbeddedResource]):
        text = _text_of(path)
        if text is not None:
            return EmbeddedResource(TextResourceContents(text=text, uri=path.as_uri(), mime_type=mime_type or UNSET))
    return ResourceLink(name=path.name, uri=path.as_uri(), size=size, mime_type=mime_type or UNSET)


def _text_of(path: Path) -> str | None:
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _image(data: bytes, mime_type: str, uri: str | None = None) -> ImageContent:
    return ImageContent(data=base64.b64encode(data).decode("ascii"), mime_type=mime_type, uri=uri or UNSET)


def _image_type(data: bytes) -> str:
    for signature, mime_type in _SIGNATURES.items():
        if data.startswith(signature):
            return mime_type
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    raise InvalidInput("bytes in a prompt must be a PNG, JPEG, GIF or WebP image; pass other data as a content block")
