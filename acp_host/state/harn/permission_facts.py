"""What Harn says of a permission request beyond ACP: :class:`PermissionFacts`, as ``harn`` of a ``Question``."""

from __future__ import annotations

from typing import Any

from acp_host.state._value import plain_json, value
from acp_host.state.harn.audit import MutationRecord
from acp_host.state.harn.tool_facts import ToolFacts

__all__ = ["Approval", "Evidence", "MatchedRule", "PermissionFacts", "PolicyDecision", "ToolDescriptor"]


@value
class Evidence:
    """What the agent has looked at before it asked.

    Attributes:
        kind: ``file_mutation_diff``: the request shows the change. ``file_preimage``: the file will be changed, and how
            cannot be shown. Or another word.
        path: the file.
        preimage_sha256: SHA-256 of the file as it is, in hexadecimal digits.
        byte_count: size of the file as it is.
        source: when it was looked at, e.g. ``pre_approval``.
        unavailable: why the change cannot be shown; ``None`` where it can, or if not said.
    """

    kind: str
    path: str | None = None
    preimage_sha256: str | None = None
    byte_count: int | None = None
    source: str | None = None
    unavailable: str | None = None


@value
class Approval:
    """What the agent asks for, as it keeps account of it.

    Attributes:
        id: its id.
        action: what is to be done, e.g. the tool's name.
        args: with what.
        principal: for whom.
        requested_at: when it was asked for; opaque.
        deadline: until when an answer is of use; opaque.
        approvers_required: how many have to allow it.
        evidence: what the agent has looked at.
        capabilities_requested: what it needs, e.g. ``tool.edit_file``.
    """

    id: str | None = None
    action: str | None = None
    args: Any = plain_json(default=None)
    principal: str | None = None
    requested_at: str | None = None
    deadline: str | None = None
    approvers_required: int | None = None
    evidence: tuple[Evidence, ...] = ()
    capabilities_requested: tuple[str, ...] = ()


@value
class MatchedRule:
    """The rule of the agent's policy that wants somebody to be asked.

    Attributes:
        source: where it stands.
        action: what it says.
        id: its name.
        index: its place among the rules.
    """

    source: str | None = None
    action: str | None = None
    id: str | None = None
    index: int | None = None


@value
class PolicyDecision:
    """Why the agent asks.

    Attributes:
        action: what its policy says, e.g. ``ask``.
        reason: why, for people.
        matched_rule: the rule that says so.
        risk_labels: what is risky about it.
        tool_name: the tool.
        tool_kind: sort of the tool.
        side_effect: how far it reaches: ``read_only``, ``workspace_write``, ``process_exec``, ``network``,
            ``desktop_control`` or another word.
        paths: files that it is about.
    """

    action: str | None = None
    reason: str | None = None
    matched_rule: MatchedRule | None = None
    risk_labels: tuple[str, ...] = ()
    tool_name: str | None = None
    tool_kind: str | None = None
    side_effect: str | None = None
    paths: tuple[str, ...] = ()


@value
class ToolDescriptor:
    """The tool that is to be used, as its server describes it.

    Attributes:
        description: for people and models; whoever offers the tool has written it.
        input_schema: JSON Schema of what it takes.
        schema_changed: that is not what it was before: warn the user.
    """

    description: str | None = None
    input_schema: Any = plain_json(default=None)
    schema_changed: bool = False


@value
class PermissionFacts:
    """What Harn says of a permission request.

    Attributes:
        tool_name: the tool.
        approval: what is asked for.
        decision: why it is asked for.
        descriptor: how the tool describes itself.
        mutation: which changes the work may make that it is a part of.
        tool: what is said of the tool call itself.
    """

    tool_name: str | None = None
    approval: Approval | None = None
    decision: PolicyDecision | None = None
    descriptor: ToolDescriptor | None = None
    mutation: MutationRecord | None = None
    tool: ToolFacts | None = None

    @property
    def not_shown(self) -> tuple[Evidence, ...]:
        """Files that will be changed in a way that the request cannot show; no diff does not mean no change."""
        evidence = () if self.approval is None else self.approval.evidence
        return tuple(each for each in evidence if each.kind == "file_preimage" or each.unavailable is not None)

    @property
    def schema_changed(self) -> bool:
        """Whether the tool takes something else than it did before: warn the user."""
        return self.descriptor is not None and self.descriptor.schema_changed
