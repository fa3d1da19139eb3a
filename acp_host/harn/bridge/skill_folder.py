"""Skills that are kept as files: :class:`SkillFolder`.

A skill is a directory with a ``SKILL.md`` in it, anywhere below the folder but in hidden directories: a head of YAML
between two lines of ``---`` (``name``, ``description``, ``when_to_use``, ``allowed_tools``, ``paths``, ``model``, …),
then the instructions. Its id is the path of its directory below the folder, with slashes. Names in the head may be
written with ``-`` for ``_``.

The folder may stand where an agent can write. So what lies outside of it is never read, whichever way links lead, and a
file that is too large, no text, or has a head that is none is left out and logged to ``acp_host.harn``.
"""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Iterator, Mapping
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from acp_host.errors import InvalidInput
from acp_host.harn.bridge.skills import Skill, SkillEntry

__all__ = ["MAX_DIRECTORIES", "MAX_SKILLS", "MAX_SKILL_SIZE", "SkillFolder"]

MAX_SKILLS = 1_000
"""Most skills of a folder; what comes after them is left out."""
MAX_SKILL_SIZE = 256 * 1024
"""Largest ``SKILL.md`` that is read, in bytes."""
MAX_DIRECTORIES = 20_000
"""Most directories that are looked into."""

_FILE = "SKILL.md"
_MAX_DEPTH = 8
_MAX_VALUES = 1_000
_LISTS = ("allowed_tools", "paths")

_logger = logging.getLogger("acp_host.harn")


class SkillFolder:
    """Has the skills of a folder, read anew each time. Needs the package PyYAML, the extra ``harn``.

    Tell the agent when they change with :meth:`HarnBridge.skills_changed`.

    Args:
        folder: it need not exist yet.
        source: what is said of where the skills come from.

    Raises:
        InvalidInput: PyYAML is missing.
    """

    def __init__(self, folder: str | Path, *, source: str = "host") -> None:
        if find_spec("yaml") is None:
            raise InvalidInput("skills of a folder need the package PyYAML: pip install 'acp-host[harn]'")
        self._folder = Path(os.path.abspath(folder))
        self._source = source

    def list(self) -> list[SkillEntry]:
        """Return the skills that there are, by id. Reads the disk."""
        entries = []
        for skill_id, path in self._files():
            skill = self._read(skill_id, path)
            if skill is not None:
                entry = SkillEntry(id=skill_id, name=skill.name, description=skill.description, source=self._source)
                entries.append(entry)
        return entries

    def fetch(self, skill_id: str) -> Skill | None:
        """Return a skill; ``None`` if there is none of this id. Reads the disk."""
        path = dict(self._files()).get(skill_id)  # never put together of what the agent says
        return None if path is None else self._read(skill_id, path)

    def _files(self) -> Iterator[tuple[str, str]]:
        """Yield the id of each skill and where its file really is."""
        count, root = 0, os.path.realpath(self._folder)
        for number, (directory, below, files) in enumerate(os.walk(self._folder)):
            if number >= MAX_DIRECTORIES:
                _logger.warning("%s has more than %d directories; the rest is left out", self._folder, MAX_DIRECTORIES)
                return
            below[:] = sorted(name for name in below if not name.startswith("."))
            path = Path(directory)
            relative = path.relative_to(self._folder)
            if len(relative.parts) >= _MAX_DEPTH:
                below.clear()
            if _FILE not in files or not relative.parts:
                continue
            real = os.path.realpath(path / _FILE)
            if not _is_below(real, root):
                _logger.warning("the skill %s is left out: it lies outside of %s", relative, self._folder)
                continue
            count += 1
            if count > MAX_SKILLS:
                _logger.warning("%s has more than %d skills; the rest is left out", self._folder, MAX_SKILLS)
                return
            yield relative.as_posix(), real

    def _read(self, skill_id: str, path: str) -> Skill | None:
        try:
            with open(path, "rb", opener=_opener) as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    raise ValueError("it is no file")
                data = file.read(MAX_SKILL_SIZE + 1)
            if len(data) > MAX_SKILL_SIZE:
                raise ValueError(f"it is larger than {MAX_SKILL_SIZE:,} bytes")
            return _skill(skill_id, data.decode())
        except (OSError, ValueError) as error:
            _logger.warning("the skill %s of %s is left out: %s", skill_id, self._folder, error)
            return None


def _opener(path: str, flags: int) -> int:
    # Not through a link that was put there a moment ago, nor waiting for somebody to write into a pipe.
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def _is_below(path: str, root: str) -> bool:
    try:
        return os.path.commonpath((root, path)) == root
    except ValueError:  # on another drive
        return False


def _skill(skill_id: str, text: str) -> Skill:
    """Return the skill that a file makes.

    Raises:
        ValueError: it makes none.
    """
    head, body = _parts(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    manifest = {name.replace("-", "_"): value for name, value in _yaml(head).items()}
    name, description = manifest.pop("name", None), manifest.pop("description", None)
    for key in _LISTS:
        if isinstance(value := manifest.get(key), str):
            manifest[key] = value.replace(",", " ").split()
    return Skill(
        name=name if isinstance(name, str) and name else skill_id.rpartition("/")[2],
        description=description if isinstance(description, str) else "",
        body=body,
        manifest=manifest,
    )


def _parts(text: str) -> tuple[str, str]:
    """Return the head and the rest; a file may have no head."""
    if not text.startswith("---\n"):
        return "", text
    whole = text[3:] if text.endswith("\n") else f"{text[3:]}\n"
    head, mark, rest = whole.partition("\n---\n")
    if not mark:
        raise ValueError("its head has no end")
    return head, rest.lstrip("\n")


def _yaml(head: str) -> dict[str, Any]:
    import yaml  # an extra

    try:
        value = yaml.safe_load(head) if head.strip() else {}
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"its head is no YAML: {error}") from error
    if not isinstance(value, dict):
        raise ValueError("its head is no mapping")
    return dict(_plain(value, _Budget()))


class _Budget:
    """How many values a head may still have. Aliases in YAML make few bytes of any number of values."""

    def __init__(self) -> None:
        self._left = _MAX_VALUES

    def take(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise ValueError(f"its head has more than {_MAX_VALUES:,} values")


def _plain(value: Any, budget: _Budget) -> Any:
    """Return what a head says as plain JSON."""
    budget.take()
    if isinstance(value, Mapping):
        return {str(name): _plain(member, budget) for name, member in value.items()}
    if isinstance(value, list):
        return [_plain(item, budget) for item in value]
    if isinstance(value, date):  # YAML reads dates and times where nobody meant any
        return value.isoformat()
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise ValueError(f"its head has a {type(value).__name__} in it")
