"""Updates about what the agent has made to be looked at: :func:`artifact`."""

from __future__ import annotations

from acp_host.state.harn.artifacts import Artifact, ArtifactReported
from acp_host.translate.harn.payload import Payload, Unusable

__all__ = ["artifact"]


def artifact(payload: Payload) -> tuple[ArtifactReported, ...]:
    """Read ``artifact``."""
    artifact_id = payload.identity("artifactId")
    if not payload.has("spec"):
        raise Unusable("spec is missing")
    made = Artifact(
        artifact_id=artifact_id,
        kind=payload.text("kind"),
        title=payload.text("title"),
        mime_type=payload.text("mimeType"),
        spec=payload.any("spec"),
        fallback=payload.text("fallback"),
        size_bytes=payload.integer("sizeBytes", 0),
        provenance=payload.any("provenance"),
        metadata=payload.any("metadata"),
        extra=payload.rest(),
    )
    return (ArtifactReported(made),)
