"""To which prompt a message of Harn belongs, and whether it is told again.

A host that names its prompts (``messageId`` of ``session/prompt``) has the name in everything that belongs to one, as
``promptCorrelation`` of the parameters. What is told again says so in one of three places; the protocol core has made
one of two of them, ``replayed`` of the parameters, and the third is in the ``_meta`` of the update.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from acp_host.wire._model import NO_EXTRA
from acp_host.wire.harn.members import harn_meta

__all__ = ["PROMPT", "REPLAYED", "is_replayed", "prompt_name"]

PROMPT = "promptCorrelation"
"""The parameter that names the prompt that a message belongs to."""
REPLAYED = "replayed"
"""The parameter that says that a message is told again."""


def prompt_name(params: Any) -> str | None:
    """Return the name of the prompt that a message belongs to; ``None`` where it does not say.

    Args:
        params: its parameters, as plain JSON or as a wire type.
    """
    told = _members(params).get(PROMPT)
    name = told.get("messageId") if isinstance(told, Mapping) else None
    return name if isinstance(name, str) else None


def is_replayed(params: Any, meta: Any = None) -> bool:
    """Tell whether a message is told again; arguments as for :func:`prompt_name`, and the ``_meta`` of an update."""
    return _members(params).get(REPLAYED) is True or harn_meta(meta).get(REPLAYED) is True


def _members(params: Any) -> Mapping[str, Any]:
    if isinstance(params, Mapping):
        return params
    extra: Mapping[str, Any] = getattr(params, "extra", NO_EXTRA)
    return extra
