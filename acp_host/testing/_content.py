"""Samples that the reference agent's script sends: content of every kind, and a form with fields of every kind."""

from __future__ import annotations

from acp_host.wire.content import (
    AudioContent,
    BlobResourceContents,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from acp_host.wire.elicitation import (
    BooleanPropertySchema,
    ElicitationPropertySchema,
    EnumOption,
    IntegerPropertySchema,
    MultiSelectPropertySchema,
    NumberPropertySchema,
    StringFormat,
    StringMultiSelectItems,
    StringPropertySchema,
)

__all__ = ["EVERY_KIND", "FORM"]

_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
_SILENCE = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA=="

EVERY_KIND: tuple[ContentBlock, ...] = (
    TextContent("Text, with *Markdown* in it."),
    ImageContent(_PIXEL, "image/png"),
    AudioContent(_SILENCE, "audio/wav"),
    ResourceLink("README.md", "file:///README.md", mime_type="text/markdown", size=1024, title="Read me"),
    EmbeddedResource(TextResourceContents("embedded text", "file:///embedded.txt", mime_type="text/plain")),
    EmbeddedResource(BlobResourceContents("AAEC", "file:///embedded.bin", mime_type="application/octet-stream")),
)
"""One content block of each kind."""

FORM: dict[str, ElicitationPropertySchema] = {
    "name": StringPropertySchema(title="Name", min_length=1, max_length=40),
    "email": StringPropertySchema(title="E-mail", format=StringFormat.EMAIL),
    "colour": StringPropertySchema(
        title="Colour", one_of=(EnumOption("red", "Red"), EnumOption("blue", "Blue")), default="blue"
    ),
    "age": IntegerPropertySchema(title="Age", minimum=0, maximum=150),
    "height": NumberPropertySchema(title="Height", description="In metres"),
    "tabs": BooleanPropertySchema(title="Tabs", default=False),
    "languages": MultiSelectPropertySchema(
        StringMultiSelectItems(("Python", "Rust", "TypeScript")), title="Languages", max_items=2
    ),
}
"""The fields of a form, one of each kind."""
