"""Methods outside the protocol: their parameters and results can be any JSON.

Owns three names. The methods that this library knows are in :mod:`acp_host.wire.methods`.

Specification: Extensibility.
"""

from __future__ import annotations

from typing import TypeAlias

from acp_host.wire._model import Json

__all__ = ["ExtNotification", "ExtRequest", "ExtResponse"]

ExtRequest: TypeAlias = Json
"""Parameters of a request that the protocol does not define."""
ExtResponse: TypeAlias = Json
"""Result of a request that the protocol does not define."""
ExtNotification: TypeAlias = Json
"""Parameters of a notification that the protocol does not define."""
