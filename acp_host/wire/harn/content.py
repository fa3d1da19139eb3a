"""What of an agent's text is for people: :func:`shown_text`, :func:`as_shown`; and what stands behind a diff.

A Harn agent may send text with marks of its model in it, and says beside it which piece of it is to be shown:
``visible_delta``, in ``_meta.harn`` or, earlier, in the content itself. ``visible_text`` next to it is sometimes the
whole so far and sometimes the piece, and is not used.
"""

from __future__ import annotations

from attrs import frozen

from acp_host.wire._model import NO_EXTRA, UNSET, evolve
from acp_host.wire.content import TextContent
from acp_host.wire.harn.members import Members, harn_meta
from acp_host.wire.tool_calls import Diff

__all__ = ["PermissionPreview", "as_shown", "permission_preview", "shown_text"]

_VISIBLE = ("visible_delta", "visible_text")


def shown_text(content: TextContent) -> str:
    """Return what is to be shown of a piece of text; empty for nothing."""
    for told in (harn_meta(content.meta), content.extra):
        visible = told.get("visible_delta")
        if isinstance(visible, str):
            return visible
    return content.text


def as_shown(content: TextContent) -> TextContent | None:
    """Return a piece of text as it is to be shown, without what Harn says of that; ``None`` for nothing."""
    text = shown_text(content)
    if not text:
        return None
    extra = {name: member for name, member in content.extra.items() if name not in _VISIBLE}
    harn = {name: member for name, member in harn_meta(content.meta).items() if name not in _VISIBLE}
    meta = {name: member for name, member in (content.meta or NO_EXTRA).items() if name != "harn"}
    if harn:
        meta["harn"] = harn
    return evolve(content, text=text, meta=meta or UNSET, extra=extra or NO_EXTRA)


@frozen(kw_only=True)
class PermissionPreview:
    """Where a diff comes from that is shown before the change was permitted.

    Attributes:
        source: e.g. ``pre_approval``.
        preimage_sha256: SHA-256 of the file as it was, in hexadecimal digits.
        byte_count: size of the file as it was.
    """

    source: str | None = None
    preimage_sha256: str | None = None
    byte_count: int | None = None


def permission_preview(diff: Diff) -> PermissionPreview | None:
    """Return what Harn says of a diff that it shows beforehand, or ``None``."""
    told = Members(harn_meta(diff.meta).get("permission_preview"), "$.content._meta.harn.permission_preview")
    if not told:
        return None
    return PermissionPreview(
        source=told.text("source"),
        preimage_sha256=told.text("preimageSha256"),
        byte_count=told.whole("byteCount"),
    )
