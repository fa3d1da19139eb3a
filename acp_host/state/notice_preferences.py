"""How a user wants notices shown: :class:`NoticePreferences`, as data."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from attrs import field, frozen

from acp_host.validators import number
from acp_host.wire.notices import NoticeSeverity

__all__ = ["NoticePreferences", "Politeness", "RateLimit", "SeverityPreferences"]


class Politeness(StrEnum):
    """How a screen reader announces something."""

    POLITE = "polite"
    """When it has finished what it is saying; the live region is ``role="status"``."""
    ASSERTIVE = "assertive"
    """At once; the live region is ``role="alert"``."""


@frozen(kw_only=True)
class RateLimit:
    """How many toasts may open: so many at once, then so many per second. Repeats of an open toast do not count.

    Attributes:
        burst: how many at once, at least 1.
        per_second: how fast the allowance grows again.
    """

    burst: int = field(default=20, validator=number(least=1, whole=True))
    per_second: float = field(default=1.0, validator=number(least=0))


@frozen(kw_only=True)
class SeverityPreferences:
    """How notices of one severity are shown.

    Attributes:
        show: whether they are shown at all; the history keeps them in any case.
        duration: seconds until a toast leaves by itself; ``None``: it stays until it is dismissed.
        politeness: how a screen reader announces them.
        rate_limit: keeps a flood from the screen; ``None``: no limit but the number of toasts.
    """

    show: bool = True
    duration: float | None = field(default=None, validator=number("seconds", above=0, optional=True))
    politeness: Politeness = field(default=Politeness.POLITE, converter=Politeness)
    rate_limit: RateLimit | None = field(factory=RateLimit)


@frozen(kw_only=True)
class NoticePreferences:
    """How notices are shown.

    Attributes:
        info: those of severity ``info``; by default they leave after 6 seconds.
        warning: those of severity ``warning``; by default they stay.
        error: those of severity ``error``; by default they stay, and are announced at once.
        other: those of every other severity; by default they stay.
        extensions: by severity, where an agent's own severities are to be treated differently.
        max_toasts: how many toasts are on the screen at most. The oldest that would leave by itself makes room; where
            all stay until dismissed, the oldest of them.
        coalesce_within: seconds after the last of its kind (same severity, title and description) during which a
            notice is counted with it instead of opening another toast; ``None``: each is for itself.
        toast_replayed: whether notices from a replayed history are shown.
        max_history: how many notices the history keeps.
    """

    info: SeverityPreferences = field(factory=lambda: SeverityPreferences(duration=6.0))
    warning: SeverityPreferences = field(factory=SeverityPreferences)
    error: SeverityPreferences = field(factory=lambda: SeverityPreferences(politeness=Politeness.ASSERTIVE))
    other: SeverityPreferences = field(factory=SeverityPreferences)
    extensions: Mapping[str, SeverityPreferences] = field(factory=dict)
    max_toasts: int = field(default=5, validator=number(least=0, whole=True))
    coalesce_within: float | None = field(default=5.0, validator=number("seconds", least=0, optional=True))
    toast_replayed: bool = False
    max_history: int = field(default=1_000, validator=number(least=0, whole=True))
    _by_severity: Mapping[str, SeverityPreferences] = field(init=False, eq=False, repr=False)

    @_by_severity.default
    def _all_named(self) -> Mapping[str, SeverityPreferences]:
        return {
            NoticeSeverity.INFO: self.info,
            NoticeSeverity.WARNING: self.warning,
            NoticeSeverity.ERROR: self.error,
            **self.extensions,
        }

    def of(self, severity: str) -> SeverityPreferences:
        """Return what holds for a severity."""
        return self._by_severity.get(severity, self.other)
