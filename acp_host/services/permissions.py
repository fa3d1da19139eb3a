"""Who answers when the agent asks for permission: a :class:`PermissionPolicy` or the application's own handler.

Owns how a decision becomes one of the options that the agent offered, and the check that an answer is one of them. It
does not own when a question is asked or withdrawn: at ``session/cancel`` the host answers ``cancelled`` by itself.

An option is found by its kind, never by its position or its label, and only where that leaves no doubt: it is the only
one of its kind, and no other option shares its id, since the id is all that the agent hears. An option of a kind that
this library does not know is never chosen. Each decision has a list of kinds, and the first that leaves no doubt is
chosen; where none does, the outcome is ``cancelled``:

=================  ========================================================
decision           kinds
=================  ========================================================
``allow_once``     ``allow_once``, ``reject_once``, ``reject_always``
``allow_always``   ``allow_always``, ``allow_once``, ``reject_once``, ``reject_always``
``reject_once``    ``reject_once``, ``reject_always``
``reject_always``  ``reject_always``, ``reject_once``
``cancel``         none
=================  ========================================================

``cancelled`` is a last resort, because several agents end the whole turn on it.

Specification: Tool Calls, Requesting Permission.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Mapping, Sequence
from enum import StrEnum
from typing import Protocol

from attrs import field, frozen

from acp_host.errors import InvalidInput
from acp_host.wire.ids import PermissionOptionId
from acp_host.wire.permission import (
    CancelledPermissionOutcome,
    PermissionOption,
    PermissionOptionKind,
    RequestPermissionOutcome,
    RequestPermissionRequest,
    SelectedPermissionOutcome,
)

__all__ = ["PermissionDecision", "PermissionHandler", "PermissionPolicy", "answer_permission", "validate_outcome"]


class PermissionDecision(StrEnum):
    """What a policy decides; :mod:`acp_host.services.permissions` says which option that chooses."""

    ALLOW_ONCE = "allow_once"
    ALLOW_ALWAYS = "allow_always"
    REJECT_ONCE = "reject_once"
    REJECT_ALWAYS = "reject_always"
    CANCEL = "cancel"


class PermissionHandler(Protocol):
    """The application's answer to a permission request: a function or coroutine function.

    It returns an outcome, or only the id of the chosen option. ``request.options`` are in the agent's order; show all
    of them, even where several have the same kind.
    """

    def __call__(
        self, request: RequestPermissionRequest, /
    ) -> RequestPermissionOutcome | PermissionOptionId | Awaitable[RequestPermissionOutcome | PermissionOptionId]: ...


_KINDS: Mapping[PermissionDecision, tuple[PermissionOptionKind, ...]] = {
    PermissionDecision.ALLOW_ONCE: (
        PermissionOptionKind.ALLOW_ONCE,
        PermissionOptionKind.REJECT_ONCE,
        PermissionOptionKind.REJECT_ALWAYS,
    ),
    PermissionDecision.ALLOW_ALWAYS: (
        PermissionOptionKind.ALLOW_ALWAYS,
        PermissionOptionKind.ALLOW_ONCE,
        PermissionOptionKind.REJECT_ONCE,
        PermissionOptionKind.REJECT_ALWAYS,
    ),
    PermissionDecision.REJECT_ONCE: (PermissionOptionKind.REJECT_ONCE, PermissionOptionKind.REJECT_ALWAYS),
    PermissionDecision.REJECT_ALWAYS: (PermissionOptionKind.REJECT_ALWAYS, PermissionOptionKind.REJECT_ONCE),
    PermissionDecision.CANCEL: (),
}


def _decision(value: str) -> PermissionDecision:
    try:
        return PermissionDecision(value)
    except ValueError:
        raise InvalidInput(f"a permission decision is one of {', '.join(PermissionDecision)}, not {value!r}") from None


@frozen
class PermissionPolicy:
    """Answers permission requests without asking anybody; a value, which can be compared and stored.

    Attributes:
        default: what is decided; one of :class:`PermissionDecision` or its word.

    Raises:
        InvalidInput: ``default`` is another word.
    """

    default: PermissionDecision = field(default=PermissionDecision.REJECT_ONCE, converter=_decision)

    @classmethod
    def reject(cls) -> PermissionPolicy:
        """Return the policy that refuses everything, each time anew."""
        return cls(PermissionDecision.REJECT_ONCE)

    @classmethod
    def allow_once(cls) -> PermissionPolicy:
        """Return the policy that allows everything the agent asks for, each time anew."""
        return cls(PermissionDecision.ALLOW_ONCE)

    def decide(self, request: RequestPermissionRequest) -> RequestPermissionOutcome:
        """Return the outcome for ``request``; see the table of this module."""
        for kind in _KINDS[self.default]:
            option = _plain_option(request.options, kind)
            if option is not None:
                return SelectedPermissionOutcome(option_id=option.option_id)
        return CancelledPermissionOutcome()


async def answer_permission(
    answerer: PermissionPolicy | PermissionHandler, request: RequestPermissionRequest
) -> RequestPermissionOutcome:
    """Return the valid outcome that a policy or a handler gives for ``request``.

    Raises:
        InvalidInput: the handler's answer is none of the request's options.
        Exception: whatever the handler raises.
    """
    if isinstance(answerer, PermissionPolicy):
        return answerer.decide(request)
    answer = answerer(request)
    return validate_outcome(request, await answer if inspect.isawaitable(answer) else answer)


def validate_outcome(
    request: RequestPermissionRequest, answer: RequestPermissionOutcome | PermissionOptionId
) -> RequestPermissionOutcome:
    """Return ``answer`` as an outcome for ``request``.

    Args:
        request: the question.
        answer: an outcome, or the id of the chosen option.

    Raises:
        InvalidInput: it is neither ``cancelled`` nor the id of one of the request's options.
    """
    outcome = SelectedPermissionOutcome(option_id=answer) if isinstance(answer, str) else answer
    if isinstance(outcome, CancelledPermissionOutcome):
        return outcome
    offered = [option.option_id for option in request.options]
    if not isinstance(outcome, SelectedPermissionOutcome) or outcome.option_id not in offered:
        raise InvalidInput(f"a permission request is answered with one of {offered} or cancelled, not with {answer!r}")
    return outcome


def _plain_option(options: Sequence[PermissionOption], kind: PermissionOptionKind) -> PermissionOption | None:
    """Return the one option of ``kind``; ``None`` if there is none, or if choosing it would leave doubt."""
    found = [option for option in options if option.kind == kind]
    if len(found) != 1 or sum(option.option_id == found[0].option_id for option in options) != 1:
        return None
    return found[0]
