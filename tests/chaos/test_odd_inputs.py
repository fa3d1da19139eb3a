"""Rows R464 to R473: what fuzzing has found; the inputs themselves are in ``fixtures/fuzz``."""

from __future__ import annotations

import json
import time
from typing import Any

import httpx2
import pytest

import acp_host
from acp_host.automation.known_agents.download_address import download_address
from acp_host.automation.known_agents.manifest import read_manifests
from acp_host.errors import ExternalAgentError, InvalidInput
from acp_host.fleet import Job, JobResult
from acp_host.harn.a2a import HttpPeer
from acp_host.recording.anonymise import anonymise
from acp_host.recording.format import RecordedDirection, RecordedLine
from acp_host.services.files.notebook_format import NotebookFormat
from acp_host.services.named_in_call import NamedInCall
from acp_host.services.permissions import PermissionPolicy
from acp_host.testing import ReferenceAgent
from acp_host.transports._cookies import CookieStore
from acp_host.transports.remote_address import RemoteAddress
from acp_host.ui.feed import Feed
from acp_host.ui.feed.command_forms import read_command
from acp_host.ui.serve import serve_feed
from acp_host.wire.permission_question import AskedCall
from tests.automation.known_agents.manifests import by_runner
from tests.ui.browsers import get

DEEP = "[" * 1_010 + "]" * 1_010
"""As deep as JSON is read, and deeper than most things that look at values can reach."""
NO_ADDRESS = "https://[agent.example/"


@pytest.mark.parametrize(
    "odd",
    ["a=1; Max-Age", "a=1; Expires=Wed, 21 Ocw 2065 07:28:00 GMT", "a=1; Path; Domain=; Version=x", "a=1; Max-Age=²"],
)
def test_r464_cookies_with_attributes_that_cannot_be_read(odd: str) -> None:
    store = CookieStore("https://agent.example/", {})
    store.take("https://agent.example/", ["lane=7; Path=/; Expires=Wed, 21-Oct-2065 07:28:00 GMT", odd])
    assert store.header("https://agent.example/") == "lane=7; a=1"


async def test_r465_requests_whose_target_is_no_address(caplog: pytest.LogCaptureFixture) -> None:
    async with (
        acp_host.connect(ReferenceAgent().transport()) as host,
        Feed(host) as feed,
        serve_feed(feed) as served,
    ):
        answer = await get(served.port, "//[?token=x", {"Host": f"127.0.0.1:{served.port}"})
    assert 400 <= answer.status < 500
    assert not caplog.records


@pytest.mark.parametrize("url", [NO_ADDRESS, "https://agent.example:port/", "https://agent.example:99999/", "\x01//["])
async def test_r466_agent_cards_with_an_endpoint_that_is_no_address(url: str) -> None:
    with pytest.raises(ExternalAgentError, match="no address"):
        await answered(json.dumps({"url": url, "preferredTransport": "JSONRPC"}).encode())


async def test_r466_answers_that_are_nested_too_deeply() -> None:
    with pytest.raises(ExternalAgentError, match="no JSON"):
        await answered(b"[" * 100_000)


async def answered(body: bytes) -> Any:
    """Ask an agent for its card, and be answered with this."""
    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, content=body))
    async with httpx2.AsyncClient(transport=transport) as client:
        return await HttpPeer("https://agent.example/", client=client).card()


@pytest.mark.parametrize("depth", [300, 600, 1_010])
@pytest.mark.parametrize("place", ["source", "metadata", "outputs", "id"])
def test_r467_notebooks_that_are_nested_deeply(depth: int, place: str) -> None:
    cell = {"cell_type": "code", "metadata": {}, "source": "", "outputs": [], "execution_count": None, place: "DEEP"}
    text = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]})
    deep = f'{{"a":{"[" * depth + "]" * depth}}}'
    with pytest.raises(ValueError, match="is a notebook, and this"):
        NotebookFormat().read(text.replace('"DEEP"', deep))


