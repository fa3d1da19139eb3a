"""Skills that the host has for Harn: :class:`SkillProvider`, ``skills/list`` and ``skills/fetch``.

A provider is asked anew each time. What it returns is checked, since one entry that is none would spoil the whole list
for the agent. :class:`~acp_host.harn.bridge.skill_folder.SkillFolder` is one that reads a folder.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from attrs import define, field, frozen
from attrs.validators import instance_of

from acp_host.errors import InvalidInput, InvalidParams
from acp_host.harn.bridge._work import Work, plain_json

__all__ = ["Skill", "SkillEntry", "SkillProvider", "SkillShelf"]


@frozen(kw_only=True)
class SkillEntry:
    """A skill as it is listed.

    Attributes:
        id: what it is fetched by; may have slashes in it.
        name: what the model knows it by.
        description: what it is for, in a sentence.
        source: where it comes from.
    """

    id: str = field(validator=instance_of(str))
    name: str = field(validator=instance_of(str))
    description: str = field(default="", validator=instance_of(str))
    source: str = field(default="host", validator=instance_of(str))

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form that agents know."""
        return {"id": self.id, "name": self.name, "description": self.description, "source": self.source}


@frozen(kw_only=True)
class Skill:
    """A whole skill.

    Attributes:
        name: what the model knows it by.
        description: what it is for, in a sentence.
        body: the instructions, Markdown.
        manifest: ``when_to_use``, ``allowed_tools``, ``paths``, ``model`` and whatever else there is; plain JSON.
    """

    name: str = field(validator=instance_of(str))
    description: str = field(default="", validator=instance_of(str))
    body: str = field(default="", validator=instance_of(str))
    manifest: Mapping[str, Any] = field(factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form that agents know."""
        manifest = dict(self.manifest)
        return {"name": self.name, "description": self.description, "body": self.body, "manifest": manifest}


@runtime_checkable
class SkillProvider(Protocol):
    """Has skills. A method that is not a coroutine function runs in a thread."""

    def list(self) -> Sequence[SkillEntry] | Awaitable[Sequence[SkillEntry]]:
        """Return the skills that there are."""

    def fetch(self, skill_id: str) -> Skill | None | Awaitable[Skill | None]:
        """Return a skill; ``None`` if there is none of this id."""


@define
class SkillShelf:
    """Answers with the skills of a provider.

    Args:
        provider: has them; ``None``: there are none.
        work: runs it.

    Raises:
        InvalidInput: it is no provider.
    """

    _provider: SkillProvider | None
    _work: Work

    def __attrs_post_init__(self) -> None:
        if self._provider is not None and not isinstance(self._provider, SkillProvider):
            raise InvalidInput(f"skills are provided by an object with list() and fetch(id), not {self._provider!r}")

    async def list(self, seconds: float) -> Sequence[dict[str, Any]]:
        """Return the skills that there are, as JSON.

        Raises:
            RequestFailed: the provider failed.
        """
        if self._provider is None:
            return []
        listed: Sequence[dict[str, Any]] = await self._work.run(
            "skills/list", seconds, self._provider.list, read=_read_list
        )
        return listed

    async def fetch(self, params: Any, seconds: float) -> dict[str, Any]:
        """Return the skill whose ``id`` is in the parameters, as JSON.

        Raises:
            InvalidParams: there is none of this id.
            RequestFailed: the provider failed.
        """
        skill_id = params.get("id") if isinstance(params, Mapping) else None
        found: dict[str, Any] | None = None
        if self._provider is not None and isinstance(skill_id, str):
            fetch = self._provider.fetch
            found = await self._work.run("skills/fetch", seconds, fetch, skill_id, read=_read_skill)
        if found is None:
            raise InvalidParams("this host has no such skill", data={"id": skill_id})
        return found


def _read_list(listed: Any) -> list[dict[str, Any]]:
    return [_checked(entry, SkillEntry).to_json() for entry in listed]


def _read_skill(found: Any) -> dict[str, Any] | None:
    if found is None:
        return None
    skill: dict[str, Any] = plain_json(_checked(found, Skill).to_json())
    return skill


def _checked(value: Any, kind: type[Any]) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"the provider returned {type(value).__name__} in place of {kind.__name__}")
    return value
