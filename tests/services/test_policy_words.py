"""Words mean the same policies wherever they stand."""

from __future__ import annotations

import pytest

from acp_host import PermissionPolicy
from acp_host.services.policy_words import POLICY_WORDS, policy_of_word


@pytest.mark.parametrize(
    ("word", "policy"),
    [
        ("ask", PermissionPolicy.ask()),
        ("deny", PermissionPolicy.deny()),
        ("reject", PermissionPolicy.reject()),
        ("allow-once", PermissionPolicy.allow_once()),
        ("allow_once", PermissionPolicy.allow_once()),
        ("read-only", PermissionPolicy.read_only()),
        ("read_only", PermissionPolicy.read_only()),
        ("allow", None),
        ("", None),
        ("policy.toml", None),
    ],
)
def test_a_word_names_a_policy(word: str, policy: PermissionPolicy | None) -> None:
    assert policy_of_word(word) == policy


def test_words_are_the_names_of_constructors() -> None:
    for word, make in POLICY_WORDS.items():
        assert make == getattr(PermissionPolicy, word.replace("-", "_"))
