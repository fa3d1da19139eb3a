"""How long a cancelled turn may take to end: :class:`CancelTimeouts`."""

from __future__ import annotations

from attrs import frozen

__all__ = ["CancelTimeouts"]


@frozen(kw_only=True)
class CancelTimeouts:
    """When a cancelled turn that does not end is helped along, and when it is given up.

    Attributes:
        grace: seconds from ``session/cancel`` until the prompt itself is withdrawn with ``$/cancel_request``.
        withdrawn: further seconds until this side ends the turn by itself.
    """

    grace: float = 10.0
    withdrawn: float = 5.0
