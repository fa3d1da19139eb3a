"""Who decides in a notebook: :func:`asking`, which asks whoever looks at the widget where nobody else is asked."""

from __future__ import annotations

from typing import Any

from attrs import evolve

from acp_host.errors import InvalidInput
from acp_host.services.permission_queue import PermissionQueue
from acp_host.services.permissions import PermissionPolicy, Permissions
from acp_host.services.policy_words import POLICY_WORDS, policy_of_word

__all__ = ["asking"]


def asking(given: Any) -> tuple[Any, PermissionQueue | None]:
    """Return what ``connect(permissions=…)`` gets, and the queue in which it asks, if it does.

    Args:
        given: a word, or what ``connect`` takes; what a policy does not decide is asked in the queue, and with ``None``
            everything is. A function answers by itself.

    Raises:
        InvalidInput: it is another word.
    """
    if isinstance(given, PermissionQueue):
        return given, given
    if isinstance(given, str):
        given = _policy(given)
    if isinstance(given, PermissionPolicy):
        given = Permissions(policy=given)
    if given is None:
        given = Permissions(direct=False)
    if not isinstance(given, Permissions):
        return given, None
    if given.ask is None:
        given = evolve(given, ask=PermissionQueue())
    return given, given.ask if isinstance(given.ask, PermissionQueue) else None


def _policy(word: str) -> PermissionPolicy:
    policy = policy_of_word(word)
    if policy is None:
        raise InvalidInput(f"permissions= takes the words {', '.join(POLICY_WORDS)}, and not {word!r}")
    return policy
