"""What a run may take: :class:`Timeouts`, :class:`Budget` and :class:`Retries`."""

from __future__ import annotations

from typing import Any

from attrs import Attribute, field, frozen

from acp_host.errors import InvalidInput
from acp_host.validators import number

__all__ = ["Budget", "Retries", "Timeouts", "same_currency"]

_SECONDS = number("seconds", above=0, optional=True)


@frozen(kw_only=True)
class Timeouts:
    """How long a run may take, in seconds; ``None`` for no limit of its own.

    Attributes:
        start: from the launch of the agent until its session is open, in each attempt. Without one, those of
            ``connect(start_timeouts=…)`` hold for the launch.
        idle: without any word of the agent while its turn runs; an open question to a person stops the clock.
        total: for all of it, retries included.
    """

    start: float | None = field(default=None, validator=_SECONDS)
    idle: float | None = field(default=None, validator=_SECONDS)
    total: float | None = field(default=None, validator=_SECONDS)


def _is_currency(instance: Any, attribute: Attribute[Any], value: Any) -> None:
    if value is not None and not (isinstance(value, str) and value.strip()):
        raise InvalidInput(f"Budget(currency=…) is a word such as USD, or None, not {value!r}")


@frozen(kw_only=True)
class Budget:
    """What a run may spend, all its attempts together; ``None`` for no limit. It holds as far as the agent reports.

    A turn that has spent more is cancelled, so that a little more than this may be spent.

    Attributes:
        tokens: tokens that the model reads and writes. Agents say them at the end of a turn; until then, the size of
            the context is the least that it can have been.
        cost: money, in units of ``currency``.
        currency: what ``cost`` is in, e.g. ``USD``, in letters of either case; ``None``: whatever the agent reports. A
            cost in another currency counts as not reported: this limit is not held then.
        turns: requests to the model, which agents tell of that are built on Harn.
    """

    tokens: int | None = field(default=None, validator=number("tokens", above=0, whole=True, optional=True))
    cost: float | None = field(default=None, validator=number("money", above=0, optional=True))
    currency: str | None = field(default=None, validator=_is_currency)
    turns: int | None = field(default=None, validator=number("requests", above=0, whole=True, optional=True))

    def counts(self, currency: str) -> bool:
        """Whether a cost in ``currency`` is one that the limit is about."""
        return self.currency is None or same_currency(self.currency, currency)


def same_currency(one: str, other: str) -> bool:
    """Return whether two words are the same currency; agents and people write them in letters of either case."""
    return one.strip().casefold() == other.strip().casefold()


@frozen(kw_only=True)
class Retries:
    """Whether a run that failed is tried again.

    What is tried again is what may pass and was certainly not begun: an agent that could not be reached or that ended
    before the prompt was written. A command that does not exist, a login that is needed, or an agent that says no are
    not tried again; nor, unless ``after_prompt`` says so, is a prompt that was sent.

    Attributes:
        attempts: how often it is tried at most, the first time included.
        delay: seconds before the second attempt; each further one waits twice as long.
        longest_delay: seconds of the longest wait.
        after_prompt: also where the prompt was sent and the agent has failed, or was lost: it may have done some of its
            work, which is then done twice.
    """

    attempts: int = field(default=1, validator=number("attempts", least=1, whole=True))
    delay: float = field(default=1.0, validator=number("seconds", least=0))
    longest_delay: float = field(default=60.0, validator=number("seconds", least=0))
    after_prompt: bool = False

    @classmethod
    def of(cls, given: Retries | int) -> Retries:
        """Return what an argument stands for, in which a number is that of further attempts after the first.

        Raises:
            InvalidInput: it is neither.
        """
        if isinstance(given, Retries):
            return given
        if isinstance(given, bool) or not isinstance(given, int) or given < 0:
            raise InvalidInput(f"retries is a number, 0 or more, or Retries(…), not {given!r}")
        return cls(attempts=given + 1)

    def delay_before(self, attempt: int) -> float:
        """Return the seconds to wait before an attempt, from the second on."""
        wait: float = self.delay * 2.0 ** min(attempt - 2, 64)
        return min(self.longest_delay, wait)
