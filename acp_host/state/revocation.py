"""The answer to the wish to take a reminder back: :class:`Revocation`."""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen

__all__ = ["Revocation", "RevokeResult"]


class RevokeResult(StrEnum):
    """What became of the wish to take a reminder back."""

    REVOKED = "revoked"
    ALREADY_REVOKED = "already_revoked"
    ALREADY_DELIVERED = "already_delivered"
    NOT_SUPPORTED = "not_supported"


@frozen
class Revocation:
    """A reminder that was to be taken back.

    Attributes:
        id: its host-local id.
        result: one of :class:`RevokeResult`.
    """

    id: str
    result: RevokeResult
