from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_host.automation.known_agents.manifest import Manifest, read_manifests
from acp_host.diagnostics import Diagnostic
from acp_host.errors import InvalidInput
from tests.automation.known_agents.manifests import by_program, by_runner, registry


def read(*manifests: Any) -> tuple[list[Manifest], list[Diagnostic]]:
    noted: list[Diagnostic] = []
    return list(read_manifests(registry(*manifests), "here", noted.append)), noted


def test_a_registry_of_every_distribution() -> None:
    target = {"archive": "https://x.example/a.zip", "cmd": ".\\bin\\agent.exe", "sha256": "AB" * 32, "env": {"A": "1"}}
    whole = {
        **by_runner(),
        "license": "MIT",
        "website": "https://acme.example",
        "distribution": {
            "npx": {"package": "@acme/agent@1.2.3", "args": ["--acp", ""], "env": {"QUIET": "1"}},
            "uvx": {"package": "acme-agent[x]==1.2.3"},
            "binary": {"windows-x86_64": target, "linux-aarch64": {"archive": "https://x.example/a", "cmd": "./a"}},
        },
    }
    (manifest,), noted = read(whole)
    assert noted == []
    assert (manifest.id, manifest.name, manifest.version) == ("acme", "The acme agent", "1.2.3")
    assert (manifest.license, manifest.website) == ("MIT", "https://acme.example")
    npx, uvx = manifest.packages
    assert (npx.package, npx.args, npx.env) == ("@acme/agent@1.2.3", ("--acp", ""), {"QUIET": "1"})
    assert (uvx.runner, uvx.package, uvx.args) == ("uvx", "acme-agent[x]==1.2.3", ())
    windows, linux = manifest.binaries
    assert (windows.cmd, windows.sha256, windows.env) == ("bin/agent.exe", "ab" * 32, {"A": "1"})
    assert (linux.cmd, linux.sha256) == ("a", None)


def test_one_manifest_alone() -> None:
    (manifest,) = read_manifests(json.dumps(by_runner()).encode(), "agent.json", pytest.fail)
    assert manifest.id == "acme"


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"{}", b'{"agents": 1}', b"\xff", b"[" * 100_000])
def test_what_is_no_registry(data: bytes) -> None:
    with pytest.raises(InvalidInput, match="here"):
        read_manifests(data, "here", pytest.fail)


@pytest.mark.parametrize(
    "agent", ["Acme", "", "../x", "a b", "1", "a" * 65, "x\x1b[31m", None, 3, {}, "agent.json", "ä", "a\n"]
)
def test_an_agent_without_an_id_that_can_be_is_left_out_alone(agent: Any) -> None:
    manifests, noted = read({**by_runner(), "id": agent}, by_runner("good"))
    assert [each.id for each in manifests] == ["good"]
    assert [each.path for each in noted] == ["$.agents[0]"]


@pytest.mark.parametrize(
    "package",
    [
        "--yes",
        "-c",
        "https://evil.example/x.tgz",
        "git+ssh://evil.example/x",
        "evil/x",
        "file:../x",
        "./x",
        "../x",
        "a b",
        "a;b",
        "$(id)",
        "a@npm:b",
        "a@git://x",
        "",
        None,
        "@acme/agent@1 --call=id",
        "a\n",
    ],
)
@pytest.mark.parametrize("runner", ["npx", "uvx"])
def test_a_package_is_a_name_and_nothing_else(runner: str, package: Any) -> None:
    manifests, noted = read(by_runner(runner=runner, package=package))
    assert (manifests, len(noted)) == ([], 2)


@pytest.mark.parametrize(
    "change",
    [
        {"cmd": "../sh"},
        {"cmd": "/bin/sh"},
        {"cmd": "a/../../b"},
        {"cmd": "C:\\Windows\\System32\\cmd.exe"},
        {"cmd": "\\\\host\\share\\x"},
        {"cmd": "."},
        {"cmd": ""},
        {"cmd": "a\0b"},
        {"cmd": 1},
        {"archive": "http://x.example/a.zip"},
        {"archive": "file:///etc/passwd"},
        {"archive": "https://user:pw@x.example/a.zip"},
        {"archive": "https:///a.zip"},
        {"archive": "https://x.example/a\n.zip"},
        {"sha256": "abc"},
        {"sha256": 1},
        {"args": "--acp"},
        {"args": [1]},
        {"args": ["a\0"]},
        {"args": ["x"] * 1000},
        {"env": []},
        {"env": {"A=B": "1"}},
        {"env": {"A": 1}},
        {"env": {"A": "x\0"}},
    ],
)
def test_a_program_that_does_not_fit_is_left_out(change: dict[str, Any]) -> None:
    manifests, noted = read(by_program(**change))
    assert (manifests, len(noted)) == ([], 2)


def test_a_distribution_that_does_not_fit_leaves_the_others() -> None:
    manifest = by_runner()
    manifest["distribution"]["uvx"] = {"package": "--evil"}
    manifest["distribution"]["binary"] = {"plan9-mips": {"archive": "https://x.example/a", "cmd": "a"}}
    (read_one,), noted = read(manifest)
    assert [package.runner for package in read_one.packages] == ["npx"]
    assert [each.path for each in noted] == [
        "$.agents[0].distribution.uvx",
        "$.agents[0].distribution.binary.plan9-mips",
    ]


def test_the_first_of_two_with_one_id_counts() -> None:
    (manifest,), noted = read(by_runner(), by_runner(package="evil@1"))
    assert manifest.packages[0].package == "@acme/agent@1.2.3"
    assert "twice" in noted[0].message


def test_a_registry_is_bounded() -> None:
    manifests, noted = read(*(by_runner(f"a{number}") for number in range(2_100)))
    assert (len(manifests), len(noted)) == (2_000, 1)
    with pytest.raises(InvalidInput, match="bytes"):
        read_manifests(b" " * (8 * 2**20 + 1), "here", pytest.fail)


def test_a_flood_of_faults_is_thinned() -> None:
    targets: dict[str, Any] = {str(number): {} for number in range(200)}
    _, noted = read(*({**by_runner(f"a{number}"), "distribution": {"binary": targets}} for number in range(30)))
    assert len(noted) < 60


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=15,
)


@given(st.lists(st.dictionaries(st.sampled_from(sorted(by_runner())), JSON) | JSON, max_size=4))
def test_any_json_is_read_or_left_out(items: list[Any]) -> None:
    manifests, noted = read(*items)
    assert len(manifests) <= len(items)
    assert len(noted) >= len(items) - len(manifests)
