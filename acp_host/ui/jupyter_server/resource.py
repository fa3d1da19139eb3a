"""The name under which the server's authorizer knows what is ours: :data:`RESOURCE`."""

from __future__ import annotations

__all__ = ["RESOURCE"]

RESOURCE = "acp"
"""Its actions are ``read``: look; ``execute``: act through an agent; ``write``: start and stop agents."""
