"""What a Harn agent has made to be looked at: :class:`Artifacts`, a reducer.

What an artifact holds is the agent's, like its words: nothing here opens, fetches or runs anything of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from acp_host.state._value import plain_json, value
from acp_host.state.changes import Note
from acp_host.state.collections import Keyed
from acp_host.state.events import HarnEvent
from acp_host.wire._model import NO_EXTRA, model

__all__ = ["MAX_ARTIFACTS", "Artifact", "ArtifactReported", "Artifacts"]

MAX_ARTIFACTS = 200
"""How many artifacts are kept, the newest ones."""

_TOPIC = "artifacts"
_SCHEMES = ("file:", "artifact:", "harn-artifact:", "urn:", "http:", "https:")


@value
class Artifact:
    """Something that the agent has made to be looked at.

    Attributes:
        artifact_id: its id; what comes with the same one takes its place.
        kind: ``vega-lite``, ``table``, ``file``, ``artifact_manifest``, or another word of the agent.
        title: what it is called.
        mime_type: what ``spec`` is, as a media type.
        spec: the thing itself, as JSON, or an address of it (``file://``, ``artifact://``, ``harn-artifact://``,
            ``urn:``), which nobody has looked at.
        fallback: the same in words, for those who cannot show it.
        size_bytes: how large the agent says it is, in bytes.
        provenance: where it is from; JSON of the agent's own.
        metadata: what else there is to it; likewise.
        extra: what else the agent said.
    """

    artifact_id: str
    kind: str | None = None
    title: str | None = None
    mime_type: str | None = None
    spec: Any = plain_json(default=None)
    fallback: str | None = None
    size_bytes: int | None = None
    provenance: Any = plain_json(default=None)
    metadata: Any = plain_json(default=None)
    extra: Mapping[str, Any] = plain_json(default=NO_EXTRA)

    @property
    def address(self) -> str | None:
        """Where the thing is, if ``spec`` says no more than that."""
        spec = self.spec.get("uri") if isinstance(self.spec, Mapping) else self.spec
        return spec if isinstance(spec, str) and spec.startswith(_SCHEMES) else None

    @property
    def words(self) -> str:
        """What to show where nothing better can be shown."""
        return self.fallback or self.title or self.kind or self.artifact_id


@model
class ArtifactReported(HarnEvent):
    """An artifact is there, in place of the one with its id."""

    artifact: Artifact


class Artifacts:
    """Folds what is told of artifacts.

    Args:
        note: called with each change.
        problem: called with what is forgotten because there is too much.
    """

    def __init__(self, note: Note, problem: Callable[[str], None] = lambda _: None) -> None:
        self._artifacts: Keyed[Artifact] = Keyed(_TOPIC, note, MAX_ARTIFACTS, problem=problem)

    def reducers(self) -> Mapping[type, Callable[[Any], None]]:
        """Return the method for each class of event that concerns artifacts."""
        return {ArtifactReported: lambda event: self._artifacts.put(event.artifact.artifact_id, event.artifact)}

    def freeze(self) -> Mapping[str, Artifact]:
        """Return the artifacts by id, in the order in which they first came."""
        return self._artifacts.freeze()
