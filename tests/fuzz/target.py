"""What is fuzzed, and the laws that hold: :class:`Target`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from attrs import field, frozen


@frozen
class Target:
    """Something of ours that takes what an agent, a page or a file says.

    Attributes:
        name: of the target.
        run: takes any bytes at all; what it raises is a fault.
        seeds: returns examples to begin with.
        is_json: the examples are lines of JSON, and are changed as such as well as byte by byte.
    """

    name: str
    run: Callable[[bytes], None]
    seeds: Callable[[], Iterable[bytes]] = field(repr=False)
    is_json: bool = True
