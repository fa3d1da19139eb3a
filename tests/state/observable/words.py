"""A small state that is watched: :class:`Words`; and who watches it."""

from __future__ import annotations

import asyncio
from typing import Any

from acp_host.state.changes import ChangeKind
from acp_host.state.observable import Observable

ADDED, CHANGED, REMOVED, MERGED = ChangeKind.ADDED, ChangeKind.CHANGED, ChangeKind.REMOVED, ChangeKind.MERGED


class Words(Observable[tuple[str, ...]]):
    """Observable words."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.words: list[str] = []
        self.frozen = 0

    def say(self, word: str) -> None:
        self.words.append(word)
        self.note("words", len(self.words) - 1, ADDED)

    def correct(self, index: int, word: str) -> None:
        self.words[index] = word
        self.note("words", index)

    def _freeze(self) -> tuple[str, ...]:
        self.frozen += 1
        return tuple(self.words)


class Panel:
    """A widget that shows words."""

    heard: list[Any]

    def __init__(self, heard: list[Any]) -> None:
        self.heard = heard

    def show(self, value: Any) -> None:
        self.heard.append(value)


async def ticks(number: int = 3) -> None:
    for _ in range(number):
        await asyncio.sleep(0)
