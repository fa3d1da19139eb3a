"""Permission policies that one word names, wherever people write one: :func:`policy_of_word`.

==============  ==========================================================
``ask``         ask for everything
``deny``        refuse everything; ``reject`` is another word for it
``allow-once``  allow everything, each time anew
``read-only``   let the agent read, search and think, refuse the rest
==============  ==========================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from acp_host.services.permissions import PermissionPolicy

__all__ = ["POLICY_WORDS", "policy_of_word"]

POLICY_WORDS: Mapping[str, Callable[[], PermissionPolicy]] = {
    "ask": PermissionPolicy.ask,
    "deny": PermissionPolicy.reject,
    "reject": PermissionPolicy.reject,
    "allow-once": PermissionPolicy.allow_once,
    "read-only": PermissionPolicy.read_only,
}
"""Word → what makes the policy."""


def policy_of_word(word: str) -> PermissionPolicy | None:
    """Return the policy that a word names, which may have ``_`` in place of ``-``; ``None``: it names none."""
    make = POLICY_WORDS.get(word.replace("_", "-"))
    return None if make is None else make()
