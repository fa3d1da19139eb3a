"""Which of our files a definition of the schema touches: :class:`Files`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.conformance.schema_reader import references

ROOT = Path(__file__).parents[2]
WIRE, SECOND = "acp_host/wire/", "acp_host/wire/v2/"
WORD = re.compile(r"\w+")
DECLARED = re.compile(r"^(?:class )?(\w+)(?=[:(]| = | =$)", re.MULTILINE)


class Files:
    """The files of the package that name a definition, whether they declare it or use it.

    Args:
        root: the folder under which ``acp_host`` lies.
    """

    def __init__(self, root: Path = ROOT) -> None:
        self._naming: dict[str, set[str]] = defaultdict(set)
        self._declaring: dict[str, set[str]] = defaultdict(set)
        for path in sorted((root / "acp_host").rglob("*.py")):
            text, place = path.read_text(encoding="utf-8"), path.relative_to(root).as_posix()
            for word in set(WORD.findall(text)):
                self._naming[word].add(place)
            for word in DECLARED.findall(text):
                self._declaring[word].add(place)

    def naming(self, name: str, *, version: int) -> list[str]:
        """Return the files that name a definition of a version of the protocol, that of its wire type first."""
        declaring = {path for path in self._declaring[name] if path.startswith(WIRE)}
        second = {path for path in declaring if path.startswith(SECOND)}
        # What the second version has unchanged, it takes from the first.
        left_out = second if version == 1 else declaring - second if second else set()
        taken_over = {*declaring, f"{WIRE}definitions.py"} if not second else set()
        found = {
            path
            for path in self._naming[name] - left_out
            if not path.startswith(WIRE) or path in taken_over or path.startswith(SECOND) == (version == 2)
        }
        return sorted(found, key=lambda path: (path not in declaring, not path.startswith(WIRE), path))

    def around(self, name: str, schema: Mapping[str, Any], *, version: int) -> list[str]:
        """Return the wire files that declare what refers to a definition: where one that is new has to be taken in."""
        definitions = schema["$defs"].items()
        users = [user for user, definition in definitions if user != name and name in references(definition)]
        named = (self.naming(user, version=version)[:1] for user in users)
        return sorted({path for paths in named for path in paths if path.startswith(WIRE)})
