"""What ``connect(lint=…)`` can be: :class:`LintMode`.

==========  ===========================================================================================================
``lint=``   a message that does not fit
==========  ===========================================================================================================
``off``     nobody looks; there is no such transport, and it costs nothing
``warn``    a diagnostic for each distinct finding, of either side; else nothing changes
``strict``  likewise, and the first one of the agent ends the connection with a ``DecodeError`` that says what and
            where, before the host has read the message; what waits for an answer fails with it. For tests of agents
==========  ===========================================================================================================
"""

from __future__ import annotations

from enum import StrEnum

__all__ = ["LintMode"]


class LintMode(StrEnum):
    """Whether every message is held against the schema, and what then; see the table of the module."""

    OFF = "off"
    WARN = "warn"
    STRICT = "strict"
