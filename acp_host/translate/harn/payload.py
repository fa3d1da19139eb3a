"""Where a Harn message has its members, and reading them one by one: :class:`Payload`.

One algorithm for all of Harn's extensions. An update has its members in ``_meta.harn``; agents up to April 2026 have
them beside ``sessionUpdate``, and the bridge of those has them, in snake_case, in ``content``. Members are merged one
by one, and ``_meta.harn`` counts more where it says something. Nothing here raises on what an agent sends but
:class:`Unusable`, which never leaves this package: a member of the wrong type counts as absent, and is named in
:attr:`Payload.problems`.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from acp_host.wire._model import NO_EXTRA, wire_name
from acp_host.wire.harn.members import harn_meta

__all__ = ["Payload", "Unusable", "merged", "payload_of"]

T = TypeVar("T")

_OWN = ("sessionUpdate", "_meta")


class Unusable(Exception):
    """A message says too little to know what it is about."""


def payload_of(update: Mapping[str, Any]) -> Payload:
    """Return the members of an update of a kind that Harn has made, wherever they are.

    Args:
        update: the whole update, as decoded.
    """
    meta = update.get("_meta")
    harn = meta.get("harn", NO_EXTRA) if isinstance(meta, Mapping) else NO_EXTRA
    named = dict(harn_meta(meta))
    replayed = named.pop("replayed", None) is True
    root = {name: member for name, member in update.items() if name not in _OWN}
    members = merged(root, named)
    if members.keys() == {"content"} and isinstance(members["content"], Mapping):
        members = {_camel(name): member for name, member in members["content"].items()}
    payload = Payload(members, replayed=replayed, names_harn=harn is not NO_EXTRA)
    if harn is not None and not isinstance(harn, Mapping):
        payload.problems.append("_meta.harn is no object")
    return payload


def merged(root: Mapping[str, Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members at the root of an update and those in its ``_meta.harn``, which count more.

    ``null`` says nothing: it leaves what stands at the root.
    """
    return {**root, **{name: member for name, member in named.items() if member is not None or name not in root}}


def _camel(name: str) -> str:
    return wire_name(name) if "_" in name.strip("_") else name


class Payload:
    """The members of a message, of which each is read once.

    Attributes:
        replayed: the message says of itself that it is part of a replay.
        names_harn: the message says of itself that it is one of Harn's; what does not may be another agent's.
        problems: what could not be used, for people.

    Args:
        members: the members.
        replayed: see above.
        names_harn: see above.
        where: what the members are a part of, for the texts of problems.
        problems: where to name them; by default a list of its own.
    """

    def __init__(
        self,
        members: Mapping[str, Any],
        *,
        replayed: bool = False,
        names_harn: bool = False,
        where: str = "",
        problems: list[str] | None = None,
    ) -> None:
        self.replayed = replayed
        self.names_harn = names_harn
        self.problems: list[str] = [] if problems is None else problems
        self._members = members
        self._where = where
        self._read: set[str] = set()

    def has(self, name: str) -> bool:
        """Whether a member is there, be it ``null``."""
        return name in self._members

    # --- members without which a message is of no use ---------------------------------------------------------------

    def identity(self, name: str) -> str:
        """Return a string that is not blank.

        Raises:
            Unusable: there is none.
        """
        text = self.text(name)
        if text is None or not text.strip():
            raise Unusable(f"{self._where}{name} is missing")
        return text

    def required(self, name: str, read: Callable[[str], T | None]) -> T:
        """Return what ``read``, a method of this object, makes of a member.

        Raises:
            Unusable: it is missing or of the wrong type.
        """
        found = read(name)
        if found is None:
            raise Unusable(f"{self._where}{name} is missing")
        return found

    # --- the others -------------------------------------------------------------------------------------------------

    def text(self, name: str) -> str | None:
        """Return a string; ``None`` if it is missing, ``null``, or something else."""
        return cast("str | None", self._typed(name, str, "a string"))

    def integer(self, name: str, least: int | None = None) -> int | None:
        """Return an integer that is at least ``least``."""
        found = self.any(name)
        whole = int(found) if isinstance(found, float) and found.is_integer() else found
        if whole is None or (_is_number(whole, int) and (least is None or whole >= least)):
            return cast("int | None", whole)
        self._problem(name, "an integer" if least is None else f"an integer of at least {least}")
        return None

    def number(self, name: str, least: float = -math.inf) -> int | float | None:
        """Return a number that is at least ``least``."""
        found = self.any(name)
        if found is None or (_is_number(found, int | float) and found >= least):
            return cast("int | float | None", found)
        self._problem(name, "a number" if least == -math.inf else f"a number of at least {least:g}")
        return None

    def flag(self, name: str) -> bool | None:
        """Return ``True`` or ``False``."""
        return cast("bool | None", self._typed(name, bool, "true or false"))

    def object(self, name: str) -> Mapping[str, Any] | None:
        """Return a JSON object."""
        return cast("Mapping[str, Any] | None", self._typed(name, Mapping, "an object"))

    def nested(self, name: str) -> Payload | None:
        """Return a JSON object whose members are read in the same way."""
        found = self.object(name)
        if found is None:
            return None
        return Payload(found, where=f"{self._where}{name}.", problems=self.problems)

    def items(self, name: str) -> tuple[Any, ...] | None:
        """Return the items of an array, whatever they are."""
        found = self._typed(name, list, "an array")
        return None if found is None else tuple(found)

    def texts(self, name: str) -> tuple[str, ...] | None:
        """Return the items of an array of strings; other items are left out."""
        found = self.items(name)
        if found is None:
            return None
        kept = tuple([item for item in found if isinstance(item, str)])
        if len(kept) < len(found):
            self._problem(name, "an array of strings")
        return kept

    def objects(self, name: str) -> tuple[Payload, ...] | None:
        """Return the items of an array of JSON objects, to be read in the same way; other items are left out."""
        found = self.items(name)
        if found is None:
            return None
        kept = [
            Payload(item, where=f"{self._where}{name}[{place}].", problems=self.problems)
            for place, item in enumerate(found)
            if isinstance(item, Mapping)
        ]
        if len(kept) < len(found):
            self._problem(name, "an array of objects")
        return tuple(kept)

    def any(self, name: str) -> Any:
        """Return any JSON value; ``None`` if it is missing."""
        self._read.add(name)
        return self._members.get(name)

    def rest(self) -> Mapping[str, Any]:
        """Return the members that nobody has read."""
        rest = {name: member for name, member in self._members.items() if name not in self._read}
        return rest or NO_EXTRA

    def _typed(self, name: str, kind: type, wanted: str) -> Any:
        found = self.any(name)
        if found is None or isinstance(found, kind):
            return found
        self._problem(name, wanted)
        return None

    def _problem(self, name: str, wanted: str) -> None:
        self.problems.append(f"{self._where}{name} is not {wanted}: {reprlib.repr(self._members.get(name))}")


def _is_number(value: Any, kind: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)
