"""What Harn says of a tool call beyond ACP: :class:`ToolFacts`, as ``harn`` of a ``ToolCallEntry``."""

from __future__ import annotations

from typing import Any

import attrs

from acp_host.state._value import plain_json, value
from acp_host.state.harn.audit import MutationRecord
from acp_host.wire._model import evolve

__all__ = ["Executor", "SkippedPath", "ToolFacts"]


@value
class Executor:
    """What carries a tool call out.

    Attributes:
        kind: ``harn_builtin``, ``host_bridge``, ``provider_native``, ``mcp_server`` or another word.
        server_name: the MCP server's name, where it is one.
    """

    kind: str
    server_name: str | None = None


@value
class SkippedPath:
    """A file that was left as it is, where others were brought back to what they were, or written.

    Attributes:
        path: the file.
        reason: why; ``None`` if not said.
    """

    path: str
    reason: str | None = None


@value
class ToolFacts:
    """What Harn says of a tool call, each as it was said last; ``None`` is what was never said.

    Attributes:
        audit: which changes it may make.
        executor: what carries it out; not said before that is chosen.
        duration_ms: milliseconds that it took as a whole.
        execution_duration_ms: milliseconds of them in which it was carried out.
        error: what went wrong.
        error_category: sort of that, e.g. ``schema_validation``, ``permission_denied``, ``timeout``, ``cancelled``,
            ``abandoned_at_loop_exit``, or another word.
        mutation_status: whether it has changed something: ``applied``, ``unchanged``, ``not_applied``, ``unknown`` or
            another word.
        changed_paths: files that it has changed, relative to the working directory.
        data: what the tool knows of it, as sent.
        parsing: its arguments are still being written.
        raw_input_partial: its arguments so far, where they cannot be read yet.
        intent: what the model wants with it, in a line.
        restored_paths: files that were brought back to what they were before it.
        skipped_paths: files that were not.
    """

    audit: MutationRecord | None = None
    executor: Executor | None = None
    duration_ms: float | None = None
    execution_duration_ms: float | None = None
    error: str | None = None
    error_category: str | None = None
    mutation_status: str | None = None
    changed_paths: tuple[str, ...] | None = None
    data: Any = plain_json(default=None)
    parsing: bool | None = None
    raw_input_partial: str | None = None
    intent: str | None = None
    restored_paths: tuple[str, ...] | None = None
    skipped_paths: tuple[SkippedPath, ...] | None = None

    @property
    def contradicts_audit(self) -> bool:
        """Whether it has changed something although its audit says that nothing is to be changed."""
        has_changed = self.mutation_status == "applied" or bool(self.changed_paths)
        return has_changed and self.audit is not None and self.audit.is_read_only

    def after(self, known: ToolFacts | None) -> ToolFacts:
        """Return what is known once this was said after ``known``: what it does not mention stays."""
        if known is None:
            return self
        return evolve(known, **{name: said for name in _NAMES if (said := getattr(self, name)) is not None})


_FACTS: Any = ToolFacts
_NAMES = tuple(attribute.name for attribute in attrs.fields(_FACTS))
