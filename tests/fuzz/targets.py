"""Everything that is fuzzed: :data:`TARGETS`."""

from __future__ import annotations

from tests.fuzz import service_targets, state_targets, wire_targets
from tests.fuzz.target import Target

TARGETS: dict[str, Target] = {
    target.name: target for target in (*wire_targets.TARGETS, *state_targets.TARGETS, *service_targets.TARGETS)
}
