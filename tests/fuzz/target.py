"""What is fuzzed, and the laws that hold: :class:`Target`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from attrs import field, frozen


@frozen
class Target:
    """Something of ours that takes what an agent, a page or a file says.

    Attributes:
        name: of the target.
        run: takes any bytes at all; what it raises is a fault.
        seeds: returns examples to begin with.
        is_json: the examples are lines of JSON, and are changed as such as well as byte by byte.
        code: packages and modules whose branches guide the changes: those that the target is about. To watch more
            of them costs more than what is run.
        longest: longest input, in bytes. What short inputs lead to is found sooner.
    """

    name: str
    run: Callable[[bytes], None]
    seeds: Callable[[], Iterable[bytes]] = field(repr=False)
    is_json: bool = field(default=True, kw_only=True)
    code: tuple[str, ...] = field(default=("acp_host",), kw_only=True)
    longest: int = field(default=600, kw_only=True)

    def fitting_seeds(self) -> Iterator[bytes]:
        """Yield the examples that are not too long; of text, their beginnings."""
        for seed in self.seeds():
            if not self.is_json:
                yield seed[: self.longest]
            elif len(seed) <= self.longest:
                yield seed