def test_r468_registries_policies_and_commands_that_are_nested_deeply() -> None:
    noted: list[Any] = []
    listed = json.dumps({"agents": ["DEEP", by_runner("good")]}).replace('"DEEP"', f'{{"id": {DEEP}}}')
    assert [each.id for each in read_manifests(listed.encode(), "here", noted.append)] == ["good"]
    assert len(noted) == 1
    with pytest.raises(InvalidInput, match="the policy is nested too deeply"):
        PermissionPolicy.from_toml(f"default = {'[' * 10_000}")
    number, _, fault = read_command(f'{{"id": 1, "command": "prompt", "session": "s", "text": {DEEP}}}')
    assert number == 1
    assert fault is not None


@pytest.mark.parametrize(
    "changes",
    [
        {"files": [1]},
        {"files": [{"path": "a", "kind": "created", "allowed": True, "patch": 1}]},
        {"spent": {"tokens": 1, "cost": None}},
        {"spent": {"tokens": 1e400, "cost": {}}},
        {"job": {"prompt": None, "cwd": "/w"}},
        {"outcome": []},
    ],
    ids=str,
)
def test_r469_results_of_other_shapes(changes: dict[str, Any]) -> None:
    outcome = {"kind": "completed", "reason": None, "verified": False, "detail": ""}
    job = {"id": "a", "prompt": "Do it", "cwd": "/w"}
    rest = dict.fromkeys(("run", "filesProblem", "source", "copyKind", "commit", "kept", "recording", "host"))
    whole = {"version": 1, "job": job, "outcome": outcome, "attempt": 1, "files": [], "violations": []}
    whole |= {"spent": {"tokens": 1, "cost": {}}, "fromJournal": False, **rest}
    assert JobResult.from_json(whole).job.id == "a"
    with pytest.raises(InvalidInput):
        JobResult.from_json(whole | changes)


@pytest.mark.parametrize("changes", [{"remind": 5}, {"cwd": None}, {"prompt": None}, {"cwd": NO_ADDRESS}], ids=str)
def test_r469_jobs_of_other_shapes(changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        Job.from_json({"prompt": "Do it", "cwd": "/w"} | changes)


def test_r470_downloads_that_lead_to_what_is_no_address() -> None:
    assert download_address("../b", base="https://x.example/a/a") == "https://x.example/b"
    assert download_address("HTTPS://x.example/B") == "https://x.example/B"
    with pytest.raises(InvalidInput, match="no URL"):
        download_address("//[", base="https://x.example/a")


@pytest.mark.parametrize(
    "line",
    [f"*** Add File: a{' ' * 500_000}b", f"--- {'a' * 500_000}", f"--- a{' ' * 500_000}\nb"],
    ids=["spaces", "diff", "spaces_in_diff"],
)
def test_r471_patches_with_lines_of_megabytes(line: str) -> None:
    began = time.process_time()
    named = NamedInCall()
    named.take_call(AskedCall("c", kind="edit", raw_input={"patch": f"{line}\n*** Update File: /w/x  \n"}))
    assert "/w/x" in named.paths
    assert time.process_time() - began < 10  # in two passes it takes minutes


def test_r472_names_of_methods_that_are_nearly_some() -> None:
    message = {"jsonrpc": "2.0", "method": "a" * 60 + "!"}
    line = RecordedLine(direction=RecordedDirection.IN, time=0.0, message=message)
    (shown,) = anonymise([line])
    assert "a" * 60 not in str(shown.message)


@pytest.mark.parametrize("place", ["]", "a[b", "a]b", "a<b", "a^b", "a|b", 'a"b', "a`b", "{a}"])
def test_r473_addresses_of_agents_with_hosts_that_cannot_be(place: str) -> None:
    with pytest.raises(InvalidInput, match=r"host name that cannot be|cannot be read"):
        RemoteAddress.of(f"http://[user:word@{place}:80/")
    with pytest.raises(InvalidInput, match=r"host name that cannot be|cannot be read"):
        RemoteAddress.of(f"http://{place}/")
