"""The echo of the user's own prompt: :class:`Echo`.

A prompt is shown as soon as it is sent. Some agents send it back as ``user_message_chunk``, whole or in pieces; it must
not be shown twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from acp_host.wire.content import (
    AudioContent,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
)

__all__ = ["Echo"]


class Echo:
    """What an agent may repeat of the prompt that was just sent.

    White space does not count: agents join the blocks of a prompt, and trim them, in their own ways. Nor do annotations
    and metadata, which they lose.

    Args:
        sent: all that was sent.
        prompt: the user's own part of it, at its end; some agents repeat only that.
        position: where the prompt stands; -1 if there is none.
    """

    def __init__(
        self, sent: Iterable[ContentBlock] = (), prompt: Iterable[ContentBlock] = (), position: int = -1
    ) -> None:
        blocks = tuple(sent)
        self.position = position
        self._text = _squeezed(_text_of(blocks))
        self._before_prompt = len(self._text) - len(_squeezed(_text_of(prompt)))
        self._all_others = _others_of(blocks)
        self._others = list(self._all_others)
        self._repeated = 0
        self._taken: list[ContentBlock] = []
        self._end = 0

    @property
    def is_whole(self) -> bool:
        """Whether all of the prompt's text was repeated, or all of a prompt without text."""
        return self._repeated == len(self._text) and (bool(self._text) or not self._others)

    def takes(self, content: ContentBlock, end: int) -> bool:
        """Tell whether a user chunk is the next piece of the echo, and strike it off; ``end``: of the transcript."""
        if self.position < 0:
            return False
        if isinstance(content, TextContent):
            piece = _squeezed(content.text)
            for start in (self._repeated, self._repeated or self._before_prompt):
                if self._text.startswith(piece, start):
                    self._repeated = start + len(piece)
                    break
            else:
                return False
        else:
            other = _identity(content)
            if other not in self._others:
                return False
            self._others.remove(other)
        self._taken.append(content)
        if self.is_whole:
            self._taken = []
        self._end = end
        return True

    def is_all(self, content: Iterable[ContentBlock]) -> bool:
        """Tell whether a whole message says what was sent, or the user's own part of it."""
        if self.position < 0:
            return False
        blocks = tuple(content)
        text = _squeezed(_text_of(blocks))
        return text in (self._text, self._text[self._before_prompt :]) and _others_of(blocks) == self._all_others

    def broken_off(self, end: int) -> list[ContentBlock]:
        """Return what was taken for an echo, if what follows it at once shows that it was another message."""
        taken, self._taken = self._taken, []
        if self._end != end or not taken:
            return []
        self._repeated = 0
        return taken


def _text_of(blocks: Iterable[ContentBlock]) -> str:
    return "".join(block.text for block in blocks if isinstance(block, TextContent))


def _others_of(blocks: Iterable[ContentBlock]) -> list[tuple[Any, ...]]:
    return [_identity(block) for block in blocks if not isinstance(block, TextContent)]


def _squeezed(text: str) -> bytes:
    """Return a text without white space, in a form that can be compared piece by piece wherever it was cut."""
    return "".join(text.split()).encode("utf-16-le", "surrogatepass")


def _identity(block: ContentBlock) -> tuple[Any, ...]:
    """Return by what a block is known again."""
    match block:
        case ImageContent() | AudioContent():
            return type(block), block.data
        case ResourceLink():
            return type(block), block.uri
        case EmbeddedResource():
            return type(block), getattr(block.resource, "uri", None)
        case _:
            return type(block), getattr(block, "tag", None)
