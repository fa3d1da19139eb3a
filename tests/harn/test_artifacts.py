"""What a Harn agent has made to be looked at, from the wire to what is shown."""

from __future__ import annotations

from typing import Any

import pytest

from acp_host.state.harn.artifacts import MAX_ARTIFACTS, Artifact
from acp_host.state.harn.mime_bundle import mime_bundle
from tests.harn.harness import Desk, named, read, updates

CHART = "application/vnd.vegalite.v5+json"


def told(artifact_id: str = "a-1", **members: Any) -> dict[str, Any]:
    return named("artifact", artifactId=artifact_id, **members)


def shown(**members: Any) -> dict[str, Any]:
    return mime_bundle(Artifact(artifact_id="a-1", **members))


def test_an_artifact_with_all_that_there_is_to_it() -> None:
    desk = Desk().take(*updates("conformance_session_update_extensions.json", "artifact"))
    artifact = desk.harn.artifacts["artifact-chart-1"]
    assert (artifact.kind, artifact.title, artifact.mime_type) == ("vega-lite", "Build throughput", CHART)
    assert (artifact.fallback, artifact.size_bytes) == ("Build throughput (bar chart)", 153)
    assert (artifact.provenance, artifact.metadata) == ({"source": "agent"}, {"unit": "builds"})
    assert artifact.spec["mark"] == "bar"
    assert mime_bundle(artifact) == {"text/plain": "Build throughput (bar chart)", CHART: artifact.spec}
    desk.assert_exact()


def test_the_same_id_again_takes_its_place() -> None:
    desk = Desk().take(told(spec=1), told("b", spec=2), told(spec=3, title="New", further=4))
    assert list(desk.harn.artifacts) == ["a-1", "b"]
    assert desk.harn.artifacts["a-1"] == Artifact(artifact_id="a-1", spec=3, title="New", extra={"further": 4})


@pytest.mark.parametrize("members", [{"spec": 1}, {"artifactId": "", "spec": 1}, {"artifactId": "a"}])
def test_without_an_id_or_a_spec_there_is_none(members: dict[str, Any]) -> None:
    report = read(named("artifact", **members))
    assert report is not None
    assert report.events == ()
    assert len(report.problems) == 1


def test_a_spec_may_be_null() -> None:
    assert Desk().take(told(spec=None)).harn.artifacts["a-1"].spec is None


def test_artifacts_are_bounded() -> None:
    desk = Desk().take(*(told(f"a{number}", spec=1) for number in range(MAX_ARTIFACTS + 1)))
    assert len(desk.harn.artifacts) == MAX_ARTIFACTS
    assert "a0" not in desk.harn.artifacts
    assert desk.problems == [f"more than {MAX_ARTIFACTS} artifacts: the oldest of them is forgotten"]


@pytest.mark.parametrize("address", ["file:///w/a.png", "artifact://1", "harn-artifact://1", "urn:x:1", "https://x/y"])
def test_an_address_is_shown_and_not_followed(address: str) -> None:
    for spec in (address, {"uri": address, "sha256": "00"}):
        artifact = Artifact(artifact_id="a", spec=spec, mime_type="application/json", title="Picture")
        assert artifact.address == address
        assert mime_bundle(artifact) == {"text/plain": "Picture"}
    assert Artifact(artifact_id="a", spec="just words").address is None


@pytest.mark.parametrize(
    "mime_type",
    ["text/html", "image/svg+xml", "application/javascript", "application/vnd.vegalite.v5+json; x", "text/plain", ""],
)
def test_what_a_front_end_could_run_is_shown_in_words(mime_type: str) -> None:
    assert shown(mime_type=mime_type, spec={"a": "<script>"}, fallback="words") == {"text/plain": "words"}


@pytest.mark.parametrize(
    "spec",
    [
        {"data": {"url": "http://x/track"}},
        {"layer": [{"encoding": {"href": {"field": "u"}}}]},
        {"layer": [[{"mark": {"type": "image", "url": "http://x"}}]]},
        {"data": {"values": []}, "usermeta": {"embedOptions": {"config": "https://x/theme.json"}}},
        {"data": {"values": [{"image": "https://x/p.png"}]}, "mark": {"type": "point", "tooltip": {"content": "data"}}},
        "not a chart",
    ],
)
def test_a_chart_that_leads_elsewhere_is_shown_in_words(spec: Any) -> None:
    assert shown(mime_type=CHART, spec=spec, kind="vega-lite") == {"text/plain": "vega-lite"}


def test_data_and_charts_of_data_are_shown() -> None:
    assert shown(mime_type="application/json", spec=[{"url": 1}], title="T")["application/json"] == [{"url": 1}]
    assert CHART in shown(mime_type=CHART, spec={"data": {"values": [1, 2]}})


def test_there_are_always_words() -> None:
    assert shown()["text/plain"] == "a-1"
