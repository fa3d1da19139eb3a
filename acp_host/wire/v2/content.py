"""Content in version 2: the blocks of version 1, and links to resources that have icons.

Version 2 wants ``priority`` of annotations to be from 0 to 1. The class is version 1's, which says nothing of that: a
hint out of bounds is kept as a hint.
"""

from __future__ import annotations

import enum
from typing import TypeAlias

from acp_host.wire import content as v1
from acp_host.wire._model import UNSET, JsonObject, Model, UInt, Unset, model, wire_field
from acp_host.wire._unions import tagged_union
from acp_host.wire.content import AudioContent, EmbeddedResource, ImageContent, TextContent, UnknownContent

__all__ = ["AbsolutePath", "ContentBlock", "Icon", "IconTheme", "MediaType", "ResourceLink"]

AbsolutePath: TypeAlias = str
"""A path that is absolute where the agent runs."""
MediaType: TypeAlias = str
"""A MIME type, e.g. ``image/png``."""


class IconTheme(enum.StrEnum):
    """What background an icon is made for."""

    LIGHT = "light"
    DARK = "dark"


@model
class Icon(Model):
    """A picture for a resource.

    Attributes:
        src: an ``https:`` or ``data:`` URI. It comes from the agent: to be fetched without credentials, if at all.
        mime_type: the picture's format, where its source does not say it.
        sizes: what it is good for, as ``48x48``, or ``any``; absent means any.
        theme: one of :class:`IconTheme` or another word; absent means any.
    """

    src: str
    mime_type: MediaType | None | Unset = wire_field(default=UNSET, default_on_error=True)
    sizes: tuple[str, ...] | None | Unset = wire_field(default=UNSET, default_on_error=True, skip_invalid_items=True)
    theme: IconTheme | str | None | Unset = wire_field(default=UNSET, default_on_error=True)
    meta: JsonObject | None | Unset = wire_field(default=UNSET, default_on_error=True)


@model
class ResourceLink(v1.ResourceLink):
    """A resource that the receiver can read for itself: version 1's, with icons.

    Attributes:
        size: its length in bytes.
        icons: pictures for it; absent means none.
    """

    size: UInt | None | Unset = wire_field(default=UNSET, default_on_error=True)
    icons: tuple[Icon, ...] | None | Unset = wire_field(default=UNSET, default_on_error=True, skip_invalid_items=True)


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
