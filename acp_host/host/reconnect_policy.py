"""When and how often a lost connection is made again: :class:`ReconnectPolicy`; a table of numbers, nothing more."""

from __future__ import annotations

from attrs import field, frozen

from acp_host.host.reopening import ReopenPolicy, ReopenStep
from acp_host.transports import Transport
from acp_host.validators import number

__all__ = ["ReconnectPolicy", "policy_for"]

_NOT_NEGATIVE = number(least=0, endless=True)
_POSITIVE = number(above=0, endless=True)
_AT_LEAST_ONE = number(least=1, endless=True)


def _goes_on() -> ReopenPolicy:
    return ReopenPolicy(steps=(ReopenStep.RESUME, ReopenStep.LOAD))


@frozen(kw_only=True)
class ReconnectPolicy:
    """How a lost connection is made again.

    The n-th try comes ``first_delay * factor ** (n - 1)`` seconds after the one before, at most ``longest_delay``; of
    that, a random part of at most ``jitter`` is left out, so that many hosts do not come back in one moment.

    Attributes:
        first_delay: seconds from the loss to the first try.
        factor: how much longer each wait is than the one before.
        longest_delay: seconds of the longest wait.
        jitter: between 0 (none) and 1.
        budget: seconds from the loss until it is given up. It must be longer than the other end takes to notice that
            the connection is gone (a heartbeat, a proxy that restarts), or all is given up for a hiccup.
        tries: how often it is tried at most.
        stable_after: seconds that a connection must last to count as one; one that is lost sooner goes on with the
            tries and the budget of the loss before, so that an agent that ends as soon as it starts is given up.
        calls_wait: seconds that a call waits which is made meanwhile; then it raises ``ConnectionLost``, and nothing
            was sent. 0: at once.
        session_timeout: seconds that each session may take to be opened again.
        sessions: the ways in which they may be, in order. By default ``resume`` and ``load``, after which the agent
            knows the conversation. With ``new``, a session that the agent has lost goes on in a new conversation of
            the agent's, of which the user is told.
    """

    first_delay: float = field(default=0.5, validator=_NOT_NEGATIVE)
    factor: float = field(default=2.0, validator=_AT_LEAST_ONE)
    longest_delay: float = field(default=30.0, validator=_NOT_NEGATIVE)
    jitter: float = field(default=0.5, validator=number(least=0, most=1))
    budget: float = field(default=180.0, validator=_POSITIVE)
    tries: int = field(default=20, validator=_AT_LEAST_ONE)
    stable_after: float = field(default=10.0, validator=_NOT_NEGATIVE)
    calls_wait: float = field(default=30.0, validator=_NOT_NEGATIVE)
    session_timeout: float = field(default=60.0, validator=_POSITIVE)
    sessions: ReopenPolicy = field(factory=_goes_on)

    def delay(self, attempt: int, random: float) -> float:
        """Return the seconds to wait before a try.

        Args:
            attempt: which try, from 1.
            random: anything from 0 up to 1.
        """
        # The exponent is bounded: a power of a large number is no number any more.
        whole = min(self.longest_delay, self.first_delay * self.factor ** min(attempt - 1, 64))
        return whole * (1.0 - self.jitter * random)


def policy_for(wanted: ReconnectPolicy | bool | None, transport: Transport) -> ReconnectPolicy | None:
    """Return the policy for a transport; ``None``: a lost connection is not made again.

    Args:
        wanted: what the application said; ``None``: over the network, and not for a process of this machine.
        transport: the way to the agent.
    """
    if isinstance(wanted, ReconnectPolicy):
        return wanted
    return ReconnectPolicy() if (transport.remote if wanted is None else wanted) else None
