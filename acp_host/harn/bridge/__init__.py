"""What a host serves to Harn agents; :class:`~acp_host.harn.bridge.bridge.HarnBridge` puts it together."""

from __future__ import annotations

from acp_host.harn.bridge.attestation import AttestationAdapter, AttestationRequest
from acp_host.harn.bridge.bridge import BridgeTimeouts, HarnBridge
from acp_host.harn.bridge.operations import HostCall, Operation
from acp_host.harn.bridge.skill_folder import SkillFolder
from acp_host.harn.bridge.skill_matching import SkillCandidate, SkillMatch, SkillMatcher, SkillMatchRequest
from acp_host.harn.bridge.skills import Skill, SkillEntry, SkillProvider
from acp_host.harn.bridge.tools import HostTool, ToolDenied
from acp_host.services.shells import Shell, Shells

__all__ = [
    "AttestationAdapter",
    "AttestationRequest",
    "BridgeTimeouts",
    "HarnBridge",
    "HostCall",
    "HostTool",
    "Operation",
    "Shell",
    "Shells",
    "Skill",
    "SkillCandidate",
    "SkillEntry",
    "SkillFolder",
    "SkillMatch",
    "SkillMatchRequest",
    "SkillMatcher",
    "SkillProvider",
    "ToolDenied",
]
