"""Permission policies that one word names, wherever people write one: :func:`policy_of_word`.

==============  ==========================================================
``ask``         ask for everything
``deny``        refuse everything
``allow-once``  allow everything, each time anew
``read-only``   let the agent read, search and think, refuse the rest
==============  ==========================================================

The constructors of :class:`~acp_host.services.permissions.PermissionPolicy` have the same names, with ``_`` for ``-``.
``reject`` is an earlier word for ``deny``, and words may be written with ``_`` too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from acp_host.services.permissions import PermissionPolicy

__all__ = ["POLICY_WORDS", "policy_of_word"]

POLICY_WORDS: Mapping[str, Callable[[], PermissionPolicy]] = {
    "ask": PermissionPolicy.ask,
    "deny": PermissionPolicy.deny,
    "allow-once": PermissionPolicy.allow_once,
    "read-only": PermissionPolicy.read_only,
}
"""Word → what makes the policy."""
_EARLIER: Mapping[str, str] = {"reject": "deny"}


def policy_of_word(word: str) -> PermissionPolicy | None:
    """Return the policy that a word names; ``None``: it names none."""
    word = word.replace("_", "-")
    make = POLICY_WORDS.get(_EARLIER.get(word, word))
    return None if make is None else make()
