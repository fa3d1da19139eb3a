"""Why Harn refuses a request, in a word: :func:`refusal_reason`.

Its errors share few codes. What tells them apart is, in this order, ``data.reason``, ``data.code``, or a word in the
message: a code of its own for reminders, ``invalid_model`` at the beginning for models.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from acp_host.errors import RequestFailed

__all__ = ["refusal_reason"]

_WORD = re.compile(r"HARN-RMD-\d{3}|\Ainvalid_model(?=:)")
_LONGEST_READ = 4_096


def refusal_reason(error: RequestFailed) -> str | None:
    """Return the word for why a request was refused, as sent; ``None`` where there is none.

    Such words are e.g. ``already_delivered``, ``environment_policy.missing``, ``HARN-RMD-001``.
    """
    data: Any = error.data
    if isinstance(data, Mapping):
        for name in ("reason", "code"):
            word = data.get(name)
            if isinstance(word, str) and word:
                return word
    found = _WORD.search(error.message[:_LONGEST_READ])
    return None if found is None else found.group()
