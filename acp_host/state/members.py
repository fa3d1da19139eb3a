"""What is kept of what several messages say in members that nobody named beforehand, such as those of ``_meta``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from acp_host.wire._model import NO_EXTRA, Unset

__all__ = ["MAX_MEMBERS", "merged", "newest", "patched"]

MAX_MEMBERS = 1_000
"""Most members of ``_meta``, or beside the schema, that are kept of what several messages say, the newest ones."""

_WHOSE = "members of _meta, or beside the schema, of one thing"


def merged(known: Mapping[str, Any], said: Mapping[str, Any], problem: Callable[[str], None]) -> Mapping[str, Any]:
    """Return members together with newer ones.

    Beyond :data:`MAX_MEMBERS`, those that were there first are left out, and ``problem`` is called.
    """
    return newest({**known, **said}, MAX_MEMBERS, _WHOSE, problem)


def patched(
    known: Mapping[str, Any], patch: Mapping[str, Any] | None | Unset, problem: Callable[[str], None]
) -> Mapping[str, Any]:
    """Return ``_meta`` after a patch: the members it names are changed, or removed by ``None``; ``None`` clears all.

    Beyond :data:`MAX_MEMBERS`, those that were there first are left out, and ``problem`` is called.
    """
    if isinstance(patch, Unset):
        return known
    if patch is None:
        return NO_EXTRA
    members = {name: member for name, member in {**known, **patch}.items() if member is not None}
    return newest(members, MAX_MEMBERS, _WHOSE, problem) or NO_EXTRA


def newest(members: dict[str, Any], limit: int, what: str, problem: Callable[[str], None]) -> dict[str, Any]:
    """Return members without those that were there first, where there are too many.

    Args:
        members: the oldest first.
        limit: how many are kept.
        what: names them in what ``problem`` is told.
        problem: called where some are left out.
    """
    if len(members) <= limit:
        return members
    problem(f"more than {limit} {what}: the oldest are left out")
    return dict([*members.items()][-limit:])
