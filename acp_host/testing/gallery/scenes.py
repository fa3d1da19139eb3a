"""How the states of a section are written down: :class:`Scenes`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from attrs import frozen

from acp_host.testing.gallery.stage import Setting, Stage
from acp_host.testing.gallery.states import GalleryState

__all__ = ["ORDINARY", "Play", "Scene", "Scenes"]

Play: TypeAlias = Callable[[Stage], None]
"""Plays what leads to a state."""

ORDINARY = Setting()


@frozen
class Scene:
    """One state, not played yet.

    Attributes:
        name: of the state.
        shows: the same in a line, for people.
        play: leads to it.
        setting: with whom.
    """

    name: str
    shows: str
    play: Play
    setting: Setting = ORDINARY

    def state(self) -> GalleryState:
        """Play it."""
        stage = Stage(self.setting)
        self.play(stage)
        return stage.state(self.name, self.shows)


class Scenes(dict[str, Scene]):
    """The states of a section, by name.

    Args:
        section: the first part of their names.
        setting: what they are played with.
    """

    def __init__(self, section: str, setting: Setting = ORDINARY) -> None:
        super().__init__()
        self._section = section
        self._setting = setting

    def add(self, name: str, shows: str, play: Play, setting: Setting | None = None) -> None:
        """Add a state."""
        whole = f"{self._section}/{name}"
        assert whole not in self, f"there are two states with the name {whole}"
        self[whole] = Scene(whole, shows, play, setting or self._setting)

    def scene(self, name: str, shows: str, setting: Setting | None = None) -> Callable[[Play], Play]:
        """Add the state that the decorated function leads to."""

        def decorate(play: Play) -> Play:
            self.add(name, shows, play, setting)
            return play

        return decorate
