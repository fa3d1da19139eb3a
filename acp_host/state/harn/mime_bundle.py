"""An artifact as Jupyter shows it: :func:`mime_bundle`.

An artifact is the agent's word. A front-end may run what it is given as HTML, SVG or JavaScript, and a chart may fetch
its data from anywhere; so only data goes out, and a chart only if it has nothing in it that fetches. For all else there
are words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from acp_host.state.harn.artifacts import Artifact

__all__ = ["mime_bundle"]

_CHARTS = re.compile(r"application/vnd\.vega(lite)?\.v\d+(\.\d+)*\+json")
_DATA = "application/json"
_MOST_VALUES = 1_000_000
_FETCHING = frozenset({"url", "href", "usermeta", "tooltip"})
"""Members of a chart that can have something fetched: addresses; ``usermeta``, options for vega-embed, which loads
themes and patches; tooltips, in which vega-tooltip draws pictures, from addresses that the chart may put together."""


def mime_bundle(artifact: Artifact) -> dict[str, Any]:
    """Return what to show of an artifact, by media type; ``text/plain`` is always there."""
    bundle: dict[str, Any] = {"text/plain": artifact.words}
    kind = artifact.mime_type or ""
    is_chart = _CHARTS.fullmatch(kind) is not None and isinstance(artifact.spec, Mapping)
    if artifact.address is None and (kind == _DATA or (is_chart and not _leads_elsewhere(artifact.spec))):
        bundle[kind] = artifact.spec
    return bundle


def _leads_elsewhere(spec: Any) -> bool:
    """Tell whether a chart may have something fetched, or is too large to tell."""
    waiting, seen = [spec], 0
    while waiting and seen < _MOST_VALUES:
        value = waiting.pop()
        seen += 1
        if isinstance(value, Mapping):
            if not _FETCHING.isdisjoint(value):
                return True
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return bool(waiting)
