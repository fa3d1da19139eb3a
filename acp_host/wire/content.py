"""Content: what messages, prompts and tool results are made of.

A :data:`ContentBlock` is text, an image, sound, a link to a resource or the resource itself. Binary data stays in its
base64 form: most of it is only passed on.
"""

from __future__ import annotations

import enum
from typing import TypeAlias

from acp_host.wire._model import UNSET, JsonObject, Model, Unknown, Unset, model, wire_field
from acp_host.wire._unions import shape_union, tagged_union

__all__ = [
    "Annotations",
    "AudioContent",
    "BlobResourceContents",
    "ContentBlock",
    "EmbeddedResource",
    "EmbeddedResourceResource",
    "ImageContent",
    "ResourceLink",
    "Role",
    "TextContent",
    "TextResourceContents",
    "UnknownContent",
    "UnknownResource",
]


class Role(enum.StrEnum):
    """Whom a piece of content is for."""

    ASSISTANT = "assistant"
    USER = "user"


@model
class Annotations(Model):
    """Hints on whom a piece of content is for and how much it matters. Nothing may depend on them.

    Attributes:
        audience: for whom it is meant; absent, ``None`` or empty says nothing.
        last_modified: when the resource behind it last changed, as the sender wrote it (ISO 8601 by custom).
        priority: how much it matters, 0 (least) to 1 (most) by custom; the schema sets no bounds.
    """

    audience: tuple[Role | str, ...] | None | Unset = wire_field(
        default=UNSET, default_on_error=True, skip_invalid_items=True
    )
    last_modified: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    priority: float | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class TextContent(Model):
    """Text: Markdown by custom, and whole or a piece of a stream.

    Attributes:
        text: may end or begin with half of a character; :func:`acp_host.wire.text.join_text` puts such halves together.
    """

    text: str
    annotations: Annotations | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ImageContent(Model):
    """An image.

    Attributes:
        data: the bytes in base64.
        mime_type: their format, e.g. ``image/png``.
        uri: where the image comes from, if that is known.
    """

    data: str
    mime_type: str
    annotations: Annotations | None | Unset = wire_field(default=UNSET, default_on_error=True)
    uri: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class AudioContent(Model):
    """A sound.

    Attributes:
        data: the bytes in base64.
        mime_type: their format, e.g. ``audio/wav``.
    """

    data: str
    mime_type: str
    annotations: Annotations | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ResourceLink(Model):
    """A resource that the receiver can read for itself.

    Attributes:
        name: what to call it, e.g. the file's name.
        uri: where it is, e.g. ``file:///…``.
        size: its length in bytes.
        title: a better name for people, where there is one.
    """

    name: str
    uri: str
    annotations: Annotations | None | Unset = wire_field(default=UNSET, default_on_error=True)
    description: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    mime_type: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    size: int | None | Unset = wire_field(default=UNSET, default_on_error=True)
    title: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class TextResourceContents(Model):
    """A resource that is text.

    Attributes:
        text: all of it.
        uri: where it comes from.
    """

    text: str
    uri: str
    mime_type: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class BlobResourceContents(Model):
    """A resource that is not text.

    Attributes:
        blob: all of its bytes, in base64.
        uri: where it comes from.
    """

    blob: str
    uri: str
    mime_type: str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class UnknownResource(Unknown):
    """An embedded resource that is neither text nor a blob."""


EmbeddedResourceResource: TypeAlias = TextResourceContents | BlobResourceContents | UnknownResource
"""The resource inside an :class:`EmbeddedResource`; ``text`` or ``blob`` tells which."""
shape_union(
    "EmbeddedResourceResource",
    by_property={"text": TextResourceContents, "blob": BlobResourceContents},
    unknown=UnknownResource,
)


@model
class EmbeddedResource(Model):
    """A resource that is sent along whole."""

    resource: EmbeddedResourceResource
    annotations: Annotations | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class UnknownContent(Unknown):
    """Content of a kind that this version does not know."""


ContentBlock: TypeAlias = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource | UnknownContent
"""One piece of content."""
tagged_union(
    "ContentBlock",
    tag="type",
    variants={
        "text": TextContent,
        "image": ImageContent,
        "audio": AudioContent,
        "resource_link": ResourceLink,
        "resource": EmbeddedResource,
    },
    unknown=UnknownContent,
)
