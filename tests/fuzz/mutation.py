"""Changes JSON as JSON, so that what comes out still gets past the parser: :func:`changed`."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

from tests.fuzz.seeds import compact

ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, -(2**63), 10**40, 0.5, -0.0, 1e308, 5e-324),
    *("", " ", "\0", "\x1b[31m", "\ud800", "\u202e", "a" * 5_000, "../..", "/", "file:///etc/passwd", "é" * 50),
    *([], {}, [[]], {"": {}}, [None], {"_meta": None}, {"_meta": {"harn": 1}}, json.loads("[" * 200 + "]" * 200)),
)
"""Values that a program may not have reckoned with."""


def changed(data: bytes, chance: random.Random, *, others: tuple[bytes, ...] = ()) -> bytes:
    """Return lines of JSON with one to three changes; what is no JSON is changed byte by byte.

    Args:
        data: lines, each a JSON value.
        chance: decides what is changed, and how.
        others: examples that values are taken from.
    """
    lines = data.split(b"\n")
    for _ in range(chance.randint(1, 3)):
        index = chance.randrange(len(lines))
        how = chance.random()
        if how < 0.70:
            lines[index] = _changed_line(lines[index], chance, others)
        elif how < 0.80:
            lines.insert(index, chance.choice(lines))
        elif how < 0.88 and len(lines) > 1:
            del lines[index]
        elif how < 0.94 and others:
            lines.insert(index, chance.choice(chance.choice(others).split(b"\n")))
        else:
            lines[index] = _changed_bytes(lines[index], chance)
    return b"\n".join(lines)


def _changed_line(line: bytes, chance: random.Random, others: tuple[bytes, ...]) -> bytes:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return _changed_bytes(line, chance)
    donor = _parsed(chance.choice(chance.choice(others).split(b"\n"))) if others else None
    try:
        return compact(_changed_value(value, chance, donor))
    except RecursionError:
        return line


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _changed_value(value: Any, chance: random.Random, donor: Any) -> Any:
    """Change one place of a value, in the value itself where that is possible."""
    places = _places(value)
    if not places:
        return chance.choice(ODD)
    holder, key = chance.choice(places)
    _change_place(holder, key, chance, donor)
    return value


def _change_place(holder: Any, key: Any, chance: random.Random, donor: Any) -> None:
    def odd() -> Any:
        return copy.deepcopy(chance.choice(ODD))

    def borrowed() -> Any:
        places = _places(donor)
        if not places:
            return odd()
        source, name = chance.choice(places)
        return copy.deepcopy(source[name])

    ways: list[Callable[[], Any]] = [
        lambda: holder.__setitem__(key, odd()),
        lambda: holder.__setitem__(key, borrowed()),
        lambda: holder.__setitem__(key, [holder[key]]),
        lambda: holder.__delitem__(key),
    ]
    if isinstance(holder, dict):
        ways += [
            lambda: holder.__setitem__(chance.choice(["", "_meta", key.upper(), key + "x", "__class__"]), holder[key]),
            lambda: holder.__setitem__(key, copy.deepcopy(holder[chance.choice(list(holder))])),
        ]
    else:
        ways.append(lambda: holder.extend(copy.deepcopy(holder[:20])))
    chance.choice(ways)()


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return every place in a value: the object or array that it is in, and its name or index there."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting and len(found) < 2_000:
        holder = waiting.pop()
        if isinstance(holder, dict):
            keys: Any = list(holder)
        elif isinstance(holder, list):
            keys = range(len(holder))
        else:
            continue
        found += [(holder, key) for key in keys]
        waiting += [holder[key] for key in keys]
    return found


def _changed_bytes(line: bytes, chance: random.Random) -> bytes:
    changing = bytearray(line)
    for _ in range(chance.randint(1, 4)):
        at = chance.randint(0, len(changing))
        changing[at : at + chance.randint(0, 3)] = chance.randbytes(chance.randint(0, 3))
    return bytes(changing)
