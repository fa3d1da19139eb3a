"""What of an agent's words can go back to its server in a header: :func:`can_be_header`."""

from __future__ import annotations

import re

__all__ = ["can_be_header"]

_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_LONGEST = 4096
"""Characters; many servers take no request whose headers have more than 8 KiB together."""


def can_be_header(text: str) -> bool:
    """Tell whether a text can be the value of a header; ids are the agent's and the server's, and may hold anything."""
    return len(text) <= _LONGEST and _VALUE.fullmatch(text) is not None
