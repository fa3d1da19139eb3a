"""How a decision becomes one of the options that an agent offers, and which answers are valid.

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
``ask``            as ``reject_once``: nobody was there to be asked
``cancel``         none
=================  ========================================================

``cancelled`` is a last resort, because several agents end the whole turn on it.

Specification: Tool Calls, Requesting Permission.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

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

__all__ = [
    "ALLOWING",
    "REJECTING",
    "PermissionDecision",
    "chosen_option",
    "decision_of",
    "outcome_for",
    "validate_outcome",
]


class PermissionDecision(StrEnum):
    """What a policy decides; :mod:`acp_host.services.permission_options` says which option that chooses."""

    ALLOW_ONCE = "allow_once"
    ALLOW_ALWAYS = "allow_always"
    REJECT_ONCE = "reject_once"
    REJECT_ALWAYS = "reject_always"
    ASK = "ask"
    CANCEL = "cancel"

    @property
    def allows(self) -> bool:
        """Whether it lets the agent do what it wants."""
        return self in (PermissionDecision.ALLOW_ONCE, PermissionDecision.ALLOW_ALWAYS)


ALLOWING = (PermissionOptionKind.ALLOW_ONCE, PermissionOptionKind.ALLOW_ALWAYS)
"""The kinds of options that let the agent do what it wants."""
REJECTING = (PermissionOptionKind.REJECT_ONCE, PermissionOptionKind.REJECT_ALWAYS)
"""Those that do not."""
_KINDS: Mapping[PermissionDecision, tuple[PermissionOptionKind, ...]] = {
    PermissionDecision.ALLOW_ONCE: (PermissionOptionKind.ALLOW_ONCE, *REJECTING),
    PermissionDecision.ALLOW_ALWAYS: (PermissionOptionKind.ALLOW_ALWAYS, PermissionOptionKind.ALLOW_ONCE, *REJECTING),
    PermissionDecision.REJECT_ONCE: REJECTING,
    PermissionDecision.REJECT_ALWAYS: REJECTING[::-1],
    PermissionDecision.ASK: REJECTING,
    PermissionDecision.CANCEL: (),
}


def decision_of(value: str) -> PermissionDecision:
    """Return the decision that a word stands for; raises ``InvalidInput`` for any other."""
    try:
        return PermissionDecision(value)
    except ValueError:
        raise InvalidInput(f"a permission decision is one of {', '.join(PermissionDecision)}, not {value!r}") from None


def outcome_for(decision: PermissionDecision, options: Sequence[PermissionOption]) -> RequestPermissionOutcome:
    """Return the outcome that says ``decision`` with one of the options; see the table of this module."""
    for kind in _KINDS[decision]:
        option = _plain_option(options, kind)
        if option is not None:
            return SelectedPermissionOutcome(option_id=option.option_id)
    return CancelledPermissionOutcome()


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
        said = outcome.option_id if isinstance(outcome, SelectedPermissionOutcome) else outcome
        raise InvalidInput(f"a permission request is answered with one of {offered} or cancelled, not with {said!r}")
    return outcome


def chosen_option(request: RequestPermissionRequest, outcome: RequestPermissionOutcome) -> PermissionOption | None:
    """Return the option that an outcome chooses; ``None`` if it chooses none, or leaves open which of several."""
    if not isinstance(outcome, SelectedPermissionOutcome):
        return None
    found = [option for option in request.options if option.option_id == outcome.option_id]
    return found[0] if len(found) == 1 else None


def _plain_option(options: Sequence[PermissionOption], kind: PermissionOptionKind) -> PermissionOption | None:
    """Return the one option of ``kind``; ``None`` if there is none, or if choosing it would leave doubt."""
    found = [option for option in options if option.kind == kind]
    if len(found) != 1 or sum(option.option_id == found[0].option_id for option in options) != 1:
        return None
    return found[0]
