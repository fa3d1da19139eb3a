"""Telemetry of the command: by the variables of OpenTelemetry, and not in the way of anything."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from acp_host.cli.telemetry import telemetry_of_environment
from acp_host.testing import ReferenceAgent


def run(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "acp_host", "run", "--no-changes", "--cwd", str(folder)]
    plain = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    return subprocess.run(
        [*command, "--journal", str(folder / "journal.db"), *ReferenceAgent.command(), "--", "/say Hello"],
        env={**plain, **environment},
        capture_output=True,
        text=True,
        timeout=55,
        check=False,
    )


def test_an_exporter_that_is_named_is_told(tmp_path: Path) -> None:
    done = run(tmp_path, OTEL_TRACES_EXPORTER="console")
    assert done.returncode == 0, done.stderr
    text, _, told = done.stdout.partition("\n{")
    assert text.strip() == "Hello"
    decoder, spans, told = json.JSONDecoder(), [], "{" + told
    while told.strip():
        span, end = decoder.raw_decode(told)
        spans.append(span)
        told = told[end:].lstrip()
    assert {"acp.connect", "session/new"} <= {span["name"] for span in spans}
    assert {span["resource"]["attributes"]["service.name"] for span in spans} == {"acp-host"}


def test_one_that_is_not_there_is_said_and_nothing_more(tmp_path: Path) -> None:
    done = run(tmp_path, OTEL_TRACES_EXPORTER="nonesuch")
    assert (done.returncode, done.stdout.strip()) == (0, "Hello")
    assert "acp-host: no telemetry: the exporter 'nonesuch' is not installed" in done.stderr


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"},
        {"OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": ""},
        {"OTEL_TRACES_EXPORTER": "console", "OTEL_SDK_DISABLED": "TRUE"},
    ],
)
def test_nobody_is_told_unasked(environment: dict[str, str]) -> None:
    assert telemetry_of_environment(environment) is False


def test_without_the_sdk_nobody_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert telemetry_of_environment({"OTEL_TRACES_EXPORTER": "console"}) is False
