"""Opening a session of earlier again by whichever way works, and saying what was lost: :class:`ReopenPolicy`.

========  ==================================================  ========================================================
step      what it keeps                                       when it is skipped
========  ==================================================  ========================================================
resume    what the agent knows; no history is told            it is not offered; the agent says the session is gone
load      what the agent knows, and the history is told       likewise
new       nothing: another session begins                     the session may still exist, see ``new_after_failure``
========  ==================================================  ========================================================

Owns the ladder; :mod:`acp_host.host.agent_methods` has the requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from enum import StrEnum

from attrs import field, frozen

from acp_host.diagnostics import excerpt
from acp_host.errors import (
    AcpError,
    AuthRequired,
    InternalError,
    InvalidInput,
    MalformedResponse,
    MethodNotFound,
    NotSupported,
    RequestCancelled,
    RequestFailed,
    SessionNotReopened,
)
from acp_host.host.session import Session
from acp_host.host.session_gone import says_gone
from acp_host.redaction import redact, redact_text
from acp_host.validators import number

__all__ = ["Lost", "ReopenAttempt", "ReopenPolicy", "ReopenResult", "ReopenStep", "ReopenedSession", "reopen"]


_LONGEST_DATA = 300
"""Characters of an error's data that a reason has at most."""


class ReopenStep(StrEnum):
    """A way to open a session of earlier."""

    RESUME = "resume"
    LOAD = "load"
    NEW = "new"


class ReopenResult(StrEnum):
    """What came of a step."""

    WORKED = "worked"
    NOT_OFFERED = "not_offered"
    """The agent does not have the method."""
    GONE = "gone"
    """The agent says that it does not know the session."""
    FAILED = "failed"
    """The agent failed for another reason, so that the session may still exist."""


class Lost(StrEnum):
    """What the user should be told is missing."""

    NOTHING = "nothing"
    HISTORY = "history"
    """The agent knows the conversation; what was said before is not in ``session.state``."""
    CONTEXT = "context"
    """The agent knows nothing of the conversation: it is another session."""


def _as_steps(steps: Iterable[ReopenStep | str]) -> tuple[ReopenStep, ...]:
    try:
        return tuple([ReopenStep(step) for step in steps])
    except ValueError:
        raise InvalidInput(f"steps are some of {', '.join(ReopenStep)}, not {steps!r}") from None


def _steps(instance: object, attribute: object, value: tuple[ReopenStep, ...]) -> None:
    if not value or len(set(value)) < len(value):
        raise InvalidInput("there is at least one step, and each is there once")
    if ReopenStep.NEW in value[:-1]:
        raise InvalidInput("the step new always works, so that it comes last")


@frozen(kw_only=True)
class ReopenPolicy:
    """Which ways are tried, in order.

    Attributes:
        steps: as they are tried. A front-end without the transcript puts ``load`` first; one that would rather ask its
            user than go on without the context leaves ``new`` out.
        new_after_failure: begin another session also where the agent has failed for another reason than that the
            session is gone.
        tries: how often a step that fails for a reason that may pass is tried.
        pause: seconds in between.
    """

    steps: tuple[ReopenStep, ...] = field(
        default=(ReopenStep.RESUME, ReopenStep.LOAD, ReopenStep.NEW), converter=_as_steps, validator=_steps
    )
    new_after_failure: bool = False
    tries: int = field(default=2, validator=number(least=1, whole=True))
    pause: float = field(default=0.5, validator=number("seconds", least=0))


@frozen
class ReopenAttempt:
    """One try of a step.

    Attributes:
        step: what was tried.
        result: what came of it.
        reason: what the agent said, or why nothing was sent; empty where it worked.
    """

    step: ReopenStep
    result: ReopenResult
    reason: str = ""


@frozen(kw_only=True)
class ReopenedSession:
    """A session that goes on, and how.

    Attributes:
        session: the session; another one, with another id, if ``step`` is ``new``.
        step: what worked.
        lost: what is missing.
        attempts: everything that was tried, in order; the last one worked.
    """

    session: Session
    step: ReopenStep
    lost: Lost
    attempts: tuple[ReopenAttempt, ...]

    @property
    def summary(self) -> str:
        """One sentence for the user; empty if nothing was lost."""
        if self.lost is Lost.NOTHING:
            return ""
        if self.lost is Lost.HISTORY:
            return "The agent goes on with the conversation; what was said before cannot be shown."
        reasons = [attempt.reason for attempt in self.attempts if attempt.reason]
        why = f" ({reasons[-1]})" if reasons else ""
        return f"A new conversation was started: the agent knows nothing of the one before{why}."


async def reopen(
    session_id: str,
    policy: ReopenPolicy,
    open_by: Callable[[ReopenStep], Awaitable[Session]],
    may_pass: Callable[[RequestFailed], bool],
) -> ReopenedSession:
    """Go down the ladder.

    Args:
        session_id: the session of earlier.
        policy: which steps, and how often.
        open_by: takes one step.
        may_pass: tells whether a failure is one that the agent is known to get over.

    Raises:
        SessionNotReopened: no step worked; has the attempts.
        AuthRequired: the user has to log in first.
        AcpError: the connection has ended, or an argument is wrong.
    """
    attempts: list[ReopenAttempt] = []
    last: AcpError | None = None
    for step in policy.steps:
        failed = any(attempt.result is ReopenResult.FAILED for attempt in attempts)
        if step is ReopenStep.NEW and failed and not policy.new_after_failure:
            break
        for trial in range(policy.tries):
            try:
                session = await open_by(step)
            except (AuthRequired, RequestCancelled):
                raise
            except (NotSupported, MethodNotFound) as error:
                last = error
                attempts.append(ReopenAttempt(step, ReopenResult.NOT_OFFERED, str(error)))
                break
            except MalformedResponse as error:  # whether it is open, nobody can tell
                last = error
                attempts.append(ReopenAttempt(step, ReopenResult.FAILED, str(error)))
                break
            except RequestFailed as error:
                last = error
                gone = step is not ReopenStep.NEW and says_gone(error, session_id, was_open=False)
                result = ReopenResult.GONE if gone else ReopenResult.FAILED
                attempts.append(ReopenAttempt(step, result, _reason(error)))
                if gone or trial + 1 == policy.tries or not (isinstance(error, InternalError) or may_pass(error)):
                    break
                await asyncio.sleep(policy.pause)
            else:
                attempts.append(ReopenAttempt(step, ReopenResult.WORKED))
                return ReopenedSession(session=session, step=step, lost=_lost(step, session), attempts=tuple(attempts))
    raise SessionNotReopened(session_id, tuple(attempts)) from last


def _reason(error: RequestFailed) -> str:
    """Return what the agent said, with the data in which many have put the reason proper; without secrets."""
    if error.data is None:
        return str(error)
    return f"{error}, {excerpt(redact_text(str(redact(error.data))))[:_LONGEST_DATA]}"


def _lost(step: ReopenStep, session: Session) -> Lost:
    if step is ReopenStep.NEW:
        return Lost.CONTEXT
    return Lost.HISTORY if session.lacks_history else Lost.NOTHING
