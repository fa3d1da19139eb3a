"""Everything that is fuzzed: :data:`TARGETS`."""

from __future__ import annotations

from tests.fuzz import document_targets, harn_targets, network_targets, service_targets, state_targets, wire_targets
from tests.fuzz.target import Target

TARGETS: dict[str, Target] = {
    target.name: target
    for targets in (wire_targets, state_targets, harn_targets, service_targets, network_targets, document_targets)
    for target in targets.TARGETS
}
