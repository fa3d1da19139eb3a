"""Every state that a front-end has to be able to show, by name: :func:`names`, :func:`get`.

Each is one session's snapshot, folded by this library from an agent's messages and the events of a host, at a fixed
time; so it is a state that a host can be in, and the same one each time. ::

    for name in gallery.names():
        draw(gallery.get(name).session)

``python -m acp_host.testing.gallery FOLDER`` writes all of them as JSON, for front-ends in other languages.
"""

from __future__ import annotations

import functools
import importlib
import itertools
from collections.abc import Iterator

from acp_host.errors import InvalidInput
from acp_host.testing.gallery.hostile_texts import HOSTILE_TEXTS
from acp_host.testing.gallery.scenes import Scene
from acp_host.testing.gallery.states import GalleryState, WaitingQuestions

__all__ = ["HOSTILE_TEXTS", "GalleryState", "WaitingQuestions", "get", "names", "states"]

_SECTIONS = (
    "messages",
    "history",
    "tool_calls",
    "terminals",
    "plans",
    "turns",
    "options",
    "reminders",
    "notices",
    "permissions",
    "forms",
    "version_two",
    "harn",
    "hostile",
)


def names(section: str = "") -> tuple[str, ...]:
    """Return the names of the states, such as ``reminders/queued``.

    Args:
        section: the first part of the names to return; empty: of all.

    Raises:
        InvalidInput: there is no such section.
    """
    if section and section not in _SECTIONS:
        raise InvalidInput(f"the gallery has no section {section!r}; its sections are {', '.join(_SECTIONS)}")
    return tuple(name for name in _scenes() if not section or name.startswith(f"{section}/"))


def get(name: str) -> GalleryState:
    """Return a state.

    Raises:
        InvalidInput: there is none with this name.
    """
    scene = _scenes().get(name)
    if scene is None:
        section = name.split("/")[0]
        where = f"its section {section}" if section in _SECTIONS else "it"
        there = ", ".join(names(section) if section in _SECTIONS else _SECTIONS)
        raise InvalidInput(f"the gallery has no state {name!r}; {where} has {there}")
    return scene.state()


def states(section: str = "") -> Iterator[GalleryState]:
    """Yield the states, those of a section or all; arguments and errors as for :func:`names`."""
    return (get(name) for name in names(section))


@functools.cache
def _scenes() -> dict[str, Scene]:
    sections = (importlib.import_module(f"{__name__}.{section}").SCENES for section in _SECTIONS)
    return dict(itertools.chain.from_iterable(scenes.items() for scenes in sections))
