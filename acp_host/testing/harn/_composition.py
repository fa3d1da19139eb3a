"""A run of composed tool calls of the Harn-like agent: :class:`CompositionRun`."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

__all__ = ["CompositionRun"]


class CompositionRun:
    """A snippet of code whose calls are told one by one. Made by
    :meth:`~acp_host.testing.harn.turn.HarnTurn.composition`.

    Args:
        id: its id.
        ceiling: the side effects that it asked for, e.g. ``read_only``.
        tell: sends an event of the agent: kind and fields.
    """

    def __init__(self, id: str, ceiling: str, tell: Callable[..., None]) -> None:
        self.id = id
        self._tell = tell
        self._numbers = itertools.count()
        self._parent = {
            "runId": id,
            "language": "harn",
            "snippetHash": f"sha256:{id}",
            "bindingManifestHash": "sha256:manifest",
            "requestedSideEffectCeiling": ceiling,
        }
        tell("composition_start", **self._parent)

    def call(self, tool: str, level: str, *, status: str = "completed", output: Any = None, error: Any = None) -> None:
        """Tell of one call, and of its result."""
        number = next(self._numbers)
        same = {"runId": self.id, "toolCallId": f"{self.id}-{number}", "toolName": tool, "operationIndex": number}
        self._tell(
            "composition_child_call",
            **same,
            annotations={"kind": "edit" if level != "read_only" else "read", "side_effect_level": level},
            requestedSideEffectLevel=level,
            policyContext={},
            rawInput={},
        )
        self._tell(
            "composition_child_result",
            **same,
            status=status,
            rawOutput=output,
            error=error,
            errorCategory="permission_denied" if error else None,
            executor="harn_builtin",
            durationMs=1,
            executionDurationMs=1,
        )

    def finish(self, result: Any = None) -> None:
        """Tell that it succeeded."""
        self._tell("composition_finish", **self._parent, stdout="", stderr="", result=result, durationMs=2)

    def fail(self, error: str, category: str = "tool_error") -> None:
        """Tell that it failed."""
        self._tell("composition_error", **self._parent, error=error, failureCategory=category, durationMs=2)
